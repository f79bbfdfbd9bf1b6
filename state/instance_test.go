package state

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/trade"
)

// onMachine names a process of another machine: nobody here can know that it is gone.
func onMachine(name string) trade.Owner {
	return trade.Owner{Instance: newID(), Host: name, Boot: "boot of " + name, PIDSpace: "pid:[1]", PID: 100, Started: "1"}
}

func mustBeat(t testing.TB, s *Store, owner trade.Owner) trade.Crew {
	t.Helper()
	crew, err := s.Beat(t.Context(), trade.Instance{Owner: owner, Version: "1.0.0-test", Command: "run", Started: at})
	if err != nil {
		t.Fatalf("Beat of %s: %v", owner.Host, err)
	}
	return crew
}

func mustLeaseFor(t testing.TB, s *Store, job string, owner trade.Owner) trade.Lease {
	t.Helper()
	lease, err := s.AcquireLease(t.Context(), job, owner)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func mustOffer(t testing.TB, s *Store, lease trade.Lease, shared bool) {
	t.Helper()
	if err := s.Offer(t.Context(), lease, shared, "run-1", "m1"); err != nil {
		t.Fatal(err)
	}
}

// die lets the time of an instance end.
func die(t testing.TB, s *Store, owner trade.Owner) {
	t.Helper()
	mustExec(t, s, `UPDATE instance SET expires = 1 + (SELECT MAX(expires) - 60000 FROM instance) WHERE id = ?`, owner.Instance)
}

func handOf(lease trade.Lease, owner trade.Owner) trade.Lease {
	return trade.Lease{Job: lease.Job, Owner: owner, Epoch: lease.Epoch, Hand: true}
}

// I12: instances know of each other for 30 s on the database's clock, and each has its own share and its own sums.
func TestInstancesKnowWhoLives(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		a, b, c := onMachine("a"), onMachine("b"), onMachine("c")
		if got := mustBeat(t, s, a); got != (trade.Crew{Living: 1}) {
			t.Errorf("the first: %+v", got)
		}
		if got := mustBeat(t, s, b); got != (trade.Crew{Living: 2, Rank: 1}) {
			t.Errorf("the second: %+v", got)
		}
		mustBeat(t, s, c)
		die(t, s, a)
		if got := mustBeat(t, s, c); got != (trade.Crew{Living: 2, Rank: 1}) {
			t.Errorf("after one died: %+v", got)
		}
		all, err := s.Instances(t.Context())
		if err != nil || len(all) != 3 || !all[0].Dead || all[1].Dead || all[2].Dead || all[0].Owner != a || all[2].Version != "1.0.0-test" || all[2].Command != "run" {
			t.Errorf("instances: %+v, %v", all, err)
		}
		if s.d.name == Postgres && (all[0].Part == all[1].Part || all[1].Part == all[2].Part || all[1].Part == 0) {
			t.Errorf("two instances write the same sums: %+v", all)
		}
		if err := s.Depart(t.Context(), b.Instance); err != nil {
			t.Fatal(err)
		}
		if got := mustBeat(t, s, a); got != (trade.Crew{Living: 2}) {
			t.Errorf("one that was taken for dead begins anew: %+v", got)
		}
		gone := Self()
		gone.Instance, gone.PID, gone.Started = newID(), 1, "1"
		mustBeat(t, s, gone)
		if got := mustBeat(t, s, c); got.Living != 2 {
			t.Errorf("a process of this host that is gone counts: %+v", got)
		}
	})
}

// I12: a hand claims only while the one who shares the job holds it, says so, and shares it, and while it is alive itself.
func TestAHandClaimsOnlyWhatIsShared(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, s *Store, leader trade.Lease, hand trade.Owner){
		"no longer shared":   func(t *testing.T, s *Store, l trade.Lease, _ trade.Owner) { mustOffer(t, s, l, false) },
		"the lease is over":  func(t *testing.T, s *Store, l trade.Lease, _ trade.Owner) { expire(t, s, l.Job) },
		"the hand is dead":   func(t *testing.T, s *Store, _ trade.Lease, h trade.Owner) { die(t, s, h) },
		"the hand departed":  func(t *testing.T, s *Store, _ trade.Lease, h trade.Owner) { _ = s.Depart(t.Context(), h.Instance) },
		"the lease is given": func(t *testing.T, s *Store, l trade.Lease, _ trade.Owner) { _ = s.ReleaseLease(t.Context(), l) },
		"another holds it": func(t *testing.T, s *Store, l trade.Lease, _ trade.Owner) {
			expire(t, s, l.Job)
			mustOffer(t, s, mustLeaseFor(t, s, l.Job, onMachine("c")), true)
		},
		"the job is stopped": func(t *testing.T, s *Store, l trade.Lease, _ trade.Owner) {
			if err := s.StopShared(t.Context(), handOf(l, onMachine("d")), trade.Stop{Code: "api_key", All: true}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, s *Store) {
				leader, h := onMachine("a"), onMachine("b")
				mustBeat(t, s, leader)
				mustBeat(t, s, h)
				lease := mustLeaseFor(t, s, "contracts", leader)
				es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"), newEntry("c"))
				hand := handOf(lease, h)
				if res := mustCommit(t, s, hand, trade.Group{At: at, Intents: []trade.Intent{intentOf(es[0])}}); !res.LeaseLost || len(res.Claimed) > 0 {
					t.Fatalf("claimed before it was shared: %+v", res)
				}
				mustOffer(t, s, lease, true)
				in := intentOf(es[0])
				if res := mustCommit(t, s, hand, trade.Group{At: at, Intents: []trade.Intent{in}}); !res.Claimed[in.Attempt.ID] {
					t.Fatalf("not claimed although shared: %+v", res)
				}
				end(t, s, lease, h)
				group := trade.Group{At: at, Intents: []trade.Intent{intentOf(es[1])}, Settle: []trade.Settlement{created(in.Attempt, "id-1")}}
				res := mustCommit(t, s, hand, group)
				if !res.LeaseLost || len(res.Claimed) > 0 || !res.Settled[in.Attempt.ID] {
					t.Errorf("result: %+v", res)
				}
			})
		})
	}
}

// I1, I12: of what a leader finds on the wire, only what dead instances sent is in doubt; what a living one sends is left to it.
func TestOnlyWhatDeadInstancesSentIsInDoubt(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		leader, living, dead := onMachine("a"), onMachine("b"), onMachine("c")
		for _, o := range []trade.Owner{leader, living, dead} {
			mustBeat(t, s, o)
		}
		lease := mustLeaseFor(t, s, "contracts", leader)
		es := mustRecord(t, s, lease, newEntry("leader"), newEntry("living"), newEntry("dead"), newEntry("left"))
		mustOffer(t, s, lease, true)
		own := mustSend(t, s, lease, es[0])
		mustSend(t, s, handOf(lease, living), es[1])
		late := mustSend(t, s, handOf(lease, dead), es[2])
		left := mustSend(t, s, handOf(lease, living), es[3])
		recovers := func(l trade.Lease, want int, flying ...string) {
			t.Helper()
			if n, err := s.Recover(t.Context(), l, at, flying...); n != want || err != nil {
				t.Errorf("Recover: %d, %v; want %d", n, err, want)
			}
		}
		recovers(lease, 0)
		die(t, s, dead)
		recovers(lease, 1)
		want := map[string]trade.State{"leader": trade.Sending, "living": trade.Sending, "dead": trade.InDoubt, "left": trade.Sending}
		if got := statesOf(t, s, "contracts"); !cmp.Equal(got, want) {
			t.Errorf("under the same epoch: %v", got)
		}
		// Another takes the job over. The former leader lives: its rows are its own.
		expire(t, s, "contracts")
		next := mustLeaseFor(t, s, "contracts", onMachine("d"))
		recovers(next, 0)
		// A hand that lost its results closes what it no longer flies, and nothing of others.
		var flying []string
		for _, a := range mustAttempts(t, s, es[1].ID) {
			flying = append(flying, a.ID)
		}
		recovers(handOf(lease, living), 1, flying...)
		if got := statesOf(t, s, "contracts")["left"]; got != trade.InDoubt {
			t.Errorf("what the hand left is %s (attempt %s)", got, left.ID)
		}
		die(t, s, leader)
		recovers(next, 1)
		// The late answers of both count.
		res := mustCommit(t, s, lease, trade.Group{At: at, Settle: []trade.Settlement{created(own, "id-own"), created(late, "id-late")}})
		if !res.LeaseLost || len(res.Settled) != 2 {
			t.Errorf("late answers: %+v", res)
		}
		want = map[string]trade.State{"leader": trade.Accepted, "living": trade.Sending, "dead": trade.Accepted, "left": trade.InDoubt}
		if got := statesOf(t, s, "contracts"); !cmp.Equal(got, want) {
			t.Errorf("in the end: %v", got)
		}
		if uneven, err := s.UnevenSums(t.Context()); len(uneven) > 0 || err != nil {
			t.Errorf("uneven: %v, %v", uneven, err)
		}
	})
}

func mustAttempts(t testing.TB, s *Store, entry int64) []trade.Attempt {
	t.Helper()
	out, err := s.Attempts(t.Context(), entry)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// I3, I9, I12: two Stores, as on two machines, claim the same rows at the same time; each row is claimed once, and the sums of both add up.
func TestTwoMachinesClaimEachRowOnce(t *testing.T) {
	t.Parallel()
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			o := b.open(t)
			stores := []*Store{mustOpen(t, o), mustOpen(t, o)}
			owners := []trade.Owner{onMachine("a"), onMachine("b")}
			for i, s := range stores {
				mustBeat(t, s, owners[i])
			}
			lease := mustLeaseFor(t, stores[0], "contracts", owners[0])
			var fresh []trade.Entry
			for i := range 60 {
				fresh = append(fresh, newEntry(fmt.Sprintf("k%02d", i)))
			}
			es := mustRecord(t, stores[0], lease, fresh...)
			mustOffer(t, stores[0], lease, true)
			leases := []trade.Lease{lease, handOf(lease, owners[1])}
			claimed := make([]int, 2)
			var wg sync.WaitGroup
			for i, s := range stores {
				wg.Go(func() {
					for from := 0; from < len(es); from += 6 {
						group := trade.Group{At: at}
						for _, e := range es[from : from+6] {
							group.Intents = append(group.Intents, intentOf(e))
						}
						res, err := s.Commit(context.Background(), leases[i], group)
						if err != nil || res.LeaseLost {
							t.Errorf("commit: %+v, %v", res, err)
							return
						}
						claimed[i] += len(res.Claimed)
						settle := trade.Group{At: at}
						for _, in := range group.Intents {
							if res.Claimed[in.Attempt.ID] {
								settle.Settle = append(settle.Settle, created(in.Attempt, "id-"+in.Attempt.ID))
							}
						}
						if _, err := s.Commit(context.Background(), leases[i], settle); err != nil {
							t.Errorf("settling: %v", err)
						}
					}
				})
			}
			wg.Wait()
			if claimed[0]+claimed[1] != len(es) {
				t.Errorf("claimed %v of %d rows", claimed, len(es))
			}
			s := stores[0]
			if uneven, err := s.UnevenSums(t.Context()); len(uneven) > 0 || err != nil {
				t.Errorf("uneven: %v, %v", uneven, err)
			}
			if n, err := s.Helped(t.Context(), lease); n != claimed[1] || err != nil {
				t.Errorf("Helped: %d, %v; want %d", n, err, claimed[1])
			}
		})
	}
}

func TestDueIsSharedByTheNumbersOfTheRows(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		mustRecord(t, s, lease, newEntry("a"), newEntry("b"), newEntry("c"), newEntry("d"), newEntry("e"))
		seen := map[string]int{}
		for part := range 3 {
			for after := int64(0); ; {
				found, err := s.DueShare(t.Context(), "contracts", at, after, 1, 3, part)
				if err != nil {
					t.Fatal(err)
				}
				if len(found) == 0 {
					break
				}
				after = found[0].ID
				seen[found[0].Key]++
			}
		}
		if want := map[string]int{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}; !cmp.Equal(seen, want) {
			t.Errorf("shares: %v", seen)
		}
	})
}

// F123: of all instances, one attempt at a time asks for a record of which nobody knows, and none before its time when the platform lacks it.
func TestF123_OneAttemptOfAllInstancesAsksForARecord(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		if _, err := s.Beat(t.Context(), trade.Instance{Owner: lease.Owner, Started: at}); err != nil {
			t.Fatal(err)
		}
		es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"), newEntry("c"), newEntry("d"))
		wallet := trade.PlatformRecord{Kind: "wallets", ID: "w-1"}
		ask := func(e trade.Entry) trade.Intent {
			in := intentOf(e)
			in.Asks = []trade.PlatformRecord{wallet, {Kind: "producers", ID: "p-" + e.Key}}
			return in
		}
		first, second := ask(es[0]), ask(es[1])
		res := mustCommit(t, s, lease, trade.Group{At: at, Intents: []trade.Intent{first, second}})
		if !res.Claimed[first.Attempt.ID] || res.Claimed[second.Attempt.ID] || !res.Asked[second.Attempt.ID] {
			t.Fatalf("in one group: %+v", res)
		}
		if res = mustCommit(t, s, lease, trade.Group{At: at, Intents: []trade.Intent{second}}); !res.Asked[second.Attempt.ID] || len(res.Claimed) > 0 {
			t.Fatalf("while another asks: %+v", res)
		}
		missing := trade.Block{Kind: wallet.Kind, ID: wallet.ID, Message: "message.wallet.not-found", FirstAt: at, NextAt: at.Add(1e12), Tries: 1}
		mustCommit(t, s, lease, trade.Group{At: at, Settle: []trade.Settlement{refused(first.Attempt)}, Block: []trade.Block{missing}})
		if res = mustCommit(t, s, lease, trade.Group{At: at, Intents: []trade.Intent{second}}); !cmp.Equal(res.Lacking[second.Attempt.ID], missing) || len(res.Claimed) > 0 {
			t.Fatalf("after the platform said that it lacks it: %+v", res)
		}
		if res = mustCommit(t, s, lease, trade.Group{At: at.Add(2e12), Intents: []trade.Intent{second}}); !res.Claimed[second.Attempt.ID] {
			t.Fatalf("when its time has come: %+v", res)
		}
		// One whose instance died asks no more, also before anybody has recovered what it left: its job may be one that nobody runs.
		expire(t, s, "contracts")
		mustExec(t, s, `UPDATE instance SET expires = 1`)
		next := mustLeaseAs(t, s, "contracts", newID())
		third := ask(es[2])
		if res = mustCommit(t, s, next, trade.Group{At: at.Add(2e12), Intents: []trade.Intent{third}}); !res.Claimed[third.Attempt.ID] {
			t.Fatalf("after the one who asked died: %+v", res)
		}
		if n, err := s.Recover(t.Context(), next, at); n != 1 || err != nil {
			t.Fatalf("Recover: %d, %v", n, err)
		}
	})
}

// A stop by a hand reaches the leader at its next commit, with whom it concerns, and the first reason stays.
func TestAHandStopsTheJobForAll(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		e := mustRecord(t, s, lease, newEntry("a"))[0]
		mustOffer(t, s, lease, true)
		hand := handOf(lease, onMachine("b"))
		stop := trade.Stop{Code: "api_key", Text: "the key is wrong", All: true}
		if err := s.StopShared(t.Context(), hand, stop); err != nil {
			t.Fatal(err)
		}
		if err := s.StopShared(t.Context(), hand, trade.Stop{Code: "other"}); !errors.Is(err, trade.ErrLeaseLost) {
			t.Errorf("a second stop: %v", err)
		}
		res := mustCommit(t, s, lease, trade.Group{At: at, Intents: []trade.Intent{intentOf(e)}})
		if len(res.Claimed) > 0 || !cmp.Equal(res.Stop, &stop) {
			t.Errorf("the leader's commit: %+v", res)
		}
		mustOffer(t, s, lease, true)
		shares, err := s.Leases(t.Context())
		if err != nil || len(shares) != 1 || shares[0].Shared || !cmp.Equal(shares[0].Stop, &stop) || shares[0].Run != "run-1" || shares[0].MappedWith != "m1" {
			t.Errorf("shares: %+v, %v", shares, err)
		}
		if err := s.ReleaseLease(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		mustCommit(t, s, mustLease(t, s, "contracts"), trade.Group{At: at, Intents: []trade.Intent{intentOf(e)}})
		if got := statesOf(t, s, "contracts")["a"]; got != trade.Sending {
			t.Errorf("the next holder's row is %s", got)
		}
	})
}

// F065: a migration that only adds lets a program that is older go on beside it; one that does not stops it with a message, and its answers count.
func TestF065_AnOlderProgramGoesOnBesideAMigrationThatOnlyAdds(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"))
		folder := migrationsOf(t, s)
		next := len(folder) + 1
		up := func(n int, text string) {
			t.Helper()
			folder[fmt.Sprintf("%05d_more.sql", n)] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + text)}
			if err := s.up(t.Context(), folder, int64(n)); err != nil {
				t.Fatal(err)
			}
		}
		up(next, "CREATE TABLE more (id TEXT);\n")
		a := mustSend(t, s, lease, es[0])
		mustBeat(t, s, Self())
		if err := s.RenewLease(t.Context(), lease); err != nil {
			t.Errorf("beside a migration that only adds: %v", err)
		}
		up(next+1, fmt.Sprintf("UPDATE ledger SET needs = %d;\n", next+1))
		for name, op := range map[string]func() error{
			"RenewLease":   func() error { return s.RenewLease(t.Context(), lease) },
			"AcquireLease": func() error { _, err := s.AcquireLease(t.Context(), "deliveries", Self()); return err },
			"Beat":         func() error { _, err := s.Beat(t.Context(), trade.Instance{Owner: Self()}); return err },
		} {
			t.Log(name)
			wantCode(t, op(), CodeNewer)
		}
		if res := mustCommit(t, s, lease, trade.Group{At: at, Settle: []trade.Settlement{created(a, "id-a")}}); !res.Settled[a.ID] {
			t.Errorf("the answer of what was on the wire: %+v", res)
		}
		if err := s.ReleaseLease(t.Context(), lease); err != nil {
			t.Errorf("giving the lease back: %v", err)
		}
	})
}

// F065: a program of the schema before names indexes of SQLite that this one's queries only know in other words. It is told that it is older: its own queries would fail in the middle of its work.
func TestF065_AProgramWhoseIndexesAreGoneIsToldSo(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, backends[0].open(t))
	for _, back := range []string{`UPDATE ledger SET needs = 5`, `DELETE FROM ` + schemaTable + ` WHERE version_id >= 15`} {
		if err := byHand(s, back); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.up(t.Context(), migrationsOf(t, s), 15); err != nil {
		t.Fatal(err)
	}
	var id []int64
	if err := s.read.SelectContext(t.Context(), &id, `SELECT id FROM entry INDEXED BY entry_stuck WHERE job = 'j' AND state IN ('waiting', 'invalid', 'rejected', 'in_doubt', 'held')`); err == nil {
		t.Fatal("the query of a program of schema 14 works")
	}
	var needs int64
	if err := s.read.GetContext(t.Context(), &needs, `SELECT needs FROM ledger`); err != nil || needs != 15 {
		t.Errorf("the ledger needs %d, %v; want 15", needs, err)
	}
}
