package sync_test

import (
	"fmt"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// BenchmarkContracts sends b.N contracts from SQLite through the real client to the sandbox,
// everything switched on, then runs again without news.
func BenchmarkContracts(b *testing.B) {
	const rows = 5000
	for b.Loop() {
		b.StopTimer()
		w := newBench(b, sandbox.Options{})
		w.limits.MaxInFlight = 32
		w.exec(fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO contrato
			SELECT '01', printf('%%07d', i), i, 120.5, 'soja', '1', 'aprovado', '2026-03-10', '2026-07-01', '', '2026-03-10 08:00:00' FROM n`, rows))
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
