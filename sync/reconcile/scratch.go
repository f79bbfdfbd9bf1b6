// The temporary database and the temporary files of a report.

package reconcile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// scratch is a SQLite database in a temporary file, for what a report looks up or sorts and does
// not hold in memory. All of it is one transaction that is never committed, since nobody else reads
// it.
type scratch struct {
	path string
	db   *sql.DB
	tx   *sql.Tx
}

// scratchSetup: nothing must outlive the process, only one connection uses the file, and its cache
// is 8 MiB.
const scratchSetup = "?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)&_pragma=locking_mode(EXCLUSIVE)&_pragma=cache_size(-8192)"

// newScratch makes a database that nobody else can read. If the system allows it, the file is
// removed at once and disappears when the process ends.
func newScratch(folder, schema string) (_ *scratch, err error) {
	f, err := os.CreateTemp(folder, temporaryName) // mode 0600
	if err != nil {
		return nil, fmt.Errorf(temporaryMake, err)
	}
	s := &scratch{path: f.Name()}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf(temporaryMake, err), s.close())
		}
	}()
	if err := f.Close(); err != nil {
		return nil, err
	}
	if s.path, err = filepath.Abs(s.path); err != nil {
		return nil, err
	}
	// As the path of a URI it keeps every character of a folder's name.
	if s.db, err = sql.Open("sqlite", "file:"+(&url.URL{Path: filepath.ToSlash(s.path)}).EscapedPath()+
		scratchSetup); err != nil {
		return nil, err
	}
	s.db.SetMaxOpenConns(1)
	if s.tx, err = s.db.BeginTx(context.Background(), nil); err != nil {
		return nil, err
	}
	if _, err := s.tx.ExecContext(context.Background(), schema); err != nil {
		return nil, err
	}
	_ = os.Remove(s.path) // if that is not possible, close removes it
	return s, nil
}

// prepare prepares statements, which are closed with the database.
func (s *scratch) prepare(to map[**sql.Stmt]string) (err error) {
	for stmt, text := range to {
		//nolint:sqlclosecheck // the end of the transaction closes it
		if *stmt, err = s.tx.PrepareContext(context.Background(), text); err != nil {
			return fmt.Errorf(temporaryMake, err)
		}
	}
	return nil
}

// close removes the database; s may be nil.
func (s *scratch) close() error {
	if s == nil {
		return nil
	}
	var err error
	if s.tx != nil {
		err = s.tx.Rollback()
	}
	if s.db != nil {
		err = errors.Join(err, s.db.Close())
	}
	return errors.Join(err, removed(s.path))
}

// temporaryName is the name pattern of a report's temporary files.
const temporaryName = "safrasync-report-*.tmp"

// Errors with a temporary file.
const (
	temporaryMake  = "make a temporary file for the report: %w"
	temporaryRead  = "read a temporary file of the report: %w"
	temporaryWrite = "write a temporary file of the report: %w"
)

// temporary makes a file that nobody else can read. [discard] removes it; if the system allows it,
// it is unlinked at once and disappears when the process ends.
func temporary(folder string) (*os.File, error) {
	f, err := os.CreateTemp(folder, temporaryName) // mode 0600
	if err != nil {
		return nil, fmt.Errorf(temporaryMake, err)
	}
	_ = os.Remove(f.Name()) // if that is not possible, discard removes it
	return f, nil
}

// discard closes and removes a temporary file; f may be nil.
func discard(f *os.File) error {
	if f == nil {
		return nil
	}
	return errors.Join(f.Close(), removed(f.Name()))
}

// removed removes a file, which may be gone already.
func removed(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
