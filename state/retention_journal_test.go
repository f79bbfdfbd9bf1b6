package state

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/state/witness"
	"github.com/safrasync/safrasync/trade"
)

// beginAgain lets a journal begin again, whatever its size.
func beginAgain(ctx context.Context, s *Store) error {
	return (&retaining{Store: s, Now: time.Now()}).beginAgain(ctx)
}

func (k *kept) beginAgain() {
	k.t.Helper()
	must.Do(k.t, beginAgain(k.t.Context(), k.s))
}

// firstRecord is the number of the first record that a journal has.
func (k *kept) firstRecord() int64 {
	k.t.Helper()
	end := must.Get(journal.Read(k.dir(), -1, func(journal.Record, string) error { return nil }))(k.t)
	return end.First
}

// mustBeWell lets the doctor look at ledger and journal.
func mustBeWell(t testing.TB, s *Store, journals string) {
	t.Helper()
	found := must.Get(s.Diagnose(t.Context(), journals, true, 0))(t)
	for _, d := range found {
		if !d.OK && d.Check != "space" && d.Check != "rights" { // those of a copied folder
			t.Errorf("%s: %s %v", d.Check, d.Problem, d.Args)
		}
	}
}

func TestAJournalThatBeganAgainGoesOnAndIsBounded(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		other := filepath.Join(k.o.Journal)
		second := must.Get(Open(t.Context(), sqldb.OpenOptions{Driver: k.o.Driver, DSN: k.o.DSN, Journal: other}))(t)
		defer func() { _ = second.Close() }()
		bound := Retention{Journal: 4 << 10}
		began := 0
		for i := range 14 {
			writer, keeper := k.s, second
			if i%2 == 1 {
				writer, keeper = second, k.s
			}
			(&kept{t: t, o: k.o, s: writer}).send(fmt.Sprint("r", i, "-"), 4)
			plan := mustRetain(t, keeper, bound, time.Now())
			began += of(plan, KeptJournal).Rows
			bytes, _, _, snapshot, err := keeper.db.Journal.Size()
			must.Do(t, err)
			if bytes > max(bound.Journal, journalWaste*snapshot) {
				t.Errorf("after %d it has %d bytes, and its last snapshot %d", i, bytes, snapshot)
			}
		}
		if began < 2 {
			t.Errorf("it began again %d times", began)
		}
		want := provenOf(t, k.s)
		k.close()
		must.Do(t, second.Close())
		k.open()
		if k.s.Opening() != (Opening{}) {
			t.Errorf("opening settled %+v", k.s.Opening())
		}
		mustBeWell(t, k.s, k.o.Journal)
		h := must.Get(readHistory(k.dir()))(t)
		h.link()
		ids := map[journal.RowRef]string{}
		must.Get(journal.Read(k.dir(), -1, func(r journal.Record, _ string) error {
			for _, s := range r.Sent {
				ids[s.OwnerRow()] = s.RemoteID
			}
			return nil
		}))(t)
		for _, m := range h.Order {
			if got := (proven{m.final(), ids[m.RowRef], max(1, m.Generation)}); m.final() != "" &&
				got != want[m.Job+" "+m.Key] {
				t.Errorf("the journal says of %s %+v, want %+v", m.Key, got, want[m.Job+" "+m.Key])
			}
			delete(want, m.Job+" "+m.Key)
		}
		if len(want) > 0 {
			t.Errorf("the journal has forgotten %d rows", len(want))
		}
	})
}

// A journal whose first segments are missing is damaged, unless a snapshot in it stands for them.
func TestSegmentsThatAreMissingAreStillNoticed(t *testing.T) {
	k := sqliteKept(t)
	k.send("a", 3)
	must.Get(k.s.db.Journal.Cut(6-1, k.mark()))(t)
	k.send("b", 3)
	k.close()
	names, err := filepath.Glob(filepath.Join(k.dir(), "*.journal"))
	if err != nil || len(names) != 2 {
		t.Fatal(names, err)
	}
	must.Do(t, os.Remove(names[0]))
	var e *sqldb.Error
	if err := k.try(sqldb.DefaultTuning); !errors.As(err, &e) || e.Code != sqldb.CodeJournal ||
		!strings.Contains(err.Error(), "missing") {
		t.Errorf("opening: %v", err)
	}
}

func (k *kept) mark() string {
	k.t.Helper()
	var mark string
	must.Do(k.t, k.s.db.Read.Get(&mark, `SELECT mark FROM journal`))
	return mark
}

func TestAJournalWithWhatTheLedgerLacksDoesNotBeginAgain(t *testing.T) {
	k := sqliteKept(t)
	k.send("a", 3)
	must.Do(t, k.s.db.Journal.WriteAnswers(journal.Record{
		Kind: journal.Tx, At: at,
		Answers: []journal.Answer{{AttemptImage: journal.AttemptImage{
			Attempt: sqldb.NewID(), Outcome: "created", AnswerID: "r",
		}}},
	}))
	k.beginAgain() // another time
	if first := k.firstRecord(); first != 1 {
		t.Errorf("it begins with record %d", first)
	}
}

// Another copy of the ledger has written to the witness. The record that tells the two apart stays in the
// journal: the next start compares it, too.
func TestAJournalDoesNotBeginAgainWhileAnotherCopyLives(t *testing.T) {
	onEach(t, func(t *testing.T, b backend) {
		o := b.open(t)
		o.Witness = t.TempDir()
		k := keep(t, o)
		k.send("a", 20)
		must.Do(t, k.s.witness.flushed())
		place := witness.OpenFolder(o.Witness)
		line := must.Get(place.Lines(t.Context(), k.s.db.ID))(t)[0]
		other := line
		other.Seq, other.Mark = line.Seq+1, "of another copy"
		must.Do(t, place.Swap(t.Context(), line, other))
		lease := mustLease(t, k.s, "contracts")
		in := intentOf(mustRecord(t, k.s, lease, newEntry("b"))[0])
		if _, err := k.s.Commit(t.Context(), lease, trade.Group{At: at, Intents: []trade.Intent{in}}); err == nil {
			t.Fatal("another copy was not noticed")
		}
		must.Do(t, k.s.ReleaseLease(t.Context(), lease))
		mustRetain(t, k.s, Retention{Journal: 1}, time.Now())
		k.close()
		_, err := Open(t.Context(), k.o)
		if fault := (*sqldb.Error)(nil); !errors.As(err, &fault) || fault.Code != sqldb.CodeOldCopy {
			t.Errorf("the next start: %v", err)
		}
	})
}

// What was written is not what is read back, or lacks rows of the ledger: nothing is removed.
func TestABaseThatDoesNotFitRemovesNothing(t *testing.T) {
	for name, sum := range map[string]string{
		"its pages are not as they were written":   "",
		"5 rows that the ledger has are not in it": hex.EncodeToString(sha256.New().Sum(nil)), // of no page
	} {
		t.Run(name, func(t *testing.T) {
			journaled(t, func(t *testing.T, k *kept) {
				k.send("a", 5)
				r := &retaining{Store: k.s, Now: time.Now()}
				var row sqldb.JournalRow
				must.Do(t, k.s.db.Read.Get(&row, k.s.db.Q(`SELECT seq, mark FROM journal`)))
				base := must.Get(k.s.db.Journal.Cut(row.Seq, row.Mark))(t)
				must.Do(t, k.s.db.InTx(t.Context(), "a base without its snapshot", func(t *sqldb.Tx) error {
					note := t.Noting(at)
					note.Kind, note.Base, note.Size, note.Sum = journal.Base, base, 1, sum
					return nil
				}))
				err := r.dropBefore(t.Context())
				if says(t, err, name); !errors.As(err, new(*unfitError)) {
					t.Errorf("removing: %v", err)
				}
				if first := k.firstRecord(); first != 1 {
					t.Errorf("the journal begins with record %d", first)
				}
				r.Keep.Journal = 1
				must.Do(t, r.renewJournal(t.Context())) // it begins again properly
				if first := k.firstRecord(); first <= base {
					t.Errorf("the journal begins with record %d", first)
				}
				must.Do(t, r.dropBefore(t.Context())) // as an earlier process would have left it
			})
		})
	}
}

// It sends, reduces and lets its journal begin again until it is killed.
var _ = addRole("retain", func(ctx context.Context, _ sqldb.OpenOptions, s *Store) (string, error) {
	lease, err := s.AcquireLease(ctx, "contracts", sqldb.Self())
	if err != nil {
		return "", err
	}
	if _, err := s.Recover(ctx, lease, time.Now()); err != nil {
		return "", err
	}
	fmt.Println("ready")
	for {
		var page trade.Page
		for range 5 {
			page.New = append(page.New, full(sqldb.NewID(), "secret", trade.Pending))
		}
		if _, err := s.Record(ctx, lease, page); err != nil {
			return "", err
		}
		due, err := s.Due(ctx, "contracts", at, 0, 5)
		if err != nil {
			return "", err
		}
		g := trade.Group{At: at}
		for _, e := range due {
			g.Intents = append(g.Intents, intentOf(e))
		}
		if _, err := s.Commit(ctx, lease, g); err != nil {
			return "", err
		}
		settle := trade.Group{At: at}
		for i, in := range g.Intents {
			st := created(in.Attempt, "remote-"+in.Entry.Key)
			if i == 4 {
				st = unknown(in.Attempt)
			}
			st.Attempt.FinishedAt = at
			settle.Settle = append(settle.Settle, st)
		}
		if _, err := s.Commit(ctx, lease, settle); err != nil {
			return "", err
		}
		if _, err := s.Retain(ctx, keepAll, later, byRetention); err != nil {
			return "", err
		}
		if err := beginAgain(ctx, s); err != nil {
			return "", err
		}
	}
})

// F071, F066: kill -9 at any moment of the retention, and of the journal's beginning again: ledger
// and journal fit, nothing is forgotten, nothing is due twice, and the next process goes on. In
// SQLite, the ledger that is made from the journal alone proves the same.
func TestF071AKilledRetentionLosesNothing(t *testing.T) {
	t.Parallel()
	kills := 8
	if os.Getenv("SAFRASYNC_TEST_LONG") != "" {
		kills = 150
	}
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			k := keep(t, b.open(t))
			k.close()
			rng := rand.New(rand.NewPCG(7, uint64(len(b.name))))
			known := map[string]proven{}
			for n := range kills {
				p := startChild(t, "retain", k.o, nil)
				if line := p.line(t); line != "ready" {
					t.Fatalf("kill %d: the process says %s", n, line)
				}
				timer := time.NewTimer(time.Duration(rng.IntN(400)) * time.Millisecond) // any moment will do
				<-timer.C
				p.kill(t)
				k.open()
				now := provenOf(t, k.s)
				for key, w := range known {
					if g := now[key]; w.State == trade.Accepted && g != w {
						t.Errorf("kill %d: %s is %+v, and was %+v", n, key, g, w)
					}
				}
				known = now
				mustBeWell(t, k.s, k.o.Journal)
				mustAddUp(t, k.s, "contracts")
				k.close()
				if k.o.Driver == sqldb.SQLite {
					k.fromJournalAlone(known)
				}
			}
			t.Logf("%d kills, %d rows", kills, len(known))
		})
	}
}

// fromJournalAlone makes the ledger anew from its journal, compares, and puts everything back.
func (k *kept) fromJournalAlone(want map[string]proven) {
	t := k.t
	t.Helper()
	ledger := must.Get(os.ReadFile(k.o.DSN))(t)
	dir, whole := k.dir(), t.TempDir()
	must.Do(t, os.CopyFS(whole, os.DirFS(dir)))
	removeLedger(t, k.o.DSN)
	must.Get(Rebuild(t.Context(), k.o, nil, true, rebuildAct))(t)
	k.open()
	got := provenOf(t, k.s)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("from the journal alone (-want +got):\n%s", diff)
	}
	k.close()
	removeLedger(t, k.o.DSN)
	must.Do(t, os.WriteFile(k.o.DSN, bytes.Clone(ledger), 0o600), os.RemoveAll(dir),
		os.CopyFS(dir, os.DirFS(whole)))
}

// A pause outlives the segment in which it was noted.
func TestAPauseIsKnownToAJournalThatBeganAgain(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		k.send("a", 3)
		done, err := k.s.Act(t.Context(), []trade.Act{{
			Audit: trade.AuditRecord{Who: "ana", Act: "pause", Target: "contracts", Reason: "the harvest", At: at},
			Job: &trade.JobAct{
				Job: "contracts",
				Status: trade.JobStatus{
					Job: "contracts", State: trade.Paused, Since: at,
					Stop: &trade.Stop{
						Code: "paused", Why: trade.Say("stop.paused.by", "who", "ana", "why", "the harvest"),
					},
				},
			},
		}})
		if err != nil || !done[0] {
			t.Fatal(done, err)
		}
		k.beginAgain()
		if first := k.firstRecord(); first < 2 {
			t.Fatalf("the journal still begins with record %d", first)
		}
		h, err := readHistory(k.dir())
		if err != nil || !h.Jobs["contracts"].Paused ||
			h.Jobs["contracts"].Why.String() != "ana paused the job: the harvest" {
			t.Errorf("the journal says %+v, %v", h.Jobs, err)
		}
	})
}
