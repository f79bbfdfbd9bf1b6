package sync_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// growth is an operation on a simulated clock: so many days, with so many new contracts and passes
// a day, and its retention.
type growth struct {
	days, perDay, passes int
	scope                int // days after which a contract leaves the ERP's query
	keep                 state.Retention
}

const aDay = 24 * time.Hour

// The short form has weeks in place of months; the long one is two years as the defaults have them,
// with a smaller journal, so that it begins again.
var (
	weeks = growth{
		days: 24, perDay: 6, passes: 2, scope: 12,
		keep: state.Retention{
			Bodies: 3 * aDay, Runs: 7 * aDay, IdleRuns: 2 * aDay, Lookups: 7 * aDay,
			Audit: 5 * aDay, Journal: 32 << 10,
		},
	}
	twoYears = growth{
		days: 732, perDay: 8, passes: 4, scope: 400,
		keep: state.Retention{
			Bodies: 180 * aDay, Runs: 400 * aDay, IdleRuns: 30 * aDay, Lookups: 400 * aDay,
			Audit: 1826 * aDay, Journal: 1 << 20,
		},
	}
)

// footprint is what an operation takes.
type footprint struct {
	day                   int
	ledger, wal, journal  int64 // bytes on disk
	heap                  int64 // live bytes
	rows, runs, unreduced int
}

// F066: an operation of two years, with its schedules, its retention and a ledger of either
// kind, stays flat in memory and bounded on disk: what it keeps for ever is a small record of each
// row, and nothing is sent twice.
func TestTwoYearsStayFlat(t *testing.T) {
	g := weeks
	if long {
		g = twoYears
	}
	for _, db := range databases {
		t.Run(db.Ledger, func(t *testing.T) {
			b := newBenchOn(t, database{state.SQLite, db.Ledger}, sandbox.Options{})
			b.limits.MaxInFlight = 8
			b.brakes = run.Brakes{}
			t.Cleanup(func() { _ = b.api.Close() }) // the last one
			schedule := must.Get(clock.ParseSchedule("30 2 * * *", time.UTC))(t)
			due := schedule.Next(b.clock.Now())
			e := b.engine()
			var taken []footprint
			for day := range g.days {
				b.workday(day, g)
				for pass := range g.passes {
					b.clock.advance(aDay / time.Duration(g.passes))
					reports, err := e.Sync(t.Context(), nil, engine.Options{Sweep: pass == 0})
					if err != nil || reports[0].Stopped != nil {
						t.Fatalf("day %d: %v, %+v", day, err, reports[0].Stopped)
					}
					if want := g.perDay * max(0, 1-pass); reports[0].Sent != want {
						t.Fatalf("day %d, pass %d: %d rows were sent, want %d", day, pass, reports[0].Sent, want)
					}
					if b.clock.Now().Before(due) {
						continue
					}
					due = schedule.Next(b.clock.Now())
					if _, err := b.ledger.Retain(t.Context(), g.keep, b.clock.Now(), trade.AuditRecord{
						Who: "safrasync", From: "test", Target: "ledger", Reason: "retention.schedule",
					}); err != nil {
						t.Fatalf("day %d: %v", day, err)
					}
				}
				if (day+1)%(g.days/12) == 0 {
					b.newPlatform(day, g)
					e = b.engine()
					taken = append(taken, b.footprint(day))
					t.Logf("%+v", taken[len(taken)-1])
				}
			}
			// The second half of the time against the first: bodies and runs are as many as in the
			// first half, and the rest grows by little for each row.
			quarter, middle, end := taken[2], taken[5], taken[11]
			if most := g.perDay*int(g.keep.Bodies/aDay+10) + g.days; end.unreduced > most {
				t.Errorf("%d rows hold bodies, want %d at most", end.unreduced, most)
			}
			if most := int(g.keep.IdleRuns/aDay+2)*g.passes +
				int(min(g.keep.Runs/aDay+2, time.Duration(g.days)))*3; end.runs > most {
				t.Errorf("%d runs are kept, want %d at most", end.runs, most)
			}
			if grown := end.ledger - middle.ledger; grown > int64(end.rows-middle.rows)*perRow {
				t.Errorf("in the second half the ledger grew by %d bytes for %d rows", grown, end.rows-middle.rows)
			}
			if most := max(2*g.keep.Journal, 4*int64(end.rows)*perFact) + 1<<20; end.journal > most {
				t.Errorf("the journal has %d bytes, want %d at most", end.journal, most)
			}
			if end.heap > quarter.heap+heapGrowth {
				t.Errorf("%d live bytes at the end, and %d after a quarter of the time", end.heap, quarter.heap)
			}
			for _, f := range taken {
				if f.wal > 8<<20 {
					t.Errorf("on day %d the write-ahead log has %d bytes", f.day, f.wal)
				}
			}
		})
	}
}

// workday adds the contracts of a day, edits an earlier one, and lets a person look at what
// changed; what is old leaves the query. The amount of a contract is its number.
func (b *bench) workday(day int, g growth) {
	b.t.Helper()
	stamp := b.clock.Now().UTC().Format("2006-01-02 15:04:05")
	b.bulk(func() {
		for i := range g.perDay {
			b.contract(day*g.perDay + i + 1)
		}
		b.exec(`UPDATE contrato SET atualizado = ? WHERE quantidade > ?`, stamp, day*g.perDay)
		if day > 2 {
			b.exec(`UPDATE contrato SET preco = preco + 1, atualizado = ? WHERE quantidade = ?`, stamp, (day-2)*g.perDay)
		}
		b.exec(`DELETE FROM contrato WHERE quantidade <= ?`, (day-g.scope)*g.perDay)
	})
	if day%5 != 4 {
		return
	}
	var changed []int
	for _, e := range b.entries(trade.RowQuery{Flags: []trade.Flag{trade.Changed}}) {
		n, _ := strconv.Atoi(e.Quantity.Amount.String())
		changed = append(changed, n)
	}
	b.acknowledge(changed...)
}

// newPlatform looks what the platform has, each contract of this part once and none of an earlier
// one, and begins another that has nothing: its memory is no part of the program's.
func (b *bench) newPlatform(day int, g growth) {
	b.t.Helper()
	b.once()
	last := (day + 1) * g.perDay
	for _, r := range b.api.Created() {
		if n := numberOf(b.t, r); n > last || n <= last-g.days/12*g.perDay {
			b.t.Fatalf("contract %d went a second time", n)
		}
	}
	if n := len(b.api.Created()); n != g.days/12*g.perDay {
		b.t.Fatalf("%d contracts were sent in this part, want %d", n, g.days/12*g.perDay)
	}
	must.Do(b.t, b.api.Close())
	api := must.Get(sandbox.Start(sandbox.Options{APIKey: "a-key-of-the-tests"}, "127.0.0.1:0"))(b.t)
	b.api, b.parts.URL = api, api.URL
}

func (b *bench) footprint(day int) footprint {
	b.t.Helper()
	f := footprint{day: day + 1}
	if b.parts.DB.Ledger == state.Postgres {
		// What autovacuum does once a minute; here a month takes seconds.
		b.byHand(`VACUUM`)
		// Its own tables: those of the server grow when autovacuum looks at them for the first time.
		f.ledger = b.number(`SELECT SUM(pg_total_relation_size(c.oid))::bigint FROM pg_class c
			JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')`)
	} else {
		f.ledger, f.wal = sizeOf(b.parts.LedgerDSN), sizeOf(b.parts.LedgerDSN+"-wal")
	}
	f.rows, f.runs = int(b.number(`SELECT COUNT(*) FROM entry`)), int(b.number(`SELECT COUNT(*) FROM run`))
	f.unreduced = int(b.number(`SELECT COUNT(*) FROM entry WHERE reduced_at IS NULL`))
	must.Do(b.t, filepath.WalkDir(b.parts.Journal, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			f.journal += sizeOf(path)
		}
		return err
	}))
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f.heap = int64(m.HeapAlloc)
	return f
}

func (b *bench) number(query string) (n int64) {
	b.t.Helper()
	b.inLedger(func(db *sqlx.DB) error { return db.Get(&n, query) })
	return n
}

func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// What an operation may take.
const (
	// bytes of the ledger that a row takes for ever: entry, attempt, record, their indexes (that of the
	// sweep too), its share of acts and runs
	perRow     = 4 << 10
	perFact    = 1 << 10 // bytes of the journal for each row that it must never forget
	heapGrowth = 8 << 20 // live bytes more than after a quarter of the time
)
