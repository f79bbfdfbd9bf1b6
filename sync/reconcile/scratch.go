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

// scratch is a SQLite database of one report, in a temporary file: what is looked up or sorted
// there is not in memory. All is one transaction that is never committed: nobody else reads it.
type scratch struct {
	path string
	db   *sql.DB
	tx   *sql.Tx
}

// What scratchSetup sets: nothing has to outlive the process, one connection alone uses the file,
// and it holds eight MiB of it in memory.
const scratchSetup = "?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)&_pragma=locking_mode(EXCLUSIVE)&_pragma=cache_size(-8192)"

// newScratch makes a database that nobody else can read. Where the system allows it, its file goes
// by itself when the process dies.
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
	// The path of a URI keeps every character of a folder's name.
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
	_ = os.Remove(s.path) // where that cannot be, close removes it
	return s, nil
}

// prepare makes statements, which end with the database.
func (s *scratch) prepare(to map[**sql.Stmt]string) (err error) {
	for stmt, text := range to {
		//nolint:sqlclosecheck // the end of the transaction closes it
		if *stmt, err = s.tx.PrepareContext(context.Background(), text); err != nil {
			return fmt.Errorf(temporaryMake, err)
		}
	}
	return nil
}

// close removes the database; nil is none.
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

// temporaryName is the pattern of the names of a report's temporary files.
const temporaryName = "safrasync-report-*.tmp"

// What went wrong with a temporary file.
const (
	temporaryMake  = "make a temporary file for the report: %w"
	temporaryRead  = "read a temporary file of the report: %w"
	temporaryWrite = "write a temporary file of the report: %w"
)

// temporary makes a file that nobody else can read. It goes with [discard], and where the system
// allows it, by itself when the process dies.
func temporary(folder string) (*os.File, error) {
	f, err := os.CreateTemp(folder, temporaryName) // mode 0600
	if err != nil {
		return nil, fmt.Errorf(temporaryMake, err)
	}
	_ = os.Remove(f.Name()) // where that cannot be, discard removes it
	return f, nil
}

// discard closes and removes a temporary file; nil is none.
func discard(f *os.File) error {
	if f == nil {
		return nil
	}
	return errors.Join(f.Close(), removed(f.Name()))
}

// removed removes a file that may be gone already.
func removed(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
