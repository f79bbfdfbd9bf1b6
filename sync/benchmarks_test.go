package sync_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// contractsOf fills the ERP with contracts of one producer and product, over 250 order dates.
func contractsOf(w *bench, from, to int) {
	w.exec(fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO contrato
		SELECT '01', printf('%%07d', i), i, 120.5, 'soja', '1', 'aprovado',
		date('2026-03-10', '-' || (i %% 250) || ' days'), '2026-07-01', '', '2026-03-10 08:00:00' FROM n`, from, to))
}

// BenchmarkContracts sends b.N contracts from SQLite through the real client to the sandbox,
// everything switched on, then runs again without news.
func BenchmarkContracts(b *testing.B) {
	const rows = 5000
	for b.Loop() {
		b.StopTimer()
		w := newBench(b, sandbox.Options{})
		w.limits.MaxInFlight = 32
		contractsOf(w, 1, rows)
		b.StartTimer()
		r := w.sync(engine.Options{})
		b.StopTimer()
		if r.States[trade.Accepted] != rows {
			b.Fatalf("states %v, stopped %+v", r.States, r.Stopped)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkAlike sends contracts that are alike, and then 2,000 more beside them.
func BenchmarkAlike(b *testing.B) {
	for _, rows := range []int{2_000, 20_000, 200_000} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			var first, more time.Duration
			for b.Loop() {
				w := newBench(b, sandbox.Options{})
				w.limits.MaxInFlight = 32
				for _, took := range []*time.Duration{&first, &more} {
					from := 1
					if took == &more {
						from = rows + 1
						rows += 2_000
					}
					contractsOf(w, from, rows)
					began := time.Now()
					r := w.sync(engine.Options{})
					*took += time.Since(began)
					if r.States[trade.Accepted] != rows {
						b.Fatalf("states %v, stopped %+v", r.States, r.Stopped)
					}
				}
				rows -= 2_000
			}
			b.ReportMetric(float64(rows*b.N)/first.Seconds(), "rows/s")
			b.ReportMetric(float64(2_000*b.N)/more.Seconds(), "more/s")
		})
	}
}
