package state

import (
	"context"
	"encoding/json"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// leaseRow is a row of the table job_lease, with the clock of the database.
type leaseRow struct {
	trade.Holder
	Instance string // "" when it was released
	Now      time.Time
}

const (
	leaseColumns = `job, epoch, instance, owner, expires AS until`
	addLease     = `INSERT INTO job_lease (job, epoch, instance, owner, expires) VALUES (?, 0, '', '', 0)
		ON CONFLICT DO NOTHING`
)

// AcquireLease makes the owner the only reader and sender of a job (I12), with an epoch above every
// earlier one. A lease is free if it was released, if it has expired on the database's clock, or if
// its owner was a process of this boot and PID space that no longer runs. If a living owner holds
// it, AcquireLease returns *trade.LeasedError. If the ledger has sent to another address than the
// owner's, it returns *trade.OtherPlatformError.
func (s *Store) AcquireLease(ctx context.Context, job string, owner trade.Owner) (trade.Lease, error) {
	text, err := json.Marshal(owner)
	if err != nil {
		return trade.Lease{}, phrase.Errorf("taking the lease: %w", err)
	}
	return sqldb.Stored(ctx, s.db, "taking the lease", func(t *sqldb.Tx) (lease trade.Lease, err error) {
		if err := mayWork(t); err != nil {
			return lease, err
		}
		if err := t.Do(addLease, job); err != nil {
			return lease, err
		}
		row, err := lockLease(t, job)
		if err != nil {
			return lease, err
		}
		if err := bindPlatform(t, owner.Platform); err != nil {
			return lease, err
		}
		lease = trade.Lease{Job: job, Owner: owner, Epoch: row.Epoch + 1}
		return lease, t.Do(`UPDATE job_lease SET epoch = ?, instance = ?, owner = ?, expires = `+s.db.D.Now+
			` + ? WHERE job = ?`,
			lease.Epoch, owner.Instance, string(text), s.db.Tune.Lease.Milliseconds(), job)
	})
}

// lockLease reads a lease and locks it until the transaction ends: nobody can take it, and no
// transaction that is fenced by it can run. It is the first row that a transaction locks. It returns
// *trade.LeasedError while a living process holds the lease.
func lockLease(t *sqldb.Tx, job string) (leaseRow, error) {
	row, err := readLease(t, job, t.S.D.Locked)
	if err == nil {
		err = row.held()
	}
	return row, err
}

func readLease(t *sqldb.Tx, job string, lock func(query, table string) string) (leaseRow, error) {
	var rows []leaseRow
	query := `SELECT ` + leaseColumns + `, ` + t.S.D.Now + ` AS now FROM job_lease WHERE job = ?`
	if err := t.All(&rows, lock(query, "job_lease"), job); err != nil || len(rows) == 0 {
		return leaseRow{}, err
	}
	return rows[0], nil
}

// fence returns trade.ErrLeaseLost if the lease is no longer ours. A lease that has expired, but
// that nobody took, still belongs to its owner, who stops long before by its own clock. Until the
// transaction ends nobody can take the lease: taking it locks the row, and then sees everything
// that was done under it. Several transactions may be fenced by one lease at once, and its renewal
// waits for none of them.
func fence(t *sqldb.Tx, lease trade.Lease) error {
	row, err := readLease(t, lease.Job, t.S.D.HeldLock)
	if err == nil && (row.Instance == "" || row.Epoch != lease.Epoch || row.Instance != lease.Owner.Instance) {
		err = trade.ErrLeaseLost
	}
	return err
}

// idle ends an operation under a lease that has nothing to write. It returns trade.ErrLeaseLost if
// the lease is no longer ours.
func (s *Store) idle(ctx context.Context, op string, lease trade.Lease, err error) error {
	var ours []int64
	if err == nil {
		err = s.db.All(ctx, op, &ours, `SELECT epoch FROM job_lease WHERE job = ? AND epoch = ? AND instance = ?`,
			lease.Job, lease.Epoch, lease.Owner.Instance)
		if err == nil && len(ours) == 0 {
			return trade.ErrLeaseLost
		}
	}
	return s.db.Fault(ctx, op, err)
}

// RenewLease extends the lease by 30 s, or returns trade.ErrLeaseLost.
func (s *Store) RenewLease(ctx context.Context, lease trade.Lease) error {
	return s.db.InTx(ctx, "renewing the lease", func(t *sqldb.Tx) error {
		if err := mayWork(t); err != nil {
			return err
		}
		n, err := t.Changed(`UPDATE job_lease SET expires = `+s.db.D.Now+
			` + ? WHERE job = ? AND epoch = ? AND instance = ?`,
			s.db.Tune.Lease.Milliseconds(), lease.Job, lease.Epoch, lease.Owner.Instance)
		if err == nil && n == 0 {
			err = trade.ErrLeaseLost
		}
		return err
	})
}

// ReleaseLease releases the lease, unless it is no longer ours.
func (s *Store) ReleaseLease(ctx context.Context, lease trade.Lease) error {
	return s.db.Do(ctx, "giving the lease back",
		`UPDATE job_lease SET instance = '', owner = '', expires = 0 WHERE job = ? AND epoch = ? AND instance = ?`,
		lease.Job, lease.Epoch, lease.Owner.Instance)
}

// Leases returns the leases that were not released, by job.
func (s *Store) Leases(ctx context.Context) ([]trade.Holder, error) {
	rows, err := sqldb.List[leaseRow](ctx, s.db, "reading the leases", `SELECT `+leaseColumns+`, `+s.db.D.Now+
		` AS now FROM job_lease WHERE instance <> '' ORDER BY job`)
	return trade.Map(rows, func(r leaseRow) trade.Holder {
		r.Dead = !r.Until.After(r.Now) || sqldb.OwnerEnded(r.Owner)
		return r.Holder
	}), err
}

// nobodyRuns returns *trade.LeasedError if a process runs a job. Otherwise it removes the leases
// that were not renewed: a process that was suspended then stores no intent when it resumes.
func nobodyRuns(t *sqldb.Tx) error {
	var rows []leaseRow
	if err := t.All(&rows, `SELECT `+leaseColumns+`, `+t.S.D.Now+` AS now FROM job_lease`); err != nil {
		return err
	}
	for _, r := range rows {
		if err := r.held(); err != nil {
			return err
		}
	}
	return t.Do(`UPDATE job_lease SET instance = '', owner = '', expires = 0 WHERE instance <> ''`)
}

// held returns *trade.LeasedError while a living process holds the lease.
func (r leaseRow) held() error {
	if r.Instance == "" || !r.Until.After(r.Now) || sqldb.OwnerEnded(r.Owner) {
		return nil
	}
	return &trade.LeasedError{Job: r.Job, Owner: r.Owner, Until: r.Until}
}
