package state

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// onMachine names a process of another machine: nobody here can know that it is gone.
func onMachine(name string) trade.Owner {
	return trade.Owner{
		Instance: sqldb.NewID(), Host: name, Boot: "boot of " + name, PIDSpace: "pid:[1]", PID: 100,
		Started: "1",
	}
}

func mustBeat(t testing.TB, s *Store, owner trade.Owner) trade.Instances {
	t.Helper()
	self := trade.Instance{Owner: owner, Version: "1.0.0-test", Command: "run", Started: at}
	return must.Get(s.Beat(t.Context(), self))(t)
}

// die lets the time of an instance end.
func die(t testing.TB, s *Store, owner trade.Owner) {
	t.Helper()
	mustExec(t, s, `UPDATE instance SET expires = 1 + (SELECT MAX(expires) - 60000 FROM instance) WHERE id = ?`,
		owner.Instance)
}

// I12: instances know of each other for 30 s on the database's clock, and each has its own sums.
func TestInstancesKnowWhoLives(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		a, b, c := onMachine("a"), onMachine("b"), onMachine("c")
		if got := mustBeat(t, s, a); got != (trade.Instances{Living: 1}) {
			t.Errorf("the first: %+v", got)
		}
		if got := mustBeat(t, s, b); got != (trade.Instances{Living: 2}) {
			t.Errorf("the second: %+v", got)
		}
		mustBeat(t, s, c)
		die(t, s, a)
		if got := mustBeat(t, s, c); got != (trade.Instances{Living: 2}) {
			t.Errorf("after one died: %+v", got)
		}
		all, err := s.Instances(t.Context())
		if err != nil || len(all) != 3 || !all[0].Dead || all[1].Dead || all[2].Dead || all[0].Owner != a ||
			all[2].Version != "1.0.0-test" || all[2].Command != "run" {
			t.Errorf("instances: %+v, %v", all, err)
		}
		must.Do(t, s.Depart(t.Context(), b.Instance))
		if got := mustBeat(t, s, a); got != (trade.Instances{Living: 2}) {
			t.Errorf("one that was taken for dead begins anew: %+v", got)
		}
		gone := sqldb.Self()
		gone.Instance, gone.PID, gone.Started = sqldb.NewID(), 1, "1"
		mustBeat(t, s, gone)
		if got := mustBeat(t, s, c); got.Living != 2 {
			t.Errorf("a process of this host that is gone counts: %+v", got)
		}
	})
}

// I12: only the holder of a job's lease claims its rows; what a former holder still tries is
// refused, and its definite answers count.
func TestI12OnlyTheHolderOfAJobClaimsItsRows(t *testing.T) {
	for name, c := range map[string]struct {
		end    func(t *testing.T, s *Store, holder trade.Lease)
		claims bool
	}{
		"nobody took the lease when it was over": {func(t *testing.T, s *Store,
			l trade.Lease,
		) {
			expire(t, s, l.Job)
		}, true},
		"another holds it": {func(t *testing.T, s *Store, l trade.Lease) {
			expire(t, s, l.Job)
			must.Get(s.AcquireLease(t.Context(), l.Job, onMachine("c")))(t)
		}, false},
		"the same instance has taken it anew": {func(t *testing.T, s *Store, l trade.Lease) {
			expire(t, s, l.Job)
			must.Get(s.AcquireLease(t.Context(), l.Job, l.Owner))(t)
		}, false},
		"it was given back": {func(t *testing.T, s *Store, l trade.Lease) {
			must.Do(t, s.ReleaseLease(t.Context(), l))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, s *Store) {
				holder, other := onMachine("a"), onMachine("b")
				mustBeat(t, s, holder)
				mustBeat(t, s, other)
				lease := must.Get(s.AcquireLease(t.Context(), "contracts", holder))(t)
				es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"))
				in := intentOf(es[0])
				strange := trade.Lease{Job: lease.Job, Owner: other, Epoch: lease.Epoch}
				if res := mustCommit(t, s, strange, trade.Group{At: at, Intents: []trade.Intent{in}}); !res.LeaseLost ||
					len(res.Claimed) > 0 {
					t.Fatalf("an instance that does not hold the job: %+v", res)
				}
				if res := mustCommit(t, s, lease,
					trade.Group{At: at, Intents: []trade.Intent{in}}); !res.Claimed[in.Attempt.ID] {
					t.Fatalf("the holder: %+v", res)
				}
				c.end(t, s, lease)
				next := intentOf(es[1])
				res := mustCommit(t, s, lease,
					trade.Group{
						At: at, Intents: []trade.Intent{next},
						Settle: []trade.Settlement{created(in.Attempt, "id-1")},
					})
				if res.LeaseLost == c.claims || res.Claimed[next.Attempt.ID] != c.claims ||
					!res.Settled[in.Attempt.ID] {
					t.Errorf("result: %+v", res)
				}
			})
		})
	}
}

// I1, I12: of what a holder finds in flight, only what dead instances sent is in doubt; what a
// living one sends is left to it, which says itself when its results were not stored.
func TestOnlyWhatDeadInstancesSentIsInDoubt(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		dead, living, holder := onMachine("c"), onMachine("b"), onMachine("a")
		for _, o := range []trade.Owner{dead, living, holder} {
			mustBeat(t, s, o)
		}
		lease := must.Get(s.AcquireLease(t.Context(), "contracts", dead))(t)
		es := mustRecord(t, s, lease, newEntry("dead"), newEntry("living"), newEntry("holder"), newEntry("again"))
		late := mustSend(t, s, lease, es[0])
		expire(t, s, "contracts")
		second := must.Get(s.AcquireLease(t.Context(), "contracts", living))(t)
		own := mustSend(t, s, second, es[1])
		expire(t, s, "contracts")
		third := must.Get(s.AcquireLease(t.Context(), "contracts", holder))(t)
		mustSend(t, s, third, es[2])
		recovers := func(l trade.Lease, want int) {
			t.Helper()
			if n, err := s.Recover(t.Context(), l, at); n != want || err != nil {
				t.Errorf("Recover: %d, %v; want %d", n, err, want)
			}
		}
		recovers(third, 0)
		die(t, s, dead)
		recovers(third, 1)
		want := map[string]trade.State{
			"dead": trade.InDoubt, "living": trade.Sending, "holder": trade.Sending,
			"again": trade.Pending,
		}
		if got := statesOf(t, s, "contracts"); !cmp.Equal(got, want) {
			t.Errorf("after one died: %v", got)
		}
		// The former holder lives, and knows that its results were not stored. What others sent is
		// none of its business, nor is what it sends later.
		holders, err := s.Leases(t.Context())
		if err != nil || len(holders) != 1 {
			t.Fatalf("holders %+v, %v", holders, err)
		}
		expire(t, s, "contracts")
		mustSend(t, s, must.Get(s.AcquireLease(t.Context(), "contracts", living))(t), es[3])
		if n, err := s.RecoverOwn(t.Context(), living, holders[0], at); n != 1 || err != nil {
			t.Errorf("RecoverOwn: %d, %v", n, err)
		}
		want = map[string]trade.State{
			"dead": trade.InDoubt, "living": trade.InDoubt, "holder": trade.Sending,
			"again": trade.Sending,
		}
		if got := statesOf(t, s, "contracts"); !cmp.Equal(got, want) {
			t.Errorf("after a living one gave up its own: %v", got)
		}
		// The late answers of both count.
		res := mustSettle(t, s, second, created(own, "id-own"), created(late, "id-late"))
		if !res.LeaseLost || len(res.Settled) != 2 {
			t.Errorf("late answers: %+v", res)
		}
		want = map[string]trade.State{
			"dead": trade.Accepted, "living": trade.Accepted, "holder": trade.Sending,
			"again": trade.Sending,
		}
		if got := statesOf(t, s, "contracts"); !cmp.Equal(got, want) {
			t.Errorf("in the end: %v", got)
		}
		mustAddUp(t, s, "contracts")
	})
}

// I3, I9, I12: two Stores, as on two machines, claim the same rows, of which one takes the job over
// while the other goes on: each row is claimed once, and the sums of both add up.
func TestTwoMachinesClaimEachRowOnce(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		o := b.open(t)
		stores := []*Store{mustOpen(t, o), mustOpen(t, o)}
		owners := []trade.Owner{onMachine("a"), onMachine("b")}
		for i, s := range stores {
			mustBeat(t, s, owners[i])
		}
		lease := must.Get(stores[0].AcquireLease(t.Context(), "contracts", owners[0]))(t)
		var fresh []trade.Entry
		for i := range 60 {
			fresh = append(fresh, newEntry(fmt.Sprintf("k%02d", i)))
		}
		es := mustRecord(t, stores[0], lease, fresh...)
		claims := func(s *Store, lease trade.Lease, from int) (n int, lost bool) {
			group, settle := trade.Group{At: at}, trade.Group{At: at}
			for _, e := range es[from : from+6] {
				group.Intents = append(group.Intents, intentOf(e))
			}
			res, err := s.Commit(context.Background(), lease, group)
			if err != nil {
				t.Errorf("commit: %v", err)
			}
			for _, in := range group.Intents {
				if res.Claimed[in.Attempt.ID] {
					settle.Settle = append(settle.Settle, created(in.Attempt, "id-"+in.Attempt.ID))
				}
			}
			if _, err := s.Commit(context.Background(), lease, settle); err != nil {
				t.Errorf("settling: %v", err)
			}
			return len(res.Claimed), res.LeaseLost
		}
		claimed := make([]int, 2)
		half, taken := make(chan struct{}), make(chan trade.Lease)
		var wg sync.WaitGroup
		wg.Go(func() {
			for from := 0; from < len(es); from += 6 {
				if from == 30 {
					close(half)
				}
				n, _ := claims(stores[0], lease, from)
				claimed[0] += n
			}
		})
		wg.Go(func() {
			next, held := <-taken
			for from := 0; held && from < len(es); from += 6 {
				n, lost := claims(stores[1], next, from)
				if claimed[1] += n; lost {
					t.Error("the new holder lost the job")
				}
			}
		})
		<-half
		expire(t, stores[1], "contracts")
		next, err := stores[1].AcquireLease(t.Context(), "contracts", owners[1])
		if err != nil {
			t.Error(err)
		} else {
			taken <- next
		}
		close(taken)
		wg.Wait()
		if n, lost := claims(stores[0], lease, 0); n != 0 || !lost {
			t.Errorf("the former holder claims %d rows", n)
		}
		if claimed[0] < 30 || claimed[0]+claimed[1] != len(es) {
			t.Errorf("claimed %v of %d rows", claimed, len(es))
		}
		mustAddUp(t, stores[0], "contracts")
	})
}

// F065: a migration that only adds lets a program that is older go on beside it; one that does not
// stops it with a message, and its answers count.
func TestF065AnOlderProgramGoesOnBesideAMigrationThatOnlyAdds(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"))
		folder := migrations(t)
		next := len(folder) + 1
		up := func(n int, text string) {
			t.Helper()
			folder[fmt.Sprintf("migrations/%05d_more.sql", n)] = &fstest.MapFile{Data: []byte(text)}
			must.Do(t, s.db.Up(t.Context(), folder, int64(n)))
		}
		up(next, "CREATE TABLE more (id TEXT);\n")
		a := mustSend(t, s, lease, es[0])
		mustBeat(t, s, sqldb.Self())
		if err := s.RenewLease(t.Context(), lease); err != nil {
			t.Errorf("beside a migration that only adds: %v", err)
		}
		up(next+1, fmt.Sprintf("UPDATE ledger SET needs = %d;\n", next+1))
		for name, op := range map[string]func() error{
			"RenewLease": func() error { return s.RenewLease(t.Context(), lease) },
			"AcquireLease": func() error {
				_, err := s.AcquireLease(t.Context(), "deliveries", sqldb.Self())
				return err
			},
			"Beat": func() error {
				_, err := s.Beat(t.Context(), trade.Instance{Owner: sqldb.Self()})
				return err
			},
		} {
			t.Log(name)
			wantCode(t, op(), sqldb.CodeNewer)
		}
		if res := mustSettle(t, s, lease, created(a, "id-a")); !res.Settled[a.ID] {
			t.Errorf("the answer of what was in flight: %+v", res)
		}
		if err := s.ReleaseLease(t.Context(), lease); err != nil {
			t.Errorf("giving the lease back: %v", err)
		}
	})
}
