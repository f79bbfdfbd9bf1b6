package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// RunsEnded calls fn for the runs of all jobs that ended at or after one time and before another,
// in the order of their ends.
func (s *Store) RunsEnded(ctx context.Context, from, before time.Time, fn func(trade.RunReport) error) error {
	query := `SELECT job, report FROM run WHERE id >= ? AND ended_at >= ? AND ended_at < ? ORDER BY ended_at, seq`
	reports, err := sqldb.Rows(ctx, s.db, "reading the runs", runOf, query,
		sqldb.IDsFrom(from.Add(-sqldb.IDSlack)), from.UnixMilli(), before.UnixMilli())
	if err != nil {
		return err
	}
	for _, report := range reports {
		if err := fn(report); err != nil {
			return err
		}
	}
	return nil
}

// Run returns one run by its id, or ErrNotFound.
func (s *Store) Run(ctx context.Context, id string) (trade.RunReport, error) {
	var row runRow
	err := s.db.GetOr(ctx, "reading a run", phrase.Errorf("run %s: %w", id, sqldb.ErrNotFound), &row,
		`SELECT job, report FROM run WHERE id = ?`, id)
	if err != nil {
		return trade.RunReport{}, err
	}
	return runOf(&row)
}

// runRow is the record of a run.
type runRow struct {
	Seq    int64
	Job    string // its name now; the report has the former one if the job was moved
	Report string
}

func runOf(row *runRow) (trade.RunReport, error) {
	var report trade.RunReport
	if err := json.Unmarshal([]byte(row.Report), &report); err != nil {
		return report, phrase.Errorf("the record of a run is damaged: %w", err)
	}
	report.Job = row.Job
	return report, nil
}

// RunPage returns runs of a job, or of all jobs if the name is empty, the newest first. after is
// the Next of the page before, or "".
func (s *Store) RunPage(ctx context.Context, job, after string, limit int) (trade.RunPage, error) {
	const op = "reading a page of runs"
	before := int64(1<<63 - 1)
	if after != "" {
		var err error
		before, err = strconv.ParseInt(after, 10, 64)
		if err != nil {
			return trade.RunPage{}, s.db.Fault(ctx, op, phrase.Errorf("no page begins after %q", after))
		}
	}
	query, args := `SELECT seq, job, report FROM run WHERE seq < ? ORDER BY seq DESC LIMIT ?`, []any{before, limit + 1}
	if job != "" {
		query, args = `SELECT seq, job, report FROM run WHERE job = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
			[]any{job, before, limit + 1}
	}
	var rows []runRow
	if err := s.db.All(ctx, op, &rows, query, args...); err != nil {
		return trade.RunPage{}, err
	}
	var page trade.RunPage
	for i := range rows {
		if i == limit {
			page.Next = strconv.FormatInt(rows[i-1].Seq, 10)
			break
		}
		report, err := runOf(&rows[i])
		if err != nil {
			return trade.RunPage{}, s.db.Fault(ctx, op, err)
		}
		page.Runs = append(page.Runs, report)
	}
	return page, nil
}

// StartRun records that a run has begun. A run without an end is still running, or crashed.
func (s *Store) StartRun(ctx context.Context, report trade.RunReport) error {
	return s.putRun(ctx, "recording the start of a run", report)
}

// FinishRun records what a run did.
func (s *Store) FinishRun(ctx context.Context, report trade.RunReport) error {
	return s.putRun(ctx, "recording the end of a run", report)
}

func (s *Store) putRun(ctx context.Context, op string, report trade.RunReport) error {
	alarms := trade.Map(report.Alarms, func(a trade.Alarm) trade.StoredAlarm {
		return trade.StoredAlarm(a)
	})
	text, err := json.Marshal(struct { // without sentences
		trade.RunReport
		Stopped *trade.StoredStop   `json:"stopped"`
		Notes   []trade.Sentence    `json:"notes,omitempty"`
		Alarms  []trade.StoredAlarm `json:"alarms,omitempty"`
		Late    *trade.StoredLate   `json:"late,omitempty"`
	}{report, (*trade.StoredStop)(report.Stopped), report.Notes, alarms, (*trade.StoredLate)(report.Late)})
	if err != nil {
		return phrase.Errorf("%w: %w", phrase.Fixed(op), err)
	}
	return s.db.Do(ctx, op, `INSERT INTO run (id, job, started_at, ended_at, report) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET ended_at = excluded.ended_at, report = excluded.report`,
		report.ID, report.Job, sqldb.AtOr(report.StartedAt, report.StartedAt), sqldb.Millis(report.EndedAt.Time),
		string(text))
}

// Runs returns the latest runs of a job, or of all jobs if the name is empty, the newest first. A
// limit of 0 returns all.
func (s *Store) Runs(ctx context.Context, job string, limit int) ([]trade.RunReport, error) {
	// In the order of the records, not of a clock that may have been set back (F068).
	query := `SELECT job, report FROM run WHERE ? = '' OR job = ? ORDER BY seq DESC LIMIT ?`
	return sqldb.Rows(ctx, s.db, "reading the runs", runOf, query, job, job, sqldb.OrAll(limit))
}

// RunsBefore returns of each job the latest run before one.
func (s *Store) RunsBefore(ctx context.Context, id string) ([]trade.RunReport, error) {
	return sqldb.Rows(ctx, s.db, "reading the runs", runOf, `SELECT job, report FROM run WHERE seq IN
		(SELECT MAX(seq) FROM run WHERE seq < (SELECT seq FROM run WHERE id = ?) GROUP BY job)`, id)
}

// Jobs returns the names of all jobs that the ledger knows, sorted.
func (s *Store) Jobs(ctx context.Context) ([]string, error) {
	var jobs []string
	err := s.db.All(ctx, "reading the jobs", &jobs,
		`SELECT job FROM job_kind UNION SELECT job FROM run UNION SELECT job FROM job_cursor
		UNION SELECT job FROM job_status WHERE job <> '' UNION SELECT job FROM job_lease ORDER BY job`)
	return jobs, err
}

// Cursor returns how far a job has read, or the zero value if nothing was read yet.
func (s *Store) Cursor(ctx context.Context, job string) (trade.Cursor, error) {
	const op = "reading the cursor"
	c, err := cursorOf(s.db.Reading(ctx, op), job)
	return c, s.db.Fault(ctx, op, err)
}

// cursorOf reads the cursor of a job, inside or outside a transaction. It returns the zero value if
// nothing was read yet.
func cursorOf(all sqldb.Select, job string) (trade.Cursor, error) {
	var rows []struct {
		trade.Cursor
		BrakesJSON string
		SweepJSON  sql.NullString
	}
	if err := all(&rows, `SELECT bound, swept_at, fingerprint, sweep AS sweep_json, parents, brakes AS brakes_json,
		refs AS "references" FROM job_cursor WHERE job = ?`, job); err != nil || len(rows) == 0 {
		return trade.Cursor{}, err
	}
	c := rows[0].Cursor
	if err := json.Unmarshal([]byte(rows[0].BrakesJSON), &c.Brakes); err != nil {
		return trade.Cursor{}, phrase.Errorf("what the brakes of job %s remember is damaged: %w", job, err)
	}
	if rows[0].SweepJSON.Valid {
		if err := json.Unmarshal([]byte(rows[0].SweepJSON.String), &c.Sweep); err != nil {
			return trade.Cursor{}, phrase.Errorf("the cursor of job %s is damaged: %w", job, err)
		}
	}
	return c, nil
}

// setCursor stores the cursor of a job in the transaction that stores the rows (I4).
func setCursor(t *sqldb.Tx, job string, c trade.Cursor) error {
	var sweep sql.NullString
	if c.Sweep != nil {
		text, err := json.Marshal(c.Sweep)
		if err != nil {
			return phrase.Errorf("the sweep of job %s: %w", job, err)
		}
		sweep = textOrNull(string(text))
	}
	brakes, err := json.Marshal(c.Brakes)
	if err != nil {
		return phrase.Errorf("what the brakes of job %s remember: %w", job, err)
	}
	return t.Do(`INSERT INTO job_cursor (job, bound, swept_at, fingerprint, sweep, parents, brakes, refs) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (job) DO UPDATE
		SET bound = excluded.bound, swept_at = excluded.swept_at, fingerprint = excluded.fingerprint,
			sweep = excluded.sweep, parents = excluded.parents,
		brakes = excluded.brakes, refs = excluded.refs`, job, c.Bound, sqldb.Millis(c.SweptAt), c.Fingerprint, sweep, c.Parents, string(brakes),
		c.References)
}
