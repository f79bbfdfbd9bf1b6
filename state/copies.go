// Dated copies of the ledger in another folder are witnesses, too: they tell that the ledger is older
// than they are, because the machine, or its disk, was put back. See package witness.

package state

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/state/witness"
)

// copiesTask is how the ledger remembers a folder with dated copies of it, with the folder's path.
const copiesTask = "copies in "

// copiesWait is how long a start waits for a folder with copies: that of a server that is away may
// hang.
const copiesWait = 3 * time.Second

const readingCopies = "comparing the ledger with its copies"

// copiesName returns how the names of the copies of a ledger begin.
func copiesName(id string) string { return "safrasync-" + strings.ReplaceAll(id, "-", "")[:12] + "-" }

// behindCopies returns an error if the newest copy in one of the folders into which the ledger was
// copied is newer than the ledger, or of another history. A folder that is not there, or does not
// answer, tells nothing.
func (s *Store) behindCopies(ctx context.Context) error {
	folders, err := s.copyFolders(ctx)
	for _, dir := range folders {
		if err == nil {
			file, lines := s.copyLines(ctx, dir)
			var ahead error
			ahead, err = s.behindCopy(ctx, file, lines)
			err = cmp.Or(ahead, err)
		}
	}
	return err
}

// copyFolders returns the folders into which the ledger was copied.
func (s *Store) copyFolders(ctx context.Context) (folders []string, err error) {
	if s.db.D.Name != sqldb.SQLite || s.db.Memory || s.moving {
		return nil, nil
	}
	err = s.db.All(ctx, readingCopies, &folders, `SELECT name FROM task WHERE name LIKE ? ORDER BY name`, copiesTask+"%")
	for i, name := range folders {
		folders[i] = strings.TrimPrefix(name, copiesTask)
	}
	return folders, err
}

// behindCopy returns in ahead why the newest copy in a folder that can be read makes the ledger an old
// one; nil if none does.
func (s *Store) behindCopy(ctx context.Context, file string, lines []witness.Line) (ahead, err error) {
	if len(lines) == 0 {
		return nil, nil
	}
	v, err := s.judgeLines(ctx, phrase.New("its own copy %s", file), lines)
	var old *sqldb.Error
	if errors.As(v.Ahead, &old) {
		old.Hint = phrase.New(behindCopyHint, file)
		if old.Records == 0 { // the copy has another history: first what this journal knows is added to it
			old.Hint = phrase.New(besideCopyHint, file)
		}
	}
	return v.Ahead, err
}

const (
	behindCopyHint = "nothing is sent: this machine, or its disk, was put back from an older copy. If the newer journal still exists (an old disk, a copy of its folder), " +
		"put it in the place of this one and run `safrasync rebuild --reason TEXT`. If it is lost: `safrasync restore %s --reason TEXT`, then " +
		"`safrasync rebuild --new-journal --reason TEXT`, which pauses every job until somebody has compared with the platform"
	besideCopyHint = "nothing is sent: this machine, or its disk, was put back from an older copy, and has gone on since. In this order, each once: " +
		"`safrasync restore %s --reason TEXT`; `safrasync rebuild --reason TEXT`, which adds what was done here; " +
		"`safrasync rebuild --new-journal --reason TEXT`, which pauses every job until somebody has compared with the platform"
)

// copyLines is readCopies for a start, which does not wait for a folder that does not answer in time.
func (s *Store) copyLines(ctx context.Context, dir string) (file string, lines []witness.Line) {
	type found struct {
		file  string
		lines []witness.Line
	}
	answer := make(chan found, 1)
	go func() {
		file, lines := s.readCopies(ctx, dir)
		answer <- found{file, lines}
	}()
	late := time.NewTimer(copiesWait)
	defer late.Stop()
	select {
	case f := <-answer:
		return f.file, f.lines
	case <-late.C:
		return "", nil
	}
}

// readCopies returns the newest copy of the ledger in a folder that can be read, and how far its
// journals had come.
func (s *Store) readCopies(ctx context.Context, dir string) (file string, lines []witness.Line) {
	entries, err := os.ReadDir(dir) // sorted by name, which sorts by time
	if err != nil {
		return "", nil
	}
	for _, e := range slices.Backward(entries) {
		path := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), copiesName(s.db.ID)) && strings.HasSuffix(path, ".db") && wholeCopy(path) {
			lines = s.linesIn(ctx, path)
		}
		if len(lines) > 0 {
			return path, lines
		}
	}
	return "", nil
}

// linesIn returns how far the journals of a copy had come; none if it cannot be read: it may be of a
// newer program, or damaged.
func (s *Store) linesIn(ctx context.Context, file string) []witness.Line {
	other, err := openCopy(ctx, file, false, s.db.Tune)
	if err != nil {
		return nil
	}
	defer func() { _ = other.Close() }()
	rows, err := sqldb.JournalsBy(other.db.Reading(ctx, readingCopies), "")
	if err != nil || other.db.ID != s.db.ID {
		return nil
	}
	var lines []witness.Line
	for id, r := range rows {
		if !r.RetiredAt.Valid {
			line := s.lineOf(id, r.Seq, r.Mark)
			line.Host, line.Folder, line.At = r.Host, r.Path, time.UnixMilli(r.At).UTC()
			lines = append(lines, line)
		}
	}
	return lines
}

// openCopy opens a copy of a ledger to read it. It may be on a network file system: nobody writes to
// a copy.
func openCopy(ctx context.Context, file string, verify bool, tune sqldb.Tuning) (*Store, error) {
	tune.FsMagic = func(string) (int64, bool) { return 0, false }
	return open(ctx, sqldb.OpenOptions{Driver: sqldb.SQLite, DSN: file, ReadOnly: true, Verify: verify}, tune)
}
