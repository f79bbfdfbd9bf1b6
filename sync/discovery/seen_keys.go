// What a reading keeps in memory of every key.

package discovery

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// What a sweep records about an entry of the ledger.
const (
	plain   uint8 = 1 << iota // a living row as it was brings no change
	alive                     // a sweep expects to find it
	settled                   // if it is not found, its entry does not change
	found                     // a living row was read with its key
)

// What a reading records about the key of a row that is judged.
const (
	living  uint8 = 1 << iota // the ERP has a living row with it
	counted                   // it counts as found
)

// seenKeys is what a reading records, so that a sweep needs no query for an unchanged row. An entry
// of the ledger is found by the hash of its key, cells and shown texts together: it is all that is
// needed of a row that is as it was. Every other row is judged, with its entry at hand, and is found
// by the hash of its key alone.
type seenKeys struct {
	set keySet
	keyCount
	last int64  // the highest id of an entry that was loaded
	text []byte // of the last hash
}

// keyCount is the result of a sweep, in keys.
type keyCount struct {
	inScope      int // found in the ERP
	Known, Found int // keys that the sweep expected, and those of them that it found
	gone         int // keys of the ledger that it did not find
	unsettled    int // those of them whose entries change
}

// newSeenKeys returns a record with room for some entries of the ledger.
func newSeenKeys(entries int) *seenKeys {
	s := make(keySet, keyBuckets)
	if each := entries / keyBuckets; each > 0 {
		for i := range s {
			s[i] = make([]keyNote, 0, each+each/32+16)
		}
	}
	return &seenKeys{set: s}
}

// comparedHash returns the hash of what is compared of a row or an entry.
func (r *seenKeys) comparedHash(key string, cells trade.Hash, shown int64) run.KeyHash {
	r.text = append(append(append(r.text[:0], key...), 0), cells...)
	return run.HashKey(binary.BigEndian.AppendUint64(r.text, uint64(shown)))
}

// entry returns what is recorded about an entry; nil if it was not loaded as it is now.
func (r *seenKeys) entry(k *trade.Known) *uint8 {
	return r.set.find(r.comparedHash(k.Key, k.SourceHash, k.ShownMark))
}

// load records an entry of the ledger.
func (r *seenKeys) load(k *trade.Known, notes uint8) {
	*r.set.put(r.comparedHash(k.Key, k.SourceHash, k.ShownMark)) = notes
	r.last = max(r.last, k.ID)
	r.gone++
	if notes&alive != 0 {
		r.Known++
	}
	if notes&settled == 0 {
		r.unsettled++
	}
}

// count counts a key as found. notes are those of its entry; isKnown is false if it has none.
func (r *seenKeys) count(notes uint8, isKnown bool) {
	r.inScope++
	if !isKnown {
		return
	}
	r.gone--
	if notes&alive != 0 {
		r.Found++
	}
	if notes&settled == 0 {
		r.unsettled--
	}
}

// observation is what a row of the ERP means, given what was recorded before.
type observation uint8

const (
	toJudge observation = iota // it must be judged
	again                      // a living row with this key was read before
	asItWas
)

// observe records a row, and returns what it means. always means that every row must be judged.
func (r *seenKeys) observe(row *mapping.Row, always bool) observation {
	if row.Cancelled {
		return toJudge
	}
	if !always {
		e := r.set.find(r.comparedHash(row.Key, row.SourceHash, row.Shown.Mark))
		switch {
		case e == nil || *e&plain == 0:
		case *e&found != 0:
			return again
		default:
			*e |= found
			r.count(*e, true)
			return asItWas
		}
	}
	key := r.set.put(run.HashKey(row.Key))
	if *key&living != 0 {
		return again
	}
	*key |= living
	return toJudge
}

// judged records a row that is judged; k is its entry, or nil. It returns again if the row of that
// entry was read before as it was: then this one is a double, or the past of that document.
func (r *seenKeys) judged(row *mapping.Row, k *trade.Known) observation {
	var e *uint8
	if k != nil {
		e = r.entry(k)
	}
	key := r.set.find(run.HashKey(row.Key))
	switch {
	case e != nil && *e&found != 0, row.Cancelled && key != nil && *key&living != 0:
		return again
	case row.Cancelled && e != nil:
		*e &^= plain // it may change now, so a living row must be judged
	case e != nil:
		*e |= found
	}
	if !row.Cancelled {
		r.countKey(row.Key, k)
	}
	return toJudge
}

// countKey counts a key as found whose row was judged.
func (r *seenKeys) countKey(key string, k *trade.Known) {
	bits := r.set.put(run.HashKey(key))
	if *bits&counted != 0 {
		return
	}
	*bits |= counted
	var notes uint8
	if k != nil {
		if e := r.entry(k); e != nil {
			notes = *e
		}
	}
	r.count(notes, k != nil && k.ID <= r.last)
}

// missing reports whether the reading has not found the row of an entry. An entry that has changed
// since it was loaded, or is newer, is left to the next sweep.
func (r *seenKeys) missing(k *trade.Known) bool {
	e, key := r.entry(k), r.set.find(run.HashKey(k.Key))
	return e != nil && *e&found == 0 && (key == nil || *key&counted == 0)
}

// keySet has a byte for each of many hashes, and takes 11 bytes for each: with millions of rows it
// is most of what the program needs. The hashes are in sorted buckets, by their first 12 bits; the
// 80 bits after their first two bytes distinguish them there.
type keySet [][]keyNote

type keyNote struct {
	rest [10]byte
	bits uint8
}

const keyBuckets = 1 << 12

// search returns the bucket of a hash, and the place where it is or belongs: as hashes are spread
// evenly, not far from where it would be if they were spread exactly so.
func (s keySet) search(hash run.KeyHash) (bucket *[]keyNote, at int, there bool) {
	bucket = &s[binary.BigEndian.Uint16(hash[:])>>4]
	notes, rest := *bucket, [10]byte(hash[2:])
	at = int(uint64(len(notes)) * uint64(binary.BigEndian.Uint32(rest[:])) >> 32)
	for at > 0 && !notes[at-1].before(&rest) {
		at--
	}
	for at < len(notes) && notes[at].before(&rest) {
		at++
	}
	return bucket, at, at < len(notes) && notes[at].rest == rest
}

// before reports whether a hash stands before another one. Hashes nearly always differ in their first
// eight bytes, which are compared as one number.
func (n *keyNote) before(rest *[10]byte) bool {
	mine, other := binary.BigEndian.Uint64(n.rest[:]), binary.BigEndian.Uint64(rest[:])
	return mine < other || mine == other && bytes.Compare(n.rest[8:], rest[8:]) < 0
}

// find returns the byte of a hash, valid until the next put; nil if the set does not have it.
func (s keySet) find(hash run.KeyHash) *uint8 {
	bucket, at, there := s.search(hash)
	if !there {
		return nil
	}
	return &(*bucket)[at].bits
}

// put returns the byte of a hash, valid until the next put; it adds the hash if the set does not have
// it.
func (s keySet) put(hash run.KeyHash) *uint8 {
	bucket, at, there := s.search(hash)
	if !there {
		*bucket = slices.Insert(*bucket, at, keyNote{rest: [10]byte(hash[2:])})
	}
	return &(*bucket)[at].bits
}
