// Copies of the ledger in another folder tell, as a witness does, that the ledger is older than they
// are: the machine, or its disk, was put back. See package witness.

package state

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
)

// copiesTask is how the ledger remembers a folder with copies of it, with the folder's path.
const copiesTask = "copies in "

// copiesWait is how long a start waits for a folder with copies: that of a server that is away may
// hang.
const copiesWait = 3 * time.Second

// copiesName returns how the names of the copies of a ledger begin.
func copiesName(id string) string { return "safrasync-" + strings.ReplaceAll(id, "-", "")[:12] + "-" }

// newestCopy returns the newest whole copy of a ledger in a folder; "" if there is none.
func newestCopy(dir, id string) string {
	entries, err := os.ReadDir(dir) // sorted by name, which sorts by time
	if err != nil {
		return ""
	}
	for i := len(entries) - 1; i >= 0; i-- {
		path := filepath.Join(dir, entries[i].Name())
		if strings.HasPrefix(entries[i].Name(), copiesName(id)) && strings.HasSuffix(path, ".db") && wholeCopy(path) {
			return path
		}
	}
	return ""
}

// behindCopies returns an error if a copy in one of the folders into which the ledger was copied is
// newer than the ledger. A folder that is not there, or does not answer, tells nothing.
func (s *Store) behindCopies(ctx context.Context) error {
	if s.db.D.Name != sqldb.SQLite || s.db.Memory || s.moving {
		return nil
	}
	var folders []string
	if err := s.db.All(ctx, "looking for copies of the ledger", &folders,
		`SELECT name FROM task WHERE name LIKE ? ORDER BY name`, copiesTask+"%"); err != nil {
		return err
	}
	for _, name := range folders {
		answer := make(chan error, 1)
		go func() { answer <- s.behindCopy(ctx, newestCopy(strings.TrimPrefix(name, copiesTask), s.db.ID)) }()
		late := time.NewTimer(copiesWait)
		select {
		case err := <-answer:
			late.Stop()
			if err != nil {
				return err
			}
		case <-late.C:
		}
	}
	return nil
}

// behindCopy returns an error if a copy has more of a journal than the ledger. A copy that cannot be
// read tells nothing.
func (s *Store) behindCopy(ctx context.Context, file string) (err error) {
	if file == "" {
		return nil
	}
	const op = "comparing the ledger with a copy of it"
	other, err := open(ctx, sqldb.OpenOptions{Driver: sqldb.SQLite, DSN: file, ReadOnly: true}, s.db.Tune)
	if err != nil {
		return nil //nolint:nilerr // it may be one of a newer program, or damaged: doctor reads them
	}
	defer func() { _ = other.Close() }()
	there, err := sqldb.JournalsBy(other.db.Reading(ctx, op), "")
	if err != nil || other.db.ID != s.db.ID {
		return nil //nolint:nilerr // as above
	}
	here, err := sqldb.JournalsBy(s.db.Reading(ctx, op), "")
	if err != nil {
		return err
	}
	for id, r := range there {
		if own, known := here[id]; !known || own.RetiredAt.Valid || own.Seq >= r.Seq {
			continue // of a journal that a person has given up since nothing is expected
		}
		own := here[id]
		return &sqldb.Error{
			Code: sqldb.CodeOldCopy, Path: s.db.Where, Hint: phrase.New(oldCopyHint),
			Since: time.UnixMilli(own.At).UTC(), Records: int(r.Seq - own.Seq),
			Err: phrase.Errorf("it is older than its own copy %s: it ends at record %d of its journal, and the copy has record %d, of %s",
				file, own.Seq, r.Seq, time.UnixMilli(r.At).UTC().Format(time.RFC3339)),
		}
	}
	return nil
}
