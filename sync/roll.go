package sync

import (
	"crypto/sha256"
	"encoding/hex"
	"math/bits"
	"sync"

	"github.com/safrasync/safrasync/trade"
)

// keyHash identifies a key in a roll: 96 bits never meet by chance among the rows of an ERP, and cost 12 bytes a row.
type keyHash [12]byte

func hashKey(key string) keyHash { return hashKeyBytes([]byte(key)) }

func hashKeyBytes(key []byte) keyHash {
	sum := sha256.Sum256(key)
	return keyHash(sum[:12])
}

// sourceMark is the beginning of a source hash.
type sourceMark [8]byte

// What a roll notes of a key.
const (
	living        uint8 = 1 << iota // a living row of the ERP has it
	cancelledOnly                   // only a cancelled row has it so far, whose entry was sent
	known                           // the ledger had it before this reading
	alive                           // it counts among the rows that a sweep expects to find
	plain                           // a living row with the same source hash is no news of it
	settled                         // not to find it changes nothing of its entry
)

// roll is what a reading keeps of every key: some 16 bytes, and 10 more of each that the ledger knows, so that a sweep needs no lookup for a row that is as it was. Its
// parts grow one by one, each at its own time, and never stand in memory twice.
type roll struct {
	shards [256]rollShard
}

type rollShard struct {
	mu      sync.Mutex // while the ledger is read, by several goroutines
	slots   []rollSlot
	sources []sourceMark // of the entry in each slot; nil as long as there is none, as in a first pass
	used    int
}

type rollSlot struct {
	key  keyHash
	bits uint8 // 0: the slot is free
}

// newRoll makes a roll with room for so many keys.
func newRoll(keys int) *roll {
	r := &roll{}
	for i := range r.shards {
		n := room(keys / len(r.shards))
		if keys < 1000 {
			n += i / 16 // from different sizes they do not all grow at once: what they grow out of is garbage until it is collected
		}
		r.shards[i].slots = make([]rollSlot, n)
	}
	return r
}

// room is how many slots a part needs for so many keys: with one in six free, a key is found within a few steps.
func room(keys int) int { return keys + keys/5 + 16 }

// at gives the place of the slot of a key, or of the free one where it belongs. The part has a free slot.
func (s *rollShard) at(key keyHash) uint64 {
	h := uint64(key[4])<<56 | uint64(key[5])<<48 | uint64(key[6])<<40 | uint64(key[7])<<32 | uint64(key[8])<<24 | uint64(key[9])<<16 | uint64(key[10])<<8 | uint64(key[11])
	i, _ := bits.Mul64(h, uint64(len(s.slots)))
	for {
		if slot := &s.slots[i]; slot.bits == 0 || slot.key == key {
			return i
		}
		if i++; i == uint64(len(s.slots)) {
			i = 0
		}
	}
}

// grow makes room for one more key.
func (s *rollShard) grow() {
	if s.used+s.used/8 < len(s.slots) {
		return
	}
	old, sources := s.slots, s.sources
	s.slots = make([]rollSlot, room(s.used+s.used/8))
	if sources != nil {
		s.sources = make([]sourceMark, len(s.slots))
	}
	for i := range old {
		if old[i].bits == 0 {
			continue
		}
		place := s.at(old[i].key)
		s.slots[place] = old[i]
		if sources != nil {
			s.sources[place] = sources[i]
		}
	}
}

// take gives the place of the slot of a key, which has one from now on.
func (s *rollShard) take(key keyHash) uint64 {
	s.grow()
	place := s.at(key)
	if slot := &s.slots[place]; slot.bits == 0 {
		slot.key = key
		s.used++
	}
	return place
}

// of gives what is noted of a key: 0 for one that is not in the roll.
func (r *roll) of(key keyHash) uint8 {
	s := &r.shards[key[0]]
	return s.slots[s.at(key)].bits
}

// note adds to what is noted of a key.
func (r *roll) note(key keyHash, set uint8) {
	s := &r.shards[key[0]]
	s.slots[s.take(key)].bits |= set
}

// meets is what a row of the ERP means to the roll.
type meets uint8

const (
	toJudge meets = iota // it has to be looked at
	again                // a living row with this key was read before
	asItWas
)

// meet takes note of a row: of a living one that it is there. always says that every row has to be looked at.
func (r *roll) meet(key keyHash, source sourceMark, cancelled, always bool) meets {
	s := &r.shards[key[0]]
	if cancelled {
		s.slots[s.at(key)].bits &^= plain // from here on what this reading makes of the entry counts
		return toJudge
	}
	place := s.take(key)
	slot := &s.slots[place]
	if slot.bits&living != 0 {
		return again
	}
	slot.bits |= living
	if !always && slot.bits&plain != 0 && s.sources[place] == source {
		return asItWas
	}
	slot.bits &^= plain
	return toJudge
}

// enter takes an entry of the ledger into the roll. Several goroutines may do so at once.
func (r *roll) enter(k *trade.Known, notes uint8) {
	key := hashKey(k.Key)
	s := &r.shards[key[0]]
	s.mu.Lock()
	defer s.mu.Unlock()
	place := s.take(key)
	if s.sources == nil {
		s.sources = make([]sourceMark, len(s.slots))
	}
	slot, source := &s.slots[place], &s.sources[place]
	slot.bits |= notes
	if n, err := hex.Decode(source[:], []byte(k.SourceHash)[:min(len(k.SourceHash), 2*len(source))]); err != nil || n != len(source) {
		slot.bits &^= plain // of an entry that was rebuilt without one
	}
}

// found tells whether the reading has come upon a key.
func (r *roll) found(key keyHash) bool { return r.of(key)&(living|cancelledOnly) != 0 }

// rollCount is what a sweep found, in keys.
type rollCount struct {
	inScope      int // that the reading came upon
	known, found int // that count among those that are expected, and of them those that it came upon
	gone         int // of the ledger, that it did not come upon
	unsettled    int // of these, where that is news
}

// count sums up what is noted.
func (r *roll) count() (c rollCount) {
	for i := range r.shards {
		for j := range r.shards[i].slots {
			b := r.shards[i].slots[j].bits
			there := b&(living|cancelledOnly) != 0
			if there {
				c.inScope++
			}
			if b&alive != 0 {
				c.known++
				if there {
					c.found++
				}
			}
			if b&known != 0 && !there {
				c.gone++
				if b&settled == 0 {
					c.unsettled++
				}
			}
		}
	}
	return c
}
