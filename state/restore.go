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
	"time"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/books"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Restore replaces a SQLite ledger by a copy. It first checks the copy, migrates it to this
// program's schema and adds the act to its audit. The previous ledger is kept beside it under the
// returned name ("" if there was none). Restore refuses while a process has the ledger open. What
// the copy lacks is found in the journal when the ledger is next opened.
func Restore(ctx context.Context, o sqldb.OpenOptions, file string, record trade.AuditRecord) (kept string, err error) {
	if o.Driver != sqldb.SQLite {
		return "", &sqldb.Error{
			Code: sqldb.CodeCopy, Err: errors.New("only a ledger in SQLite is restored by this command"),
			Hint: phrase.New("use pg_restore, or the server's own way; then run `safrasync rebuild` on every host that uses the ledger"),
		}
	}
	journals := o.Journal
	o.Journal, o.ReadOnly = "", false
	if o.DSN == "" {
		return "", &sqldb.Error{
			Code: sqldb.CodeCopy, Hint: phrase.New("set state.dsn"), Err: errors.New("the ledger has no file"),
		}
	}
	path, exists, err := sqldb.SqlitePath(o, o.Tuning())
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
	id, err := readyCopy(ctx, o, half, record)
	if err != nil {
		return "", err
	}
	if err := sameLedger(ctx, o, journals, path, id, exists); err != nil {
		return "", err
	}
	if exists {
		kept, err = setAside(ctx, path, o.Tuning())
		if err != nil {
			return "", err
		}
	}
	return kept, moveInto(half, path)
}

// copyLedger copies a file; only the owner may read the copy.
func copyLedger(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return sqldb.Permission(from, err)
	}
	defer phrase.Join(&err, in.Close)
	if info, err := os.Stat(from + "-wal"); err == nil && info.Size() > 0 {
		return sqldb.Refuse(sqldb.CodeCopy, from,
			errors.New("it is no finished copy: a part of it is in its -wal file"),
			phrase.New("open it once with the sqlite3 shell and close it, which joins the two, or make copies with `safrasync backup`"))
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return sqldb.Permission(to, err)
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, sum), in)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		hint := phrase.New("check the disk and its free space (%w)", sqldb.FreeSpace(to))
		return sqldb.Refuse(sqldb.CodeIO, to, err, hint)
	}
	if line := lineOfCopy(from); line.Hash != "" && line.Hash != hex.EncodeToString(sum.Sum(nil)) {
		return sqldb.Refuse(sqldb.CodeCorrupt, from,
			phrase.Errorf("it is not as the backup made it: its hash is not the one in %s", lineFile(from)),
			phrase.New("take another copy; if a program has opened this one for writing since, remove that file: its pages are checked all the same"))
	}
	return nil
}

// sameLedger refuses a copy that is of another ledger than the one in its place, or than the one
// that, according to the journal, was there; and a copy of a ledger that was moved away since.
func sameLedger(ctx context.Context, o sqldb.OpenOptions, journals, path, id string, exists bool) error {
	var ids []string
	if journals != "" {
		f, err := sqldb.JournalOf(journals, path)
		if err != nil {
			return err
		}
		if f.Dir != "" && f.End.Header.Place == path {
			ids = append(ids, f.End.Header.Ledger)
		}
		// one that cannot be read is reported when the ledger is opened
		end, err := journal.ReadEnd(filepath.Join(journals, id))
		if err == nil && end.Header.MovedTo != "" {
			return sqldb.MovedAway(path, end.Header.MovedTo)
		}
	}
	o.ReadOnly = true
	if exists {
		// a ledger that cannot be read has no id to compare
		if s, err := Open(ctx, o); err == nil {
			ids = append(ids, s.db.ID)
			var moved *string
			if s.db.ID == id {
				err = s.db.Get(ctx, "looking at the ledger in its place", &moved, `SELECT moved_to FROM ledger`)
			}
			err = errors.Join(err, s.Close())
			if err != nil {
				return err
			}
			if moved != nil {
				return sqldb.MovedAway(path, *moved)
			}
		}
	}
	for _, other := range ids {
		if other != id {
			return sqldb.Refuse(sqldb.CodeCopy, path,
				phrase.Errorf("the copy is of ledger %s, and the one in its place is %s", id, other),
				phrase.New("take a copy of the right one, or set state.dsn to where the other belongs"))
		}
	}
	return nil
}

// readyCopy checks and migrates a copy, adds the act to its audit, and returns its ledger id.
func readyCopy(ctx context.Context, o sqldb.OpenOptions, file string,
	record trade.AuditRecord,
) (id string, err error) {
	s, err := Open(ctx, sqldb.OpenOptions{
		Driver: sqldb.SQLite, DSN: file, Verify: true, Version: o.Version, Tune: o.Tune,
	})
	if err != nil {
		return "", err
	}
	defer phrase.Join(&err, s.Close)
	var rows int
	if err := s.db.Get(ctx, "checking the copy", &rows, `SELECT COUNT(*) FROM entry`); err != nil {
		return "", err
	}
	if rows == 0 {
		return "", sqldb.Refuse(sqldb.CodeCopy, file, errors.New("it has no rows"),
			phrase.New("take another copy"))
	}
	return s.db.ID, s.db.InTx(ctx, "preparing the copy", func(t *sqldb.Tx) error {
		if err := newLife(t); err != nil {
			return err
		}
		return books.AddAudit(t, record)
	})
}

// nobodyHas refuses a ledger that a process has open. The check is to change the journal mode,
// which SQLite allows only then; this also brings everything into one file. For a damaged file the
// system's list of open files decides.
//
// A service that waits for the ledger opens it for a moment, again and again.
func nobodyHas(ctx context.Context, path string, tune sqldb.Tuning) (err error) {
	db := sqldb.ConnectSQLite(tune, sqldb.SqliteDSN(path, "mode=rw", "_error_rc=1"), 1)
	defer phrase.Join(&err, db.Close)
	for until := time.Now().Add(tune.Busy); ; time.Sleep(tune.Busy / 100) {
		var mode string
		err := sqldb.FaultOf(ctx, "restoring", path, sqldb.SQLite, db.GetContext(ctx, &mode, `PRAGMA journal_mode = DELETE`))
		var known *sqldb.Error
		corrupt := errors.As(err, &known) && known.Code == sqldb.CodeCorrupt
		switch {
		case err == nil && mode == "delete", corrupt && sqldb.Holders(path) == nil:
			return nil
		case err != nil && !corrupt && (known == nil || known.Code != sqldb.CodeLocked):
			return err
		case time.Now().After(until) || ctx.Err() != nil:
			return sqldb.Refuse(sqldb.CodeLocked, path, errors.New("somebody has it open"),
				phrase.New("stop every process that uses the ledger%w", sqldb.Holders(path)))
		}
	}
}

// setAside gives a ledger that no process has open a second name by a hard link, so that its own
// name always exists, and renames the -wal and -shm files that a damaged ledger may have.
func setAside(ctx context.Context, path string, tune sqldb.Tuning) (kept string, err error) {
	if err := nobodyHas(ctx, path, tune); err != nil {
		return "", err
	}
	kept = path + ".before-" + time.Now().UTC().Format(copyTime)
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Rename(path+suffix, kept+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", sqldb.Permission(path+suffix, err)
		}
	}
	if err := os.Link(path, kept); err != nil {
		return "", sqldb.Permission(kept, err)
	}
	return kept, syncFolder(filepath.Dir(path))
}
