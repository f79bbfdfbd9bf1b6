package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// kept is a ledger with a journal, and a copy machine.
type kept struct {
	t testing.TB
	o sqldb.OpenOptions
	s *Store
}

func keep(t testing.TB, o sqldb.OpenOptions) *kept {
	t.Helper()
	o.Version, o.Journal, o.Begin = "1.0.0-test", filepath.Join(t.TempDir(), "journal"), true
	k := &kept{t: t, o: o}
	k.open()
	return k
}

// twoHosts opens a new ledger on PostgreSQL from two hosts, each with a journal of its own.
func twoHosts(t testing.TB) (a, b *kept) {
	t.Helper()
	a = keep(t, backends[1].open(t))
	other := *a
	other.o.Journal = filepath.Join(t.TempDir(), "another host")
	other.open()
	return a, &other
}

// lost removes everything from the ledger of several hosts on PostgreSQL, and closes it.
func lost(t testing.TB, hosts ...*kept) {
	t.Helper()
	for _, query := range []string{`DROP SCHEMA public CASCADE`, `CREATE SCHEMA public`} {
		must.Do(t, byHand(hosts[0].s, query))
	}
	for _, k := range hosts {
		k.close()
	}
}

// remade rebuilds the ledger on each host in turn.
func remade(t testing.TB, hosts ...*kept) {
	t.Helper()
	for _, k := range hosts {
		must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
	}
}

// open opens the ledger, and closes it at the end of the test.
func (k *kept) open() {
	k.t.Helper()
	must.Do(k.t, k.try(sqldb.DefaultTuning))
}

func (k *kept) try(tune sqldb.Tuning) error {
	s, err := open(context.Background(), k.o, tune)
	if err != nil {
		return err
	}
	k.s = s
	k.t.Cleanup(func() { _ = s.Close() })
	return nil
}

func (k *kept) close() {
	k.t.Helper()
	if p, err := k.s.VerifyAudit(context.Background()); err == nil && p.Broken != 0 {
		k.t.Errorf("record %d of the audit is not as it was written", p.Broken)
	}
	must.Do(k.t, k.s.Close())
}

func (k *kept) dir() string { return filepath.Join(k.o.Journal, k.s.LedgerID()) }

// copyTo copies the closed SQLite file.
func copyFile(t testing.TB, from, to string) {
	t.Helper()
	text := must.Get(os.ReadFile(from))(t)
	must.Do(t, os.WriteFile(to, text, 0o600))
}

// journaled runs a test on SQLite and on PostgreSQL, each with a journal.
func journaled(t *testing.T, test func(t *testing.T, k *kept)) {
	t.Helper()
	onEach(t, func(t *testing.T, b backend) {
		test(t, keep(t, b.open(t)))
	})
}

// sqliteKept runs a test that copies files.
func sqliteKept(t *testing.T) *kept {
	t.Helper()
	t.Parallel()
	return keep(t, backends[0].open(t))
}

// send records n entries, sends them, and settles all but the last.
func (k *kept) send(prefix string, n int) { k.t.Helper(); k.sends(prefix, n, n-1, accepts) }

// sendAll settles all of them.
func (k *kept) sendAll(prefix string, n int) { k.t.Helper(); k.sends(prefix, n, n, accepts) }

func accepts(a trade.Attempt, e trade.Entry) trade.Settlement { return created(a, "remote-"+e.Key) }

// sends records n entries, sends them, settles the first of them, and gives all.
func (k *kept) sends(prefix string, n, settled int,
	how func(trade.Attempt, trade.Entry) trade.Settlement,
) (entries []trade.Entry) {
	k.t.Helper()
	lease := mustLease(k.t, k.s, "contracts")
	for i := range n {
		entries = append(entries, newEntry(fmt.Sprint(prefix, i)))
	}
	for i, e := range mustRecord(k.t, k.s, lease, entries...) {
		a := mustSend(k.t, k.s, lease, e)
		if i < settled {
			mustSettle(k.t, k.s, lease, how(a, e))
		}
		entries[i] = mustEntry(k.t, k.s, "contracts", e.Key)
	}
	must.Do(k.t, k.s.ReleaseLease(k.t.Context(), lease))
	return entries
}

func TestLedgerAndJournalGoInStep(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		k.send("a", 3)
		k.close()
		k.open()
		if diff := cmp.Diff(Opening{}, k.s.Opening()); diff != "" {
			t.Errorf("opening a ledger in step settled something: %s", diff)
		}
		k.send("b", 3)
		var kinds []string
		must.Get(journal.Read(k.dir(), -1, func(r journal.Record, _ string) error {
			answers := -r.Open()
			for _, s := range r.Sent {
				if s.Attempted {
					answers++
				}
			}
			kinds = append(kinds, fmt.Sprintf("%d+%d", answers, r.Open()))
			return nil
		}))(t)
		if diff := cmp.Diff(strings.Fields("0+1 1+0 0+1 1+0 0+1 0+1 1+0 0+1 1+0 0+1"), kinds); diff != "" {
			t.Errorf("records, answers+intents (-want +got):\n%s", diff)
		}
		// Discovery, leases and references cost the journal nothing, and reading does not touch it.
		must.Do(t, os.RemoveAll(k.o.Journal))
		o := k.o
		o.ReadOnly = true
		mustOpen(t, o)
	})
}

// endBetween leaves the journal one record ahead, as a process that ends between flush and commit
// does.
func (k *kept) endBetween(lease trade.Lease, g trade.Group) {
	k.t.Helper()
	stop := errors.New("the process ends here")
	err := k.s.db.InTx(k.t.Context(), "testing", func(tx *sqldb.Tx) error {
		gr := &groupTx{
			Tx: tx, Lease: lease, Group: g, Now: at,
			Result: trade.GroupResult{
				Claimed: map[string]bool{}, Settled: map[string]bool{}, Conflicts: map[string]string{},
			},
		}
		if err := gr.Run(); err != nil {
			return err
		}
		if err := tx.WriteNote(); err != nil {
			return err
		}
		return stop
	})
	must.Do(k.t, k.s.ReleaseLease(k.t.Context(), lease))
	if !errors.Is(err, stop) {
		k.t.Fatalf("ending between journal and ledger: %v", err)
	}
	k.close()
}

func TestF054ACrashBetweenJournalAndLedgerIsSettledAtTheNextStart(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		lease := mustLease(t, k.s, "contracts")
		es := mustRecord(t, k.s, lease, newEntry("a"), newEntry("b"), newEntry("c"), newEntry("d"))
		first, second := mustSend(t, k.s, lease, es[0]), mustSend(t, k.s, lease, es[1])
		in := intentOf(es[2])
		k.endBetween(lease, trade.Group{
			At: at, Settle: []trade.Settlement{created(first, "remote-a"), refused(second)},
			Intents: []trade.Intent{in},
		})
		k.open()
		if diff := cmp.Diff(Opening{Settled: 2, Doubts: 1}, k.s.Opening()); diff != "" {
			t.Errorf("opening (-want +got):\n%s", diff)
		}
		want := map[string]trade.State{"a": trade.Accepted, "b": trade.Rejected, "c": trade.InDoubt, "d": trade.Pending}
		wantStates(t, k.s, "contracts", want)
		b, c := mustEntry(t, k.s, "contracts", "b"), mustEntry(t, k.s, "contracts", "c")
		if a := mustEntry(t, k.s, "contracts", "a"); a.RemoteID != "remote-a" || a.Attempts != 1 {
			t.Errorf("accepted: %+v", a)
		}
		if b.Cause != "message.wallet.not-found" || b.NextAttemptAt.IsZero() {
			t.Errorf("rejected: %+v", b)
		}
		attempts, err := k.s.Attempts(t.Context(), c.ID)
		if err != nil || len(attempts) != 1 || attempts[0].ID != in.Attempt.ID ||
			attempts[0].Outcome != trade.OutcomeUnknown || c.Cause != trade.CauseUnknown {
			t.Errorf("in doubt: %+v, attempts %+v, %v", c, attempts, err)
		}
		mustAddUp(t, k.s, "contracts")
		audit, err := k.s.Audit(t.Context(), 1)
		if err != nil || len(audit) != 1 || audit[0].Act != "journal settle" {
			t.Errorf("audit %+v, %v", audit, err)
		}
		// It is settled once.
		k.close()
		k.open()
		if k.s.Opening() != (Opening{}) {
			t.Errorf("settled twice: %+v", k.s.Opening())
		}
		mustSend(t, k.s, mustLease(t, k.s, "contracts"), mustEntry(t, k.s, "contracts", "d"))
	})
}

// A process that goes on settles what another left that ended between journal and ledger; it need
// not start again.
func TestAProcessThatGoesOnSettlesWhatAnotherLeft(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		goesOn := *k
		goesOn.open()
		lease := mustLease(t, k.s, "contracts")
		es := mustRecord(t, k.s, lease, newEntry("a"), newEntry("b"), newEntry("c"))
		first := mustSend(t, k.s, lease, es[0])
		k.endBetween(lease, trade.Group{
			At: at, Settle: []trade.Settlement{created(first, "remote-a")},
			Intents: []trade.Intent{intentOf(es[1])},
		})
		mustSend(t, goesOn.s, mustLease(t, goesOn.s, "contracts"), es[2])
		want := map[string]trade.State{"a": trade.Accepted, "b": trade.InDoubt, "c": trade.Sending}
		wantStates(t, goesOn.s, "contracts", want)
		mustAddUp(t, goesOn.s, "contracts")
	})
}

// A commit that the ledger refuses leaves a record that never counts: the process that goes on
// names it, and one that starts later is not misled.
func TestARecordWhoseCommitWasRefusedIsVoid(t *testing.T) {
	k := sqliteKept(t)
	lease := mustLease(t, k.s, "contracts")
	es := mustRecord(t, k.s, lease, newEntry("a"), newEntry("b"))
	stop := errors.New("the disk is full")
	for range 3 {
		err := k.s.db.InTx(t.Context(), "testing", func(tx *sqldb.Tx) error {
			tx.Noting(at).Rows = []journal.Image{{
				RowRef: journal.RowRef{Job: "contracts", Key: "a"}, Version: 2, Generation: 1, State: "sending",
				Payload: es[0].PayloadHash,
			}}
			tx.Noting(at).Sent = []journal.Sent{{
				SentImage: journal.SentImage{Kind: "order_commitments", Job: "contracts", Key: "a", Certainty: "maybe"},
				AttemptImage: journal.AttemptImage{
					Attempt: sqldb.NewID(), Generation: 1, Outcome: "open", PayloadHash: es[0].PayloadHash,
				},
				Attempted: true,
			}}
			if err := tx.WriteNote(); err != nil {
				return err
			}
			return stop
		})
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
	}
	mustSend(t, k.s, lease, es[1])
	k.close()
	k.open()
	want := map[string]trade.State{"a": trade.Pending, "b": trade.Sending}
	if diff := cmp.Diff(want, statesOf(t, k.s, "contracts")); diff != "" || k.s.Opening() != (Opening{}) {
		t.Errorf("states (-want +got):\n%s\nopening %+v", diff, k.s.Opening())
	}
}

// F053: the ledger's disk is full when the answer comes: the journal has it, and the next start
// stores it.
func TestF053AnAnswerThatTheLedgerHasNoRoomForIsInTheJournal(t *testing.T) {
	k := sqliteKept(t)
	lease := mustLease(t, k.s, "contracts")
	a := mustSend(t, k.s, lease, mustRecord(t, k.s, lease, newEntry("a"))[0])
	var pages int
	must.Do(t, k.s.db.Write.Get(&pages, `PRAGMA page_count`))
	must.Do(t, k.s.db.Write.Get(&pages, `PRAGMA max_page_count = `+strconv.Itoa(pages)))
	a.AnswerBody = strings.Repeat("x", 100_000)
	for range 3 { // as the engine tries again
		_, err := k.s.Commit(t.Context(), lease,
			trade.Group{At: at, Settle: []trade.Settlement{created(a, "remote-a")}})
		wantCode(t, err, sqldb.CodeFull)
	}
	must.Do(t, k.s.db.Write.Get(&pages, `PRAGMA max_page_count = 1000000`))
	k.close()
	k.open()
	if e := mustEntry(t, k.s, "contracts", "a"); e.State != trade.Accepted || e.RemoteID != "remote-a" ||
		k.s.Opening().Settled != 1 {
		t.Errorf("entry %+v, opening %+v", e, k.s.Opening())
	}
}

// F068: a clock that steps back changes no order: records and attempts are numbered.
func TestF068AClockThatStepsBackChangesNoOrder(t *testing.T) {
	k := sqliteKept(t)
	lease := mustLease(t, k.s, "contracts")
	e := mustRecord(t, k.s, lease, newEntry("a"))[0]
	first := mustSend(t, k.s, lease, e)
	earlier := at.Add(-24 * time.Hour)
	notSent := first
	notSent.Outcome, notSent.FinishedAt = trade.OutcomeNotSent, earlier
	mustCommit(t, k.s, lease, trade.Group{
		At:     earlier,
		Settle: []trade.Settlement{{Attempt: notSent, State: trade.Pending}},
	})
	in := intentOf(mustEntry(t, k.s, "contracts", "a"))
	in.Attempt.StartedAt = earlier
	mustCommit(t, k.s, lease, trade.Group{At: earlier, Intents: []trade.Intent{in}})
	attempts, err := k.s.Attempts(t.Context(), e.ID)
	if err != nil || len(attempts) != 2 || attempts[0].No != 1 || attempts[1].ID != in.Attempt.ID ||
		!attempts[1].StartedAt.Equal(earlier) {
		t.Errorf("attempts %+v, %v", attempts, err)
	}
	k.close()
	k.open()
	removeLedger(t, k.o.DSN)
	k.close()
	must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
	k.open()
	if got := mustEntry(t, k.s, "contracts", "a"); got.State != trade.InDoubt {
		t.Errorf("the entry whose last attempt is open is %s", got.State)
	}
}
