package state

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
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
			wantProven(t, a.s, want)
			mustAgree(t, a.s)
			mustAddUp(t, a.s, "contracts")
		})
	}
}

// Two hosts have sent the same rows after a roll-back that the one did not share. Their journals give one
// ledger in any order, also where a journal is read twice, and in a ledger whose numbers are those of
// other keys.
func TestJournalsOfOneRollBackGiveOneLedgerInAnyOrder(t *testing.T) {
	t.Parallel()
	a, b := twoHosts(t)
	var name string
	must.Do(t, a.s.db.Read.Get(&name, `SELECT current_database()`))
	id := a.s.LedgerID()
	a.close()
	b.close()
	admin := must.Get(sqlx.Open("postgres", pgtest.Database(t)))(t)
	defer admin.Close()
	must.Get(admin.Exec(`CREATE DATABASE other_` + name + ` TEMPLATE ` + name))(t)
	b.o.DSN = strings.Replace(a.o.DSN, name, "other_"+name, 1)
	a.open()
	a.sends("x", 5, 4, func(sent trade.Attempt, e trade.Entry) trade.Settlement {
		if e.Key == "x3" {
			return refused(sent)
		}
		return created(sent, "first-"+e.Key)
	})
	a.close()
	b.open()
	b.sends("x", 5, 4, func(sent trade.Attempt, e trade.Entry) trade.Settlement {
		if e.Key == "x2" {
			return unknown(sent)
		}
		return created(sent, "second-"+e.Key)
	})
	b.close()

	type left struct {
		Key, State, Doubles string
		Generation          int
		Sent                string
	}
	var want []left
	for i, order := range [][]*kept{{a, b}, {b, a}, {a, b, a}} {
		k := keep(t, backends[1].open(t))
		lease := mustLease(t, k.s, "contracts")
		for n := range 3 * i { // the numbers go to other keys
			mustRecord(t, k.s, lease, newEntry([]string{"other", "x4", "x1", "another", "x3", "x0"}[n]))
		}
		must.Do(t, k.s.ReleaseLease(t.Context(), lease))
		must.Do(t, byHand(k.s, `UPDATE ledger SET id = '`+id+`'`))
		k.close()
		for _, host := range order {
			o := host.o
			o.DSN = k.o.DSN
			must.Get(Rebuild(t.Context(), o, nil, true, rebuildAct))(t)
		}
		s := must.Get(openToMend(t.Context(), k.o))(t)
		var got []left
		// What created nothing for certain is not restored into a ledger that lacks the row.
		must.Do(t, s.db.Read.Select(&got, `SELECT e.key, e.state, e.generation,
			CASE WHEN e.flags LIKE '%double_after_decision%' THEN 'twice' ELSE '' END AS doubles,
			COALESCE(string_agg(x.outcome || ' ' || x.answer_id || ' ' || COALESCE(s.certainty, ''), ', '
				ORDER BY x.answer_id), '') AS sent
			FROM entry e LEFT JOIN attempt x ON x.origin = e.id AND x.outcome <> 'not_created'
			LEFT JOIN sent s ON s.attempt = x.attempt
			WHERE e.key LIKE 'x%' GROUP BY e.id ORDER BY e.key`))
		mustAgree(t, s)
		must.Do(t, s.Close())
		if i == 0 {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) != 5 || got[0].Doubles != "twice" ||
			got[0].Generation != 2 {
			t.Errorf("order %d (-first +this):\n%s\n%+v", i, diff, got)
		}
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
	wantProven(t, a.s, want)
	mustAgree(t, a.s)
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
						answer := journal.Answer{State: string(st.State), Cause: st.Cause}
						answer.AttemptImage = journal.AttemptImage{
							Attempt: attempt.ID, Generation: 1, Outcome: string(outcome), AnswerID: st.Attempt.RemoteID,
						}
						kept := journal.Record{Kind: journal.Tx, At: at, Answers: []journal.Answer{answer}}
						must.Do(t, k.s.db.Journal.WriteAnswers(kept))
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
