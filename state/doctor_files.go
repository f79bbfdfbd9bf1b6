package state

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
)

// diagnoseJournal compares ledger and journal, and reads the whole journal.
func (s *Store) diagnoseJournal(ctx context.Context, d *Diagnosis, parent string) error {
	if parent == "" {
		d.OK, d.Problem = true, ProblemNoJournal
		return nil
	}
	report, err := s.JournalReport(ctx, parent)
	var e *sqldb.Error
	switch {
	case errors.As(err, &e):
		d.Problem, d.Args = ProblemUnfit, []any{e}
		return nil
	case err != nil:
		return err
	}
	_, err = journal.Read(report.Folder, -1, func(journal.Record, string) error { return ctx.Err() })
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case report.New:
		d.OK, d.Problem = true, ProblemNew
	case err != nil:
		errors.As(s.db.JournalFault(err), &e)
		d.Problem, d.Args = ProblemUnfit, []any{e}
	case report.Unfinished:
		d.OK, d.Problem = true, ProblemUnfinished
	default:
		d.Args = []any{report.Folder, report.Records, report.Bytes}
	}
	return nil
}

// JournalReport describes how ledger and journal compare.
type JournalReport struct {
	Folder string
	New    bool // there is no journal yet, and none is missing
	// The journal has one record more than the ledger: either it is being written, or a process
	// ended at that point, which the next start settles.
	Unfinished bool
	Records    int64
	Bytes      int64
	// Together means that one image of the disk contains both: restored, neither detects the other.
	Together bool
}

// JournalReport compares the ledger with its journal, without changing anything. If the two do not
// fit, it returns an *Error that states the way out.
func (s *Store) JournalReport(ctx context.Context, parent string) (JournalReport, error) {
	parent, err := filepath.Abs(parent)
	if err != nil {
		return JournalReport{}, err
	}
	dir := s.journalDir(parent)
	v, err := s.compareJournal(ctx, "comparing the ledger with its journal", dir)
	if err == nil {
		err = s.behindCopies(ctx)
	}
	return JournalReport{
		Folder: dir, New: v.Fresh, Unfinished: len(v.left) > 0, Records: v.Compare.End.Seq,
		Bytes:    v.Compare.End.Bytes,
		Together: s.db.D.Name == sqldb.SQLite && sqldb.SameDevice(filepath.Dir(s.db.Where), dir),
	}, err
}

// diagnoseDurability checks the settings that a commit needs to be on disk.
func (s *Store) diagnoseDurability(ctx context.Context, d *Diagnosis) error {
	var e *sqldb.Error
	if s.db.D.Name == sqldb.Postgres {
		err := s.db.VerifyPostgres(ctx)
		if errors.As(err, &e) && e.Code == sqldb.CodeDurability {
			d.Problem, d.Args, err = ProblemWeak, []any{e}, nil
		}
		return err
	}
	version, mode, err := s.sqliteSettings(ctx)
	if err != nil {
		return err
	}
	// synchronous belongs to a connection; each connection that writes is verified when it is
	// opened.
	if errors.As(sqldb.JudgeSQLite(s.db.Where, version, mode, 2, 1), &e) {
		e.Hint = phrase.New("open the ledger once for writing: the next `safrasync sync` sets it")
		d.Problem, d.Args = ProblemWeak, []any{e}
	}
	return nil
}

// Files returns the paths of the ledger and of its journal, with the permissions that they are
// created with. Some of them may not exist.
func (s *Store) Files(parent string) map[string]fs.FileMode {
	paths := map[string]fs.FileMode{}
	if s.inFile() {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			paths[s.db.Where+suffix] = 0o600
		}
	}
	if parent != "" {
		dir := s.journalDir(parent)
		paths[dir] = 0o700
		files, _ := os.ReadDir(dir) // an unreadable folder is reported by the check of the journal
		for _, f := range files {
			paths[filepath.Join(dir, f.Name())] = 0o600
		}
	}
	return paths
}

// diagnoseRights reports the first file that others than its owner may access, or else the first
// folder that others may write to.
func diagnoseRights(d *Diagnosis, paths map[string]fs.FileMode, dirs []string) {
	look := func(path string, forbidden, wanted fs.FileMode) {
		if info, err := os.Stat(path); d.Problem == "" && err == nil && info.Mode().Perm()&forbidden != 0 {
			d.Problem, d.Args = ProblemMode, []any{path, info.Mode().Perm(), wanted}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		look(path, 0o077, paths[path])
	}
	for _, dir := range dirs {
		look(dir, 0o022, 0o700)
	}
}

// Forgotten returns an *Error with CodeEmptied if there is no ledger although the journal of one in
// the same place records that rows were sent. It changes nothing.
func Forgotten(o sqldb.OpenOptions) error {
	where, err := whereOf(o)
	if err != nil {
		return err
	}
	return sqldb.RefuseForgotten(o.Journal, where)
}
