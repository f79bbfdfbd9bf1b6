// What a reading keeps in memory of every key.

package discovery

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// hashPrefix is the beginning of a source hash, together with the mark of what people are shown.
type hashPrefix [8]byte

// prefixOf returns that of a hash; of none the zero mark.
func prefixOf(sum trade.Hash, shown int64) (mark hashPrefix) {
	if n, err := hex.Decode(mark[:], []byte(sum)[:min(len(sum), 2*len(mark))]); err != nil || n != len(mark) {
		return hashPrefix{}
	}
	binary.BigEndian.PutUint64(mark[:], binary.BigEndian.Uint64(mark[:])^uint64(shown))
	return mark
}

// What a reading notes of a key.
const (
	living        uint8 = 1 << iota // a living row of the ERP has it
	cancelledOnly                   // only a cancelled row has it so far, whose entry was sent
	known                           // the ledger had it before this reading
	alive                           // it counts among the rows that a sweep expects to find
	plain                           // a living row with the same source hash is no news of it
	settled                         // not to find it changes nothing of its entry
)

// seenKeys is what a reading keeps of every key, so that a sweep needs no lookup for a row that is
// as it was.
type seenKeys map[run.KeyHash]seenKey

type seenKey struct {
	source hashPrefix // of the entry; zero where the ledger has none
	bits   uint8
}

// of returns what is noted of a key: 0 for one that was not met.
func (r seenKeys) of(key run.KeyHash) uint8 { return r[key].bits }

// note adds to what is noted of a key.
func (r seenKeys) note(key run.KeyHash, set uint8) {
	item := r[key]
	item.bits |= set
	r[key] = item
}

// observation is what a row of the ERP means beside what was noted.
type observation uint8

const (
	toJudge observation = iota // it has to be looked at
	again                      // a living row with this key was read before
	asItWas
)

// observe takes note of a row: of a living one that it is there. always says that every row has to
// be looked at.
func (r seenKeys) observe(key run.KeyHash, source hashPrefix, cancelled, always bool) observation {
	item, there := r[key]
	if cancelled {
		if there {
			item.bits &^= plain // from here on what this reading makes of the entry counts
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

// load notes an entry of the ledger.
func (r seenKeys) load(k *trade.Known, notes uint8) {
	item := seenKey{bits: notes, source: prefixOf(k.SourceHash, k.ShownMark)}
	if item.source == (hashPrefix{}) {
		item.bits &^= plain // of an entry that was rebuilt without one
	}
	r[run.HashKey(k.Key)] = item
}

// found reports whether the reading has come upon a key.
func (r seenKeys) found(key run.KeyHash) bool { return r.of(key)&(living|cancelledOnly) != 0 }

// keyCount is what a sweep found, in keys.
type keyCount struct {
	inScope      int // that the reading came upon
	Known, Found int // that count among those that are expected, and of them those that it came upon
	gone         int // of the ledger, that it did not come upon
	unsettled    int // of these, where that is news
}

// Count sums up what is noted.
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
