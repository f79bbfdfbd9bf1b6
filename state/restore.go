package state

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/trade"
)

// Restore puts a copy of a SQLite ledger in its place. The copy is checked first, brought to this program's schema, and gets the record of the act; the ledger that
// stood there is kept beside it, under the name that is given back ("" when there was none). It is refused while anybody has the ledger open. What the copy lacks
// is told by the journal, at the next opening.
func Restore(ctx context.Context, o Options, file string, record trade.AuditRecord) (kept string, err error) {
	return restore(ctx, o, defaultTuning, file, record)
}

func restore(ctx context.Context, o Options, tune tuning, file string, record trade.AuditRecord) (kept string, err error) {
	if o.Driver != SQLite {
		return "", &Error{
			Code: CodeCopy, Err: errors.New("only a ledger in SQLite is restored by this command"),
			Hint: "use pg_restore, or the server's own way; then run `safrasync rebuild` on every host that uses the ledger",
		}
	}
	journals := o.Journal
	if o.Journal, o.ReadOnly = "", false; o.DSN == "" {
		return "", &Error{Code: CodeCopy, Hint: "set state.dsn", Err: errors.New("the ledger has no file")}
	}
	path, exists, err := sqlitePath(o, tune)
	if err != nil {
		return "", err
	}
	half := path + ".restore-" + uuid.NewString()
	defer func() {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if rmErr := os.Remove(half + suffix); rmErr != nil && !errors.Is(rmErr, fs.ErrNotExist) {
				err = errors.Join(err, rmErr)
			}
		}
	}()
	if err := copyLedger(file, half); err != nil {
		return "", err
	}
	id, err := readyCopy(ctx, half, o.Version, tune, record)
	if err != nil {
		return "", err
	}
	if err := sameLedger(ctx, o, journals, path, id, exists, tune); err != nil {
		return "", err
	}
	if exists {
		if err := nobodyHas(ctx, path, tune); err != nil {
			return "", err
		}
		if kept, err = keepAside(path); err != nil {
			return "", err
		}
	}
	return kept, moveInto(half, path)
}

// copyLedger copies a file for its owner only.
func copyLedger(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return permission(from, err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if info, err := os.Stat(from + "-wal"); err == nil && info.Size() > 0 {
		return &Error{
			Code: CodeCopy, Path: from, Hint: "open it once with the sqlite3 shell and close it, which joins the two, or make copies with `safrasync backup`",
			Err: errors.New("it is no finished copy: a part of it is in its -wal file"),
		}
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return permission(to, err)
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return &Error{Code: CodeIO, Path: to, Hint: "check the disk and its free space (" + freeSpace(to) + ")", Err: err}
	}
	return nil
}

// sameLedger refuses a copy of another ledger than the one that stands there, or stood there by its journal.
func sameLedger(ctx context.Context, o Options, journals, path, id string, exists bool, tune tuning) error {
	var ids []string
	if journals != "" {
		f, err := journalOf(journals, path)
		if err != nil {
			return err
		}
		if f.dir != "" && f.end.Header.Place == path {
			ids = append(ids, f.end.Header.Ledger)
		}
	}
	if o.ReadOnly = true; exists {
		if s, err := open(ctx, o, tune); err == nil { // one that cannot be read says nothing
			ids = append(ids, s.id)
			if err := s.Close(); err != nil {
				return err
			}
		}
	}
	for _, other := range ids {
		if other != id {
			return &Error{
				Code: CodeCopy, Path: path, Hint: "take a copy of the right one, or set state.dsn to where the other belongs",
				Err: fmt.Errorf("the copy is of ledger %s, and the one in its place is %s", id, other),
			}
		}
	}
	return nil
}

// readyCopy checks a copy, brings it up to date, writes the act into it and gives its id.
func readyCopy(ctx context.Context, file, version string, tune tuning, record trade.AuditRecord) (id string, err error) {
	s, err := open(ctx, Options{Driver: SQLite, DSN: file, Verify: true, Version: version}, tune)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	uneven, err := s.UnevenSums(ctx)
	if err != nil {
		return "", err
	}
	if len(uneven) > 0 {
		return "", &Error{Code: CodeCorrupt, Path: file, Hint: "take another copy", Err: fmt.Errorf("the sums of %v are not those of their rows", uneven)}
	}
	var rows int
	if err := s.read.GetContext(ctx, &rows, `SELECT COUNT(*) FROM entry`); err != nil {
		return "", s.fault(ctx, "checking the copy", err)
	}
	if rows == 0 {
		return "", &Error{Code: CodeCopy, Path: file, Hint: "take another copy", Err: errors.New("it has no rows")}
	}
	return s.id, s.AppendAudit(ctx, record)
}

// nobodyHas refuses a ledger that somebody has open: only then can its journal mode change, which also brings everything into one file. A damaged file cannot tell,
// and is asked of the system.
func nobodyHas(ctx context.Context, path string, tune tuning) (err error) {
	used := &Error{Code: CodeLocked, Path: path, Hint: "stop every process that uses the ledger" + holders(path), Err: errors.New("somebody has it open")}
	db := connectSQLite(tune, sqliteDSN(path, "mode=rw", "_error_rc=1"), 1)
	defer func() { err = errors.Join(err, db.Close()) }()
	var mode string
	err = faultOf(ctx, "restoring", path, SQLite, db.GetContext(ctx, &mode, `PRAGMA journal_mode = DELETE`))
	var known *Error
	switch {
	case err == nil && mode == "delete":
		return nil
	case err == nil:
		return used
	case errors.As(err, &known) && known.Code == CodeLocked:
		return used
	case errors.As(err, &known) && known.Code == CodeCorrupt && holders(path) == "":
		return nil
	case errors.As(err, &known) && known.Code == CodeCorrupt:
		return used
	}
	return err
}

// keepAside gives the ledger a second name, so that it is never without one, and moves what a damaged one has beside it.
func keepAside(path string) (string, error) {
	kept := path + ".before-" + time.Now().UTC().Format("20060102T150405.000Z")
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Rename(path+suffix, kept+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", permission(path+suffix, err)
		}
	}
	if err := os.Link(path, kept); err != nil {
		return "", permission(kept, err)
	}
	return kept, syncFolder(filepath.Dir(path))
}
