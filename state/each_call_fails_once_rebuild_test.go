package state

import (
	"maps"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// richer is a scene whose ledger is an older copy: its journal knows of everything that a
// rebuilding can find. It gives what the newer ledger proves.
func richer(s *scene) map[string]proven {
	s.t.Helper()
	ctx := s.t.Context()
	s.open()
	doubts := s.doubts(4)
	old, held := s.retyped()
	lease := mustLease(s.t, s.s, "contracts")
	es := mustRecord(s.t, s.s, lease, newEntry("edited"), newEntry("sent"), newEntry("refused"), newEntry("pending"))
	sent := mustSend(s.t, s.s, lease, es[1])
	must.Do(s.t, s.s.ReleaseLease(ctx, lease))
	s.close()
	copyFile(s.t, s.o.DSN, s.o.DSN+".older")
	s.open()
	s.order(resending(doubts[0]))
	s.order(dismissal(doubts[1]))
	s.order(adoption(doubts[2], ""))
	s.order(takeover(old, held))
	lease = mustLease(s.t, s.s, "contracts")
	edited := mustEntry(s.t, s.s, "contracts", "edited")
	edited.SourceHash, edited.Payload = trade.HashOf("another"), []byte(`{"another":1}`)
	edited.PayloadHash = trade.PayloadHash(edited.Target, edited.Payload)
	must.Get(s.s.Record(ctx, lease,
		trade.Page{Updates: []trade.Update{{From: trade.Pending, Entry: edited}}}))(s.t)
	g := trade.Group{Settle: []trade.Settlement{
		created(sent, "remote-sent"),
		created(mustSend(s.t, s.s, lease, mustEntry(s.t, s.s, "contracts", "edited")), "remote-edited"),
	}}
	g.Settle = append(g.Settle, refused(mustSend(s.t, s.s, lease, es[2])),
		unknown(mustSend(s.t, s.s, lease, mustEntry(s.t, s.s, "contracts", doubts[0].Key))))
	mustCommit(s.t, s.s, lease, g)
	must.Do(s.t, s.s.ReleaseLease(ctx, lease))
	s.send("new", 3)
	saw := must.Get(s.s.JobStatus(ctx, "contracts"))(s.t)
	s.order(trade.Act{Audit: anAct("contracts"), Job: &trade.JobAct{
		Job: "contracts", Saw: &saw, Status: trade.JobStatus{
			Job: "contracts", State: trade.Paused, Since: at,
			Stop: &trade.Stop{Code: "paused", Why: trade.Say("stop.paused.by", "who", "maria", "why", "the harvest")},
		},
	}})
	want := provenOf(s.t, s.s)
	s.close()
	removeLedger(s.t, s.o.DSN)
	must.Do(s.t, os.Rename(s.o.DSN+".older", s.o.DSN))
	return want
}

// between is a scene whose journal is one group ahead: an answer, a refusal and an intent.
func between(s *scene) {
	s.t.Helper()
	s.open()
	lease := mustLease(s.t, s.s, "contracts")
	es := mustRecord(s.t, s.s, lease, newEntry("a"), newEntry("b"), newEntry("c"), newEntry("d"))
	first, second := mustSend(s.t, s.s, lease, es[0]), mustSend(s.t, s.s, lease, es[1])
	s.endBetween(lease, trade.Group{
		At: at, Settle: []trade.Settlement{created(first, "remote-a"), refused(second)},
		Intents: []trade.Intent{intentOf(es[2])},
	})
}

// proves opens the ledger and checks what it proves, and that it has lost nothing of it.
func (s *scene) proves(want map[string]proven, states map[string]trade.State) func() {
	return s.stands(func() {
		if diff := cmp.Diff(want, provenOf(s.t, s.s)); want != nil && diff != "" {
			s.t.Errorf("what the ledger proves (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(states, statesOf(s.t, s.s, "contracts")); states != nil && diff != "" {
			s.t.Errorf("states (-want +got):\n%s", diff)
		}
	})
}

// every lets the scene take, of calls or values, each, or in the short form only each so-manieth.
func (s *scene) every(short int) {
	if !long {
		s.step = short
	}
}

// F047, F048, F054, F058: each call of the database fails once while an older copy is rebuilt that
// lacks answers, refusals, second sendings, decisions, a given id, new rows and a pause, and while
// the one group is settled that a crash has left in the journal: the next try gets there, and the
// ledger proves what the newer one did.
func TestEveryCallOfTheDatabaseFailsOnceWhileTheJournalIsTakenUp(t *testing.T) {
	t.Parallel()
	rebuilds := func(s *scene) func(sqldb.Tuning) error {
		return func(tune sqldb.Tuning) error {
			_, err := rebuild(s.t.Context(), s.o, tune, nil, true, rebuildAct)
			return err
		}
	}
	t.Run("an older copy", func(t *testing.T) {
		t.Parallel()
		var want map[string]proven
		s := newScene(t, func(s *scene) { want = richer(s) })
		s.every(5)
		s.each(rebuilds(s), s.proves(want, nil))
	})
	t.Run("none at all", func(t *testing.T) {
		t.Parallel()
		var want map[string]proven
		s := newScene(t, func(s *scene) { want = richer(s); removeLedger(t, s.o.DSN) })
		s.every(11)
		s.each(rebuilds(s), s.proves(want, nil))
	})
	t.Run("a group ahead", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, between)
		s.every(2)
		s.each(s.opens(s.o), s.proves(nil,
			map[string]trade.State{"a": trade.Accepted, "b": trade.Rejected, "c": trade.InDoubt, "d": trade.Pending}))
	})
}

// F049: the same with every value that the database answers while a ledger is opened, copied,
// repaired or rebuilt: it ends, and when the value is whole again the next try gets there.
func TestAnyValueThatIsDamagedWhileALedgerIsOpenedOrRepaired(t *testing.T) {
	t.Parallel()
	all := maps.Clone(situations)
	all["an older copy rebuilt"] = situation{func(s *scene) { richer(s) }, all["one rebuilt"].op, 13}
	all["a group ahead"] = situation{between, all["one that is there"].op, 4}
	all["an intent ahead"] = situation{func(s *scene) {
		s.open()
		lease := mustLease(s.t, s.s, "contracts")
		s.endBetween(lease, trade.Group{
			At:      at,
			Intents: []trade.Intent{intentOf(mustRecord(s.t, s.s, lease, newEntry("a"))[0])},
		})
	}, all["one that is there"].op, 1}
	for name, test := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, test.prepare)
			s.every(23)
			op, damaged := test.op(s), 0
			for at := 1 + len(name)%s.step; ; at += s.step {
				s.again()
				s.b.damages(at)
				s.b.ends = false
				err := op(s.b.tuning())
				spoilt := s.b.mends()
				if spoilt == "" {
					break
				}
				damaged++
				if err == nil {
					continue // it did not need the value, or it is one of those that only people read
				}
				if again := op(s.b.tuning()); again != nil {
					t.Errorf("the next try after %s was damaged (%v): %v", spoilt, err, again)
				}
			}
			t.Logf("%d values were damaged", damaged)
		})
	}
}
