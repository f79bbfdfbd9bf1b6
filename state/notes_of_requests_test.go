package state

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/state/marks"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// It claims five rows and ends as kill -9 ends it: one has not left, one is in flight, three were
// answered, one of these without an id that could be noted.
var _ = addRole("wire", func(ctx context.Context, _ sqldb.Options, s *Store) (string, error) {
	lease, ins := pending(ctx, s, "unsent", "in flight", "created", "refused", "lost")
	mustNot(second(s.Commit(ctx, lease, trade.Group{Intents: ins})))
	for _, in := range ins[1:] {
		mustNot(s.Mark(in.Attempt.ID))
	}
	s.NoteAnswer(ins[2].Attempt.ID, trade.OutcomeCreated, 201, "5ca0a710-0000-4000-8000-0000000000c1")
	s.NoteAnswer(ins[3].Attempt.ID, trade.OutcomeNotCreated, 400, "")
	s.NoteAnswer(ins[4].Attempt.ID, trade.OutcomeUnknown, 500, "")
	mustNot(syscall.Kill(os.Getpid(), syscall.SIGKILL))
	select {}
})

// It claims a row and ends as kill -9 ends it, when the journal has the intent and the ledger has
// not.
var _ = addRole("between", func(ctx context.Context, _ sqldb.Options, s *Store) (string, error) {
	lease, ins := pending(ctx, s, "a")
	s.MarksFile()
	mustNot(s.db.InTx(ctx, "testing", func(tx *sqldb.Tx) error {
		mustNot(ledger.NewGroupTx(tx, lease, trade.Group{At: at, Intents: ins}).Run())
		mustNot(tx.WriteNote())
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}))
	select {}
})

// killed runs a role of a child process that ends as kill -9 ends it, on a new ledger, and opens
// it.
func killed(t *testing.T, o sqldb.Options, role string) *kept {
	t.Helper()
	k := keep(t, o)
	k.close()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), inRole(t, role, k.o)...)
	if out, err := cmd.CombinedOutput(); cmd.ProcessState == nil ||
		cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("%v: %s", err, out)
	}
	k.open()
	return k
}

// notes are the files of the processes that have sent from the ledger.
func (k *kept) notes() (paths []string) {
	k.t.Helper()
	for _, dir := range sqldb.RunFolders() {
		found, _ := marks.Paths(dir)
		for name, path := range found {
			if strings.HasPrefix(name, k.s.db.ID+".") {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// note is the only one.
func (k *kept) note() string {
	k.t.Helper()
	paths := k.notes()
	if len(paths) != 1 {
		k.t.Fatal(paths)
	}
	return paths[0]
}

// after recovers, and says where the rows stand.
func (k *kept) after() (doubts int, rows map[string]string) {
	k.t.Helper()
	lease := mustLease(k.t, k.s, "contracts")
	doubts = must.Get(k.s.Recover(k.t.Context(), lease, at))(k.t)
	rows = map[string]string{}
	for _, e := range rowsOf(k.t, k.s, trade.RowFilter{}) {
		rows[e.Key] = fmt.Sprint(e.State, " ", e.RemoteID, " ", e.Attempts)
	}
	return doubts, rows
}

// I11: after kill -9 only what was in flight is in doubt. What had not left goes again, and an
// answer that had come counts.
func TestWhatAProcessNotedIsKnownAfterItWasKilled(t *testing.T) {
	t.Parallel()
	for _, kind := range backends {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			k := killed(t, kind.open(t), "wire")
			doubts, rows := k.after()
			want := map[string]string{
				"unsent": "pending  0", "in flight": "in_doubt  1",
				"created": "accepted 5ca0a710-0000-4000-8000-0000000000c1 1", "refused": "pending  1",
				"lost": "in_doubt  1",
			}
			if d := cmp.Diff(want, rows); d != "" || doubts != 2 {
				t.Errorf("%d doubts; %s", doubts, d)
			}
			k.close()
			k.open() // journal and ledger agree
		})
	}
}

// What cannot be believed is not: of another boot, torn, lost, or of a process that still has it
// open. Then everything that was claimed is in doubt.
func TestNotesThatCannotBeBelievedAreNot(t *testing.T) {
	t.Parallel()
	spoil := map[string]func(t *testing.T, path string){
		"lost": func(t *testing.T, path string) {
			must.Do(t, os.Remove(path))
		},
		"another boot": func(t *testing.T, path string) {
			data := must.Get(os.ReadFile(path))(t)
			// The head becomes longer: heads have room.
			head := bytes.Replace(bytes.TrimRight(data[:4096], "\x00"), []byte(`"boot":"`), []byte(`"boot":"x`), 1)
			copy(data[:4096], head)
			must.Do(t, os.WriteFile(path, data, 0o600))
		},
		"a process that runs": func(t *testing.T, path string) {
			f := must.Get(os.Open(path))(t)
			t.Cleanup(func() { _ = f.Close() })
			must.Do(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
		},
	}
	for name, spoil := range spoil {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := killed(t, backends[0].open(t), "wire")
			spoil(t, k.note())
			doubts, rows := k.after()
			if doubts != 5 {
				t.Errorf("%d doubts: %v", doubts, rows)
			}
		})
	}
	t.Run("torn", func(t *testing.T) {
		t.Parallel()
		k := killed(t, backends[0].open(t), "wire")
		path := k.note()
		data, err := os.ReadFile(path)
		if err == nil {
			data[4096+20] ^= 1 // in the slot of the row that is in flight
			err = os.WriteFile(path, data, 0o600)
		}
		must.Do(t, err)
		if doubts, rows := k.after(); doubts != 3 || rows["created"][:8] != "accepted" {
			t.Errorf("%d doubts: %v", doubts, rows)
		}
	})
}

// A run of this very process whose results the ledger did not take leaves nothing behind in the
// file, once its rows are in doubt.
func TestWhatARecoveryHasToldIsNotNotedAnyLonger(t *testing.T) {
	t.Parallel()
	k := keep(t, backends[0].open(t))
	ctx := t.Context()
	lease := mustLease(t, k.s, "contracts")
	mustRecord(t, k.s, lease, newEntry("a"), newEntry("b"))
	due := must.Get(k.s.Due(ctx, "contracts", at, 0, 10))(t)
	var g trade.Group
	for _, e := range due {
		g.Intents = append(g.Intents, intentOf(e))
	}
	must.Get(k.s.Commit(ctx, lease, g))(t)
	for _, in := range g.Intents {
		must.Do(t, k.s.Mark(in.Attempt.ID))
	}
	k.s.NoteAnswer(g.Intents[0].Attempt.ID, trade.OutcomeCreated, 201, "5ca0a710-0000-4000-8000-0000000000c2")
	must.Do(t, k.s.ReleaseLease(ctx, lease))
	if doubts, rows := k.after(); doubts != 1 {
		t.Errorf("%d doubts: %v", doubts, rows)
	}
	if k.s.Marked() {
		t.Error("a request that is not found still proves something, although its doubt is in no record of the journal")
	}
	k.close()
	if notes := k.notes(); len(notes) > 0 {
		t.Errorf("notes stay: %v", notes)
	}
}

// A row whose process ended between journal and ledger goes again in the same generation, because
// its notes say that nothing had left. The journal alone tells that too: no second intent of a
// generation is ever written while the first may have created a record (I3).
func TestAJournalTellsThatAnIntentNeverLeftByTheNext(t *testing.T) {
	t.Parallel()
	k := killed(t, backends[0].open(t), "between")
	e := mustEntry(t, k.s, "contracts", "a")
	if e.State != trade.Pending || e.Generation != 1 {
		t.Fatalf("%s in generation %d", e.State, e.Generation)
	}
	lease := mustLease(t, k.s, "contracts")
	id := mustSend(t, k.s, lease, e)
	mustSettle(t, k.s, lease, created(id, "remote-a"))
	want := provenOf(t, k.s)
	k.close()
	k.fromJournalAlone(want)
	k.open()
}
