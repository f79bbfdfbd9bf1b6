package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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

// Diagnose checks the whole ledger without changing anything. If full is true, it reads every page
// of a SQLite file and its indexes. It always reads the whole journal. The error is for what
// prevents the checks.
func (s *Store) Diagnose(ctx context.Context, journals string, full bool) ([]Diagnosis, error) {
	return s.diagnose(ctx, journals, full, 0)
}

// DiagnoseWithin is like Diagnose, but limits each check to the given duration. A check that takes
// longer is reported with ProblemLong.
func (s *Store) DiagnoseWithin(ctx context.Context, journals string, each time.Duration) ([]Diagnosis, error) {
	return s.diagnose(ctx, journals, false, each)
}

// diagnose makes the report: a function for each of its lines.
func (s *Store) diagnose(ctx context.Context, journals string, full bool, each time.Duration) ([]Diagnosis, error) {
	out := []Diagnosis{{Check: "schema", OK: true}}
	for _, look := range []func(context.Context) (Diagnosis, error){
		func(ctx context.Context) (Diagnosis, error) { return s.diagnoseIntegrity(ctx, full) },
		s.diagnoseKeys, s.diagnoseRows,
		func(ctx context.Context) (Diagnosis, error) { return s.diagnoseAudit(ctx, full) },
		func(ctx context.Context) (Diagnosis, error) { return s.diagnoseJournal(ctx, journals) },
		s.diagnoseDurability, s.diagnoseClock, s.diagnoseLeases, s.diagnoseAttempts,
	} {
		var d Diagnosis
		over, err := sqldb.Within(ctx, each, func(ctx context.Context) (err error) {
			d, err = look(ctx)
			return err
		})
		switch {
		case err != nil:
			return out, err
		case over:
			d = Diagnosis{Check: d.Check, OK: true, Problem: ProblemLong}
		}
		d.OK = d.OK || d.Problem == ""
		out = append(out, d)
	}
	return append(out, s.diagnoseFiles(journals)...), nil
}

func (s *Store) diagnoseIntegrity(ctx context.Context, full bool) (Diagnosis, error) {
	d := Diagnosis{Check: "integrity"}
	if s.db.D.Name != sqldb.SQLite {
		return d, nil // PostgreSQL checks its own pages
	}
	query := `PRAGMA quick_check(5)`
	if full {
		query = `PRAGMA integrity_check(5)`
	}
	var lines []string
	if err := s.db.All(ctx, "checking the ledger", &lines, query); err != nil {
		var known *sqldb.Error
		if !errors.As(err, &known) || known.Code != sqldb.CodeCorrupt {
			return d, err
		}
		lines = []string{known.Err.Error()}
	}
	var known *sqldb.Error
	switch err := s.verifyIDs(ctx); {
	case !slices.Equal(lines, []string{"ok"}):
		d.Problem, d.Args = ProblemDamaged, []any{lines[0]}
	case errors.As(err, &known) && known.Code == sqldb.CodeCorrupt:
		d.Problem, d.Args = ProblemDamaged, []any{known.Err}
	case err != nil:
		return d, err
	}
	return d, nil
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

func (s *Store) diagnoseKeys(ctx context.Context) (Diagnosis, error) {
	d := Diagnosis{Check: "foreign_keys"}
	tables, err := s.brokenKeys(ctx)
	if len(tables) > 0 {
		d.Problem, d.Args = ProblemBroken, []any{fmt.Sprint(tables)}
	}
	return d, err
}

// diagnoseAudit verifies the whole chain of acts, in which a missing act shows as a gap in the
// numbers, and compares it with the ends of it in the journal. Without a journal nothing is proved:
// only the full check calls that a fault, because a ledger may be kept without one.
func (s *Store) diagnoseAudit(ctx context.Context, full bool) (Diagnosis, error) {
	d := Diagnosis{Check: "audit"}
	p, err := s.VerifyAudit(ctx)
	switch {
	case errors.Is(err, errNoHeads):
		d.Problem, err = ProblemUnproved, nil
	case err != nil:
	case p.Broken != 0:
		d.Problem, d.Args = ProblemBroken, []any{p.Broken}
	case p.Journals == 0:
		d.OK, d.Problem = !full, ProblemUnproved
	case p.Reduced != 0:
		d.OK, d.Problem, d.Args = !full, ProblemReduced, []any{p.Reduced}
	}
	return d, err
}

// latestMoment selects the time of the newest thing that the ledger knows; 0 if it knows nothing.
const latestMoment = `SELECT COALESCE(MAX(at), 0) FROM (SELECT MAX(updated_at) AS at FROM entry UNION ALL SELECT MAX(at) FROM audit
	UNION ALL SELECT MAX(started_at) FROM run) AS times`

func (s *Store) diagnoseClock(ctx context.Context) (Diagnosis, error) {
	d := Diagnosis{Check: "clock"}
	var last time.Time
	if err := s.db.Get(ctx, "looking at the ledger's times", &last, latestMoment); err != nil {
		return d, err
	}
	if time.Until(last) > futureMargin {
		d.OK, d.Problem, d.Args = true, ProblemFuture, []any{last}
	}
	return d, nil
}

func (s *Store) diagnoseLeases(ctx context.Context) (Diagnosis, error) {
	d := Diagnosis{Check: "leases"}
	leases, err := s.Leases(ctx)
	if err != nil {
		return d, err
	}
	for _, l := range leases {
		if l.Dead {
			d.OK, d.Problem, d.Args = true, ProblemDead, []any{l.Job, l.Owner.PID, l.Owner.Host}
		}
	}
	return d, nil
}

func (s *Store) diagnoseAttempts(ctx context.Context) (Diagnosis, error) {
	d := Diagnosis{Check: "attempts"}
	var old struct {
		N  int
		At int64
	}
	if err := s.db.Get(ctx, "looking for open attempts", &old,
		`SELECT COUNT(*) AS n, COALESCE(MIN(started_at), 0) AS at FROM sent WHERE outcome = 'open' AND started_at < `+s.db.D.Now+` - ?`,
		longOpen.Milliseconds()); err != nil {
		return d, err
	}
	if old.N > 0 {
		d.OK, d.Problem, d.Args = true, ProblemOld, []any{old.N, time.UnixMilli(old.At).UTC()}
	}
	return d, nil
}
