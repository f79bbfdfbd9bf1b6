package sync

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/safrasync/safrasync/trade"
)

// keyHash identifies a key in a roll: 96 bits never meet by chance among the rows of an ERP.
type keyHash [12]byte

func hashKey(key string) keyHash {
	sum := sha256.Sum256([]byte(key))
	return keyHash(sum[:12])
}

// sourceMark is the beginning of a source hash.
type sourceMark [8]byte

// markOf gives that of a hash; of none the zero mark.
func markOf(sum trade.Hash) (mark sourceMark) {
	if n, err := hex.Decode(mark[:], []byte(sum)[:min(len(sum), 2*len(mark))]); err != nil || n != len(mark) {
		return sourceMark{}
	}
	return mark
}

// What a roll notes of a key.
const (
	living        uint8 = 1 << iota // a living row of the ERP has it
	cancelledOnly                   // only a cancelled row has it so far, whose entry was sent
	known                           // the ledger had it before this reading
	alive                           // it counts among the rows that a sweep expects to find
	plain                           // a living row with the same source hash is no news of it
	settled                         // not to find it changes nothing of its entry
)

// roll is what a reading keeps of every key, so that a sweep needs no lookup for a row that is as it was.
type roll map[keyHash]rollItem

type rollItem struct {
	source sourceMark // of the entry; zero where the ledger has none
	bits   uint8
}

// of gives what is noted of a key: 0 for one that is not in the roll.
func (r roll) of(key keyHash) uint8 { return r[key].bits }

// note adds to what is noted of a key.
func (r roll) note(key keyHash, set uint8) {
	item := r[key]
	item.bits |= set
	r[key] = item
}

// meets is what a row of the ERP means to the roll.
type meets uint8

const (
	toJudge meets = iota // it has to be looked at
	again                // a living row with this key was read before
	asItWas
)

// meet takes note of a row: of a living one that it is there. always says that every row has to be looked at.
func (r roll) meet(key keyHash, source sourceMark, cancelled, always bool) meets {
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

// enter takes an entry of the ledger into the roll.
func (r roll) enter(k *trade.Known, notes uint8) {
	item := rollItem{bits: notes, source: markOf(k.SourceHash)}
	if item.source == (sourceMark{}) {
		item.bits &^= plain // of an entry that was rebuilt without one
	}
	r[hashKey(k.Key)] = item
}

// found tells whether the reading has come upon a key.
func (r roll) found(key keyHash) bool { return r.of(key)&(living|cancelledOnly) != 0 }

// rollCount is what a sweep found, in keys.
type rollCount struct {
	inScope      int // that the reading came upon
	known, found int // that count among those that are expected, and of them those that it came upon
	gone         int // of the ledger, that it did not come upon
	unsettled    int // of these, where that is news
}

// count sums up what is noted.
func (r roll) count() (c rollCount) {
	for _, item := range r {
		there := item.bits&(living|cancelledOnly) != 0
		if there {
			c.inScope++
		}
		if item.bits&alive != 0 {
			c.known++
			if there {
				c.found++
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
