package state

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"modernc.org/sqlite"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/state/witness"
)

// Backup copies a SQLite ledger into a new file while other processes use it. The copy contains
// everything that was committed before the backup began. It is checked before it gets its final
// name: it must open, and its pages, foreign keys and sums must be correct. For a PostgreSQL ledger
// Backup returns CodeCopy: PostgreSQL's own tools back it up.
func (s *Store) Backup(ctx context.Context, file string) error { return s.backup(ctx, file, false) }

// backup also writes the line of a dated copy.
func (s *Store) backup(ctx context.Context, file string, dated bool) (err error) {
	if s.db.D.Name != sqldb.SQLite || s.db.Memory {
		return s.db.Refuse(sqldb.CodeCopy,
			errors.New("only a ledger in SQLite is copied by this command"),
			phrase.New("use pg_dump --format=custom, or the server's own backups; after a restore, run `safrasync rebuild` on every host that uses the ledger"))
	}
	file, err = filepath.Abs(file)
	if err != nil {
		return s.db.Refuse(sqldb.CodeCopy, err, phrase.New("give another file"))
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return s.db.Refuse(sqldb.CodeCopy, phrase.Errorf("%s exists already", file),
			phrase.New("give a file that does not exist"))
	}
	half := file + ".part-" + uuid.NewString()
	// readable only by the owner, before any data is written
	if err := sqldb.CreateFile(half); err != nil {
		return err
	}
	defer func() {
		if rmErr := os.Remove(half); rmErr != nil && !errors.Is(rmErr, fs.ErrNotExist) {
			err = errors.Join(err, rmErr)
		}
	}()
	if err := s.copyInto(ctx, half); err != nil {
		return err
	}
	line, err := s.checkCopy(ctx, half)
	if err == nil && dated { // before the copy has its name: none stands without its line
		line.Size, line.Hash, err = hashFile(half)
		if err == nil {
			err = witness.WriteFile(lineFile(file), line)
		}
		err = diskFault(lineFile(file), err)
	}
	if err != nil {
		return err
	}
	return moveInto(half, file)
}

// BackupInto writes a copy, named after ledger and time, into an existing folder. It does not
// create the folder, because a missing one may be a disk that is not mounted. It then removes the
// older copies of this ledger, except for the newest keep-1. Files with other names are neither
// counted nor removed, nor are copies without a line or of another length, which it returns as
// broken.
func (s *Store) BackupInto(ctx context.Context, dir string, keep int,
	at time.Time,
) (file string, removed, broken []string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", nil, nil, s.db.Refuse(sqldb.CodeCopy, err, phrase.New("give another folder"))
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil, s.db.Refuse(sqldb.CodeCopy,
			phrase.Errorf("the folder %s does not exist", dir),
			phrase.New("mount its disk if that is not mounted, or create it"))
	}
	// A copy of an old ledger would be the newest, and hide that it is old. One whose journal is lost is
	// copied: the copy may be all that is left.
	ahead, _ := s.behindCopy(ctx, s.newestCopy(dir))
	if ahead != nil {
		return "", nil, nil, ahead
	}
	prefix := copiesName(s.db.ID)
	file = filepath.Join(dir, prefix+at.UTC().Format(copyTime)+".db")
	if err := s.backup(ctx, file, true); err != nil {
		return "", nil, nil, err
	}
	entries, err := os.ReadDir(dir) // sorted by name, which sorts by time
	if err != nil {
		return file, nil, nil, sqldb.Permission(dir, err)
	}
	var whole []string
	for _, e := range entries {
		moment, of := strings.CutPrefix(e.Name(), prefix)
		path := filepath.Join(dir, e.Name())
		if _, err := time.Parse(copyTime+".db", moment); !of || err != nil || path == file {
			continue
		}
		if lineOfCopy(path).whole() {
			whole = append(whole, path)
		} else {
			broken = append(broken, path)
		}
	}
	for _, old := range whole[:max(0, len(whole)-(keep-1))] {
		if rmErr := os.Remove(old); rmErr != nil {
			err = errors.Join(err, sqldb.Permission(old, rmErr))
			continue
		}
		if rmErr := os.Remove(lineFile(old)); rmErr != nil {
			err = errors.Join(err, sqldb.Permission(lineFile(old), rmErr))
		}
		removed = append(removed, old)
	}
	return file, removed, broken, err
}

// copyTime is the layout of the time in a copy's name, in UTC.
const copyTime = "20060102T150405.000Z"

func (s *Store) copyInto(ctx context.Context, file string) (err error) {
	db := sqldb.ConnectSQLite(s.db.Tune, sqldb.SqliteDSN(s.db.Where, "mode=rw", sqldb.Busy(s.db.Tune), "_error_rc=1"),
		1)
	defer phrase.Join(&err, db.Close)
	// VACUUM INTO reads this database and writes to a file that nobody else knows. It cannot run in
	// a transaction.
	rows, err := db.QueryxContext(ctx, `VACUUM INTO ?`, file)
	if err == nil {
		for rows.Next() { // VACUUM returns no rows; reading to the end completes it
		}
		err = errors.Join(rows.Err(), rows.Close()) //nolint:sqlclosecheck // its error counts, and nothing is between
	}
	where := s.db.Where
	var lite *sqlite.Error
	if errors.As(err, &lite) && lite.Code()&0xff == 13 { // full: what is written is the copy
		where = file
	}
	return sqldb.FaultOf(ctx, "copying the ledger to "+file, where, sqldb.SQLite, err)
}

// checkCopy opens a copy, checks all of it, and returns how far its journal had come. The copy may
// be on a network file system: nobody writes to it.
func (s *Store) checkCopy(ctx context.Context, file string) (line copyLine, err error) {
	tune := s.db.Tune
	tune.FsMagic = func(string) (int64, bool) { return 0, false }
	c, err := Open(ctx, sqldb.OpenOptions{
		Driver: sqldb.SQLite, DSN: file, ReadOnly: true, Verify: true, Tune: &tune,
	})
	if err != nil {
		return line, phrase.Errorf("checking the copy: %w", err)
	}
	defer phrase.Join(&err, c.Close)
	if c.db.ID != s.db.ID {
		return line, phrase.Errorf("checking the copy: it is of ledger %s, not %s", c.db.ID, s.db.ID)
	}
	broken, err := c.brokenKeys(ctx)
	if err != nil {
		return line, err
	}
	if len(broken) > 0 {
		return line, sqldb.Refuse(sqldb.CodeCorrupt, file,
			phrase.Errorf("the copy is not in order: foreign keys of %v", broken),
			phrase.New("run `safrasync doctor --full`"))
	}
	rows, err := c.journalRows(ctx)
	for id, r := range rows {
		if !r.RetiredAt.Valid { // a SQLite ledger has one
			line.Line = s.lineOf(id, r.Seq, r.Mark)
			line.Host, line.Folder, line.At = r.Host, r.Path, time.UnixMilli(r.At).UTC()
		}
	}
	return line, err
}

// moveInto flushes a file and renames it to its final name.
func moveInto(from, to string) (err error) {
	f, err := os.OpenFile(from, os.O_RDWR, 0)
	if err != nil {
		return sqldb.Permission(from, err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return diskFault(from, err)
	}
	if err := os.Rename(from, to); err != nil {
		return sqldb.Permission(to, err)
	}
	return syncFolder(filepath.Dir(to))
}

// syncFolder makes the directory entries of a folder durable.
func syncFolder(dir string) error { return diskFault(dir, journal.SyncFolder(dir)) }

// diskFault converts an error about a file to an *Error that states what to do.
func diskFault(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return sqldb.Permission(path, err)
	case err != nil:
		return sqldb.Refuse(sqldb.CodeIO, path, err, phrase.New("check the disk"))
	}
	return nil
}

// hashFile returns the size and the SHA-256 of a file.
func hashFile(file string) (size int64, hash string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, "", err
	}
	sum := sha256.New()
	size, err = io.Copy(sum, f)
	return size, hex.EncodeToString(sum.Sum(nil)), errors.Join(err, f.Close())
}
