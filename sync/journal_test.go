package sync_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// reopen opens the ledger of a bench with a journal.
func (b *bench) reopenLedger(o state.OpenOptions) error {
	must.Do(b.t, b.ledger.Close())
	ledger, err := state.Open(b.t.Context(), o)
	if err == nil {
		b.ledger = ledger
		b.t.Cleanup(func() { _ = ledger.Close() })
	}
	return err
}

// A row is refused again and again, and does not count in a ledger that is rebuilt. Sent from there, it
// is known in the next rebuilding, whatever number the versions of its record have reached before.
func TestARowThatWasRefusedBeforeARebuildIsKnownAfterTheNext(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.api.Forget(sandbox.Wallets, walletID)
	b.contract(1)
	for range 4 {
		b.sweep()
		b.clock.advance(25 * time.Hour) // it is due again
	}
	b.expect(1, trade.Rejected, b.entry(1).Cause)
	b.rebuilt()
	b.api.Know(sandbox.Wallets, walletID)
	b.sweep()
	b.expect(1, trade.Accepted, "")
	b.rebuilt()
	b.expect(1, trade.Accepted, "")
	b.exec(`UPDATE contrato SET num = '0002'`)
	b.sweep()
	b.onPlatform("1")
	b.expect(2, trade.Held, trade.CauseRetyped)
}

// F056, F057, F058, F059: whichever older copy of the ledger is put in its place, or none, it is
// noticed before the first POST, or is one group behind, which is settled as doubts; rebuilt, it
// knows what the platform has; the next sweep fills in the rest, flags nothing and sends nothing
// twice. The judge is the sandbox. The short form takes every tenth copy, and the last three.
func TestF058NoOlderLedgerEverSendsTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{Seed: 5})
	b.limits.MaxInFlight, b.limits.StopAfterUnknown = 2, 0
	b.limits.RateLimit = 10_000 // no intents ahead: many small groups, and a copy of the ledger after each
	b.api.SetFaults(faults(t, "lost-after@7", "lost-after@31", "lost-after@64")...)
	o := state.OpenOptions{Driver: state.SQLite, DSN: b.parts.LedgerDSN, Journal: filepath.Join(b.dir, "journal")}
	must.Do(t, b.reopenLedger(o))
	const rows = 100
	b.contracts(rows)
	b.spec.ChangedAt = ""                     // every run compares all rows
	folder, copies := t.TempDir(), []string{} // of the ledger after each commit, as by a backup every few seconds
	b.breaker.around = func(call string, do func() error) error {
		err := do()
		if strings.HasPrefix(call, "Commit of ") {
			file := filepath.Join(folder, fmt.Sprintf("%03d.db", len(copies)))
			if copyErr := b.ledger.Backup(t.Context(), file); copyErr != nil {
				return errors.Join(err, copyErr)
			}
			copies = append(copies, file)
		}
		return err
	}
	b.sync(engine.Options{})
	b.breaker.mend()
	b.api.SetFaults()
	posts := len(b.api.Created())
	want := b.sent()
	if len(want) != rows || len(copies) < rows/2 {
		t.Fatalf("%d rows sent, %d copies", len(want), len(copies))
	}
	whole, journals := t.TempDir(), filepath.Join(o.Journal, b.ledger.LedgerID())
	must.Do(t, os.CopyFS(whole, os.DirFS(journals)))
	refused, settled := 0, 0
	for i := -1; i < len(copies); i++ {
		if !long && i > 0 && i%10 > 0 && i < len(copies)-3 {
			continue
		}
		_ = b.ledger.Close()
		for _, file := range []string{o.DSN, o.DSN + "-wal", o.DSN + "-shm"} {
			_ = os.Remove(file)
		}
		must.Do(t, errors.Join(os.RemoveAll(journals), os.CopyFS(journals, os.DirFS(whole))))
		if i >= 0 {
			text, err := os.ReadFile(copies[i])
			if err = errors.Join(err, os.WriteFile(o.DSN, text, 0o600)); err != nil {
				t.Fatal(err)
			}
			// The process that held the leases when the copy was made is this one; in life it is gone.
			b.byHand(`UPDATE job_lease SET instance = ''`)
		}
		err := b.reopenLedger(o)
		var e *state.Error
		switch {
		case err == nil:
			settled++
		case errors.As(err, &e) && (e.Code == state.CodeRolledBack || e.Code == state.CodeEmptied):
			refused++
			if _, err := state.Rebuild(t.Context(), o, nil, true,
				trade.AuditRecord{Who: "ana", Act: "rebuild", Reason: "test"}); err != nil {
				t.Fatalf("copy %d: %v", i, err)
			}
			if err := b.reopenLedger(o); err != nil {
				t.Fatalf("copy %d: after rebuilding: %v", i, err)
			}
		default:
			t.Fatalf("copy %d: %v", i, err)
		}
		r := b.sync(engine.Options{Sweep: true})
		b.records("order_commitments", posts)
		if r.Sent != 0 || len(r.Flags) != 0 || r.Stopped != nil {
			t.Fatalf("copy %d: sent %d, flags %v, stopped %+v", i, r.Sent, r.Flags, r.Stopped)
		}
		got := b.sent()
		for key, w := range want {
			if g := got[key]; g.State != w.State && g.State != trade.InDoubt || g.State == w.State && g != w {
				t.Fatalf("copy %d: row %s is %+v, want %+v", i, key, g, w)
			}
			if err != nil && got[key].State != w.State {
				t.Fatalf("copy %d was rebuilt, and row %s is %+v, want %+v", i, key, got[key], w)
			}
		}
	}
	if settled == 0 || settled > 3 || long && refused < len(copies)-3 || refused < 10 {
		t.Errorf("of %d copies %d were refused, %d settled", len(copies)+1, refused, settled)
	}
	t.Logf("%d older copies and no ledger at all: %d refused and rebuilt, %d settled", len(copies),
		refused, settled)
	// What was filled in is compared as ever: a contract that changes is flagged, one that only got
	// its columns touched is not.
	b.exec(`UPDATE contrato SET preco = 99.5 WHERE num = '0001'`)
	b.exec(`UPDATE contrato SET obs = 'x' WHERE num = '0002'`)
	b.wants(b.sync(engine.Options{Sweep: true}), "changed flags 1")
}

// sentRow is what a rebuilding must restore, and what the sweep fills in.
type sentRow struct {
	State            trade.State
	RemoteID, Body   string
	PayloadHash, Src trade.Hash
	Columns          int
}

func (b *bench) sent() map[string]sentRow {
	b.t.Helper()
	out := map[string]sentRow{}
	for _, e := range b.entries(trade.RowQuery{}) {
		out[e.Key] = sentRow{e.State, e.RemoteID, string(e.Payload), e.PayloadHash, e.SourceHash, len(e.Values)}
	}
	return out
}

// Rows that come back with a rebuilding are not new: no brake acts because of them, and it acts as
// ever for those that are.
func TestRebuiltRowsAreNotNewOnes(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.brakes = run.Brakes{NewRows: 3, NewRowsLeast: 4}
	o := state.OpenOptions{Driver: state.SQLite, DSN: b.parts.LedgerDSN, Journal: filepath.Join(b.dir, "journal")}
	must.Do(t, b.reopenLedger(o))
	b.contracts(2)
	b.sync(engine.Options{})
	must.Do(t, b.ledger.Close())
	old := must.Get(os.ReadFile(o.DSN))(t)
	must.Do(t, b.reopenLedger(o))
	for i := 3; i <= 10; i++ {
		b.contract(i)
		b.sync(engine.Options{})
	}
	must.Do(t, b.ledger.Close(), os.WriteFile(o.DSN, old, 0o600))
	must.Get(state.Rebuild(t.Context(), o, nil, true,
		trade.AuditRecord{At: time.Now(), Who: "ana", Act: "rebuild", Reason: "test"}))(t)
	must.Do(t, b.reopenLedger(o))
	b.contract(11)
	b.wants(b.sync(engine.Options{}), "stop none, sent 1")
	for i := 12; i <= 18; i++ {
		b.contract(i)
	}
	b.expectBrake(b.sync(engine.Options{}), "brake_new_rows", 7)
}

// A row that changed in the ERP while nobody looked is flagged after a rebuilding, and again a row
// like the others when it is put right.
func TestARebuiltRowThatChangedIsFlagged(t *testing.T) {
	t.Parallel()
	b := newBench(t, sandbox.Options{})
	b.contracts(3)
	b.sync(engine.Options{})
	b.rebuilt()
	b.exec(`UPDATE contrato SET preco = 99.5 WHERE num = '0001'`)
	for range 2 {
		b.wants(b.sync(engine.Options{Sweep: true}), "changed flags 1, sent 0")
	}
	b.exec(`UPDATE contrato SET preco = 120.5 WHERE num = '0001'`)
	if r := b.sync(engine.Options{Sweep: true}); len(r.Flags) != 0 || len(b.entry(1).Values) == 0 {
		t.Errorf("flags %v, want none", r.Flags)
	}
}
