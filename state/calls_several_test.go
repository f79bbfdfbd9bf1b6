package state

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/trade"
)

// among is a ledger behind a breaker on which three instances of other machines work: one holds the lease of contracts, one helps, one will be dead.
type among struct {
	*fragile
	leader, aide, dead trade.Owner
	lease, hand        trade.Lease
	es                 []trade.Entry
}

func workAmong(t *testing.T, backend backend) *among {
	t.Helper()
	a := &among{fragile: &fragile{kept: &kept{t: t, o: backend.open(t)}, b: &breaker{}}, leader: onMachine("a"), aide: onMachine("b"), dead: onMachine("c")}
	a.o.Version, a.o.Journal = "1.0.0-test", filepath.Join(t.TempDir(), "journal")
	tune := a.b.tuning()
	tune.lease = 24 * time.Hour // nobody dies but by hand
	if err := a.try(tune); err != nil {
		t.Fatal(err)
	}
	for _, o := range []trade.Owner{a.leader, a.aide, a.dead} {
		a.each("Beat", result(func() (trade.Crew, error) {
			return a.s.Beat(t.Context(), trade.Instance{Owner: o, Command: "run", Started: at})
		}))
	}
	a.lease = mustLeaseFor(t, a.s, "contracts", a.leader)
	a.hand = handOf(a.lease, a.aide)
	for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		a.es = append(a.es, mustRecord(t, a.s, a.lease, newEntry(key))...)
	}
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

// F047, F048, F052, I12: each call of the database fails once in all that several instances do on one ledger, and each value that it answers is another one: the operation says so, has stored nothing,
// and succeeds the next time.
func TestEveryCallOfTheDatabaseFailsOnceAmongSeveral(t *testing.T) {
	t.Parallel()
	for _, backend := range backends {
		t.Run(backend.name, func(t *testing.T) {
			t.Parallel()
			a := workAmong(t, backend)
			ctx, s := t.Context(), a.s
			a.each("Offer", func() error { return s.Offer(ctx, a.lease, true, "run-1", "m1") })
			ask := func(e trade.Entry) trade.Intent {
				in := intentOf(e)
				in.Attempt.EntryID = e.ID
				in.Asks = []trade.PlatformRecord{{Kind: "wallets", ID: "w-1"}, {Kind: "producers", ID: "p-" + e.Key}}
				return in
			}
			first, second, third := ask(a.es[0]), ask(a.es[1]), ask(a.es[2])
			if res := a.commits("Commit of a hand that asks", a.hand, trade.Group{Intents: []trade.Intent{first}}); !res.Claimed[first.Attempt.ID] {
				t.Fatalf("it claims %+v", res)
			}
			if res := a.commits("Commit while another asks", a.lease, trade.Group{Intents: []trade.Intent{second}}); !res.Asked[second.Attempt.ID] {
				t.Errorf("it claims %+v", res)
			}
			missing := trade.Block{Kind: "wallets", ID: "w-1", Message: "message.wallet.not-found", FirstAt: at, NextAt: at.Add(time.Hour), Tries: 1}
			a.commits("Commit of what the platform lacks", a.hand, trade.Group{Settle: []trade.Settlement{refused(first.Attempt)}, Block: []trade.Block{missing}})
			if res := a.commits("Commit of one who would ask for it", a.hand, trade.Group{Intents: []trade.Intent{third}}); res.Lacking[third.Attempt.ID].ID != "w-1" {
				t.Errorf("it claims %+v", res)
			}
			a.read("Helped", result(func() (int, error) { return s.Helped(ctx, a.lease) }))

			mustSend(t, s, handOf(a.lease, a.dead), a.es[3])
			own := mustSend(t, s, a.hand, a.es[4])
			mustExec(t, s, `UPDATE instance SET expires = 1 WHERE id = ?`, a.dead.Instance)
			a.recovers("Recover of what a dead instance sent", a.lease, 1)
			a.recovers("Recover of what a hand has left", a.hand, 1)
			mustExec(t, s, `UPDATE instance SET expires = 1 WHERE id = ?`, a.aide.Instance)
			if res := a.commits("Commit of a hand that is dead", a.hand, trade.Group{Settle: []trade.Settlement{created(own, "remote-e")}, Intents: []trade.Intent{intentOf(a.es[5])}}); !res.LeaseLost || !res.Settled[own.ID] {
				t.Errorf("it claims %+v", res)
			}
			mustBeat(t, s, a.aide)

			plain := mustOpen(t, a.o) // not behind the breaker
			pause := trade.JobStatus{Job: "contracts", State: trade.Paused, Since: at, Stop: &trade.Stop{Code: "paused", Text: "maria: the harvest"}}
			a.each("Act: a pause while others send", func() error {
				done, err := s.Act(ctx, []trade.Act{{Job: &trade.JobAct{Job: "contracts", Status: pause}, Audit: anAct("contracts")}})
				if err == nil && !done[0] {
					err = errors.New("it was not done")
				}
				mustExec(t, plain, `UPDATE job_lease SET quiet = 0`) // what was asked of the instances holds for seconds, and is no part of the act
				return err
			})
			a.read("quietly", func() error {
				err := s.quietly(ctx, "contracts")
				mustExec(t, plain, `UPDATE job_lease SET quiet = 0`)
				return err
			})
			a.each("StopShared", func() error { return s.StopShared(ctx, a.hand, trade.Stop{Code: "api_key", All: true}) })
			a.each("Offer of a job that one who helps has stopped", func() error { return s.Offer(ctx, a.lease, true, "run-1", "m1") })
			var leases []trade.Share
			a.read("Leases", func() (err error) {
				leases, err = s.Leases(ctx)
				return err
			})
			if len(leases) != 1 || leases[0].Stop == nil || leases[0].Shared {
				t.Errorf("leases %+v", leases)
			}
			a.each("Recover without anything on the wire", func() error {
				_, err := s.Recover(ctx, a.lease, at)
				return err
			})
			a.each("Depart", func() error { return s.Depart(ctx, a.aide.Instance) })
			want := map[string]trade.State{
				"a": trade.Rejected, "b": trade.Pending, "c": trade.Pending, "d": trade.InDoubt, "e": trade.Accepted, "f": trade.Pending, "g": trade.Pending, "h": trade.Pending,
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
func (a *among) recovers(name string, lease trade.Lease, want int) {
	a.t.Helper()
	a.each(name, func() error {
		n, err := a.s.Recover(a.t.Context(), lease, at)
		if err == nil && n != want {
			a.t.Errorf("%s: %d doubts, want %d", name, n, want)
		}
		return err
	})
}

// F047, F048, I11: each call fails once while what a killed process had noted is taken up: its rows stand as before, and the next time only what was on the wire is in doubt.
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
			want := map[string]trade.State{"unsent": trade.Pending, "on the wire": trade.InDoubt, "created": trade.Accepted, "refused": trade.Pending, "lost": trade.InDoubt}
			if diff := cmp.Diff(want, statesOf(t, f.s, "contracts")); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
			mustAddUp(t, f.s, "contracts")
			t.Logf("%d calls failed, %d values were damaged", f.broken, f.spoilt)
		})
	}
}

// F047, F049: the same while the ledger is gone through, also where what an entry holds cannot be read.
func TestEveryCallOfTheDatabaseFailsOnceWhileTheRollIsCalled(t *testing.T) {
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
			f.read("Roll", result(func() ([]trade.Tally, error) { return f.s.Roll(t.Context(), "contracts", func(*trade.Known) {}) }))
			f.read("Recount", result(func() ([]trade.Tally, error) { return f.s.Recount(t.Context(), "contracts") }))
			mustExec(t, f.s, `UPDATE entry SET amount = 'a lot' WHERE id = 3`)
			_, err := f.s.Roll(t.Context(), "contracts", func(*trade.Known) {})
			says(t, err, "entry 3 is damaged")
			t.Logf("%d calls failed, %d values were damaged", f.broken, f.spoilt)
		})
	}
}
