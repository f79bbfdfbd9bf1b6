package state

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// F047, F048, F052, I12: each call of the database fails once in all that several instances do on
// one ledger, and each value that it answers is another one: the operation says so, has stored
// nothing, and succeeds the next time.
func TestEveryCallOfTheDatabaseFailsOnceAmongSeveral(t *testing.T) {
	onEach(t, func(t *testing.T, backend backend) {
		// Three instances of other machines: one will be dead and one lives, which held contracts one
		// after the other; the third holds it. Nobody dies but by hand.
		f := frail(t, backend, &breaker{}, func(tune *sqldb.Tuning) { tune.Lease = 24 * time.Hour })
		ctx, s := t.Context(), f.s
		leader, former, dead := onMachine("a"), onMachine("b"), onMachine("c")
		for _, o := range []trade.Owner{leader, former, dead} {
			f.each("Beat", func() error {
				return second(s.Beat(ctx, trade.Instance{Owner: o, Command: "run", Started: at}))
			})
		}
		first := must.Get(s.AcquireLease(t.Context(), "contracts", dead))(t)
		var es []trade.Entry
		for _, key := range []string{"a", "b", "c", "d"} {
			es = append(es, mustRecord(t, s, first, newEntry(key))...)
		}
		mustSend(t, s, first, es[0])
		expire(t, s, "contracts")
		own := mustSend(t, s, must.Get(s.AcquireLease(t.Context(), "contracts", former))(t), es[1])
		expire(t, s, "contracts")
		lease := must.Get(s.AcquireLease(t.Context(), "contracts", leader))(t)
		var holders []trade.Holder
		f.read("Leases", func() (err error) {
			holders, err = s.Leases(ctx)
			return err
		})
		if len(holders) != 1 || holders[0].Owner != leader || holders[0].Epoch != lease.Epoch {
			t.Fatalf("holders %+v", holders)
		}
		mustExec(t, s, `UPDATE instance SET expires = 1 WHERE id = ?`, dead.Instance)
		recovers := func(name string, want int, again func() (int, error)) {
			f.each(name, func() error {
				n, err := again()
				if err == nil && n != want {
					t.Errorf("%s: %d doubts, want %d", name, n, want)
				}
				return err
			})
		}
		recovers("Recover of what a dead instance sent", 1,
			func() (int, error) { return s.Recover(ctx, lease, at) })
		recovers("RecoverOwn of what a former holder has left", 1,
			func() (int, error) { return s.RecoverOwn(ctx, former, holders[0], at) })
		recovers("RecoverOwn without anything in flight", 0,
			func() (int, error) { return s.RecoverOwn(ctx, former, holders[0], at) })
		late := trade.Lease{Job: "contracts", Owner: former, Epoch: lease.Epoch - 1}
		var res trade.GroupResult
		f.each("Commit of a former holder", func() (err error) {
			res, err = s.Commit(ctx, late, trade.Group{
				At:      at,
				Settle:  []trade.Settlement{created(own, "remote-b")},
				Intents: []trade.Intent{intentOf(es[2])},
			})
			return err
		})
		if !res.LeaseLost || !res.Settled[own.ID] {
			t.Errorf("it claims %+v", res)
		}

		pause := trade.JobStatus{
			Job: "contracts", State: trade.Paused, Since: at,
			Stop: &trade.Stop{
				Code: "paused", Why: trade.Say("stop.paused.by", "who", "maria", "why", "the harvest"),
			},
		}
		f.each("Act: a pause while others send", func() error {
			ok, err := s.Act(ctx, []trade.Act{{
				Job:   &trade.JobAct{Job: "contracts", Status: pause},
				Audit: anAct("contracts"),
			}})
			return done(err == nil && ok[0], err)
		})
		f.each("Recover without anything in flight", func() error {
			_, err := s.Recover(ctx, lease, at)
			return err
		})
		f.each("Depart", func() error { return s.Depart(ctx, former.Instance) })
		want := map[string]trade.State{
			"a": trade.InDoubt, "b": trade.Accepted, "c": trade.Pending, "d": trade.Pending,
		}
		wantStates(t, s, "contracts", want)
		mustAddUp(t, s, "contracts")
		t.Logf("%d calls failed, %d values were damaged", f.broken, f.spoilt)
	})
}

// F047, F048, I11: each call fails once while what a killed process left is recovered: its rows stand
// as before, and the next time they are in doubt.
func TestEveryCallOfTheDatabaseFailsOnceWhileAKilledProcessIsRecovered(t *testing.T) {
	onEach(t, func(t *testing.T, backend backend) {
		k := killed(t, backend.open(t), "claims")
		k.close()
		f := &fragile{kept: k, b: &breaker{}}
		must.Do(t, f.try(f.b.tuning()))
		lease := mustLease(t, f.s, "contracts")
		f.each("Recover", func() error {
			n, err := f.s.Recover(t.Context(), lease, at)
			if err == nil && n != 3 {
				t.Errorf("%d doubts", n)
			}
			return err
		})
		want := map[string]trade.State{
			"a": trade.InDoubt, "b": trade.InDoubt, "c": trade.InDoubt,
		}
		wantStates(t, f.s, "contracts", want)
		mustAddUp(t, f.s, "contracts")
		t.Logf("%d calls failed, %d values were damaged", f.broken, f.spoilt)
	})
}

// F047, F049: the same while the ledger is gone through, also where what an entry holds cannot be
// read.
func TestEveryCallOfTheDatabaseFailsOnceWhileAllEntriesAreSwept(t *testing.T) {
	t.Parallel()
	breakable(t, func(t *testing.T, f *fragile) {
		rolled(t, f.s, 60)
		f.read("EachSwept",
			func() error { return f.s.EachSwept(t.Context(), "contracts", func(*trade.Known) {}) })
		mustExec(t, f.s, `UPDATE entry SET flags = '{' WHERE id = 3`)
		says(t, f.s.EachSwept(t.Context(), "contracts", func(*trade.Known) {}), "damaged in column flags")
	})
}
