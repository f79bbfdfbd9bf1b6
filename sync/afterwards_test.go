package sync_test

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// fresh gives the bench a ledger that does not exist yet, with a journal: a process of its own
// makes them.
func (b *bench) fresh() {
	b.t.Helper()
	b.parts.Journal = filepath.Join(b.dir, "journal")
	b.parts.LedgerDSN = filepath.Join(b.dir, "fresh.db")
	if b.parts.DB.Ledger == state.Postgres {
		b.parts.LedgerDSN = pgtest.Database(b.t)
	}
}

// forChild is the variable that makes the test binary a process on this bench. In the short form it
// waits a second for a ledger that takes nothing, else as long as the program does.
func (b *bench) forChild() string {
	b.t.Helper()
	if !long {
		b.parts.KeepAnswers = time.Second
	}
	text, err := json.Marshal(b.parts)
	if err != nil {
		b.t.Fatal(err)
	}
	return childVariable + "=" + string(text)
}

// afterwards makes the next run after a process that something happened to, which said what it
// said, and judges: the ledger opens, the run completes, of so many rows none is lost, at most so
// many are in doubt, every record of the platform belongs to an accepted row or to one in doubt,
// and a further run sends nothing.
func (b *bench) afterwards(rows, doubtsAtMost int, said string) {
	t := b.t
	t.Helper()
	if err := b.reopenLedger(state.Options{
		Begin: true, Driver: b.parts.DB.Ledger, DSN: b.parts.LedgerDSN,
		Journal: b.parts.Journal,
	}); err != nil {
		t.Fatalf("the ledger does not open again: %v; the process said: %s", err, said)
	}
	b.clock.advance(20 * time.Minute)
	r := b.sync(engine.Options{Sweep: true})
	doubts := r.States[trade.InDoubt]
	if r.Stopped != nil || r.States[trade.Accepted]+doubts != rows {
		t.Errorf("the next run: states %v, stopped %+v; the process said: %s", r.States, r.Stopped, said)
	}
	if doubts > doubtsAtMost {
		t.Errorf("%d rows are in doubt, at most %d may be; the process said: %s", doubts, doubtsAtMost, said)
	}
	accepted := map[string]bool{}
	for n := 1; n <= rows; n++ {
		if e := b.entry(n); e.State == trade.Accepted {
			accepted[e.RemoteID] = true
		}
	}
	known := 0
	records := b.api.Created()
	for _, record := range records {
		if accepted[record.ID] {
			known++
		}
	}
	if known != len(accepted) || len(records)-known > doubts {
		t.Errorf("the platform has %d records, %d of them accepted of %d; %d rows are in doubt", len(records), known,
			len(accepted), doubts)
	}
	if again := b.sync(engine.Options{Sweep: true}); again.Sent != 0 {
		t.Errorf("a further run sent %d", again.Sent)
	}
}
