package state

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// Dependents returns at most limit rows that depend on a row: those that wait for it, and after
// them those that were sent, or will be sent, with its id. It does not find deliveries that
// retention has reduced, because their contract is no longer stored.
func (s *Store) Dependents(ctx context.Context, e trade.Entry, limit int) ([]trade.Entry, error) {
	out, err := s.waitingFor(ctx, e, limit)
	if err != nil || e.RemoteID == "" || e.Sends != trade.OrderCommitments || len(out) == limit {
		return out, err
	}
	var ids []int64
	if err := s.db.All(ctx, "reading what hangs on a row", &ids,
		`SELECT id FROM entry WHERE contract_id <> '' AND contract_id = ? ORDER BY id LIMIT ?`, e.RemoteID,
		limit); err != nil {
		return nil, err
	}
	sent, err := s.Entries(ctx, ids)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(sent, func(a, b trade.Entry) int { return cmp.Compare(a.ID, b.ID) })
	for _, d := range sent {
		if len(out) < limit && d.State != trade.Waiting {
			out = append(out, d)
		}
	}
	return out, nil
}

// waitingFor returns at most limit rows that wait for a row, in id order.
func (s *Store) waitingFor(ctx context.Context, parent trade.Entry, limit int) ([]trade.Entry, error) {
	const op = "reading what waits for a row"
	name, err := json.Marshal(parent.Key)
	if err != nil {
		return nil, phrase.Errorf("%w: %w", phrase.Fixed(op), err)
	}
	var ids []int64
	// waiting_for has the keys as JSON strings. Only rows that wait are searched.
	query := `SELECT e.id FROM entry e WHERE e.state = 'waiting' AND ` + s.db.D.Within +
		`(e.waiting_for, ?) > 0 ORDER BY e.id LIMIT ?`
	if err := s.db.All(ctx, op, &ids, query, `"key":`+string(name), limit+dependentsMore); err != nil {
		return nil, err
	}
	entries, err := s.Entries(ctx, ids)
	if err != nil {
		return nil, err
	}
	var out []trade.Entry
	for _, e := range entries {
		for _, a := range e.WaitingFor {
			if a.Job == parent.Job && a.Key == parent.Key && len(out) < limit {
				out = append(out, e)
				break
			}
		}
	}
	return out, s.fillParentStates(ctx, out)
}

// dependentsMore is how many more rows are read, because another job may have a row with the same
// key.
const dependentsMore = 100
