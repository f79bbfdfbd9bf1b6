package sync

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/trade"
)

// rollKnown makes an entry of the ledger, with a source hash of its own.
func rollKnown(i int) *trade.Known {
	sum := hashKey(fmt.Sprint("source ", i))
	return &trade.Known{ID: int64(i), Key: fmt.Sprintf("01|%07d", i), State: trade.Accepted, SourceHash: trade.Hash(hex.EncodeToString(sum[:])), MappedWith: "m"}
}

func rollMark(i int) sourceMark {
	sum := hashKey(fmt.Sprint("source ", i))
	return sourceMark(sum[:8])
}

// What is noted of each key is told again.
func TestARollKeepsWhatIsNotedOfEachKey(t *testing.T) {
	t.Parallel()
	const keys = 30_000
	for _, expected := range []int{0, keys} {
		r := make(roll, expected)
		for i := range keys {
			r.enter(rollKnown(i), known|alive|plain)
		}
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
		source    trade.Hash
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
		r := roll{}
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
	if r := (roll{}); r.of(key) != 0 || r.found(key) {
		t.Error("an empty roll knows a key")
	}
}
