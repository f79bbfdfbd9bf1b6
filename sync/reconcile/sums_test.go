package reconcile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// anyRow makes a row as a ledger may have it.
func anyRow(t *rapid.T) Row {
	kind := rapid.SampledFrom([]trade.Kind{trade.OrderCommitments, trade.Deliveries, trade.Traceability}).Draw(t,
		"kind")
	pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	amount := func(name string) *trade.Decimal {
		if !rapid.Bool().Draw(t, name+" is there") {
			return nil
		}
		d := trade.NewDecimal(rapid.Int64Range(-5_000, 9_999_999).Draw(t, name),
			rapid.IntRange(0, 6).Draw(t, name+" scale"))
		return &d
	}
	figures := func(name string) Figures {
		return Figures{
			Amount: amount(name), Unit: trade.Unit(pick(name+" unit", "SC", "KG", "TON", "")),
			Price: amount(name + " price"), Currency: pick(name+" currency", "BRL", "USD", ""),
		}
	}
	r := Row{
		Job: string(kind), Sends: kind, Key: pick("key", "1", "2", "3"),
		SendingState: SendingState{
			State: rapid.SampledFrom(trade.States).Draw(t, "state"),
			Gone:  rapid.Bool().Draw(t, "gone"), Moved: rapid.IntRange(0, 9).Draw(t, "moved") == 0,
			After: rapid.IntRange(0, 9).Draw(t, "after") == 0,
			Since: rapid.Bool().Draw(t, "since"),
		},
		Document: Document{
			Product: pick("product", "SOJA", "MILHO", ""), Harvest: pick("harvest", "2025/2026", "2026/2027", ""),
			Producer:  pick("producer", "P1", "P2", "P3", ""),
			Place:     pick("place", "L1", "L2", ""),
			OrderType: pick("type", "COMPRA", "A_FIXAR", "FIXACAO_COMPRA", "FIXACAO_DEPOSITO"),
			Contract:  "1", Parent: string(trade.OrderCommitments),
		},
		ERP: figures("erp"),
	}
	if r.Since {
		r.Gone = false // no sweep has missed what came after it
	}
	if r.State.MayBeOnPlatform() {
		f := figures("sent")
		r.Sent = &f
	}
	if rapid.IntRange(0, 3).Draw(t, "sent as another") == 0 {
		was := r.Document
		was.Product, was.OrderType = pick("product sent", "SOJA", "MILHO", ""), pick("type sent", "COMPRA", "A_FIXAR")
		was.Harvest = pick("harvest sent", "2025/2026", "2026/2027", "")
		r.SentAs = &was
	}
	for _, f := range []trade.Flag{trade.Changed, trade.Cancelled, trade.MissingInERP} {
		r.Flags = r.Flags.With(f, rapid.IntRange(0, 4).Draw(t, string(f)) == 0)
	}
	return r
}

// snapshotOf makes a snapshot of the rows of some jobs, as if they had been kept.
func snapshotOf(t testing.TB, jobs []JobHead, rows iter.Seq[Row]) *Snapshot {
	s := &Snapshot{zone: saoPaulo}
	s.Head = Head{Form: formOfHead, ID: "x", Zone: saoPaulo.String(), At: saturday, Kind: NowKind, Jobs: jobs}
	var lines bytes.Buffer
	out := json.NewEncoder(&lines)
	out.SetEscapeHTML(false)
	for r := range rows {
		s.Head.Rows++
		must.Do(t, out.Encode(r))
	}
	s.rows = storedRows{func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(lines.Bytes())), nil }}
	return s
}

// keeping makes a snapshot of given rows, with a sweep that agrees with them.
func keeping(t testing.TB, rows []Row) *Snapshot {
	at := saturday
	var jobs []JobHead
	for _, kind := range trade.Kinds {
		inScope := 0
		job := JobHead{Job: string(kind), Sends: kind, SweptAt: &at, InScope: &inScope}
		for _, r := range rows {
			switch {
			case r.Sends != kind:
				continue
			case r.Since:
			case r.Gone:
				job.SweepGone++
			default:
				inScope++
			}
			job.Rows++
		}
		jobs = append(jobs, job)
	}
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b Row) int {
		return slices.Index(trade.Kinds, a.Sends) - slices.Index(trade.Kinds, b.Sends)
	})
	return snapshotOf(t, jobs, slices.Values(sorted))
}

// Whatever the rows: each is in one line of the summary, which closes to zero, and stops closing
// when a row is lost; and the totals by season, producer and place each add up to the total,
// product by product and currency by currency.
func TestSumsClose(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(anyRow), 0, 30).Draw(rt, "rows")
		s := keeping(t, rows)
		v := must.Get(s.Overview(portuguese))(rt)
		n := 0
		for _, sum := range v.Summaries {
			if d := sum.Difference(); d == nil || *d != 0 {
				rt.Fatalf("%s does not close: %+v", sum.Job, sum)
			}
			if n += sum.Sum() + sum.Gone; sum.Sum()+sum.Gone != sum.Rows {
				rt.Fatalf("%s: %d + %d rows, want %d", sum.Job, sum.Sum(), sum.Gone, sum.Rows)
			}
			for flag, count := range sum.Flags {
				if count > sum.Sum() {
					rt.Fatalf("%d rows have the flag %s, of %d", count, flag, sum.Sum())
				}
			}
		}
		if n != len(rows) {
			rt.Fatalf("the summary has %d rows of %d", n, len(rows))
		}
		for _, by := range Dimensions[1:] {
			for _, all := range v.Totals {
				if all.By != ByAll {
					continue
				}
				var sum Total
				sum.Values, sum.Sent.Values = map[string]trade.Decimal{}, map[string]trade.Decimal{}
				for _, part := range v.Totals {
					if part.By != by || part.Product != all.Product {
						continue
					}
					for into, from := range map[*trade.Decimal]trade.Decimal{
						&sum.Contracted: part.Contracted, &sum.Delivered: part.Delivered, &sum.Fixed: part.Fixed,
						&sum.Deposit: part.Deposit, &sum.ToFix: part.ToFix,
						&sum.Sent.Contracted: part.Sent.Contracted, &sum.Sent.Delivered: part.Sent.Delivered,
						&sum.Sent.Fixed: part.Sent.Fixed, &sum.Dismissed: part.Dismissed,
					} {
						*into = into.Add(from)
					}
					for c, value := range part.Values {
						sum.Values[c] = sum.Values[c].Add(value)
					}
					for c, value := range part.Sent.Values {
						sum.Sent.Values[c] = sum.Sent.Values[c].Add(value)
					}
					sum.Rows += part.Rows
				}
				for name, pair := range map[string][2]trade.Decimal{
					"contracted": {sum.Contracted, all.Contracted}, "delivered": {sum.Delivered, all.Delivered},
					"fixed": {sum.Fixed, all.Fixed}, "deposit": {sum.Deposit, all.Deposit},
					"to fix": {sum.ToFix, all.ToFix}, "contracted sent": {sum.Sent.Contracted, all.Sent.Contracted},
					"delivered sent": {sum.Sent.Delivered, all.Sent.Delivered},
					"fixed sent":     {sum.Sent.Fixed, all.Sent.Fixed}, "dismissed": {sum.Dismissed, all.Dismissed},
					"BRL": {sum.Values["BRL"], all.Values["BRL"]},
					"USD": {sum.Sent.Values["USD"], all.Sent.Values["USD"]},
				} {
					if !pair[0].Equal(pair[1]) {
						rt.Fatalf("%s of %s by %s: %s, want %s", name, all.Product, by, pair[0], pair[1])
					}
				}
				if sum.Rows != all.Rows {
					rt.Fatalf("%d rows of %s by %s, want %d", sum.Rows, all.Product, by, all.Rows)
				}
			}
		}
		if i := slices.IndexFunc(rows, func(r Row) bool { return !r.Gone }); i >= 0 { // a row that the ledger lost
			s.Head.Jobs[slices.IndexFunc(s.Head.Jobs,
				func(j JobHead) bool { return j.Sends == rows[i].Sends })].SweepGone++
			s.sums = nil
			v := must.Get(s.Overview(portuguese))(rt)
			if !slices.ContainsFunc(v.Summaries, func(sum Summary) bool { return *sum.Difference() == 1 }) {
				rt.Fatal("a lost row makes no difference")
			}
		}
	})
}

// Rows of one kind are those of all that have it, whatever stands in their texts, and however long
// a row is.
func TestRowsOfOneKindAreThoseOfAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := keeping(t, rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Row {
			r := anyRow(t)
			r.Key = rapid.SampledFrom([]string{
				"1", `"sends":"deliveries"`, "a\nb",
				strings.Repeat("k", 70_000),
			}).Draw(t, "key")
			return r
		}), 0, 12).Draw(rt, "rows"))
		read := func(kind trade.Kind) (out []Row) {
			must.Do(rt, s.rows.each(kind, true, nil, func(r *Row) error { out = append(out, *r); return nil }))
			return out
		}
		var want []Row
		for _, kind := range trade.Kinds {
			want = append(want, read(kind)...)
		}
		if diff := gocmp.Diff(want, read("")); diff != "" {
			rt.Fatalf("(-by kind +all)\n%.2000s", diff)
		}
	})
	s := manyRows(t, 10)
	whole := s.rows.(storedRows)
	s.rows = storedRows{func() (io.ReadCloser, error) {
		rows := must.Get(whole.open())(t)
		return io.NopCloser(io.LimitReader(rows, 200)), nil
	}}
	if err := s.Each(func(*Row) error { return nil }); err == nil {
		t.Error("rows that end too early are read to their end")
	}
}

// BenchmarkReport writes the report of a snapshot of 100,000 rows; ns/op and B/op divided by it are
// those of a row.
func BenchmarkReport(b *testing.B) {
	const rows = 100_000
	s := manyRows(b, rows)
	for name, writer := range map[string]func(*bytes.Buffer) Writer{
		"csv":  func(to *bytes.Buffer) Writer { return NewCSV(to, 0) },
		"json": func(to *bytes.Buffer) Writer { return NewJSON(to) },
		"xlsx": func(to *bytes.Buffer) Writer { return NewXLSX(to) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var to bytes.Buffer
				must.Get(s.Report(portuguese, writer(&to)))(b)
			}
		})
	}
}

// manyRows makes a snapshot of contracts and deliveries.
func manyRows(t testing.TB, n int) *Snapshot {
	t.Helper()
	contracts := n / 4
	at := saturday.Add(-time.Hour)
	return snapshotOf(t, []JobHead{
		{Job: "contracts", Sends: trade.OrderCommitments, Rows: contracts},
		{Job: "deliveries", Sends: trade.Deliveries, Rows: n - contracts},
	}, func(yield func(Row) bool) {
		for i := range n {
			amount, price := trade.NewDecimal(int64(100_000+i), 2), trade.NewDecimal(13_050, 2)
			figures := Figures{Amount: &amount, Unit: trade.SC, Price: &price, Currency: "BRL"}
			r := Row{
				Job: "contracts", Sends: trade.OrderCommitments, Key: fmt.Sprintf("01|%08d", i),
				SendingState: SendingState{State: trade.Accepted, RemoteID: remoteID(i), SentAt: &at, Version: 3},
				Document: Document{
					Branch: "01", OrderType: "COMPRA", Product: "SOJA", Harvest: "2025/2026",
					Producer: fmt.Sprintf("P%08d", i%500), Place: "L1", Day: "2026-10-05",
				},
				ERP: figures, Sent: &figures,
			}
			if i >= contracts {
				r.Job, r.Sends, r.Parent, r.OrderType = "deliveries", trade.Deliveries, "contracts", ""
				r.Contract = fmt.Sprintf("01|%08d", i%max(contracts, 1))
			}
			if !yield(r) {
				return
			}
		}
	})
}
