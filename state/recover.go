package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// recovered is what an entry says whose process stopped while it was sending.
const recovered = "the process that sent it stopped before the answer was stored"

// sendingRow is an entry that is on the wire, as far as the ledger knows.
type sendingRow struct {
	EntryID int64          `db:"entry_id"`
	Attempt sql.NullString `db:"attempt"`
	Owner   sql.NullString `db:"owner"`
	Epoch   sql.NullInt64  `db:"epoch"`
}

// Recover settles the entries that are sending and whose instance is dead: it did not say for 30 s on the database's clock that it lives, or its process is gone; it counts those that are in doubt
// now. Where the process noted that no byte of the request had left, or how it was answered, the entry follows that; every other becomes in_doubt, and its attempt unknown and counts; a definite
// late answer can still close it. What a living instance sends stays as it is, but for what we began under an earlier lease, which is over: its results were not stored.
func (s *Store) Recover(ctx context.Context, lease trade.Lease, now time.Time) (int, error) {
	return s.recover(ctx, lease, now, false)
}

// RecoverOwn does the same for a job that another instance holds, and only for what the owner began before that one took it. It must have nothing of the job in flight.
func (s *Store) RecoverOwn(ctx context.Context, owner trade.Owner, holder trade.Holder, now time.Time) (int, error) {
	return s.recover(ctx, trade.Lease{Job: holder.Job, Owner: owner, Epoch: holder.Epoch}, now, true)
}

func (s *Store) recover(ctx context.Context, lease trade.Lease, now time.Time, own bool) (int, error) {
	text, err := json.Marshal(trade.EntryError{Kind: trade.TransportError, Fields: []trade.Problem{}, Text: recovered})
	if err != nil {
		return 0, fmt.Errorf("recovering: %w", err)
	}
	const op = "recovering what an earlier process left"
	var sending []int64 // nothing is written where nothing is being sent
	if err := s.read.SelectContext(ctx, &sending, s.q(`SELECT id FROM entry WHERE job = ? AND state = 'sending' LIMIT 1`), lease.Job); err != nil || len(sending) == 0 {
		if own {
			return 0, s.fault(ctx, op, err)
		}
		return 0, s.idle(ctx, op, lease, err)
	}
	var n int
	var ours []string // attempts of this process, of which the ledger knows all that there is to know
	err = s.inTx(ctx, op, func(t *tx) error {
		n, ours = 0, nil
		if !own {
			if err := fence(t, lease); err != nil {
				return err
			}
		}
		left, err := leftBehind(t, lease, own)
		if err != nil || len(left) == 0 {
			return err
		}
		for _, f := range left {
			if f.Attempt.Valid && f.Owner.String == lease.Owner.Instance {
				ours = append(ours, f.Attempt.String)
			}
		}
		if left, err = t.settleCertain(lease, left, now); err != nil {
			return err
		}
		ids, err := t.endAttempts(left, now)
		if err != nil {
			return err
		}
		if n = len(ids); n == 0 {
			return nil
		}
		return moveAll(t, ids, trade.InDoubt, now, `cause = '`+trade.CauseUnknown+`', error = ?, next_attempt_at = NULL, attempts = attempts + 1`, string(text))
	})
	if err != nil {
		return 0, err
	}
	s.forgetMarks(ours, 0)
	s.forgetTraces()
	return n, nil
}

// settleCertain settles the attempts of which their process noted what became of them, and gives the others.
func (t *tx) settleCertain(lease trade.Lease, left []sendingRow, now time.Time) ([]sendingRow, error) {
	if t.s.journal == nil {
		return left, nil
	}
	rows, err := journalRows(t, false)
	if err != nil {
		return nil, err
	}
	id := t.s.journal.Header().Journal
	traces := t.s.traces(id, rows[id].Seq)
	group := trade.Group{At: now}
	for _, f := range left {
		if st, ok := traces.of(f.Owner.String, f.Attempt.String); ok && f.Attempt.Valid {
			group.Settle = append(group.Settle, st)
		}
	}
	if len(group.Settle) == 0 {
		return left, nil
	}
	g := newGroupTx(t, lease, group)
	if err := g.load(); err != nil {
		return nil, err
	}
	if err := g.settle(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(left, func(f sendingRow) bool { return g.result.Settled[f.Attempt.String] }), g.sums.apply(t)
}

// leftBehind gives the entries of a job that are sending and that nobody sends any more; only the owner's with own. The lease is held but then: a new holder sees all that was claimed
// before it.
func leftBehind(t *tx, lease trade.Lease, own bool) ([]sendingRow, error) {
	var found []sendingRow
	if err := t.all(&found, `SELECT e.id AS entry_id, a.id AS attempt, a.owner, a.epoch FROM entry e
		LEFT JOIN attempt a ON a.entry_id = e.id AND a.generation = e.generation AND a.outcome IS NULL
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
	dead, err := t.deadAmong(owners)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(f sendingRow) bool {
		switch {
		case !f.Attempt.Valid: // its attempt ended, and the entry did not follow: nothing that we do
			return own
		case f.Owner.String == instance:
			return f.Epoch.Int64 >= lease.Epoch
		}
		return own || !dead[f.Owner.String]
	}), nil
}

// endAttempts makes attempts unknown whose outcome nobody will tell, and gives their entries. Late answers may come at this very moment: what is settled by then is left
// alone.
func (t *tx) endAttempts(left []sendingRow, now time.Time) (ids []int64, err error) {
	var attempts []any
	for _, f := range left {
		if f.Attempt.Valid {
			attempts = append(attempts, f.Attempt.String)
		}
	}
	open := map[string]bool{}
	for chunk := range slices.Chunk(attempts, inList) {
		var still []string
		query := `SELECT a.id FROM attempt a WHERE a.outcome IS NULL AND a.id IN (` + marks(len(chunk)) + `) ORDER BY a.id`
		if err := t.all(&still, t.s.d.locked(query, "a"), chunk...); err != nil {
			return nil, err
		}
		for _, id := range still {
			open[id] = true
		}
		if err := t.exec(`UPDATE attempt SET outcome = 'unknown', finished_at = ?, counts = 1, reason = ? WHERE outcome IS NULL AND id IN (`+marks(len(chunk))+`)`,
			append([]any{atOr(now, time.Time{}), recovered}, chunk...)...); err != nil {
			return nil, err
		}
	}
	for _, f := range left {
		if !f.Attempt.Valid || open[f.Attempt.String] {
			ids = append(ids, f.EntryID)
		}
	}
	return ids, nil
}
