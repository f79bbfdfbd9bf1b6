// What a reading keeps in memory for every key.

package discovery

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// hashPrefix is the beginning of a source hash, XORed with the mark of the displayed columns.
type hashPrefix [8]byte

// prefixOf returns the prefix of a hash; the zero value if the hash is missing or damaged.
func prefixOf(sum trade.Hash, shown int64) (mark hashPrefix) {
	if n, err := hex.Decode(mark[:], []byte(sum)[:min(len(sum), 2*len(mark))]); err != nil || n != len(mark) {
		return hashPrefix{}
	}
	binary.BigEndian.PutUint64(mark[:], binary.BigEndian.Uint64(mark[:])^uint64(shown))
	return mark
}

// What a reading records about a key.
const (
	living uint8 = 1 << iota // the ERP has a living row with it
	// so far the ERP has only a cancelled row with it, whose entry was sent
	cancelledOnly
	known   // the ledger had it before this reading
	alive   // a sweep expects to find it
	plain   // a living row with the same source hash brings no change
	settled // if it is not found, its entry does not change
)

// seenKeys is what a reading records about every key, so that a sweep needs no query for an
// unchanged row.
type seenKeys map[run.KeyHash]seenKey

type seenKey struct {
	source hashPrefix // of the entry; zero if the ledger has none
	bits   uint8
}

// of returns what is recorded about a key; 0 if nothing is.
func (r seenKeys) of(key run.KeyHash) uint8 { return r[key].bits }

// note adds to what is recorded about a key.
func (r seenKeys) note(key run.KeyHash, set uint8) {
	item := r[key]
	item.bits |= set
	r[key] = item
}

// observation is what a row of the ERP means, given what was recorded about its key.
type observation uint8

const (
	toJudge observation = iota // it must be judged
	again                      // a living row with this key was read before
	asItWas
)

// observe records a row, and returns what it means. always means that every row must be judged.
func (r seenKeys) observe(key run.KeyHash, source hashPrefix, cancelled, always bool) observation {
	item, there := r[key]
	if cancelled {
		if there {
			// its entry may change in this reading, so later rows must be judged
			item.bits &^= plain
			r[key] = item
		}
		return toJudge
	}
	if item.bits&living != 0 {
		return again
	}
	was := !always && item.bits&plain != 0 && item.source == source
	item.bits |= living
	if !was {
		item.bits &^= plain
	}
	r[key] = item
	if was {
		return asItWas
	}
	return toJudge
}

// load records an entry of the ledger.
func (r seenKeys) load(k *trade.Known, notes uint8) {
	item := seenKey{bits: notes, source: prefixOf(k.SourceHash, k.ShownMark)}
	if item.source == (hashPrefix{}) {
		item.bits &^= plain // its entry was rebuilt without a usable hash
	}
	r[run.HashKey(k.Key)] = item
}

// found reports whether the reading has found a key.
func (r seenKeys) found(key run.KeyHash) bool { return r.of(key)&(living|cancelledOnly) != 0 }

// keyCount is the result of a sweep, in keys.
type keyCount struct {
	inScope      int // found in the ERP
	Known, Found int // keys that the sweep expected, and those of them that it found
	gone         int // keys of the ledger that it did not find
	unsettled    int // those of them whose entries change
}

// Count returns the counts of all keys.
func (r seenKeys) Count() (c keyCount) {
	for _, item := range r {
		there := item.bits&(living|cancelledOnly) != 0
		if there {
			c.inScope++
		}
		if item.bits&alive != 0 {
			c.Known++
			if there {
				c.Found++
			}
		}
		if item.bits&known != 0 && !there {
			c.gone++
			if item.bits&settled == 0 {
				c.unsettled++
			}
		}
	}
	return c
}
