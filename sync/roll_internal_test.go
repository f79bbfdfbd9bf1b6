package sync

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/trade"
)

// rollKnown makes an entry of the ledger, with a source hash of its own.
func rollKnown(i int) *trade.Known {
	sum := hashKey(fmt.Sprint("source ", i))
	return &trade.Known{ID: int64(i), Key: fmt.Sprintf("01|%07d", i), State: trade.Accepted, SourceHash: hex.EncodeToString(sum[:]), MappedWith: "m"}
}

func rollMark(i int) sourceMark {
	sum := hashKey(fmt.Sprint("source ", i))
	return sourceMark(sum[:8])
}

// A roll gives the same answers as a map, whether it was made with room for its keys or grows, and whoever enters them.
func TestARollKeepsWhatIsNotedOfEachKey(t *testing.T) {
	t.Parallel()
	const keys = 30_000
	for _, expected := range []int{0, 10_000, keys} {
		r := newRoll(expected)
		var group sync.WaitGroup
		for part := range 2 {
			group.Go(func() {
				for i := part; i < keys; i += 2 {
					r.enter(rollKnown(i), known|alive|plain)
				}
			})
		}
		group.Wait()
		random := rand.New(rand.NewPCG(1, uint64(expected)))
		want := rollCount{known: keys, gone: keys, unsettled: keys}
		seen := map[int]bool{}
		for range 2 * keys {
			i := random.IntN(keys + 1000)
			got := r.meet(hashKey(rollKnown(i).Key), rollMark(i), false, false)
			expect := asItWas
			switch {
			case seen[i]:
				expect = again
			case i >= keys:
				expect = toJudge
			}
			if got != expect {
				t.Fatalf("key %d: %d, want %d", i, got, expect)
			}
			if !seen[i] {
				want.inScope++
				if i < keys {
					want.found++
					want.gone--
					want.unsettled--
				}
			}
			seen[i] = true
		}
		if diff := cmp.Diff(want, r.count(), cmp.AllowUnexported(rollCount{})); diff != "" {
			t.Errorf("room for %d (-want +got):\n%s", expected, diff)
		}
	}
}

func TestARollKnowsARowThatIsNoNews(t *testing.T) {
	t.Parallel()
	key := hashKey(rollKnown(1).Key)
	for name, c := range map[string]struct {
		notes     uint8
		source    string
		cancelled bool
		always    bool
		want      meets
	}{
		"as it was":                       {notes: known | plain, want: asItWas},
		"changed":                         {notes: known | plain, source: rollKnown(2).SourceHash, want: toJudge},
		"its entry has to be looked at":   {notes: known, want: toJudge},
		"cancelled":                       {notes: known | plain, cancelled: true, want: toJudge},
		"everything is judged":            {notes: known | plain, always: true, want: toJudge},
		"rebuilt without a source hash":   {notes: known | plain, source: "-", want: toJudge},
		"rebuilt with a damaged one":      {notes: known | plain, source: "zz", want: toJudge},
		"settled, and there all the same": {notes: known | plain | settled, want: asItWas},
	} {
		r := newRoll(0)
		k := rollKnown(1)
		if c.source != "" {
			k.SourceHash = c.source
		}
		r.enter(k, c.notes)
		if got := r.meet(key, rollMark(1), c.cancelled, c.always); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		if c.want == toJudge && r.of(key)&plain != 0 {
			t.Errorf("%s: the next row with this key would be no news", name)
		}
		if got := r.found(key); got == c.cancelled {
			t.Errorf("%s: found %v", name, got)
		}
	}
	if r := newRoll(0); r.of(key) != 0 || r.found(key) {
		t.Error("an empty roll knows a key")
	}
}

// rollBytes is how much memory a roll takes.
func rollBytes(r *roll) (n int64) {
	for i := range r.shards {
		s := &r.shards[i]
		n += int64(len(s.slots))*int64(unsafe.Sizeof(rollSlot{})) + int64(len(s.sources))*int64(unsafe.Sizeof(sourceMark{}))
	}
	return n
}

// A reading of a million rows keeps its keys until it ends, and nothing for each that is not needed: the source hash is kept only of what the ledger had before.
func TestARollTakesLittleForEachKey(t *testing.T) {
	t.Parallel()
	const keys = 200_000
	first := newRoll(0)
	for i := range keys {
		first.meet(hashKey(rollKnown(i).Key), rollMark(i), false, false)
	}
	if got := float64(rollBytes(first)) / keys; got > 18 {
		t.Errorf("a first pass keeps %.1f bytes of a key", got)
	}
	sweep := newRoll(keys)
	for i := range keys {
		sweep.enter(rollKnown(i), known|plain)
	}
	if got := float64(rollBytes(sweep)) / keys; got > 27 {
		t.Errorf("a sweep keeps %.1f bytes of a key", got)
	}
}

// The parts of a roll do not all grow at the same time: what they grow out of would stand beside what they grow into.
func TestThePartsOfARollGrowOneAfterAnother(t *testing.T) {
	t.Parallel()
	r := newRoll(0)
	sizes := map[int]bool{}
	for i := range 100_000 {
		r.meet(hashKey(rollKnown(i).Key), rollMark(i), false, false)
	}
	for i := range r.shards {
		sizes[len(r.shards[i].slots)] = true
	}
	if len(sizes) < 10 {
		t.Errorf("the parts have %d sizes", len(sizes))
	}
}
