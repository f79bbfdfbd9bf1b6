package state

import (
	"database/sql/driver"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/sickdb"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// filled makes a ledger with something in every table that is moved.
func filled(t *testing.T, o sqldb.OpenOptions) {
	t.Helper()
	s := mustOpen(t, o)
	lease := mustLease(t, s, "contracts")
	es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"), newEntry("c"), newEntry("ção"))
	a := mustSend(t, s, lease, es[0])
	b := mustSend(t, s, lease, es[1])
	mustSend(t, s, lease, es[2])
	missing := trade.Block{
		Kind: "wallets", ID: "w-1", Message: "message.wallet.not-found", FirstAt: at,
		NextAt: at.Add(1e12), Tries: 1,
	}
	mustCommit(t, s, lease, trade.Group{
		Settle: []trade.Settlement{created(a, "id-a"), unknown(b)},
		Block:  []trade.Block{missing},
	})
	cursor := trade.Cursor{Bound: "x", SweptAt: at, Sweep: &trade.Sweep{InScope: 4}}
	must.Get(s.Record(t.Context(), lease, trade.Page{Cursor: &cursor}))(t)
	must.Get(s.Watch(t.Context(), "contracts", "boot", 1))(t)
	run := trade.RunReport{ID: sqldb.NewID(), Job: "contracts", StartedAt: at, States: map[trade.State]int{}}
	for _, err := range []error{
		s.StartRun(t.Context(), run), s.ReleaseLease(t.Context(), lease), s.TaskBegan(t.Context(), "refs", at),
		s.SetJobStatus(t.Context(), trade.JobStatus{
			Job: "contracts", State: trade.Stopped, Since: at,
			Stop: &trade.Stop{Code: "x", Why: trade.Say("é")},
		}),
	} {
		must.Do(t, err)
	}
	must.Get(s.ReplaceReferences(t.Context(), "wallets", map[string]string{"1": "w-1", "2": "w-2"},
		nil))(t)
	must.Do(t, s.Close())
}

var moveRecord = trade.AuditRecord{
	At: at, Who: "tester", From: "here", Act: "state copy", Target: "ledger",
	Reason: "a second machine", Detail: "{}",
}

func TestALedgerMovesToTheOtherDatabaseAndBack(t *testing.T) {
	t.Parallel()
	for i, b := range backends {
		to := backends[1-i]
		t.Run(b.name+" to "+to.name, func(t *testing.T) {
			t.Parallel()
			from, target := b.open(t), to.empty(t)
			from.Journal = filepath.Join(t.TempDir(), "journal")
			target.Journal = from.Journal // as the configuration has it, unless somebody changes it
			filled(t, from)
			plan, err := Move(t.Context(), from, target, false, moveRecord)
			if err != nil || plan.Sent != 1 || plan.Doubts != 1 || len(plan.Tables) > 0 {
				t.Fatalf("plan: %+v, %v", plan, err)
			}
			done := must.Get(Move(t.Context(), from, target, true, moveRecord))(t)
			if len(done.Tables) != len(movedTables) {
				t.Errorf("tables: %+v", done.Tables)
			}
			_, err = Open(t.Context(), from)
			wantCode(t, err, sqldb.CodeMoved)
			s := mustOpen(t, target)
			want := map[string]trade.State{
				"a": trade.Accepted, "b": trade.InDoubt, "c": trade.InDoubt,
				"ção": trade.Pending,
			}
			if got := statesOf(t, s, "contracts"); !cmp.Equal(got, want) {
				t.Errorf("states: %v", got)
			}
			all, err := s.Diagnose(t.Context(), target.Journal, true, 0)
			for _, d := range all {
				if !d.OK {
					t.Errorf("doctor: %+v", d)
				}
			}
			if err != nil {
				t.Error(err)
			}
			if p, err := s.VerifyAudit(t.Context()); p.Broken != 0 || err != nil {
				t.Errorf("audit: broken at %d, %v", p.Broken, err)
			}
			// It goes on: new rows get numbers, the database refuses what it refused, and what was
			// sent is not sent again.
			lease := mustLease(t, s, "contracts")
			e := mustRecord(t, s, lease, newEntry("new"))[0]
			mustSettle(t, s, lease, created(mustSend(t, s, lease, e), "id-new"))
			if err := byHand(s, `UPDATE entry SET state = 'pending' WHERE key = 'a'`); err == nil {
				t.Error("the database lets an accepted entry be sent again")
			}
			if again, err := Move(t.Context(), from, target, true, moveRecord); err != nil || !again.Done {
				t.Errorf("the same command again: %+v, %v", again, err)
			}
			if _, err := Move(t.Context(), from, to.empty(t), true, moveRecord); err == nil {
				t.Error("a moved ledger was moved to another place")
			}
		})
	}
}

func TestALedgerInUseIsNotMoved(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		from := sqldb.OpenOptions{Driver: s.db.D.Name, DSN: s.db.Where}
		if s.db.D.Name == sqldb.Postgres {
			from = backends[1].empty(t)
			s = mustOpen(t, from)
		}
		to := backends[0].empty(t)
		lease := mustLease(t, s, "contracts")
		if _, err := Move(t.Context(), from, to, true, moveRecord); err == nil {
			t.Error("it was moved while a job runs")
		}
		must.Do(t, s.ReleaseLease(t.Context(), lease))
		mustBeat(t, s, onMachine("a"))
		_, err := Move(t.Context(), from, to, true, moveRecord)
		wantCode(t, err, sqldb.CodeServed)
		mustLease(t, s, "contracts") // nothing was marked
	})
}

// dies is a process that dies just before a statement: nothing of it happens any more.
type dies struct {
	at    string       // what the statement begins with
	after atomic.Int64 // how many of them happen
	dead  atomic.Bool
}

func (d *dies) Call(call string, do func() error) error {
	if strings.HasPrefix(strings.TrimSpace(call), d.at) && d.after.Add(-1) < 0 {
		d.dead.Store(true)
	}
	if d.dead.Load() {
		return errors.New("the process is dead")
	}
	return do()
}

func (d *dies) Row(string, []string, []driver.Value) {}

// A move whose process dies at any step: until everything is copied, the new place is no ledger, and the
// old one says that the copy is not finished. The same command goes on.
func TestAMoveGoesOnWhereverItsProcessDied(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at     string // the statement before which it dies
		after  int64  // how many of these it makes before
		code   string // why the old ledger refuses then; "" = it works on
		absent bool   // the new place is no ledger
	}{
		"before the old one is marked":     {at: "UPDATE ledger SET moved_to", absent: true},
		"before anything is copied":        {at: "DELETE FROM audit", code: sqldb.CodeCopy, absent: true},
		"half copied":                      {at: "DELETE FROM candidate", code: sqldb.CodeCopy, absent: true},
		"before the copy is committed":     {at: "UPDATE ledger SET refs_version", code: sqldb.CodeCopy, absent: true},
		"before its journal is begun":      {at: "INSERT INTO journal", after: 1, code: sqldb.CodeCopy},
		"before the old one hears of that": {at: "UPDATE ledger SET moved_to", after: 1, code: sqldb.CodeCopy},
	} {
		for i, b := range backends {
			target := backends[(i+len(name))%2]
			t.Run(name+", "+b.name+" to "+target.name, func(t *testing.T) {
				t.Parallel()
				from, to := b.empty(t), target.empty(t)
				from.Journal = filepath.Join(t.TempDir(), "journal")
				to.Journal = from.Journal
				filled(t, from)
				d := &dies{at: c.at}
				d.after.Store(c.after)
				tune := sqldb.DefaultTuning
				tune.Through, tune.Settle = sickdb.Through(d), time.Millisecond
				_, err := move(t.Context(), from, to, tune, true, moveRecord)
				if err == nil || !d.dead.Load() {
					t.Fatalf("it lives, and ended with %v", err)
				}
				check := func(o sqldb.OpenOptions, code, part string) {
					t.Helper()
					for _, readOnly := range []bool{true, false} {
						o.ReadOnly = readOnly
						s, err := Open(t.Context(), o)
						switch {
						case code == "" || readOnly && o.DSN == from.DSN:
							must.Do(t, errors.Join(err, s.Close()))
						default:
							wantCode(t, err, code)
							if !strings.Contains(err.Error(), part) {
								t.Errorf("%v does not say %q", err, part)
							}
						}
					}
				}
				check(from, c.code, "not finished")
				if c.absent {
					check(to, sqldb.CodeAbsent, "not finished")
					_, err = New(t.Context(), to)
					wantCode(t, err, sqldb.CodeAbsent)
					_, err = Rebuild(t.Context(), to, nil, true, rebuildAct)
					wantCode(t, err, sqldb.CodeAbsent)
				}
				plan := must.Get(Move(t.Context(), from, to, true, moveRecord))(t)
				if plan.Done == c.absent {
					t.Errorf("the same command again: done before %t", plan.Done)
				}
				check(from, sqldb.CodeMoved, "was moved to")
				if got := statesOf(t, mustOpen(t, to), "contracts"); len(got) != 4 {
					t.Errorf("states: %v", got)
				}
			})
		}
	}
}
