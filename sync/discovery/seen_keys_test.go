package discovery

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// entryOf makes an entry of the ledger, with cells of its own.
func entryOf(i int) *trade.Known {
	return &trade.Known{
		ID: int64(i + 1), Key: fmt.Sprintf("01|%07d", i), State: trade.Accepted, SourceHash: cellsOf(i, 0),
		MappedWith: "m", ShownMark: int64(i % 3),
	}
}

// cellsOf returns one of several versions of what a row holds; its entry has version 0.
func cellsOf(i, version int) trade.Hash { return trade.HashOf(fmt.Sprint("cells ", i, version)) }

func rowOf(i, version int, cancelled bool) *mapping.Row {
	e := entryOf(i)
	return &mapping.Row{
		Key: e.Key, SourceHash: cellsOf(i, version), Shown: trade.Shown{Mark: e.ShownMark}, Cancelled: cancelled,
	}
}

// I9: A sweep counts its keys, finds those that stand twice and those that are missing, in whatever
// order rows come: as they were, changed, new, cancelled, several with one key, on one page or on
// several.
func TestSeenKeysCountEveryKeyOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.IntRange(0, 12).Draw(t, "entries")
		seen, notes := newSeenKeys(rapid.SampledFrom([]int{0, 12, 100_000}).Draw(t, "room")), make([]uint8, entries)
		want, kinds := keyCount{}, []uint8{0, plain, plain | alive, alive, settled, plain | settled}
		for i := range notes {
			notes[i] = rapid.SampledFrom(kinds).Draw(t, "notes")
			seen.load(entryOf(i), notes[i])
			if notes[i]&alive != 0 {
				want.Known++
			}
		}
		var page []*mapping.Row
		stand, cancelledFirst := map[string]int{}, map[string]bool{}
		doubles, wanted := 0, 0
		flush := func() {
			for _, row := range page {
				var k *trade.Known
				at := 0
				must.Get(fmt.Sscanf(row.Key, "01|%d", &at))(t)
				if at < entries {
					k = entryOf(at)
				}
				what := seen.judged(row, k)
				switch {
				case what == again && !row.Cancelled:
					doubles++
				case what == again && stand[row.Key] == 0:
					t.Fatalf("%s: a cancelled row without a living one is left out", row.Key)
				case what == toJudge && row.Cancelled && k != nil && notes[at]&settled == 0: // as if it had been sent
					seen.countKey(row.Key, k)
					cancelledFirst[row.Key] = true
				}
			}
			page = page[:0]
		}
		for range rapid.IntRange(0, 40).Draw(t, "rows") {
			i := rapid.IntRange(0, 15).Draw(t, "key")
			version := rapid.IntRange(0, 2).Draw(t, "version")
			row := rowOf(i, version, rapid.IntRange(0, 4).Draw(t, "cancelled") == 0)
			if !row.Cancelled {
				if stand[row.Key]++; stand[row.Key] > 1 {
					wanted++
				}
			}
			switch what := seen.observe(row, false); {
			case what == again:
				doubles++
			case what == toJudge:
				page = append(page, row)
			case i >= entries || version != 0 || notes[i]&plain == 0:
				t.Fatalf("key %d, version %d: counts as it was", i, version)
			}
			if rapid.IntRange(0, 3).Draw(t, "end of page") == 0 {
				flush()
			}
		}
		flush()
		for i := range max(entries, 16) {
			key := entryOf(i).Key
			there := stand[key] > 0 || cancelledFirst[key]
			if there {
				want.inScope++
			}
			if i >= entries {
				continue
			}
			switch missing := seen.missing(entryOf(i)); {
			case missing == there:
				t.Fatalf("key %d: missing %v, with %d living rows", i, missing, stand[key])
			case !there:
				if want.gone++; notes[i]&settled == 0 {
					want.unsettled++
				}
			case notes[i]&alive != 0:
				want.Found++
			}
		}
		if diff := cmp.Diff(want, seen.keyCount, cmp.AllowUnexported(keyCount{})); diff != "" || doubles != wanted {
			t.Fatalf("%d doubles, want %d (-want +got):\n%s", doubles, wanted, diff)
		}
	})
}

func TestSeenKeysKnowARowThatIsNoNews(t *testing.T) {
	t.Parallel()
	other := rowOf(1, 0, false)
	other.Shown.Mark++
	for name, c := range map[string]struct {
		notes   uint8
		source  trade.Hash
		row     *mapping.Row
		always  bool
		missing bool
		want    observation
	}{
		"as it was":                       {notes: plain, row: rowOf(1, 0, false), want: asItWas},
		"changed":                         {notes: plain, row: rowOf(1, 1, false)},
		"only what is shown has changed":  {notes: plain, row: other},
		"its entry has to be looked at":   {row: rowOf(1, 0, false)},
		"cancelled":                       {notes: plain, row: rowOf(1, 0, true), missing: true},
		"everything is judged":            {notes: plain, row: rowOf(1, 0, false), always: true},
		"rebuilt without a source hash":   {notes: plain, source: "-", row: rowOf(1, 0, false)},
		"rebuilt with a damaged one":      {notes: plain, source: "zz", row: rowOf(1, 0, false)},
		"settled, and there all the same": {notes: plain | settled, row: rowOf(1, 0, false), want: asItWas},
	} {
		r, k := newSeenKeys(1), entryOf(1)
		if c.source != "" {
			k.SourceHash = c.source
		}
		r.load(k, c.notes)
		if got := r.observe(c.row, c.always); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		if c.want == toJudge {
			if got := r.judged(c.row, k); got != toJudge {
				t.Errorf("%s: %d when it is judged", name, got)
			}
		}
		if r.missing(k) != c.missing {
			t.Errorf("%s: missing %v", name, !c.missing)
		}
		next := r.observe(rowOf(1, 0, false), false)
		if c.row.Cancelled && next != toJudge || !c.row.Cancelled && c.source == "" && next != again {
			t.Errorf("%s: the next row with this key is %d", name, next)
		}
	}
	changed := entryOf(1)
	r := newSeenKeys(1)
	r.load(changed, plain)
	changed.SourceHash = cellsOf(1, 2)
	if r.missing(changed) || r.missing(entryOf(2)) {
		t.Error("an entry is missing that has changed since it was loaded, or came later")
	}
}

// F042: What a sweep keeps of a row, as it was or new, is less than 20 bytes.
func TestSeenKeysTakeFewBytesOfEachRow(t *testing.T) {
	const rows = 300_000
	before := heapInUse()
	loaded := newSeenKeys(rows)
	for i := range rows {
		loaded.load(entryOf(i), plain)
	}
	full := heapInUse()
	if each := float64(full-before) / rows; each > 18 {
		t.Errorf("%.1f bytes of each entry", each)
	}
	for i := range rows {
		if got := loaded.observe(rowOf(i, 0, false), false); got != asItWas {
			t.Fatalf("row %d: %d", i, got)
		}
	}
	if more := heapInUse(); more > full+rows {
		t.Errorf("unchanged rows take %d bytes more", more-full)
	}
	runtime.KeepAlive(loaded)
	loaded = nil
	before = heapInUse()
	fresh := newSeenKeys(0)
	for i := range rows {
		row := rowOf(i, 0, false)
		fresh.observe(row, false)
		fresh.judged(row, nil)
	}
	if each := float64(heapInUse()-before) / rows; each > 20 {
		t.Errorf("%.1f bytes of each new row", each)
	}
	runtime.KeepAlive(fresh)
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
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
	r := newSeenKeys(1_000_000)
	for i := range 1_000_000 {
		r.load(entryOf(i), plain)
	}
	b.ReportAllocs()
	for b.Loop() {
		read := must.Get(job.Row(row))(b)
		r.observe(&read, false)
	}
}

// BenchmarkEnter is what a sweep does to an entry of the ledger, once it is read.
func BenchmarkEnter(b *testing.B) {
	r := newSeenKeys(1_000_000)
	i := 0
	k := entryOf(0)
	b.ReportAllocs()
	for b.Loop() {
		k.Key = strconv.Itoa(i)
		r.load(k, plain)
		i = (i + 1) % 1_000_000
	}
}
