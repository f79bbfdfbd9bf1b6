package state

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Of two images of a row the one with the higher version is the newer one. So the order in which two
// hosts replay their journals decides nothing: here one sent the row, and on the other a person has
// taken it out.
func TestTheOrderInWhichHostsRebuildDecidesNothing(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"the host that sent it", "the host of the person"} {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			a, b := twoHosts(t)
			doubts := a.doubts(3)
			b.order(dismissal(doubts[0]))
			b.order(adoption(doubts[1], "remote-x"))
			want := provenOf(t, a.s)
			lost(t, a, b)
			hosts := []*kept{a, b}
			if first == "the host of the person" {
				slices.Reverse(hosts)
			}
			remade(t, hosts...)
			a.open()
			if diff := cmp.Diff(want, provenOf(t, a.s)); diff != "" {
				t.Errorf("rebuilt (-want +got):\n%s", diff)
			}
			if odd := must.Get(a.s.Unrecorded(t.Context()))(t); len(odd) > 0 {
				t.Errorf("rows and records contradict each other: %v", odd)
			}
			mustAddUp(t, a.s, "contracts")
		})
	}
}

// A host that has only the former name of a job in its journal, and rows of today's name, rebuilds a
// ledger in which another host's journal has moved it.
func TestAHostRebuildsRowsOfAJobThatAnotherHostHasMoved(t *testing.T) {
	t.Parallel()
	a, b := twoHosts(t)
	sentJob(t, b.s, "old", "1", "2", "3", "4")
	mustMove(t, a.s, "old", "contracts")
	b.send("later", 3)
	lease := mustLease(t, b.s, "old") // the name is used again
	again := mustSend(t, b.s, lease, mustRecord(t, b.s, lease, newEntry("77"))[0])
	mustSettle(t, b.s, lease, created(again, "remote-77"))
	must.Do(t, b.s.ReleaseLease(t.Context(), lease))
	want := provenOf(t, a.s)
	lost(t, a, b)
	remade(t, a, b)
	a.open()
	if diff := cmp.Diff(want, provenOf(t, a.s)); diff != "" {
		t.Errorf("rebuilt (-want +got):\n%s", diff)
	}
	if odd := must.Get(a.s.Unrecorded(t.Context()))(t); len(odd) > 0 {
		t.Errorf("rows and records contradict each other: %v", odd)
	}
	mustAddUp(t, a.s, "contracts")
	mustAddUp(t, a.s, "old")
}

// What only the journal has of answers, because the ledger was away, does what it does when it is
// stored: also late, where a person has decided meanwhile.
func TestAnAnswerThatOnlyTheJournalHasDoesWhatItDoesInTheLedger(t *testing.T) {
	type left struct {
		State      trade.State
		RemoteID   string
		Generation int
		Flags      trade.Flags
		Records    []string
	}
	for name, decide := range map[string]func(k *kept, e trade.Entry){
		"in doubt":  func(*kept, trade.Entry) {},
		"taken out": func(k *kept, e trade.Entry) { k.order(dismissal(e)) },
		"adopted":   func(k *kept, e trade.Entry) { k.order(adoption(e, "")) },
		"again":     func(k *kept, e trade.Entry) { k.order(resending(e)) },
		"sent again": func(k *kept, e trade.Entry) {
			k.order(resending(e))
			lease := mustLease(k.t, k.s, "contracts")
			mustSettle(k.t, k.s, lease, unknown(mustSend(k.t, k.s, lease, mustEntry(k.t, k.s, "contracts", e.Key))))
			must.Do(k.t, k.s.ReleaseLease(k.t.Context(), lease))
		},
	} {
		for _, outcome := range []trade.Outcome{trade.OutcomeCreated, trade.OutcomeNotCreated} {
			t.Run(name+", "+string(outcome), func(t *testing.T) {
				t.Parallel()
				var got [2]left
				for i, stored := range []bool{true, false} {
					k := keep(t, backends[0].open(t))
					e := k.doubts(1)[0]
					attempt := must.Get(k.s.Attempts(t.Context(), e.ID))(t)[0]
					decide(k, e)
					st := refused(attempt)
					if outcome == trade.OutcomeCreated {
						st = created(attempt, "remote-1")
					}
					if stored {
						mustSettle(t, k.s, mustLease(t, k.s, "contracts"), st)
					} else {
						row := journal.Image{State: string(st.State), Cause: st.Cause, Attempts: []journal.Attempt{{
							ID: attempt.ID, Generation: 1, Outcome: string(outcome), RemoteID: st.Attempt.RemoteID,
						}}}
						kept := journal.Record{Kind: journal.Tx, At: at, Rows: []journal.Image{row}}
						must.Do(t, k.s.db.Journal.Keep(kept))
						k.close()
						k.open()
						if k.s.Opening() != (Opening{Settled: 1}) {
							t.Errorf("opening %+v", k.s.Opening())
						}
					}
					e = mustEntry(t, k.s, "contracts", e.Key)
					got[i] = left{State: e.State, RemoteID: e.RemoteID, Generation: e.Generation, Flags: e.Flags}
					must.Do(t, k.s.db.Read.Select(&got[i].Records,
						`SELECT generation || ' ' || certainty || ' ' || remote_id FROM sent ORDER BY generation`))
					mustAddUp(t, k.s, "contracts")
				}
				if diff := cmp.Diff(got[0], got[1]); diff != "" {
					t.Errorf("(-stored +from the journal):\n%s", diff)
				}
			})
		}
	}
}

// A replay compares versions, so whatever changes a row raises its version.
func TestEachChangeOfARowRaisesItsVersion(t *testing.T) {
	k := sqliteKept(t)
	must.Do(t, byHand(k.s, `CREATE TRIGGER version_rises AFTER UPDATE ON entry WHEN NEW.version <= OLD.version BEGIN
		SELECT RAISE(ABORT, 'the version did not rise'); END`))
	k.live(3, 80, func(int) {})
	mustMove(t, k.s, "contracts", "other")
	mustRetain(t, k.s, keepAll, later)
	if k.s.db.D.Name != sqldb.SQLite {
		t.Error("it is for SQLite")
	}
}
