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

const leaseColumns = `epoch, instance, owner, expires`

// AcquireLease makes the owner the only reader and sender of a job (I12), with an epoch above every earlier one. A lease that a living owner holds
// gives *trade.LeasedError. It is free when it was released, has expired on the database's clock, or its owner was a process of this boot and PID
// space that no longer runs. A ledger that has sent to another address than the owner's gives *trade.OtherPlatformError.
func (s *Store) AcquireLease(ctx context.Context, job string, owner trade.Owner) (trade.Lease, error) {
	var lease trade.Lease
	text, err := json.Marshal(owner)
	if err != nil {
		return lease, fmt.Errorf("taking the lease: %w", err)
	}
	err = s.inTx(ctx, "taking the lease", func(t *tx) error {
		if err := t.mayWork(); err != nil {
			return err
		}
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
		if err := t.bind(owner.Platform); err != nil {
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

// lockLease reads a lease and keeps it from changing hands, and from all that is fenced by it, until the transaction ends. It is the first row that a
// transaction locks.
func lockLease(t *tx, job string) (leaseRow, error) { return readLease(t, job, t.s.d.locked) }

func readLease(t *tx, job string, lock func(query, table string) string) (leaseRow, error) {
	var rows []leaseRow
	query := `SELECT ` + leaseColumns + `, ` + t.s.d.now + ` AS now FROM job_lease WHERE job = ?`
	if err := t.all(&rows, lock(query, "job_lease"), job); err != nil || len(rows) == 0 {
		return leaseRow{}, err
	}
	return rows[0], nil
}

// fence gives trade.ErrLeaseLost when the lease is no longer ours. One that has expired, but that nobody took, is still its owner's, who stops by
// his own clock long before. Until the transaction ends nobody takes the lease: who takes it locks the row, and sees
// all that was done under it. Several transactions may be fenced by one lease at once, and its renewal waits for none of them.
func fence(t *tx, lease trade.Lease) error {
	row, err := readLease(t, lease.Job, t.s.d.heldLock)
	if err == nil && (row.Instance == "" || row.Epoch != lease.Epoch || row.Instance != lease.Owner.Instance) {
		err = trade.ErrLeaseLost
	}
	return err
}

// idle ends an operation under a lease that has nothing to write: it still says when the lease is another's by now.
func (s *Store) idle(ctx context.Context, op string, lease trade.Lease, err error) error {
	var ours []int64
	if err == nil {
		err = s.read.SelectContext(ctx, &ours, s.q(`SELECT epoch FROM job_lease WHERE job = ? AND epoch = ? AND instance = ?`), lease.Job, lease.Epoch, lease.Owner.Instance)
		if err == nil && len(ours) == 0 {
			return trade.ErrLeaseLost
		}
	}
	return s.fault(ctx, op, err)
}

// RenewLease extends the lease by 30 s, or gives trade.ErrLeaseLost.
func (s *Store) RenewLease(ctx context.Context, lease trade.Lease) error {
	return s.inTx(ctx, "renewing the lease", func(t *tx) error {
		if err := t.mayWork(); err != nil {
			return err
		}
		n, err := t.changed(`UPDATE job_lease SET expires = `+s.d.now+` + ? WHERE job = ? AND epoch = ? AND instance = ?`,
			s.tune.lease.Milliseconds(), lease.Job, lease.Epoch, lease.Owner.Instance)
		if err == nil && n == 0 {
			err = trade.ErrLeaseLost
		}
		return err
	})
}

// ReleaseLease gives the lease back. One that is no longer ours is left alone.
func (s *Store) ReleaseLease(ctx context.Context, lease trade.Lease) error {
	return s.inTx(ctx, "giving the lease back", func(t *tx) error {
		return t.exec(`UPDATE job_lease SET instance = '', owner = '', expires = 0 WHERE job = ? AND epoch = ? AND instance = ?`,
			lease.Job, lease.Epoch, lease.Owner.Instance)
	})
}

// Leases gives the leases that were not given back, by job.
func (s *Store) Leases(ctx context.Context) ([]trade.Holder, error) {
	const op = "reading the leases"
	var rows []struct {
		Job string `db:"job"`
		leaseRow
	}
	err := s.read.SelectContext(ctx, &rows, `SELECT job, `+leaseColumns+`, `+s.d.now+` AS now FROM job_lease WHERE instance <> '' ORDER BY job`)
	if err != nil {
		return nil, s.fault(ctx, op, err)
	}
	out := make([]trade.Holder, len(rows))
	for i, r := range rows {
		out[i] = trade.Holder{Job: r.Job, Epoch: r.Epoch, Until: time.UnixMilli(r.Expires).UTC()}
		if err := json.Unmarshal([]byte(r.leaseRow.Owner), &out[i].Owner); err != nil {
			return nil, fmt.Errorf("the lease of job %s is damaged: %w", r.Job, err)
		}
		out[i].Dead = r.Expires <= r.Now || gone(out[i].Owner)
	}
	return out, nil
}

// nobodyRuns refuses what must not happen beside a run. It takes the leases away from those who did
// not renew them: a process that was suspended stores no intent when it wakes up.
func nobodyRuns(t *tx) error {
	var rows []struct {
		Job     string `db:"job"`
		Owner   string `db:"owner"`
		Expires int64  `db:"expires"`
	}
	if err := t.all(&rows, `SELECT job, owner, expires FROM job_lease WHERE instance <> '' AND expires > `+t.s.d.now); err != nil {
		return err
	}
	for _, r := range rows {
		var owner trade.Owner
		if err := json.Unmarshal([]byte(r.Owner), &owner); err != nil {
			return fmt.Errorf("the lease of job %s is damaged: %w", r.Job, err)
		}
		if !gone(owner) {
			return &trade.LeasedError{Job: r.Job, Owner: owner, Until: time.UnixMilli(r.Expires).UTC()}
		}
	}
	return t.exec(`UPDATE job_lease SET instance = '', owner = '', expires = 0 WHERE instance <> ''`)
}
