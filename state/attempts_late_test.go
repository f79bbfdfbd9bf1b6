package state

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

const testBoot = "a boot of the tests"

// doubt sends an entry and loses the answer.
func doubt(t *testing.T, s *Store, lease trade.Lease, e trade.Entry) trade.Attempt {
	t.Helper()
	a := mustSend(t, s, lease, e)
	mustSettle(t, s, lease, unknown(a))
	return a
}

// again is the order to send an entry again, at a time of the clock of the boot.
func again(e trade.Entry, ticks time.Duration) trade.Act {
	a := resending(e)
	a.Resend = &trade.Resend{Boot: testBoot, Ticks: ticks, Least: 15 * time.Minute}
	return a
}

// resent is an entry whose first sending is in doubt and that a person ordered to be sent again.
func resent(t *testing.T, s *Store, lease trade.Lease, key string) (first trade.Attempt, e trade.Entry) {
	t.Helper()
	first = doubt(t, s, lease, mustRecord(t, s, lease, newEntry(key))[0])
	mustWatch(t, s, time.Hour, 1)
	mustAct(t, s, again(mustEntry(t, s, "contracts", key),
		2*time.Hour))
	return first, mustEntry(t, s, "contracts", key)
}

func mustWatch(t *testing.T, s *Store, ticks time.Duration, want int) {
	t.Helper()
	if n, err := s.Watch(t.Context(), "contracts", testBoot, ticks); err != nil || n != want {
		t.Fatalf("%d attempts are new in the quarantine, %v; want %d", n, err, want)
	}
}

func TestALateCreatedBeforeTheSecondSendingAcceptsTheRowWithItsID(t *testing.T) {
	for i, state := range []trade.State{trade.Pending, trade.Waiting, trade.Invalid, trade.Held, trade.Dismissed} {
		t.Run(string(state), func(t *testing.T) {
			both(t, func(t *testing.T, s *Store) {
				lease := mustLease(t, s, "contracts")
				first, e := resent(t, s, lease, "a")
				if from := e.State; state != from {
					e.State = state
					mustUpdate(t, s, lease, from, e)
				}
				remote := sqldb.NewID()
				r := mustSettle(t, s, lease, created(first, remote))
				got := mustEntry(t, s, "contracts", "a")
				if len(r.Alarms) != 1 || r.Alarms[0].Kind != trade.LateBeforeResend || got.State != trade.Accepted ||
					got.RemoteID != remote || len(got.Flags) > 0 {
					t.Errorf("%d: alarms %+v, entry %+v", i, r.Alarms, got)
				}
				mustAddUp(t, s, "contracts")
			})
		})
	}
}

func TestALateCreatedAfterTheSecondSendingIsNeverHidden(t *testing.T) {
	for _, second := range []string{"in flight", "unknown", "created", "refused before", "refused after"} {
		t.Run(second, func(t *testing.T) {
			both(t, func(t *testing.T, s *Store) {
				lease := mustLease(t, s, "contracts")
				first, e := resent(t, s, lease, "a")
				a, other, remote := mustSend(t, s, lease, e), sqldb.NewID(), sqldb.NewID()
				settle := func(st trade.Settlement) trade.GroupResult {
					return mustSettle(t, s, lease, st)
				}
				switch second {
				case "unknown":
					settle(unknown(a))
				case "created":
					settle(created(a, other))
				case "refused before":
					settle(refused(a))
				}
				r := settle(created(first, remote))
				want := map[string]string{
					"in flight": "sending  [double_after_decision]", "unknown": "in_doubt  [double_after_decision]",
					"created":        "accepted " + other + " [double_after_decision]",
					"refused before": "accepted " + remote + " []",
					"refused after":  "sending  [double_after_decision]",
				}[second]
				got := func() string {
					e := mustEntry(t, s, "contracts", "a")
					return fmt.Sprintf("%s %s %v", e.State, e.RemoteID, e.Flags)
				}
				if got() != want || len(r.Alarms) != 1 || r.Alarms[0].RemoteID != remote {
					t.Errorf("%s, want %s; alarms %+v", got(), want, r.Alarms)
				}
				counted := second == "created" || second == "unknown" // people find it among what changed
				if n, _, err := s.ChangedCounts(t.Context()); counted && n != 1 || err != nil {
					t.Errorf("%d rows changed; %v", n, err)
				}
				if second == "created" && r.Alarms[0].Other != other {
					t.Errorf("the other id is not told: %+v", r.Alarms[0])
				}
				if second == "refused after" {
					settle(refused(a))
					if want := "accepted " + remote + " []"; got() != want {
						t.Errorf("%s, want %s", got(), want)
					}
				}
				mustAgree(t, s)
				mustAddUp(t, s, "contracts")
				mustVerify(t, s, 0)
			})
		})
	}
}

// The flag of a double goes only when one record is left that may exist.
func TestADoubleStaysShownWhileTwoRecordsMayExist(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		first, e := resent(t, s, lease, "a")
		second := mustSend(t, s, lease, e)
		mustSettle(t, s, lease, unknown(second))
		mustWatch(t, s, 3*time.Hour, 1)
		mustAct(t, s, again(mustEntry(t, s, "contracts", "a"), 4*time.Hour))
		third := mustSend(t, s, lease, mustEntry(t, s, "contracts", "a"))
		mustSettle(t, s, lease, created(third, "the third"))
		mustSettle(t, s, lease, created(first, "the first"))
		for range 2 {
			got := mustEntry(t, s, "contracts", "a")
			if got.State != trade.Accepted || got.RemoteID != "the third" || !got.Flags.Has(trade.DoubleAfterDecision) {
				t.Errorf("%s %s %v", got.State, got.RemoteID, got.Flags)
			}
			mustSettle(t, s, lease, refused(second))
		}
	})
}

// No id is that of two records: not if a person gave it to a later sending than the one that made it,
// nor if two sendings got it.
func TestOneIDIsThatOfOneRecord(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		adopt := func(key, id string) {
			t.Helper()
			act := adoption(mustEntry(t, s, "contracts", key), id)
			mustAct(t, s, act)
		}
		for key, c := range map[string]struct {
			do   func(id string, first, second trade.Attempt)
			want []string // the records that count
			odd  trade.Flags
		}{
			"stated, then made by the first": {func(id string, first, _ trade.Attempt) {
				adopt("stated, then made by the first", id)
				mustSettle(t, s, lease, created(first, id))
			}, []string{"1 made true", "2 maybe false"}, nil},
			"made by both": {func(id string, first, second trade.Attempt) {
				mustSettle(t, s, lease, created(first, id))
				mustSettle(t, s, lease, created(second, id))
			}, []string{"1 made true"}, trade.Flags{trade.DoubleAfterDecision}},
			"made by the first, then stated": {func(id string, first, _ trade.Attempt) {
				mustSettle(t, s, lease, created(first, id))
				adopt("made by the first, then stated", id)
			}, []string{"1 made true", "2 maybe false"}, trade.Flags{trade.DoubleAfterDecision}},
		} {
			first, e := resent(t, s, lease, key)
			second, id := mustSend(t, s, lease, e), sqldb.NewID()
			mustSettle(t, s, lease, unknown(second))
			c.do(id, first, second)
			got := mustEntry(t, s, "contracts", key)
			var records []string
			found, _, err := s.Records(t.Context(), trade.RecordQuery{
				Job: "contracts", Kind: trade.OrderCommitments, Rows: []int64{e.ID},
			})
			must.Do(t, err)
			for _, r := range found {
				if r.Row.ID == e.ID {
					records = append(records, fmt.Sprint(r.Generation, " ", r.Certainty, " ", r.RemoteID == id))
				}
			}
			if diff := cmp.Diff(c.want, records); diff != "" || got.State != trade.Accepted || got.RemoteID != id ||
				!slices.Equal(got.Flags, c.odd) {
				t.Errorf("%s: %s %q %v, records (-want +got):\n%s", key, got.State, got.RemoteID, got.Flags, diff)
			}
		}
		mustAgree(t, s)
	})
}

func TestF168ALateAnswerThatContradictsTheIDOfAPersonIsNeverHidden(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		given := map[string]string{"same": sqldb.NewID(), "other": sqldb.NewID(), "refused": sqldb.NewID(), "no id": ""}
		attempts := map[string]trade.Attempt{}
		for key, id := range given {
			attempts[key] = doubt(t, s, lease, mustRecord(t, s, lease, newEntry(key))[0])
			e := mustEntry(t, s, "contracts", key)
			e.State, e.RemoteID, e.Cause, e.Error = trade.Accepted, id, "", nil
			mustAct(t, s, trade.Act{Update: &trade.Update{From: trade.InDoubt, Entry: e}, Audit: anAct(key)})
		}
		if e := mustEntry(t, s, "contracts", "no id"); e.RecordedBy == 0 {
			t.Errorf("accepted without an id and without the act that did it: %+v", e)
		}
		answers := map[string]trade.Settlement{
			"same": created(attempts["same"], given["same"]), "other": created(attempts["other"], "another"),
			"refused": refused(attempts["refused"]), "no id": created(attempts["no id"], "its id"),
		}
		for key, want := range map[string]string{
			"same": given["same"] + " [] 0", "other": given["other"] + " [contradicted] 1",
			"refused": given["refused"] + " [contradicted] 1", "no id": "its id [] 0",
		} {
			r := mustSettle(t, s, lease, answers[key])
			e := mustEntry(t, s, "contracts", key)
			if got := fmt.Sprintf("%s %v %d", e.RemoteID, e.Flags, len(r.Alarms)); got != want ||
				e.State != trade.Accepted {
				t.Errorf("%s: %s, want %s", key, got, want)
			}
		}
		// the answered id is that of no record, and another row must not get it
		for id, key := range map[string]string{"another": "other", "its id": "no id", given["other"]: "other"} {
			holder, err := s.Holder(t.Context(), trade.OrderCommitments, id, 0)
			if err != nil || holder.Key != key {
				t.Errorf("%s: held by %+v, %v", id, holder, err)
			}
		}
		if ours := must.Get(s.Ours(t.Context(), []string{"another", "foreign"}))(t); len(ours) != 1 ||
			ours["another"] == "" {
			t.Errorf("ours: %v", ours)
		}
		mustAddUp(t, s, "contracts")
	})
}

func TestTheProofThatNoByteLeftEndsADoubt(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		a := mustSend(t, s, lease, mustRecord(t, s, lease, newEntry("a"))[0])
		// as another process says that takes the job over
		mustSettle(t, s, lease, unknown(a))
		st := refused(a)
		st.Attempt.Outcome, st.State, st.Cause, st.Kind, st.Counts = trade.OutcomeNotSent, trade.Pending,
			"", "", false
		mustSettle(t, s, lease, st)
		if e := mustEntry(t, s, "contracts", "a"); e.State != trade.Pending || e.Attempts != 0 {
			t.Errorf("%+v", e)
		}
	})
}
