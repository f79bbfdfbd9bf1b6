package state

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
)

// diagnoseJournal compares ledger and journal, and reads the whole journal.
func (s *Store) diagnoseJournal(ctx context.Context, parent string) (Diagnosis, error) {
	d := Diagnosis{Check: "journal"}
	if parent == "" {
		d.OK, d.Problem = true, ProblemNoJournal
		return d, nil
	}
	report, err := s.JournalReport(ctx, parent)
	var e *sqldb.Error
	switch {
	case errors.As(err, &e):
		d.Problem, d.Args = ProblemUnfit, []any{e}
		return d, nil
	case err != nil:
		return d, err
	}
	_, err = journal.Read(report.Folder, -1, func(journal.Record, string) error { return ctx.Err() })
	switch {
	case ctx.Err() != nil:
		return d, ctx.Err()
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
	return d, nil
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
func (s *Store) diagnoseDurability(ctx context.Context) (Diagnosis, error) {
	d := Diagnosis{Check: "durability"}
	if s.db.D.Name == sqldb.Postgres {
		if err := s.db.VerifyPostgres(ctx); err != nil {
			var e *sqldb.Error
			if !errors.As(err, &e) || e.Code != sqldb.CodeDurability {
				return d, err
			}
			d.Problem, d.Args = ProblemWeak, []any{e}
		}
		return d, nil
	}
	var version, mode string
	if err := s.db.Get(ctx, "looking at the ledger", &version, `SELECT sqlite_version()`); err != nil {
		return d, err
	}
	if err := s.db.Get(ctx, "looking at the ledger", &mode, `PRAGMA journal_mode`); err != nil {
		return d, err
	}
	// synchronous belongs to a connection; each connection that writes is verified when it is
	// opened.
	if err := sqldb.JudgeSQLite(s.db.Where, version, mode, 2, 1); err != nil {
		var e *sqldb.Error
		errors.As(err, &e)
		e.Hint = phrase.New("open the ledger once for writing: the next `safrasync sync` sets it")
		d.Problem, d.Args = ProblemWeak, []any{e}
	}
	return d, nil
}

// Files returns the paths of the ledger and of its journal, with the permissions that they are
// created with. Some of them may not exist.
func (s *Store) Files(parent string) map[string]fs.FileMode {
	paths := map[string]fs.FileMode{}
	if s.db.D.Name == sqldb.SQLite && !s.db.Memory {
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

// diagnoseFiles checks disks and permissions. With PostgreSQL only the journal is on this host.
func (s *Store) diagnoseFiles(parent string) []Diagnosis {
	var out []Diagnosis
	paths := s.Files(parent)
	dirs := []string{}
	if s.db.D.Name == sqldb.SQLite && !s.db.Memory {
		dirs = append(dirs, filepath.Dir(s.db.Where))
		wal := Diagnosis{Check: "wal", OK: true}
		if size := walSize(s.db.Where); size > walLimit {
			wal.Problem, wal.Args = ProblemLarge, []any{size}
		}
		out = append(out, wal)
	}
	if parent != "" {
		dir := s.journalDir(parent)
		if _, err := os.Stat(dir); err == nil {
			dirs = append(dirs, dir)
		}
	}
	out = append(out, s.diagnoseSpace(dirs), s.diagnoseFileSystem(dirs))
	if runtime.GOOS == "windows" { // its modes do not tell who may read
		return out
	}
	return append(out, diagnoseRights(paths, dirs))
}

func (s *Store) diagnoseSpace(dirs []string) Diagnosis {
	d := Diagnosis{Check: "space", OK: true}
	for _, dir := range dirs {
		if free, ok := s.db.Tune.Free(dir); ok && free < sqldb.LowSpace {
			d.OK, d.Problem, d.Args = false, ProblemLow, []any{dir, free >> 20}
		}
	}
	return d
}

func (s *Store) diagnoseFileSystem(dirs []string) Diagnosis {
	d := Diagnosis{Check: "file_system", OK: true}
	for _, dir := range dirs {
		magic, ok := s.db.Tune.FsMagic(dir)
		if !ok {
			continue
		}
		if name, lasting := sqldb.FileSystemName(magic); !lasting {
			d.OK, d.Problem, d.Args = sqldb.NetworkFileSystem(magic) == "", ProblemLasting, []any{dir, name}
		}
	}
	return d
}

// diagnoseRights reports the first file that others than its owner may access, or else the first
// folder that others may write to.
func diagnoseRights(paths map[string]fs.FileMode, dirs []string) Diagnosis {
	d := Diagnosis{Check: "rights", OK: true}
	look := func(path string, forbidden, wanted fs.FileMode) {
		if info, err := os.Stat(path); d.OK && err == nil && info.Mode().Perm()&forbidden != 0 {
			d.OK, d.Problem, d.Args = false, ProblemMode, []any{path, info.Mode().Perm(), wanted}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		look(path, 0o077, paths[path])
	}
	for _, dir := range dirs {
		look(dir, 0o022, 0o700)
	}
	return d
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
