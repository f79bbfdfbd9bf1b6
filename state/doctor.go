package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/books"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
)

// Diagnosis is the result of one check of `safrasync doctor`.
type Diagnosis struct {
	// integrity, foreign_keys, rows, journal, audit, space, wal, file_system, rights,
	// durability, clock, leases, attempts, schema
	Check   string
	OK      bool   // false: this must be repaired before anything is sent
	Problem string // what is wrong or worth knowing; "" if there is nothing
	Args    []any  // arguments of the sentence about the problem
}

// The problems. Their sentences are written where they are shown to people.
const (
	ProblemDamaged    = "damaged"
	ProblemEdited     = "edited"
	ProblemBroken     = "broken"
	ProblemLow        = "low"
	ProblemLarge      = "large"
	ProblemLasting    = "not_lasting"
	ProblemMode       = "mode"
	ProblemWeak       = "weak"
	ProblemFuture     = "future"
	ProblemDead       = "dead"
	ProblemOld        = "old"
	ProblemNoJournal  = "none"
	ProblemNew        = "new"
	ProblemUnfinished = "unfinished"
	ProblemUnfit      = "unfit"
	ProblemUnproved   = "unproved"
	ProblemReduced    = "reduced"
	ProblemLong       = "long" // the check takes too long, so the result is not known
)

// longOpen is how long an attempt may stay open. It is longer than every time-out of a request.
const longOpen = 30 * time.Minute

// futureMargin is how far the ledger's times may be ahead of the clock.
const futureMargin = 5 * time.Minute

// latestMoment selects the time of the newest thing that the ledger knows; 0 if it knows nothing.
const latestMoment = `SELECT COALESCE(MAX(at), 0) FROM (SELECT MAX(updated_at) AS at FROM entry UNION ALL SELECT MAX(at) FROM audit
	UNION ALL SELECT MAX(started_at) FROM run) AS times`

// Diagnose checks the whole ledger without changing anything, with a probe for each line of the
// report. One that finds a problem fails, unless it sets OK. If full is true, it reads every page
// of a SQLite file and its indexes. It always reads the whole journal. A check that takes longer
// than each is reported with ProblemLong; 0 means no limit. The error is for what prevents the
// checks.
func (s *Store) Diagnose(ctx context.Context, journals string, full bool, each time.Duration) ([]Diagnosis, error) {
	out, folders := []Diagnosis{}, s.folders("")
	if journals != "" {
		dir := s.journalDir(journals)
		_, err := os.Stat(dir)
		if err == nil {
			folders = append(folders, dir)
		}
	}
	// the modes of Windows do not tell who may read
	skip := map[string]bool{"wal": !s.inFile(), "rights": runtime.GOOS == "windows"}
	for _, probe := range []struct {
		check string
		look  func(ctx context.Context, d *Diagnosis) error
	}{
		{"schema", func(context.Context, *Diagnosis) error { return nil }}, // it was opened
		// PostgreSQL checks its own pages
		{"integrity", func(ctx context.Context, d *Diagnosis) error { return s.diagnoseIntegrity(ctx, d, full) }},
		{"foreign_keys", func(ctx context.Context, d *Diagnosis) error {
			tables, err := s.brokenKeys(ctx)
			if len(tables) > 0 {
				d.Problem, d.Args = ProblemBroken, []any{fmt.Sprint(tables)}
			}
			return err
		}},
		{"rows", s.diagnoseRows},
		{"audit", func(ctx context.Context, d *Diagnosis) error { return s.diagnoseAudit(ctx, d, full) }},
		{"journal", func(ctx context.Context, d *Diagnosis) error { return s.diagnoseJournal(ctx, d, journals) }},
		{"durability", s.diagnoseDurability},
		{"clock", func(ctx context.Context, d *Diagnosis) error {
			var last time.Time
			err := s.db.Get(ctx, "looking at the ledger's times", &last, latestMoment)
			if err == nil && time.Until(last) > futureMargin {
				d.OK, d.Problem, d.Args = true, ProblemFuture, []any{last}
			}
			return err
		}},
		{"leases", func(ctx context.Context, d *Diagnosis) error {
			leases, err := s.Leases(ctx)
			for _, l := range leases {
				if l.Dead {
					d.OK, d.Problem, d.Args = true, ProblemDead, []any{l.Job, l.Owner.PID, l.Owner.Host}
				}
			}
			return err
		}},
		{"attempts", func(ctx context.Context, d *Diagnosis) error {
			var old struct {
				N  int
				At time.Time
			}
			err := s.db.Get(ctx, "looking for open attempts", &old,
				`SELECT COUNT(*) AS n, MIN(started_at) AS at FROM sent WHERE outcome = 'open' AND started_at < `+s.db.D.Now+` - ?`,
				longOpen.Milliseconds())
			if old.N > 0 {
				d.OK, d.Problem, d.Args = true, ProblemOld, []any{old.N, old.At}
			}
			return err
		}},
		{"wal", func(_ context.Context, d *Diagnosis) error {
			if size := walSize(s.db.Where); size > walLimit {
				d.OK, d.Problem, d.Args = true, ProblemLarge, []any{size}
			}
			return nil
		}},
		{"space", func(_ context.Context, d *Diagnosis) error {
			for _, space := range s.spacesOf(folders) {
				if space.Low {
					d.Problem, d.Args = ProblemLow, []any{space.Folder, space.Free >> 20}
				}
			}
			return nil
		}},
		{"file_system", func(_ context.Context, d *Diagnosis) error {
			for _, dir := range folders {
				magic, ok := s.db.Tune.FsMagic(dir)
				if name, lasting := sqldb.FileSystemName(magic); ok && !lasting {
					d.OK, d.Problem, d.Args = sqldb.NetworkFileSystem(magic) == "", ProblemLasting, []any{dir, name}
				}
			}
			return nil
		}},
		{"rights", func(_ context.Context, d *Diagnosis) error {
			// the first file that others may access, or else the first folder that others may write to
			paths := s.Files(journals)
			look := func(path string, forbidden, wanted fs.FileMode) {
				if info, err := os.Stat(path); d.Problem == "" && err == nil && info.Mode().Perm()&forbidden != 0 {
					d.Problem, d.Args = ProblemMode, []any{path, info.Mode().Perm(), wanted}
				}
			}
			for _, path := range slices.Sorted(maps.Keys(paths)) {
				look(path, 0o077, paths[path])
			}
			for _, dir := range folders {
				look(dir, 0o022, 0o700)
			}
			return nil
		}},
	} {
		if skip[probe.check] {
			continue
		}
		d := Diagnosis{Check: probe.check}
		over, err := sqldb.Within(ctx, each, func(ctx context.Context) error { return probe.look(ctx, &d) })
		switch {
		case err != nil:
			return out, err
		case over:
			d = Diagnosis{Check: d.Check, OK: true, Problem: ProblemLong}
		}
		d.OK = d.OK || d.Problem == ""
		out = append(out, d)
	}
	return out, nil
}

func (s *Store) diagnoseIntegrity(ctx context.Context, d *Diagnosis, full bool) error {
	if s.db.D.Name != sqldb.SQLite {
		return nil
	}
	check := `PRAGMA quick_check(5)`
	if full {
		check = `PRAGMA integrity_check(5)`
	}
	var known *sqldb.Error
	first, err := s.damage(ctx, check)
	if errors.As(err, &known) && known.Code == sqldb.CodeCorrupt {
		first, err = known.Err.Error(), nil
	}
	if err != nil {
		return err
	}
	err = s.verifyIDs(ctx)
	switch {
	case first != "":
		d.Problem, d.Args, err = ProblemDamaged, []any{first}, nil
	case errors.As(err, &known) && known.Code == sqldb.CodeCorrupt:
		d.Problem, d.Args, err = ProblemDamaged, []any{known.Err}, nil
	}
	return err
}

// brokenKeys returns the names of tables with rows that refer to a missing row, which PostgreSQL
// prevents.
func (s *Store) brokenKeys(ctx context.Context) (tables []string, err error) {
	if s.db.D.Name == sqldb.SQLite {
		err = s.db.All(ctx, "checking foreign keys", &tables,
			`SELECT DISTINCT "table" FROM pragma_foreign_key_check ORDER BY 1`)
	}
	return tables, err
}

// diagnoseAudit verifies the whole chain of acts, in which a missing act shows as a gap in the
// numbers, and compares it with the ends of it in the journal. Without a journal nothing is proved:
// only the full check calls that a fault, because a ledger may be kept without one.
func (s *Store) diagnoseAudit(ctx context.Context, d *Diagnosis, full bool) error {
	p, err := s.VerifyAudit(ctx)
	switch {
	case errors.Is(err, books.ErrNoHeads):
		d.Problem, err = ProblemUnproved, nil
	case err != nil:
	case p.Broken != 0:
		d.Problem, d.Args = ProblemBroken, []any{p.Broken}
	case p.Journals == 0:
		d.OK, d.Problem = !full, ProblemUnproved
	case p.Reduced != 0:
		d.OK, d.Problem, d.Args = !full, ProblemReduced, []any{p.Reduced}
	}
	return err
}

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

// Forgotten returns an *Error with CodeEmptied if there is no ledger although the journal of one in
// the same place records that rows were sent. It changes nothing.
func Forgotten(o sqldb.OpenOptions) error {
	where, err := whereOf(o)
	if err != nil {
		return err
	}
	return sqldb.RefuseForgotten(o.Journal, where)
}
