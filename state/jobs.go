package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// theLedger stands in job_status for the ledger itself: a brake of all jobs is also that of a job that
// has no status of its own yet.
const theLedger = ""

const selectStatus = `SELECT state, stop, since FROM job_status WHERE job IN (?, '') ORDER BY job DESC`

// statusOf returns the status of a job from its rows: its own, and that of the ledger. A job without
// a row is idle.
func statusOf(all sqldb.Select, query, job string) (trade.JobStatus, error) {
	var rows []trade.JobStatus
	if err := all(&rows, query, job); err != nil || len(rows) == 0 {
		return trade.JobStatus{Job: job, State: trade.Idle}, err
	}
	status := rows[0]
	status.Job = job
	if status.Stop != nil && status.Stop.Brake != nil && job != theLedger {
		status.Stop.Brake.Job = job
	}
	return status, nil
}

// JobStatus returns the status of a job. It is idle if nothing was ever recorded.
func (s *Store) JobStatus(ctx context.Context, job string) (trade.JobStatus, error) {
	return statusOf(s.db.Reading(ctx, "reading the state of a job"), selectStatus, job)
}

// lockStatus reads the status of a job and locks it until the transaction ends.
func lockStatus(t *sqldb.Tx, job string) (trade.JobStatus, error) {
	return statusOf(t.All, t.S.D.Locked(selectStatus, "job_status"), job)
}

// SetJobStatus records the status of a job. A pause stays: only an act of a person ends it.
func (s *Store) SetJobStatus(ctx context.Context, status trade.JobStatus) error {
	return s.db.InTx(ctx, "recording the state of a job", func(t *sqldb.Tx) error {
		if now, err := lockStatus(t, status.Job); err != nil || now.State == trade.Paused {
			return err
		}
		return putStatus(t, status)
	})
}

// putStatus writes the status of a job.
func putStatus(t *sqldb.Tx, status trade.JobStatus) error {
	var stop sql.NullString
	if status.Stop != nil {
		text, err := json.Marshal((*trade.StoredStop)(status.Stop))
		if err != nil {
			return err
		}
		stop = textOrNull(string(text))
	}
	return t.Do(`INSERT INTO job_status (job, state, stop, since) VALUES (?, ?, ?, ?) ON CONFLICT (job) DO UPDATE
		SET state = excluded.state, stop = excluded.stop, since = excluded.since`,
		status.Job, string(status.State), stop, sqldb.Millis(status.Since))
}

// textOrNull converts an empty text to NULL.
func textOrNull(text string) sql.NullString { return sql.NullString{String: text, Valid: text != ""} }

// knowJob records that a job has entries of a kind. Every group of that kind that begins after this
// transaction sees it. A group that began earlier and did not see it holds the lease of its job,
// for which knowJob waits.
func knowJob(t *sqldb.Tx, job, sends string) error {
	var known []string
	if err := t.All(&known, `SELECT job FROM job_kind WHERE job = ? AND sends = ?`, job, sends); err != nil ||
		len(known) > 0 {
		return err
	}
	if err := lockKind(t, newJobOfKind, sends); err != nil {
		return err
	}
	if t.S.D.Name == sqldb.Postgres {
		query := `SELECT l.epoch FROM job_lease l WHERE l.job <> ? AND l.job IN (SELECT k.job FROM job_kind k WHERE k.sends = ?) ORDER BY l.job`
		if err := t.All(&[]int64{}, t.S.D.Locked(query, "l"), job, sends); err != nil {
			return err
		}
	}
	return t.Do(`INSERT INTO job_kind (job, sends) VALUES (?, ?) ON CONFLICT DO NOTHING`, job, sends)
}

// KindsOf returns of what kinds each job has entries, in the order of [trade.Kinds].
func (s *Store) KindsOf(ctx context.Context) (map[string][]trade.Kind, error) {
	var rows []struct{ Job, Sends string }
	if err := s.db.All(ctx, "reading the kinds of the jobs", &rows, `SELECT job, sends FROM job_kind`); err != nil {
		return nil, err
	}
	out := map[string][]trade.Kind{}
	for _, r := range rows {
		out[r.Job] = append(out[r.Job], trade.Kind(r.Sends))
	}
	for _, kinds := range out {
		slices.SortFunc(kinds, func(a, b trade.Kind) int {
			return slices.Index(trade.Kinds, a) - slices.Index(trade.Kinds, b)
		})
	}
	return out, nil
}

// JobsOfLedger returns the jobs that have entries, ordered by name, with how many entries were sent
// or are in doubt.
func (s *Store) JobsOfLedger(ctx context.Context) ([]trade.KnownJob, error) {
	const op = "reading the jobs that have entries"
	var rows []struct {
		Job, Sends string
		State      trade.State
		N          int
	}
	err := s.db.All(ctx, op, &rows,
		`SELECT k.job, k.sends, e.state, COUNT(*) AS n FROM job_kind k JOIN entry e ON e.job = k.job
		GROUP BY k.job, k.sends, e.state ORDER BY k.job, k.sends`)
	if err != nil {
		return nil, err
	}
	var out []trade.KnownJob
	for _, r := range rows {
		if n := len(out); n == 0 || out[n-1].Job != r.Job || out[n-1].Sends != trade.Kind(r.Sends) {
			out = append(out, trade.KnownJob{Job: r.Job, Sends: trade.Kind(r.Sends)})
		}
		job := &out[len(out)-1]
		job.Entries += r.N
		switch r.State {
		case trade.Accepted:
			job.Accepted += r.N
		case trade.InDoubt, trade.Sending:
			job.InDoubt += r.N
		}
	}
	return out, nil
}
