package readmodel

import (
	"context"
	"errors"

	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/trade"
)

// Stuck returns the id and the version of every row of a job that waits for something or needs a
// person, in id order. That is enough to find what has changed since an earlier call, and is read
// from an index alone.
func (s *Reader) Stuck(ctx context.Context, job string) (out []trade.RowVersion, err error) {
	const op = "looking for rows that wait"
	rows, err := s.db.Read.QueryxContext(ctx,
		s.db.Q(`SELECT id, version FROM entry e WHERE job = ? AND `+ledger.OfStuck+` ORDER BY id`), job)
	if err != nil {
		return nil, s.db.Fault(ctx, op, err)
	}
	defer func() { err = errors.Join(err, s.db.Fault(ctx, op, rows.Close())) }()
	for rows.Next() {
		var one trade.RowVersion
		if err := rows.Scan(&one.ID, &one.Version); err != nil {
			return nil, s.db.Fault(ctx, op, err)
		}
		out = append(out, one)
	}
	return out, s.db.Fault(ctx, op, rows.Err())
}
