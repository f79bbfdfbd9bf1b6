package jobs

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// StatusRow is a row of the table job_status.
type StatusRow struct {
	State string
	Stop  sql.NullString
	Reach string `db:"stop_reach"`
	Since sql.NullInt64
}

const selectStatus = `SELECT state, stop, stop_reach, since FROM job_status WHERE job = ?`

// StatusOf returns the status of a job from its rows, of which there is one or none. A job without
// a row is idle.
func StatusOf(job string, rows []StatusRow) (trade.JobStatus, error) {
	if len(rows) == 0 {
		return trade.JobStatus{Job: job, State: trade.Idle}, nil
	}
	status := trade.JobStatus{Job: job, State: trade.JobState(rows[0].State), Since: sqldb.Instant(rows[0].Since)}
	if rows[0].Stop.Valid {
		err := json.Unmarshal([]byte(rows[0].Stop.String), &status.Stop)
		if err == nil {
			err = setReach(status.Stop, rows[0].Reach)
		}
		if err != nil {
			return trade.JobStatus{}, fmt.Errorf("the state of job %s is damaged: %w", job, err)
		}
	}
	return status, nil
}

// JobStatus returns the status of a job. It is idle if nothing was ever recorded.
func (s *Roster) JobStatus(ctx context.Context, job string) (trade.JobStatus, error) {
	const op = "reading the state of a job"
	var rows []StatusRow
	if err := s.db.All(ctx, op, &rows, selectStatus, job); err != nil {
		return trade.JobStatus{}, err
	}
	status, err := StatusOf(job, rows)
	return status, s.db.Fault(ctx, op, err)
}

// LockStatus reads the status of a job and locks it until the transaction ends.
func LockStatus(t *sqldb.Tx, job string) (trade.JobStatus, error) {
	var rows []StatusRow
	if err := t.All(&rows, t.S.D.Locked(selectStatus, "job_status"), job); err != nil {
		return trade.JobStatus{}, err
	}
	return StatusOf(job, rows)
}

// SetJobStatus records the status of a job. A pause stays: only an act of a person ends it.
func (s *Roster) SetJobStatus(ctx context.Context, status trade.JobStatus) error {
	return s.db.InTx(ctx, "recording the state of a job",
		func(t *sqldb.Tx) error { return PutStatus(t, status, ` WHERE job_status.state <> 'paused'`) })
}

// PutStatus writes the status of a job. condition is an SQL condition on the stored status that may
// be replaced; "" for any.
func PutStatus(t *sqldb.Tx, status trade.JobStatus, condition string) error {
	var stop sql.NullString
	if status.Stop != nil {
		text, err := json.Marshal(status.Stop)
		if err != nil {
			return err
		}
		stop = OrNull(string(text))
	}
	reach, err := reachOf(status.Stop)
	if err != nil {
		return err
	}
	return t.Do(`INSERT INTO job_status (job, state, stop, stop_reach, since) VALUES (?, ?, ?, ?, ?) ON CONFLICT (job) DO UPDATE
		SET state = excluded.state, stop = excluded.stop, stop_reach = excluded.stop_reach, since = excluded.since`+condition,
		status.Job, string(status.State), stop, reach, sqldb.Millis(status.Since))
}

// OrNull converts an empty text to NULL.
func OrNull(text string) sql.NullString { return sql.NullString{String: text, Valid: text != ""} }
