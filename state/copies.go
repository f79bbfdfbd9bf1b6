// Dated copies of the ledger in another folder are witnesses, too: their lines tell that the ledger
// is older than they are, because the machine, or its disk, was put back. See package witness.

package state

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/netip"
	"os"
	"path/filepath"
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

// copyLine is the line that a backup writes for a dated copy once that is complete: how far the
// ledger's journal had come in it; without a journal nothing is said of that.
type copyLine struct {
	witness.Line
	Size int64  `json:"size"` // of the copy
	Hash string `json:"hash"` // SHA-256 of the copy
	file string // the copy
}

// lineFile returns the file of a copy's line, which is hidden: whoever lists the folder finds the
// copies.
func lineFile(file string) string {
	return filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+".witness")
}

// copiesName returns how the names of the copies of a ledger begin.
func copiesName(id string) string { return "safrasync-" + strings.ReplaceAll(id, "-", "")[:12] + "-" }

// behindCopies returns an error if the newest copy in one of the folders into which the ledger was
// copied is newer than the ledger, or of another history. A folder that is not there, or does not
// answer, tells nothing.
func (s *Store) behindCopies(ctx context.Context) error {
	folders, err := s.copyFolders(ctx)
	for _, dir := range folders {
		if err == nil {
			var ahead error
			ahead, err = s.behindCopy(ctx, s.copyInTime(ctx, dir))
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
	err = s.db.All(ctx, "comparing the ledger with its copies", &folders,
		`SELECT name FROM task WHERE name LIKE ? ORDER BY name`, copiesTask+"%")
	for i, name := range folders {
		folders[i] = strings.TrimPrefix(name, copiesTask)
	}
	return folders, err
}

// behindCopy returns in ahead why the newest copy in a folder makes the ledger an old one; nil if
// it does not.
func (s *Store) behindCopy(ctx context.Context, newest copyLine) (ahead, err error) {
	if newest.file == "" {
		return nil, nil
	}
	v, err := s.judgeLines(ctx, phrase.New("its own copy %s", newest.file), []witness.Line{newest.Line})
	var old *sqldb.Error
	if errors.As(v.Ahead, &old) {
		old.Hint = phrase.New(behindCopyHint, newest.file)
		if old.Records == 0 { // the copy has another history: first what this journal knows is added to it
			old.Hint = phrase.New(besideCopyHint, newest.file)
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

// copyInTime is newestCopy for a start, which does not wait for a folder that does not answer in
// time.
func (s *Store) copyInTime(ctx context.Context, dir string) copyLine {
	newest, _ := inTime(ctx, copiesWait, func(context.Context) (copyLine, error) { return s.newestCopy(dir), nil })
	return newest
}

// newestCopy returns the line of the newest copy of the ledger in a folder that is whole and has
// one; else the zero copyLine. The copy is not read: only Restore compares its hash.
func (s *Store) newestCopy(dir string) copyLine {
	entries, err := os.ReadDir(dir) // sorted by name, which sorts by time
	if err != nil {
		return copyLine{}
	}
	newest := copyLine{}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !strings.HasPrefix(e.Name(), copiesName(s.db.ID)) || !strings.HasSuffix(path, ".db") {
			continue
		}
		line := lineOfCopy(path)
		// a copy of the future, made under a wrong clock, hides no later one of its journal
		later := line.Journal != newest.Journal || line.Seq >= newest.Seq
		if line.whole() && line.Ledger == s.db.ID && line.Journal != "" && later {
			newest = line
		}
	}
	return newest
}

// lineOfCopy reads the line of a copy; one that cannot be read is empty.
func lineOfCopy(file string) copyLine {
	line := copyLine{file: file}
	if err := witness.ReadFile(lineFile(file), &line); err != nil {
		return copyLine{file: file}
	}
	return line
}

// whole reports whether the copy begins as a database, and is as long as the backup made it. Its pages
// were checked then.
func (l copyLine) whole() bool {
	info, err := os.Lstat(l.file)
	if err != nil || !info.Mode().IsRegular() || info.Size() != l.Size || l.Hash == "" {
		return false
	}
	f, err := os.Open(l.file)
	if err != nil {
		return false
	}
	head := make([]byte, len(sqliteHead))
	_, err = io.ReadFull(f, head)
	return errors.Join(err, f.Close()) == nil && string(head) == sqliteHead
}

// sqliteHead is how a file of SQLite begins.
const sqliteHead = "SQLite format 3\x00"

// witnessTogether reports whether one image of a disk, of a server or of this machine seems to contain
// ledger and witness.
func (s *Store) witnessTogether() bool {
	switch {
	case s.witnessHere():
		return true
	case IsFolder(s.options.Witness):
		return s.db.D.Name == sqldb.SQLite && sqldb.SameDevice(s.options.Witness, filepath.Dir(s.db.Where))
	}
	return s.db.D.Name == sqldb.Postgres && serversOf(s.options.Witness) == serversOf(s.options.DSN)
}

// serversOf returns the servers of a PostgreSQL that is open.
func serversOf(dsn string) string {
	cfg, _ := sqldb.PostgresConfig(sqldb.OpenOptions{DSN: dsn})
	return sqldb.PostgresServers(cfg)
}

// witnessHere reports whether ledger and witness both seem to be on this machine, whose image contains
// both then: also on two of its disks. A folder is elsewhere if it is on a network file system.
func (s *Store) witnessHere() bool {
	o := s.options
	switch {
	case o.Witness == "" || s.db.D.Name == sqldb.Postgres && !serverHere(o.DSN):
		return false
	case !IsFolder(o.Witness):
		return serverHere(o.Witness)
	}
	magic, ok := s.db.Tune.FsMagic(o.Witness)
	return ok && sqldb.NetworkFileSystem(magic) == ""
}

// serverHere reports whether a PostgreSQL is asked over a socket or the loopback interface.
func serverHere(dsn string) bool {
	cfg, err := sqldb.PostgresConfig(sqldb.OpenOptions{DSN: dsn})
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(strings.Trim(cfg.Host, "[]"))
	return err == nil && addr.IsLoopback() || cfg.Host == "localhost" || strings.HasPrefix(cfg.Host, "/")
}
