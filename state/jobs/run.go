package jobs

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/safrasync/safrasync/state/audit"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// StartRun records that a run has begun. A run without an end is still running, or crashed.
func (s *Roster) StartRun(ctx context.Context, report trade.RunReport) error {
	return s.putRun(ctx, "recording the start of a run", report)
}

// FinishRun records what a run did.
func (s *Roster) FinishRun(ctx context.Context, report trade.RunReport) error {
	return s.putRun(ctx, "recording the end of a run", report)
}

func (s *Roster) putRun(ctx context.Context, op string, report trade.RunReport) error {
	text, err := json.Marshal(report)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	reach, err := reachOf(report.Stopped)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return s.db.InTx(ctx, op, func(t *sqldb.Tx) error {
		return t.Do(`INSERT INTO run (id, job, started_at, ended_at, report, stop_reach) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET ended_at = excluded.ended_at, report = excluded.report, stop_reach = excluded.stop_reach`,
			report.ID, report.Job, sqldb.AtOr(report.StartedAt, report.StartedAt), sqldb.Millis(report.EndedAt),
			string(text), reach)
	})
}

// reach states which other jobs a stop concerns. It is not part of the stop's JSON form, which is
// fixed.
type reach struct {
	All   bool       `json:"all,omitempty"`
	Sends trade.Kind `json:"sends,omitempty"`
}

func reachOf(stop *trade.Stop) (string, error) {
	if stop == nil {
		return "{}", nil
	}
	text, err := json.Marshal(reach{All: stop.All, Sends: stop.Sends})
	return string(text), err
}

func setReach(stop *trade.Stop, text string) error {
	if stop == nil {
		return nil
	}
	var r reach
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return err
	}
	stop.All, stop.Sends = r.All, r.Sends
	return nil
}

// Runs returns the latest runs of a job, or of all jobs if the name is empty, the newest first. A
// limit of 0 returns all.
func (s *Roster) Runs(ctx context.Context, job string, limit int) ([]trade.RunReport, error) {
	const op = "reading the runs"
	var rows []struct {
		Report string
		Reach  string `db:"stop_reach"`
	}
	// In the order of the records, not of a clock that may have been set back (F068).
	query := `SELECT report, stop_reach FROM run WHERE ? = '' OR job = ? ORDER BY seq DESC LIMIT ?`
	if err := s.db.All(ctx, op, &rows, query, job, job, audit.OrAll(limit)); err != nil {
		return nil, err
	}
	out := make([]trade.RunReport, len(rows))
	for i, r := range rows {
		if err := json.Unmarshal([]byte(r.Report), &out[i]); err != nil {
			return nil, s.db.Fault(ctx, op, fmt.Errorf("the record of a run is damaged: %w", err))
		}
		if err := setReach(out[i].Stopped, r.Reach); err != nil {
			return nil, s.db.Fault(ctx, op, fmt.Errorf("the record of a run is damaged: %w", err))
		}
	}
	return out, nil
}

// Jobs returns the names of all jobs that the ledger knows, sorted.
func (s *Roster) Jobs(ctx context.Context) ([]string, error) {
	var jobs []string
	// Every entry is in a stored sum, so the large table entry need not be read.
	err := s.db.All(ctx, "reading the jobs", &jobs,
		`SELECT job FROM tally UNION SELECT job FROM run UNION SELECT job FROM job_cursor
		UNION SELECT job FROM job_status UNION SELECT job FROM job_lease ORDER BY job`)
	return jobs, err
}
