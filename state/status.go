package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/safrasync/safrasync/trade"
)

type statusRow struct {
	State string         `db:"state"`
	Stop  sql.NullString `db:"stop"`
	Reach string         `db:"stop_reach"`
	Since sql.NullInt64  `db:"since"`
}

const selectStatus = `SELECT state, stop, stop_reach, since FROM job_status WHERE job = ?`

// statusOf makes the status of a job from its row, of which there is one or none; a job of which nothing was ever recorded is idle.
func statusOf(job string, rows []statusRow) (trade.JobStatus, error) {
	if len(rows) == 0 {
		return trade.JobStatus{Job: job, State: trade.Idle}, nil
	}
	status := trade.JobStatus{Job: job, State: trade.JobState(rows[0].State), Since: instant(rows[0].Since)}
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

// JobStatus gives where a job stands; idle when nothing was ever recorded.
func (s *Store) JobStatus(ctx context.Context, job string) (trade.JobStatus, error) {
	const op = "reading the state of a job"
	var rows []statusRow
	if err := s.read.SelectContext(ctx, &rows, s.q(selectStatus), job); err != nil {
		return trade.JobStatus{}, s.fault(ctx, op, err)
	}
	status, err := statusOf(job, rows)
	return status, s.fault(ctx, op, err)
}

// lockStatus reads the status of a job and keeps it from changing until the transaction ends.
func lockStatus(t *tx, job string) (trade.JobStatus, error) { return readStatus(t, job, t.s.d.locked) }

func readStatus(t *tx, job string, lock func(query, table string) string) (trade.JobStatus, error) {
	var rows []statusRow
	if err := t.all(&rows, lock(selectStatus, "job_status"), job); err != nil {
		return trade.JobStatus{}, err
	}
	return statusOf(job, rows)
}

// SetJobStatus records where a job stands. A pause stays: only an act of a person ends it.
func (s *Store) SetJobStatus(ctx context.Context, status trade.JobStatus) error {
	return s.inTx(ctx, "recording the state of a job", func(t *tx) error { return putStatus(t, status, ` WHERE job_status.state <> 'paused'`) })
}

// putStatus writes the status of a job; a condition says which recorded one it may replace.
func putStatus(t *tx, status trade.JobStatus, condition string) error {
	var stop sql.NullString
	if status.Stop != nil {
		text, err := json.Marshal(status.Stop)
		if err != nil {
			return err
		}
		stop = orNull(string(text))
	}
	reach, err := reachOf(status.Stop)
	if err != nil {
		return err
	}
	return t.exec(`INSERT INTO job_status (job, state, stop, stop_reach, since) VALUES (?, ?, ?, ?, ?) ON CONFLICT (job) DO UPDATE
		SET state = excluded.state, stop = excluded.stop, stop_reach = excluded.stop_reach, since = excluded.since`+condition,
		status.Job, string(status.State), stop, reach, millis(status.Since))
}
