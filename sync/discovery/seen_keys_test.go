package discovery

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// rollKnown makes an entry of the ledger, with a source hash of its own.
func rollKnown(i int) *trade.Known {
	sum := run.HashKey(fmt.Sprint("source ", i))
	return &trade.Known{
		ID: int64(i), Key: fmt.Sprintf("01|%07d", i), State: trade.Accepted,
		SourceHash: trade.Hash(hex.EncodeToString(sum[:])), MappedWith: "m",
	}
}

func rollMark(i int) hashPrefix {
	sum := run.HashKey(fmt.Sprint("source ", i))
	return hashPrefix(sum[:8])
}

// What is noted of each key is told again.
func TestARollKeepsWhatIsNotedOfEachKey(t *testing.T) {
	t.Parallel()
	const keys = 30_000
	for _, expected := range []int{0, keys} {
		r := make(seenKeys, expected)
		for i := range keys {
			r.load(rollKnown(i), known|alive|plain)
		}
		random := rand.New(rand.NewPCG(1, uint64(expected)))
		want := keyCount{Known: keys, gone: keys, unsettled: keys}
		seen := map[int]bool{}
		for range 2 * keys {
			i := random.IntN(keys + 1000)
			got := r.observe(run.HashKey(rollKnown(i).Key), rollMark(i), false, false)
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
					want.Found++
					want.gone--
					want.unsettled--
				}
			}
			seen[i] = true
		}
		if diff := cmp.Diff(want, r.Count(), cmp.AllowUnexported(keyCount{})); diff != "" {
			t.Errorf("room for %d (-want +got):\n%s", expected, diff)
		}
	}
}

func TestARollKnowsARowThatIsNoNews(t *testing.T) {
	t.Parallel()
	key := run.HashKey(rollKnown(1).Key)
	for name, c := range map[string]struct {
		notes     uint8
		source    trade.Hash
		cancelled bool
		always    bool
		want      observation
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
		r := seenKeys{}
		k := rollKnown(1)
		if c.source != "" {
			k.SourceHash = c.source
		}
		r.load(k, c.notes)
		if got := r.observe(key, rollMark(1), c.cancelled, c.always); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		if c.want == toJudge && r.of(key)&plain != 0 {
			t.Errorf("%s: the next row with this key would be no news", name)
		}
		if got := r.found(key); got == c.cancelled {
			t.Errorf("%s: found %v", name, got)
		}
	}
	if r := (seenKeys{}); r.of(key) != 0 || r.found(key) {
		t.Error("an empty set knows a key")
	}
}

// benchRow is a row of the width of a contract.
func benchRow() (*mapping.Job, erp.Row) {
	columns := []string{
		"filial", "num", "produtor", "carteira", "tipo", "produto", "safra", "quantidade", "preco",
		"um", "emissao", "inicio", "fim", "pagamento", "atualizado",
	}
	values := make([]erp.Value, len(columns))
	for i := range values {
		values[i] = erp.Value{Kind: erp.Text, Text: "valor " + columns[i] + "   "}
	}
	values[7], values[8] = erp.Value{Kind: erp.Number, Text: "1234.5000"},
		erp.Value{Kind: erp.Number, Text: "120.250000"}
	used := columns[2:14]
	job := &mapping.Job{Spec: mapping.JobSpec{Key: columns[:2]}, Mapping: &mapping.Mapping{Columns: used, Hashed: used}}
	return job, erp.NewRow(columns, values)
}

// BenchmarkMeet is what a sweep does to a row that is as it was, once it is read: key, hash, and
// the search in a million.
func BenchmarkMeet(b *testing.B) {
	job, row := benchRow()
	r := make(seenKeys, 1_000_000)
	for i := range 1_000_000 {
		r.load(rollKnown(i), known|plain)
	}
	b.ReportAllocs()
	for b.Loop() {
		key, _, err := mapping.RowKey(row, job.Spec.Key)
		if err != nil {
			b.Fatal(err)
		}
		r.observe(run.HashKey(key), prefixOf(job.SourceHash(row.Get), 0), false, false)
	}
}

// BenchmarkEnter is what a sweep does to an entry of the ledger, once it is read.
func BenchmarkEnter(b *testing.B) {
	r := make(seenKeys, 1_000_000)
	entries := make([]*trade.Known, 1000)
	for i := range entries {
		entries[i] = rollKnown(i)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		r.load(entries[i%len(entries)], known|plain)
		i++
	}
}
