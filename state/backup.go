package state

import (
	"bytes"
	"context"
	"encoding/binary"
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
)

// Backup copies a SQLite ledger into a new file while other processes use it. The copy contains
// everything that was committed before the backup began. It is checked before it gets its final
// name: it must open, and its pages, foreign keys and sums must be correct. For a PostgreSQL ledger
// Backup returns CodeCopy: PostgreSQL's own tools back it up.
func (s *Store) Backup(ctx context.Context, file string) (err error) {
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
	if err := checkCopy(ctx, half, s.db.ID, s.db.Tune); err != nil {
		return err
	}
	return moveInto(half, file)
}

// BackupInto writes a copy, named after ledger and time, into an existing folder. It does not
// create the folder, because a missing one may be a disk that is not mounted. It then removes the
// older copies of this ledger, except for the newest keep-1. Files with other names are neither
// counted nor removed, nor are damaged copies, which it returns as broken.
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
	copied, lines := s.readCopies(ctx, dir)
	ahead, _ := s.behindCopy(ctx, copied, lines)
	if ahead != nil {
		return "", nil, nil, ahead
	}
	prefix := copiesName(s.db.ID)
	file = filepath.Join(dir, prefix+at.UTC().Format(copyTime)+".db")
	if err := s.Backup(ctx, file); err != nil {
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
		if wholeCopy(path) {
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
		removed = append(removed, old)
	}
	return file, removed, broken, err
}

// copyTime is the layout of the time in a copy's name, in UTC.
const copyTime = "20060102T150405.000Z"

// wholeCopy reports whether a file is as long as its SQLite header states. It does not check the
// pages: they were checked before the file got its name.
func wholeCopy(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	header := make([]byte, 32)
	_, err = io.ReadFull(f, header)
	if err = errors.Join(err, f.Close()); err != nil || !bytes.HasPrefix(header, []byte("SQLite format 3\x00")) {
		return false
	}
	page := int64(binary.BigEndian.Uint16(header[16:]))
	if page == 1 {
		page = 65536
	}
	return page > 0 && info.Size() == page*int64(binary.BigEndian.Uint32(header[28:]))
}

func (s *Store) copyInto(ctx context.Context, file string) (err error) {
	db := sqldb.ConnectSQLite(s.db.Tune, sqldb.SqliteDSN(s.db.Where, "mode=rw", sqldb.Busy(s.db.Tune), "_error_rc=1"),
		1)
	defer func() { err = errors.Join(err, db.Close()) }()
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

// checkCopy opens a copy and checks all of it. Unless id is empty, the copy must have that ledger
// id.
func checkCopy(ctx context.Context, file, id string, tune sqldb.Tuning) (err error) {
	s, err := openCopy(ctx, file, true, tune)
	if err != nil {
		return phrase.Errorf("checking the copy: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if id != "" && s.db.ID != id {
		return phrase.Errorf("checking the copy: it is of ledger %s, not %s", s.db.ID, id)
	}
	broken, err := s.brokenKeys(ctx)
	if err != nil {
		return err
	}
	if len(broken) > 0 {
		return sqldb.Refuse(sqldb.CodeCorrupt, file,
			phrase.Errorf("the copy is not in order: foreign keys of %v", broken),
			phrase.New("run `safrasync doctor --full`"))
	}
	return nil
}

// moveInto flushes a file and renames it to its final name.
func moveInto(from, to string) (err error) {
	f, err := os.OpenFile(from, os.O_RDWR, 0)
	if err != nil {
		return sqldb.Permission(from, err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return sqldb.Refuse(sqldb.CodeIO, from, err, phrase.New("check the disk"))
	}
	if err := os.Rename(from, to); err != nil {
		return sqldb.Permission(to, err)
	}
	return syncFolder(filepath.Dir(to))
}

// syncFolder makes the directory entries of a folder durable.
func syncFolder(dir string) error {
	err := journal.SyncFolder(dir)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return sqldb.Permission(dir, err)
	case err != nil:
		return sqldb.Refuse(sqldb.CodeIO, dir, err, phrase.New("check the disk"))
	}
	return nil
}
