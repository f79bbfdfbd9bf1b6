package state

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/safrasync/safrasync/trade"
)

type leaseRow struct {
	Epoch    int64  `db:"epoch"`
	Instance string `db:"instance"`
	Owner    string `db:"owner"`
	Expires  int64  `db:"expires"`
	Now      int64  `db:"now"`
}

// AcquireLease makes the owner the only reader and sender of a job (I12), with an epoch above every earlier one. A lease that a living owner holds
// gives *trade.LeasedError. It is free when it was released, has expired on the database's clock, or its owner was a process of this boot and PID
// space that no longer runs.
func (s *Store) AcquireLease(ctx context.Context, job string, owner trade.Owner) (trade.Lease, error) {
	var lease trade.Lease
	text, err := json.Marshal(owner)
	if err != nil {
		return lease, fmt.Errorf("taking the lease: %w", err)
	}
	err = s.inTx(ctx, "taking the lease", func(t *tx) error {
		if err := t.exec(`INSERT INTO job_lease (job, epoch, instance, owner, expires) VALUES (?, 0, '', '', 0) ON CONFLICT DO NOTHING`, job); err != nil {
			return err
		}
		row, err := lockLease(t, job)
		if err != nil {
			return err
		}
		if err := row.heldBy(job); err != nil {
			return err
		}
		lease = trade.Lease{Job: job, Owner: owner, Epoch: row.Epoch + 1}
		return t.exec(`UPDATE job_lease SET epoch = ?, instance = ?, owner = ?, expires = `+s.d.now+` + ? WHERE job = ?`,
			lease.Epoch, owner.Instance, string(text), s.tune.lease.Milliseconds(), job)
	})
	if err != nil {
		return trade.Lease{}, err
	}
	return lease, nil
}

// lockLease reads a lease and keeps it from changing until the transaction ends. It is the first row that a transaction locks.
func lockLease(t *tx, job string) (leaseRow, error) {
	var rows []leaseRow
	query := `SELECT epoch, instance, owner, expires, ` + t.s.d.now + ` AS now FROM job_lease WHERE job = ?`
	if err := t.all(&rows, t.s.d.locked(query, "job_lease"), job); err != nil || len(rows) == 0 {
		return leaseRow{}, err
	}
	return rows[0], nil
}

// fence gives trade.ErrLeaseLost when the lease is no longer ours. One that has expired, but that nobody took, is still ours: the owner stops by
// its own clock long before.
func fence(t *tx, lease trade.Lease) error {
	row, err := lockLease(t, lease.Job)
	if err != nil {
		return err
	}
	if row.Instance == "" || row.Epoch != lease.Epoch || row.Instance != lease.Owner.Instance {
		return trade.ErrLeaseLost
	}
	return nil
}

// RenewLease extends the lease by 30 s, or gives trade.ErrLeaseLost.
func (s *Store) RenewLease(ctx context.Context, lease trade.Lease) error {
	return s.inTx(ctx, "renewing the lease", func(t *tx) error {
		if err := fence(t, lease); err != nil {
			return err
		}
		return t.exec(`UPDATE job_lease SET expires = `+s.d.now+` + ? WHERE job = ?`, s.tune.lease.Milliseconds(), lease.Job)
	})
}

// ReleaseLease gives the lease back. One that is no longer ours is left alone.
func (s *Store) ReleaseLease(ctx context.Context, lease trade.Lease) error {
	return s.inTx(ctx, "giving the lease back", func(t *tx) error {
		return t.exec(`UPDATE job_lease SET instance = '', owner = '', expires = 0 WHERE job = ? AND epoch = ? AND instance = ?`,
			lease.Job, lease.Epoch, lease.Owner.Instance)
	})
}

// LeaseRow is a lease that somebody holds, or held and did not give back.
type LeaseRow struct {
	Job   string
	Owner trade.Owner
	Until time.Time // on the database's clock
	Dead  bool      // its time is over, or its owner no longer runs: the next run takes it
}

// Leases gives the leases that were not given back, by job.
func (s *Store) Leases(ctx context.Context) ([]LeaseRow, error) {
	var rows []struct {
		Job string `db:"job"`
		leaseRow
	}
	if err := s.read.SelectContext(ctx, &rows, `SELECT job, epoch, instance, owner, expires, `+s.d.now+` AS now FROM job_lease WHERE instance <> '' ORDER BY job`); err != nil {
		return nil, s.fault(ctx, "reading the leases", err)
	}
	out := make([]LeaseRow, len(rows))
	for i, r := range rows {
		out[i] = LeaseRow{Job: r.Job, Until: time.UnixMilli(r.Expires).UTC()}
		if err := json.Unmarshal([]byte(r.leaseRow.Owner), &out[i].Owner); err != nil {
			return nil, fmt.Errorf("the lease of job %s is damaged: %w", r.Job, err)
		}
		out[i].Dead = r.Expires <= r.Now || gone(out[i].Owner)
	}
	return out, nil
}
