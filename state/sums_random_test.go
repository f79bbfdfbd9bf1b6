package state

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// TestI9TheSumsAddUpWhateverHappens lets random pages, groups, recoveries and wakings happen and
// compares with what the ledger must then say.
func TestI9TheSumsAddUpWhateverHappens(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		if s.db.D.Name == sqldb.SQLite { // without the flushes of a file, which this test is not about
			memory := must.Get(OpenMemory(t.Context()))(t)
			t.Cleanup(func() { _ = memory.Close() })
			s = memory
		}
		run := 0
		rapid.Check(t, func(rt *rapid.T) {
			run++
			model, open := map[string]modelEntry{}, map[string]trade.Attempt{} // by key; what may still be settled
			job, ids := fmt.Sprintf("job-%d", run), 0
			var lease trade.Lease
			var passed time.Duration
			tick := func() time.Time { passed += time.Minute; return at.Add(passed) }
			rows := func(t *rapid.T, states ...trade.State) []trade.Entry {
				return rowsOf(t, s, trade.RowQuery{Jobs: []string{job}, States: states})
			}
			some := func(t *rapid.T, states ...trade.State) []trade.Entry {
				found := rows(t, states...)
				if len(found) == 0 {
					return nil
				}
				return rapid.SliceOfNDistinct(rapid.SampledFrom(found), 1, min(3, len(found)),
					func(e trade.Entry) int64 { return e.ID }).Draw(t, "some")
			}
			// adoptJournal kills the owner, as the end of its time does, and recovers.
			takeOver := func(t *rapid.T) {
				must.Do(t, byHand(s, `UPDATE job_lease SET expires = 1 WHERE job = ?`, job))
				owner := sqldb.Self()
				owner.Instance = sqldb.NewID()
				lease = must.Get(s.AcquireLease(t.Context(), job, owner))(t)
				n := must.Get(s.Recover(t.Context(), lease, tick()))(t)
				want := 0
				for key, e := range model {
					if e.state == trade.Sending {
						model[key] = modelEntry{trade.InDoubt, e.quantity}
						want++
					}
				}
				if n != want {
					t.Fatalf("recovered %d, want %d", n, want)
				}
			}
			takeOver(rt)
			rt.Repeat(map[string]func(*rapid.T){
				"take over": takeOver,
				"record": func(t *rapid.T) {
					var page trade.Page
					for range rapid.IntRange(1, 4).Draw(t, "rows") {
						ids++
						e := newEntry(fmt.Sprint(rapid.IntRange(1, 30).Draw(t, "key")))
						// The jobs of the other histories have the same keys.
						e.Sends = trade.Kind("what " + job + " sends")
						e.Quantity = anyQuantity(t)
						e.State = rapid.SampledFrom(trade.Moves[""]).Draw(t, "state")
						page.New = append(page.New, e)
					}
					lost := must.Get(s.Record(t.Context(), lease, page))(t)
					wantLost := 0
					for _, e := range page.New {
						if _, ok := model[e.Key]; ok {
							wantLost++
							continue
						}
						model[e.Key] = modelEntry{e.State, e.Quantity}
					}
					if lost != wantLost {
						t.Fatalf("lost %d, want %d", lost, wantLost)
					}
				},
				"update": func(t *rapid.T) {
					var updates []trade.Update
					for _, e := range some(t) {
						from := e.State
						to := rapid.SampledFrom(trade.States).Draw(t, "to")
						if !trade.CanMove(from, to) || from != to &&
							(from == trade.Sending || to == trade.Sending || to == trade.Accepted) {
							to = from
						}
						e.State, e.Quantity = to, anyQuantity(t)
						if rapid.Bool().Draw(t, "due by time") && (to == trade.Waiting || to == trade.Rejected) {
							e.NextAttemptAt = at.Add(passed)
						}
						if rapid.IntRange(0, 4).Draw(t, "stale") == 0 {
							e.Version--
						} else {
							model[e.Key] = modelEntry{to, e.Quantity}
						}
						updates = append(updates, trade.Update{From: from, Entry: e})
					}
					must.Get(s.Record(t.Context(), lease, trade.Page{Updates: updates}))(t)
				},
				"send": func(t *rapid.T) {
					g := trade.Group{At: tick()}
					for _, e := range some(t, trade.Pending) {
						g.Intents = append(g.Intents, intentOf(e))
					}
					r := must.Get(s.Commit(t.Context(), lease, g))(t)
					for _, in := range g.Intents {
						spent := false
						attempts := must.Get(s.Attempts(t.Context(), in.Entry.ID))(t)
						for _, a := range attempts {
							spent = spent || a.ID != in.Attempt.ID &&
								(a.Outcome == trade.OutcomeOpen || a.Outcome == trade.OutcomeUnknown ||
									a.Outcome == trade.OutcomeCreated)
						}
						if r.Claimed[in.Attempt.ID] == spent {
							t.Fatalf("claimed %v, but an earlier attempt may have created a record: %v",
								r.Claimed[in.Attempt.ID], spent)
						}
						if !spent {
							model[in.Entry.Key] = modelEntry{trade.Sending, in.Entry.Quantity}
							open[in.Entry.Key] = in.Attempt
						}
					}
				},
				"settle": func(t *rapid.T) {
					for key, a := range open {
						if rapid.IntRange(0, 2).Draw(t, "lands") == 0 {
							continue
						}
						var st trade.Settlement
						switch rapid.IntRange(0, 3).Draw(t, "answer") {
						case 0:
							ids++
							st = created(a, fmt.Sprintf("%s-remote-%d", job, ids))
						case 1:
							st = refused(a)
						case 2:
							st = unknown(a)
						case 3:
							st = refused(a)
							st.Attempt.Outcome, st.State, st.Counts = trade.OutcomeNotSent, trade.Pending, false
						}
						before := model[key]
						r := must.Get(s.Commit(t.Context(), lease,
							trade.Group{At: tick(), Settle: []trade.Settlement{st}}))(t)
						if !r.Settled[a.ID] {
							continue // not sent, said of one that is unknown
						}
						late := st.State == trade.Accepted // whatever was decided
						if before.state == trade.Sending || before.state == trade.InDoubt || late {
							model[key] = modelEntry{st.State, before.quantity}
						}
						if st.Attempt.Outcome != trade.OutcomeUnknown {
							delete(open, key)
						}
					}
				},
				"wake": func(t *rapid.T) {
					now := tick()
					for _, e := range rows(t) {
						if (e.State == trade.Waiting || e.State == trade.Rejected) && !e.NextAttemptAt.IsZero() &&
							!e.NextAttemptAt.After(now) {
							model[e.Key] = modelEntry{trade.Pending, e.Quantity}
						}
					}
					must.Get(s.Wake(t.Context(), lease, now))(t)
				},
				"": func(t *rapid.T) {
					entries := rows(t)
					if len(entries) != len(model) {
						t.Fatalf("%d entries, want %d", len(entries), len(model))
					}
					for _, e := range entries {
						want := model[e.Key]
						if e.State != want.state || !e.Quantity.Amount.Equal(want.quantity.Amount) ||
							e.Quantity.Unit != want.quantity.Unit {
							t.Fatalf("%s is %s with %v, want %s with %v", e.Key, e.State, e.Quantity, want.state,
								want.quantity)
						}
					}
					if diff := cmp.Diff(addedUp(entries), must.Get(s.Counts(t.Context(), job))(t)); diff != "" {
						t.Fatalf("sums (-of the entries +counted):\n%s", diff)
					}
				},
			})
		})
	})
}

type modelEntry struct {
	state    trade.State
	quantity trade.Quantity
}
