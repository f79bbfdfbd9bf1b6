package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Offer lets other instances send rows of a job, or no longer, as its holder says: see trade.Share. It gives trade.ErrLeaseLost.
func (s *Store) Offer(ctx context.Context, lease trade.Lease, shared bool, run, mappedWith string) error {
	return s.inTx(ctx, "sharing a job", func(t *tx) error {
		n, err := t.changed(`UPDATE job_lease SET shared = ?, run = ?, mapped_with = ? WHERE job = ? AND epoch = ? AND instance = ? AND stop IS NULL`,
			number(shared), run, mappedWith, lease.Job, lease.Epoch, lease.Owner.Instance)
		if err != nil || n > 0 {
			return err
		}
		if _, err = fence(t, lease); err != nil {
			return err
		}
		return nil // an instance that helps has stopped the job, which its holder will see
	})
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// StopShared tells the holder of a job, and all who help with it, that it must stop; the first reason stays. It gives trade.ErrLeaseLost when the
// holder is another by now, or shares the job no longer.
func (s *Store) StopShared(ctx context.Context, lease trade.Lease, stop trade.Stop) error {
	const op = "stopping a shared job"
	text, err := json.Marshal(stop)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	reach, err := reachOf(&stop)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return s.inTx(ctx, op, func(t *tx) error {
		n, err := t.changed(`UPDATE job_lease SET stop = ?, stop_reach = ?, shared = 0 WHERE job = ? AND epoch = ? AND instance <> '' AND shared = 1 AND stop IS NULL`,
			string(text), reach, lease.Job, lease.Epoch)
		if err == nil && n == 0 {
			err = trade.ErrLeaseLost
		}
		return err
	})
}

// Leases gives the leases that were not given back, by job.
func (s *Store) Leases(ctx context.Context) ([]trade.Share, error) {
	const op = "reading the leases"
	var rows []struct {
		Job        string `db:"job"`
		Run        string `db:"run"`
		MappedWith string `db:"mapped_with"`
		leaseRow
	}
	err := s.read.SelectContext(ctx, &rows, `SELECT job, run, mapped_with, `+leaseColumns+`, `+s.d.now+` AS now FROM job_lease WHERE instance <> '' ORDER BY job`)
	if err != nil {
		return nil, s.fault(ctx, op, err)
	}
	out := make([]trade.Share, len(rows))
	for i, r := range rows {
		out[i] = trade.Share{Job: r.Job, Epoch: r.Epoch, Until: time.UnixMilli(r.Expires).UTC(), Shared: r.Shared, Run: r.Run, MappedWith: r.MappedWith}
		if err := json.Unmarshal([]byte(r.leaseRow.Owner), &out[i].Owner); err != nil {
			return nil, fmt.Errorf("the lease of job %s is damaged: %w", r.Job, err)
		}
		if out[i].Stop, err = r.stopped(); err != nil {
			return nil, fmt.Errorf("the lease of job %s is damaged: %w", r.Job, err)
		}
		out[i].Dead = r.Expires <= r.Now || gone(out[i].Owner)
	}
	return out, nil
}

// stopped gives why an instance that helped stopped the job; nil when none did.
func (r leaseRow) stopped() (*trade.Stop, error) {
	if !r.Stop.Valid {
		return nil, nil
	}
	var stop trade.Stop
	if err := json.Unmarshal([]byte(r.Stop.String), &stop); err != nil {
		return nil, err
	}
	return &stop, setReach(&stop, r.Reach)
}

// fenceHand refuses a hand when the holder of the job is another than the one who shared it, or shares it no longer, or did not say so for 30 s, and when this instance
// itself was not heard of for so long.
func fenceHand(t *tx, lease trade.Lease, row leaseRow) error {
	if row.Instance == "" || row.Epoch != lease.Epoch || !row.Shared || row.Expires <= row.Now {
		return trade.ErrLeaseLost
	}
	alive, err := t.lives(lease.Owner.Instance)
	if err == nil && !alive {
		err = trade.ErrLeaseLost
	}
	return err
}

// countHand keeps what a hand has begun to send, for the report of the holder.
func countHand(t *tx, lease trade.Lease, begun int) error {
	if !lease.Hand || begun == 0 {
		return nil
	}
	return t.exec(`INSERT INTO hand (job, instance, epoch, sent) VALUES (?, ?, ?, ?) ON CONFLICT (job, instance) DO UPDATE
		SET sent = CASE WHEN hand.epoch = excluded.epoch THEN hand.sent ELSE 0 END + excluded.sent, epoch = excluded.epoch`,
		lease.Job, lease.Owner.Instance, lease.Epoch, begun)
}

// Helped tells how many POSTs other instances have begun under a lease.
func (s *Store) Helped(ctx context.Context, lease trade.Lease) (int, error) {
	var n sql.NullInt64
	err := s.read.GetContext(ctx, &n, s.q(`SELECT SUM(sent) FROM hand WHERE job = ? AND epoch = ?`), lease.Job, lease.Epoch)
	return int(n.Int64), s.fault(ctx, "counting what other instances sent", err)
}

// quietly keeps instances from beginning to send rows of a job for a moment: several that commit one after the other could keep a person's pause waiting for ever.
func (s *Store) quietly(ctx context.Context, job string) error {
	const moment = 5 * time.Second
	if s.d.name == SQLite {
		return nil
	}
	return s.inTx(ctx, "asking the instances to wait", func(t *tx) error {
		return t.exec(`UPDATE job_lease SET quiet = `+s.d.now+` + ? WHERE job = ? AND instance <> ''`, moment.Milliseconds(), job)
	})
}

// loud ends what quietly began, with the transaction that it was for.
func loud(t *tx, job string) error {
	return t.exec(`UPDATE job_lease SET quiet = 0 WHERE job = ? AND quiet <> 0`, job)
}
