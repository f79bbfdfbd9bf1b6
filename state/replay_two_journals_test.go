package state

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// line is a ledger with its journal, as copied at one moment.
type line struct{ ledger, journal string }

func (k *kept) line(t *testing.T) line {
	dir := t.TempDir()
	out := line{filepath.Join(dir, "state.db"), filepath.Join(dir, "journal")}
	copyFile(t, k.o.DSN, out.ledger)
	must.Do(t, os.CopyFS(out.journal, os.DirFS(k.o.Journal)))
	return out
}

func (k *kept) take(t *testing.T, journals string) {
	must.Do(t, os.RemoveAll(k.o.Journal))
	must.Do(t, os.CopyFS(k.o.Journal, os.DirFS(journals)))
}

// inEachOrder rebuilds a lost ledger from two journals of one roll-back in each order, and returns what was
// sent, by order.
func (k *kept) inEachOrder(t *testing.T, a, b line) map[string][]string {
	out := map[string][]string{}
	for name, order := range map[string][]line{"A B": {a, b}, "B A": {b, a}, "A B A": {a, b, a}} {
		removeLedger(t, k.o.DSN)
		for _, l := range order {
			k.take(t, l.journal)
			must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
		}
		s := must.Get(openToMend(t.Context(), k.o))(t)
		var sent []struct {
			State, Flags, Certainty, RemoteID string
			Generation                        int
		}
		must.Do(t, s.db.Read.Select(&sent, `SELECT e.state, e.flags, s.certainty, s.remote_id, s.generation
			FROM sent s JOIN entry e ON e.id = s.entry_id ORDER BY s.remote_id`))
		for _, r := range sent {
			out[name] = append(out[name], fmt.Sprintf("%s %s %s, %t", r.State, r.Certainty, r.RemoteID,
				strings.Contains(r.Flags, string(trade.DoubleAfterDecision)) ||
					strings.Contains(r.Flags, string(trade.Contradicted))))
		}
		must.Do(t, s.Close())
	}
	return out
}

func sentInEachOrder(t *testing.T, got map[string][]string, want ...string) {
	t.Helper()
	for order, sent := range got {
		if strings.Join(sent, "; ") != strings.Join(want, "; ") {
			t.Errorf("%s: %v, want %v", order, sent, want)
		}
	}
}

// One host stated an id without an attempt, the other has sent the row: both are kept, and shown.
func TestWhatOneJournalStatesAndTheOtherSentAreBothKept(t *testing.T) {
	k := sqliteKept(t)
	lease := mustLease(t, k.s, "contracts")
	held := newEntry("a")
	held.State, held.Cause = trade.Held, trade.CauseRetyped
	mustRecord(t, k.s, lease, held)
	must.Do(t, k.s.ReleaseLease(t.Context(), lease))
	k.close()
	base := k.line(t)
	k.open()
	k.order(adoption(mustEntry(t, k.s, "contracts", "a"), "X"))
	k.close()
	a := k.line(t)
	removeLedger(t, k.o.DSN)
	copyFile(t, base.ledger, k.o.DSN)
	k.take(t, base.journal)
	k.open()
	k.order(entryAct("retry", mustEntry(t, k.s, "contracts", "a"), func(e *trade.Entry) {
		e.State, e.Cause, e.Error = trade.Pending, "", nil
	}))
	lease = mustLease(t, k.s, "contracts")
	mustSettle(t, k.s, lease, created(mustSend(t, k.s, lease, mustEntry(t, k.s, "contracts", "a")), "Y"))
	must.Do(t, k.s.ReleaseLease(t.Context(), lease))
	k.close()
	sentInEachOrder(t, k.inEachOrder(t, a, k.line(t)), "accepted stated X, true", "accepted made Y, true")
}

// An attempt was in doubt. In one journal its late answer stands, in the other a person has stated the same
// id, in a newer image of the record.
func TestALateAnswerAndAnAdoptionAreOneRecordInEachOrder(t *testing.T) {
	for _, prints := range [][2]int{{0, 0}, {0, 3}, {3, 0}} {
		t.Run(fmt.Sprint(prints), func(t *testing.T) {
			k, a, b := lateAndAdopted(t, prints, "Z")
			sentInEachOrder(t, k.inEachOrder(t, a, b), "accepted made Z, false")
		})
	}
}

// The person has stated another id than the answer has: whichever of them the ledger has, it is shown that
// there is another one.
func TestALateAnswerThatContradictsAnAdoptionIsShownInEachOrder(t *testing.T) {
	for _, prints := range [][2]int{{0, 0}, {0, 3}, {3, 0}} {
		t.Run(fmt.Sprint(prints), func(t *testing.T) {
			k, a, b := lateAndAdopted(t, prints, "W")
			for order, sent := range k.inEachOrder(t, a, b) {
				if len(sent) != 1 || !strings.HasSuffix(sent[0], ", true") {
					t.Errorf("%s: %v", order, sent)
				}
			}
		})
	}
}

// lateAndAdopted returns two journals of one roll-back: in one an answer came late with the id Z, in the
// other a person has stated an id. Each has then so many newer images of the record.
func lateAndAdopted(t *testing.T, prints [2]int, id string) (k *kept, a, b line) {
	k = sqliteKept(t)
	var attempt trade.Attempt
	k.sends("d", 1, 1, func(a trade.Attempt, _ trade.Entry) trade.Settlement {
		attempt = a
		return unknown(a)
	})
	reprint := func(n int) {
		lease := mustLease(t, k.s, "contracts")
		for i := range n {
			e := mustEntry(t, k.s, "contracts", "d0")
			e.Newest = trade.Prints{Cells: trade.HashOf(fmt.Sprint(i))}
			must.Do(t, k.s.Reprint(t.Context(), lease, []trade.Entry{e}))
		}
		must.Do(t, k.s.ReleaseLease(t.Context(), lease))
		k.close()
	}
	k.close()
	base := k.line(t)
	k.open()
	lease := mustLease(t, k.s, "contracts")
	mustSettle(t, k.s, lease, created(attempt, "Z"))
	must.Do(t, k.s.ReleaseLease(t.Context(), lease))
	reprint(prints[0])
	a = k.line(t)
	removeLedger(t, k.o.DSN)
	copyFile(t, base.ledger, k.o.DSN)
	k.take(t, base.journal)
	k.open()
	k.order(adoption(mustEntry(t, k.s, "contracts", "d0"), id))
	reprint(prints[1])
	return k, a, k.line(t)
}

// The journal began a new file after a record that the ledger lacks: the ledger has the mark of that
// record, not of the file's head.
func TestTheLedgerHasTheMarkOfTheLastRecordNotOfAHead(t *testing.T) {
	k := sqliteKept(t)
	lease := mustLease(t, k.s, "contracts")
	es := mustRecord(t, k.s, lease, newEntry("a"), newEntry("b"))
	first := created(mustSend(t, k.s, lease, es[0]), "remote-a")
	k.endBetween(lease, trade.Group{At: at, Settle: []trade.Settlement{first}})
	end := must.Get(journal.ReadEnd(k.dir()))(t)
	head := journal.Record{Seq: end.Seq, Prev: end.Mark, Kind: journal.Head, At: at, Head: &end.Header}
	text := must.Get(json.Marshal(head))(t)
	sealed, _ := journal.Seal(text)
	must.Do(t, os.WriteFile(filepath.Join(k.dir(), fmt.Sprintf("%016d.journal", end.Seq+1)), sealed, 0o600))
	k.open()
	mustCommit(t, k.s, mustLease(t, k.s, "contracts"), trade.Group{At: at, Intents: []trade.Intent{intentOf(es[1])}})
	k.close()
	must.Do(t, k.try(sqldb.DefaultTuning))
}

// A rebuilt ledger has of a row that is again as it was sent no print of what it held meanwhile, and of an
// attempt that another has followed its own end.
func TestARebuildLeavesNothingOfWhatWasMeanwhile(t *testing.T) {
	k := sqliteKept(t)
	lease := mustLease(t, k.s, "contracts")
	mustRecord(t, k.s, lease, newEntry("a"))
	none := mustSend(t, k.s, lease, mustEntry(t, k.s, "contracts", "a"))
	none.Outcome, none.FinishedAt = trade.OutcomeNotSent, at.Add(time.Minute)
	mustCommit(t, k.s, lease, trade.Group{
		At: at.Add(time.Minute), Settle: []trade.Settlement{{Attempt: none, State: trade.Pending}},
	})
	made := created(mustSend(t, k.s, lease, mustEntry(t, k.s, "contracts", "a")), "X")
	made.Attempt.FinishedAt = at.Add(2 * time.Hour)
	mustCommit(t, k.s, lease, trade.Group{At: at.Add(2 * time.Hour), Settle: []trade.Settlement{made}})
	reprint := func(p trade.Prints) {
		e := mustEntry(t, k.s, "contracts", "a")
		e.Newest = p
		must.Do(t, k.s.Reprint(t.Context(), lease, []trade.Entry{e}))
	}
	var sent sentRow
	must.Do(t, k.s.db.Get(t.Context(), "test", &sent, `SELECT * FROM sent`))
	reprint(trade.Prints{
		Cells: trade.HashOf("other"), Payload: trade.HashOf("p"), Fields: trade.Hash(strings.Repeat("ab", 24)),
	})
	copies := filepath.Join(t.TempDir(), "copy")
	must.Do(t, k.s.ReleaseLease(t.Context(), lease))
	must.Do(t, k.s.Backup(t.Context(), copies))
	lease = mustLease(t, k.s, "contracts")
	reprint(sent.sent())
	ends := func() (out []string) {
		for _, a := range must.Get(k.s.Attempts(t.Context(), mustEntry(t, k.s, "contracts", "a").ID))(t) {
			out = append(out, fmt.Sprint(a.Outcome, a.FinishedAt))
		}
		return out
	}
	want := ends()
	must.Do(t, k.s.ReleaseLease(t.Context(), lease))
	k.close()
	removeLedger(t, k.o.DSN)
	must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
	k.open()
	if got := ends(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("attempts %v, want %v", got, want)
	}
	k.close()
	removeLedger(t, k.o.DSN)
	copyFile(t, copies, k.o.DSN)
	must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
	k.open()
	must.Do(t, k.s.db.Get(t.Context(), "test", &sent, `SELECT * FROM sent`))
	if sent.NewAb != 0 || sent.NewFields != "" {
		t.Errorf("of what the row held meanwhile is left: %+v", sent)
	}
}
