// Recovery: what becomes of entries that a dead process left in sending.

package state

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// sendingRow is an entry that is in flight as far as the ledger knows.
type sendingRow struct {
	EntryID        int64
	Attempt, Owner sql.NullString
	Epoch          sql.NullInt64
}

// Recover settles the entries in state sending whose instance is dead: it has not renewed its
// heartbeat for 30 s on the database's clock, or its process is gone. It returns how many entries
// are now in doubt.
//
// Such an entry becomes in_doubt, and its attempt becomes unknown and counts; a definite late answer
// can still settle it. What a living instance sends stays as it is, except for what this instance
// began under an earlier lease, which is over: its results were not stored.
func (s *Store) Recover(ctx context.Context, lease trade.Lease, now time.Time) (int, error) {
	return s.recover(ctx, lease, now, false)
}

// RecoverOwn does the same for a job that another instance holds, and only for what the owner began
// before that instance took the lease. The caller must have no request of the job in flight.
func (s *Store) RecoverOwn(ctx context.Context, owner trade.Owner, holder trade.Holder, now time.Time) (int, error) {
	return s.recover(ctx, trade.Lease{Job: holder.Job, Owner: owner, Epoch: holder.Epoch}, now, true)
}

func (s *Store) recover(ctx context.Context, lease trade.Lease, now time.Time, own bool) (int, error) {
	const op = "recovering what an earlier process left"
	var sending []int64 // write nothing if nothing is being sent
	if err := s.db.All(ctx, op, &sending, `SELECT id FROM entry WHERE job = ? AND state = 'sending' LIMIT 1`,
		lease.Job); err != nil ||
		len(sending) == 0 {
		if own {
			return 0, err
		}
		return 0, s.idle(ctx, op, lease, err)
	}
	var n int
	err := s.db.InTx(ctx, op, func(t *sqldb.Tx) error {
		n = 0
		if !own {
			if err := fence(t, lease); err != nil {
				return err
			}
		}
		left, err := abandonedSendings(t, lease, own)
		if err != nil || len(left) == 0 {
			return err
		}
		// Open attempts become unknown, because nobody will report their outcome. Late answers may arrive
		// at the same moment: attempts that are settled by then are left alone.
		var ids []int64
		var attempts []string
		for _, f := range left {
			if f.Attempt.Valid {
				attempts = append(attempts, f.Attempt.String)
			}
		}
		open := map[string]bool{}
		var still []string
		query := `SELECT a.attempt FROM sent a WHERE a.outcome = 'open' AND ` + t.S.D.Among("a.attempt") + ` ORDER BY a.id`
		if err := t.All(&still, t.S.D.Locked(query, "a"), sqldb.ListOf(t.S.D, attempts)); err != nil {
			return err
		}
		for _, id := range still {
			open[id] = true
		}
		if err := leaveUnknown(t, t.S.D.Among("attempt"), now, sqldb.ListOf(t.S.D, attempts)); err != nil {
			return err
		}
		for _, f := range left {
			if !f.Attempt.Valid || open[f.Attempt.String] {
				ids = append(ids, f.EntryID)
			}
		}
		n = len(ids)
		if n == 0 {
			return nil
		}
		return moveAll(t, ids, (*trade.Entry).Doubt, 1, now)
	})
	return n, err
}

// abandonedSendings returns the entries of a job in state sending that no process sends any more; with own
// set, only those of the owner. Unless own is set, the lease is held: a new holder sees everything
// that was claimed before it.
func abandonedSendings(t *sqldb.Tx, lease trade.Lease, own bool) ([]sendingRow, error) {
	var found []sendingRow
	if err := t.All(&found, `SELECT e.id AS entry_id, a.attempt, a.owner, a.epoch FROM entry e
		LEFT JOIN sent a ON a.origin = e.id AND a.generation = e.generation AND a.outcome = 'open'
		WHERE e.job = ? AND e.state = 'sending' ORDER BY e.id`, lease.Job); err != nil {
		return nil, err
	}
	instance := lease.Owner.Instance
	var owners []string
	for _, f := range found {
		if f.Owner.Valid && f.Owner.String != instance {
			owners = append(owners, f.Owner.String)
		}
	}
	// The records of the owners are locked: an instance that comes alive again does so only after this
	// transaction, which sees everything that the instance claimed before. One without a record is dead.
	query := t.S.D.Locked(fmt.Sprintf(selectInstances, t.S.D.Now, t.S.D.Among("id")), "instance")
	instances, err := sqldb.RowsOf(t.All, (*instanceRow).instance, query, sqldb.ListOf(t.S.D, owners))
	if err != nil {
		return nil, err
	}
	alive := map[string]bool{}
	for _, i := range instances {
		alive[i.Owner.Instance] = !i.Dead
	}
	return slices.DeleteFunc(found, func(f sendingRow) bool {
		switch {
		// the attempt ended and the entry did not follow: the program never does this
		case !f.Attempt.Valid:
			return own
		case f.Owner.String == instance:
			return f.Epoch.Int64 >= lease.Epoch
		}
		return own || alive[f.Owner.String]
	}), nil
}

// leaveUnknown ends the open attempts of a condition whose outcome nobody will report.
func leaveUnknown(t *sqldb.Tx, where string, now time.Time, args ...any) error {
	if err := t.Do(`INSERT INTO exchange (attempt, payload, answer_body) SELECT s.attempt, b.payload, ''
		FROM sent s JOIN body b ON b.entry_id = s.origin WHERE s.outcome = 'open' AND b.payload IS NOT NULL
		AND s.id IN (SELECT id FROM sent WHERE outcome = 'open' AND `+where+`) ON CONFLICT DO NOTHING`, args...); err != nil {
		return err
	}
	return t.Do(`UPDATE sent SET outcome = 'unknown', finished_at = ?, counts = 1, reason = ? WHERE outcome = 'open' AND `+where,
		append([]any{sqldb.AtOr(now, time.Time{}), sqldb.SentenceText(trade.SenderGone())}, args...)...)
}
