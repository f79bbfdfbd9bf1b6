package state

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/trade"
)

// among is a ledger behind a breaker on which three instances of other machines work: one will be
// dead and one lives, which held contracts one after the other; the third holds it.
type among struct {
	*fragile
	leader, former, dead trade.Owner
	lease                trade.Lease
	es                   []trade.Entry
	own                  trade.Attempt // of the former holder
}

func workAmong(t *testing.T, backend backend) *among {
	t.Helper()
	a := &among{
		fragile: &fragile{kept: &kept{t: t, o: backend.open(t)}, b: &breaker{}}, leader: onMachine("a"),
		former: onMachine("b"), dead: onMachine("c"),
	}
	a.o.Version, a.o.Journal = "1.0.0-test", filepath.Join(t.TempDir(), "journal")
	tune := a.b.tuning()
	tune.Lease = 24 * time.Hour // nobody dies but by hand
	if err := a.try(tune); err != nil {
		t.Fatal(err)
	}
	for _, o := range []trade.Owner{a.leader, a.former, a.dead} {
		a.each("Beat", result(func() (trade.Crew, error) {
			return a.s.Beat(t.Context(), trade.Instance{Owner: o, Command: "run", Started: at})
		}))
	}
	first := mustLeaseFor(t, a.s, "contracts", a.dead)
	for _, key := range []string{"a", "b", "c", "d"} {
		a.es = append(a.es, mustRecord(t, a.s, first, newEntry(key))...)
	}
	mustSend(t, a.s, first, a.es[0])
	expire(t, a.s, "contracts")
	a.own = mustSend(t, a.s, mustLeaseFor(t, a.s, "contracts", a.former), a.es[1])
	expire(t, a.s, "contracts")
	a.lease = mustLeaseFor(t, a.s, "contracts", a.leader)
	return a
}

// commits lets each call of a commit fail, and gives what the last one that did not said.
func (a *among) commits(name string, lease trade.Lease, g trade.Group) (res trade.GroupResult) {
	a.t.Helper()
	g.At = at
	a.each(name, func() (err error) {
		res, err = a.s.Commit(a.t.Context(), lease, g)
		return err
	})
	return res
}

// F047, F048, F052, I12: each call of the database fails once in all that several instances do on
// one ledger, and each value that it answers is another one: the operation says so, has stored
// nothing, and succeeds the next time.
func TestEveryCallOfTheDatabaseFailsOnceAmongSeveral(t *testing.T) {
	t.Parallel()
	for _, backend := range backends {
		t.Run(backend.name, func(t *testing.T) {
			t.Parallel()
			a := workAmong(t, backend)
			ctx, s := t.Context(), a.s
			var holders []trade.Holder
			a.read("Leases", func() (err error) {
				holders, err = s.Leases(ctx)
				return err
			})
			if len(holders) != 1 || holders[0].Owner != a.leader || holders[0].Epoch != a.lease.Epoch {
				t.Fatalf("holders %+v", holders)
			}
			mustExec(t, s, `UPDATE instance SET expires = 1 WHERE id = ?`, a.dead.Instance)
			a.recovers("Recover of what a dead instance sent", 1,
				func() (int, error) { return s.Recover(ctx, a.lease, at) })
			a.recovers("RecoverOwn of what a former holder has left", 1,
				func() (int, error) { return s.RecoverOwn(ctx, a.former, holders[0], at) })
			a.recovers("RecoverOwn without anything in flight", 0,
				func() (int, error) { return s.RecoverOwn(ctx, a.former, holders[0], at) })
			late := trade.Lease{Job: "contracts", Owner: a.former, Epoch: a.lease.Epoch - 1}
			if res := a.commits("Commit of a former holder", late,
				trade.Group{
					Settle:  []trade.Settlement{created(a.own, "remote-b")},
					Intents: []trade.Intent{intentOf(a.es[2])},
				}); !res.LeaseLost || !res.Settled[a.own.ID] {
				t.Errorf("it claims %+v", res)
			}

			pause := trade.JobStatus{
				Job: "contracts", State: trade.Paused, Since: at,
				Stop: &trade.Stop{Code: "paused", Text: "maria: the harvest"},
			}
			a.each("Act: a pause while others send", func() error {
				done, err := s.Act(ctx, []trade.Act{{
					Job:   &trade.JobAct{Job: "contracts", Status: pause},
					Audit: anAct("contracts"),
				}})
				if err == nil && !done[0] {
					err = errors.New("it was not done")
				}
				return err
			})
			a.each("Recover without anything in flight", func() error {
				_, err := s.Recover(ctx, a.lease, at)
				return err
			})
			a.each("Depart", func() error { return s.Depart(ctx, a.former.Instance) })
			want := map[string]trade.State{
				"a": trade.InDoubt, "b": trade.Accepted, "c": trade.Pending, "d": trade.Pending,
			}
			if diff := cmp.Diff(want, statesOf(t, s, "contracts")); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
			mustAddUp(t, s, "contracts")
			t.Logf("%d calls failed, %d values were damaged", a.broken, a.spoilt)
		})
	}
}

// recovers lets each call of a recovery fail; the last one finds so many doubts.
func (a *among) recovers(name string, want int, again func() (int, error)) {
	a.t.Helper()
	a.each(name, func() error {
		n, err := again()
		if err == nil && n != want {
			a.t.Errorf("%s: %d doubts, want %d", name, n, want)
		}
		return err
	})
}

// F047, F048, I11: each call fails once while what a killed process had noted is taken up: its rows
// stand as before, and the next time only what was in flight is in doubt.
func TestEveryCallOfTheDatabaseFailsOnceWhileNotesAreTakenUp(t *testing.T) {
	t.Parallel()
	for _, backend := range backends {
		t.Run(backend.name, func(t *testing.T) {
			t.Parallel()
			k := dead(t, backend.open(t))
			k.close()
			f := &fragile{kept: k, b: &breaker{}}
			if err := f.try(f.b.tuning()); err != nil {
				t.Fatal(err)
			}
			lease := mustLease(t, f.s, "contracts")
			f.each("Recover", func() error {
				n, err := f.s.Recover(t.Context(), lease, at)
				if err == nil && n != 2 {
					t.Errorf("%d doubts", n)
				}
				return err
			})
			want := map[string]trade.State{
				"unsent": trade.Pending, "in flight": trade.InDoubt,
				"created": trade.Accepted, "refused": trade.Pending, "lost": trade.InDoubt,
			}
			if diff := cmp.Diff(want, statesOf(t, f.s, "contracts")); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
			mustAddUp(t, f.s, "contracts")
			t.Logf("%d calls failed, %d values were damaged", f.broken, f.spoilt)
		})
	}
}

// F047, F049: the same while the ledger is gone through, also where what an entry holds cannot be
// read.
func TestEveryCallOfTheDatabaseFailsOnceWhileAllEntriesAreSwept(t *testing.T) {
	t.Parallel()
	for _, backend := range backends {
		t.Run(backend.name, func(t *testing.T) {
			t.Parallel()
			f := &fragile{kept: &kept{t: t, o: backend.open(t)}, b: &breaker{}}
			f.o.Version = "1.0.0-test"
			if err := f.try(f.b.tuning()); err != nil {
				t.Fatal(err)
			}
			rolled(t, f.s, 60)
			f.read("EachSwept",
				result(func() ([]trade.Tally, error) {
					return f.s.EachSwept(t.Context(), "contracts", func(*trade.Known) {})
				}))
			f.read("Recount", result(func() ([]trade.Tally, error) { return f.s.Recount(t.Context(), "contracts") }))
			mustExec(t, f.s, `UPDATE entry SET amount = 'a lot' WHERE id = 3`)
			_, err := f.s.EachSwept(t.Context(), "contracts", func(*trade.Known) {})
			says(t, err, "entry 3 is damaged")
			t.Logf("%d calls failed, %d values were damaged", f.broken, f.spoilt)
		})
	}
}
