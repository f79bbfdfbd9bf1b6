package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"
)

// Backup copies a SQLite ledger into a new file while others use it, and checks the copy before it gets its name: it opens, its pages, foreign keys and sums are
// in order. What was committed when it began is in it. A PostgreSQL ledger is backed up with PostgreSQL's own tools: CodeCopy.
func (s *Store) Backup(ctx context.Context, file string) (err error) {
	if s.d.name != SQLite || s.memory {
		return &Error{
			Code: CodeCopy, Path: s.where, Err: errors.New("only a ledger in SQLite is copied by this command"),
			Hint: "use pg_dump --format=custom, or the server's own backups; after a restore, run `safrasync rebuild` on every host that uses the ledger",
		}
	}
	if file, err = filepath.Abs(file); err != nil {
		return &Error{Code: CodeCopy, Path: s.where, Hint: "give another file", Err: err}
	}
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return &Error{Code: CodeCopy, Path: s.where, Hint: "give a file that does not exist", Err: fmt.Errorf("%s exists already", file)}
	}
	half := file + ".part-" + uuid.NewString()
	if err := createFile(half); err != nil { // for its owner only, before anything is in it
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
	if err := checkCopy(ctx, half, s.id, s.tune); err != nil {
		return err
	}
	return moveInto(half, file)
}

func (s *Store) copyInto(ctx context.Context, file string) (err error) {
	db := connectSQLite(s.tune, sqliteDSN(s.where, "mode=rw", busy(s.tune), "_error_rc=1"), 1)
	defer func() { err = errors.Join(err, db.Close()) }()
	// It reads this database, and writes another that nobody else knows. It cannot be in a transaction.
	rows, err := db.QueryxContext(ctx, `VACUUM INTO ?`, file)
	if err != nil {
		return s.fault(ctx, "copying the ledger to "+file, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() { // it has none, and is done when that is known
	}
	return s.fault(ctx, "copying the ledger to "+file, rows.Err())
}

// checkCopy opens a copy and looks at all of it. id, unless it is empty, is the ledger's.
func checkCopy(ctx context.Context, file, id string, tune tuning) (err error) {
	s, err := open(ctx, Options{Driver: SQLite, DSN: file, ReadOnly: true, Verify: true}, tune)
	if err != nil {
		return fmt.Errorf("checking the copy: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if id != "" && s.id != id {
		return fmt.Errorf("checking the copy: it is of ledger %s, not %s", s.id, id)
	}
	uneven, err := s.UnevenSums(ctx)
	if err != nil {
		return err
	}
	broken, err := s.BrokenKeys(ctx)
	if err != nil {
		return err
	}
	if len(uneven)+len(broken) > 0 {
		return &Error{Code: CodeCorrupt, Path: file, Hint: "run `safrasync doctor --full`", Err: fmt.Errorf("the copy is not in order: sums of %v, foreign keys of %v", uneven, broken)}
	}
	return nil
}

// moveInto gives a file its name, flushed.
func moveInto(from, to string) (err error) {
	f, err := os.OpenFile(from, os.O_RDWR, 0)
	if err != nil {
		return permission(from, err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return &Error{Code: CodeIO, Path: from, Hint: "check the disk", Err: err}
	}
	if err := os.Rename(from, to); err != nil {
		return permission(to, err)
	}
	return syncFolder(filepath.Dir(to))
}

// syncFolder makes the names in a folder durable.
func syncFolder(dir string) (err error) {
	d, err := os.Open(dir)
	if err != nil {
		return permission(dir, err)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.Sync(); err != nil {
		return &Error{Code: CodeIO, Path: dir, Hint: "check the disk", Err: err}
	}
	return nil
}
