package state

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// image is where the role "older" leaves a copy of ledger and journal.
func image(o sqldb.Options) string { return filepath.Join(filepath.Dir(o.DSN), "image") }

// It stores the intents of two rows, takes an image of ledger and journal, sends the rows, stores
// that they were accepted, sends two others, whose notes take the places of theirs, and ends as kill
// -9 ends it.
var _ = addRole("older", func(ctx context.Context, o sqldb.Options, s *Store) (string, error) {
	lease, ins := pending(ctx, s, "a", "b", "c", "d")
	sent, further := ins[:2], ins[2:]
	mustNot(second(s.Commit(ctx, lease, trade.Group{Intents: sent})))
	mustNot(os.CopyFS(filepath.Join(image(o), "journal"), os.DirFS(o.Journal)))
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(o.DSN + suffix)
		mustNot(err)
		mustNot(os.WriteFile(filepath.Join(image(o), "state.db"+suffix), data, 0o600))
	}
	var answered trade.Group
	for i, in := range sent {
		mustNot(s.Mark(in.Attempt.ID))
		answered.Settle = append(answered.Settle, created(in.Attempt, "remote-"+string(rune('a'+i))))
	}
	mustNot(second(s.Commit(ctx, lease, answered)))
	mustNot(second(s.Commit(ctx, lease, trade.Group{Intents: further})))
	for _, in := range further {
		mustNot(s.Mark(in.Attempt.ID))
	}
	mustNot(syscall.Kill(os.Getpid(), syscall.SIGKILL))
	select {}
})

// C2: ledger and journal come back older, without a reboot: a process that ended had notes of rows
// that were in flight by then, and gave their places back since. What they lack proves nothing:
// the rows are in doubt, and never go again by themselves.
func TestC2NotesBesideALedgerThatCameBackOlderProveNothing(t *testing.T) {
	t.Parallel()
	k := killed(t, backends[0].open(t), "older")
	k.close()
	for _, path := range []string{k.o.DSN, k.o.DSN + "-wal", k.o.DSN + "-shm", k.o.Journal} {
		must.Do(t, os.RemoveAll(path))
	}
	must.Do(t, os.CopyFS(k.o.Journal, os.DirFS(filepath.Join(image(k.o), "journal"))))
	for _, suffix := range []string{"", "-wal"} {
		must.Do(t, os.Rename(filepath.Join(image(k.o), "state.db"+suffix), k.o.DSN+suffix))
	}
	k.open()
	k.note() // it is there, and believed in what it says
	if doubts, rows := k.after(); doubts != 2 {
		t.Errorf("%d doubts: %v", doubts, rows)
	}
}

// C2: notes stand on a tmpfs that is this user's alone, in the first folder that is one, or
// nowhere. Without them rows go, none is stored ahead of its turn, and after a crash what was
// claimed is in doubt.
func TestC2NotesStandOnATmpfsOfThisUserOrNowhere(t *testing.T) {
	t.Parallel()
	memory, disk := t.TempDir(), t.TempDir() // by what fsMagic says
	for _, dir := range []string{"own", "open", "other"} {
		must.Do(t, os.Mkdir(filepath.Join(memory, dir), 0o700))
	}
	err := os.Chmod(filepath.Join(memory, "open"), 0o755)
	if err == nil {
		err = os.Chown(filepath.Join(memory, "other"), 12345, 12345)
	}
	if err == nil {
		err = os.Symlink(filepath.Join(memory, "own"), filepath.Join(memory, "link"))
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(memory, "file"), nil, 0o600)
	}
	must.Do(t, err)
	tune := sqldb.DefaultTuning
	tune.FsMagic = func(path string) (int64, bool) {
		if filepath.Dir(path) == memory {
			return sqldb.Tmpfs, true
		}
		return 0xEF53, true
	}
	none := []string{
		"", "relative", disk, filepath.Join(memory, "open"), filepath.Join(memory, "other"),
		filepath.Join(memory, "link"), filepath.Join(memory, "file"), filepath.Join(memory, "none", "deeper"),
	}
	for name, c := range map[string]struct {
		folders []string
		want    string // where a note stands
	}{
		"nowhere":           {none, ""},
		"the first that is": {append(none, filepath.Join(memory, "made"), filepath.Join(memory, "own")), "made"},
		"one that is there": {append(none, filepath.Join(memory, "own")), "own"},
	} {
		t.Run(name, func(t *testing.T) {
			tune := tune
			tune.RunFolders = func() []string { return c.folders }
			k := keep(t, backends[0].open(t))
			k.close()
			must.Do(t, k.try(tune))
			lease := mustLease(t, k.s, "contracts")
			es := mustRecord(t, k.s, lease, newEntry("a"))
			sent := mustSend(t, k.s, lease, es[0])
			must.Do(t, k.s.Mark(sent.ID))
			if got := k.s.Marked(); got != (c.want != "") {
				t.Errorf("what leaves is noted: %t", got)
			}
			notes := must.Get(filepath.Glob(filepath.Join(memory, "[mo][aw]*", "wire-"+k.s.db.ID+"*")))(t)
			var want []string
			if c.want != "" {
				want = []string{c.want}
			}
			var in []string
			for _, path := range notes {
				in = append(in, filepath.Base(filepath.Dir(path)))
			}
			if diff := cmp.Diff(want, in); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if beside, err := filepath.Glob(filepath.Join(k.s.db.JournalPath, "wire-*")); err != nil ||
				len(beside) > 0 {
				t.Errorf("notes beside the journal: %v, %v", beside, err)
			}
		})
	}
}

// F047, F048, I11: notes that cannot be written are given up: they are gone before the request
// leaves, so that nobody concludes anything from what they lack, and nothing is stored ahead from
// then on.
func TestNotesThatCannotBeWrittenAreGivenUp(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		lease := mustLease(t, k.s, "contracts")
		es := mustRecord(t, k.s, lease, newEntry("a"), newEntry("b"))
		sent := mustSend(t, k.s, lease, es[0])
		if err := k.s.Mark(sent.ID); err != nil || !k.s.Marked() {
			t.Fatal(err, k.s.Marked())
		}
		k.note()
		if err := k.s.Mark(strings.Repeat("x", 1000)); err != nil { // does not fit
			t.Fatal(err)
		}
		if notes := k.notes(); len(notes) > 0 || k.s.Marked() {
			t.Errorf("notes that were given up: %v, believed %t", notes, k.s.Marked())
		}
		group := trade.Group{
			At: at, Settle: []trade.Settlement{created(sent, "remote-a")},
			Intents: []trade.Intent{intentOf(es[1])},
		}
		if res := mustCommit(t, k.s, lease, group); len(res.Claimed) != 1 || !res.Settled[sent.ID] {
			t.Errorf("without notes: %+v", res)
		}
		if err := k.s.Mark(group.Intents[0].Attempt.ID); err != nil {
			t.Error(err)
		}
		mustAddUp(t, k.s, "contracts")
	})
}
