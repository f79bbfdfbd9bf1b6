package state

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Erase reduces rows, whatever their age, as retention would do later. It also removes the answers
// to lookups by document that returned one of the platform ids, the labels of producers with one,
// and the events and records that contain one. What is still needed stays: see
// reducible. It returns how many rows were reduced. The act is in the audit before the first row is reduced.
func (s *Store) Erase(ctx context.Context, ids []int64, remoteIDs []string,
	now time.Time, record trade.AuditRecord,
) (rows int, err error) {
	if err := s.announce(ctx, record, now, 0); err != nil {
		return 0, err
	}
	for chunk := range slices.Chunk(ids, retentionBatch) {
		n := 0
		if err := s.db.InTx(ctx, "erasing what is held of rows", func(t *sqldb.Tx) (err error) {
			n, err = reduceEntries(t, chunk, now.Add(100*365*24*time.Hour), now)
			return err
		}); err != nil {
			return rows, err
		}
		rows += n
	}
	if err := s.db.InTx(ctx, "erasing lookups", func(t *sqldb.Tx) error {
		// Including the events that contain the id, and records that were read back because of one.
		for _, id := range remoteIDs {
			if err := errors.Join(
				t.Do(`DELETE FROM lookup WHERE id = ?`, id),
				t.Do(`UPDATE reference SET label = '' WHERE kind = 'producers' AND id = ?`, id),
				t.Do(`DELETE FROM inbox WHERE next_at IS NULL AND LOWER(body) LIKE ?`, "%"+id+"%"),
				t.Do(`DELETE FROM candidate WHERE fields LIKE ?`, "%"+id+"%")); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return rows, err
	}
	return rows, s.db.EmptyLog(ctx)
}

// Erasable returns which of these rows Erase would reduce.
func (s *Store) Erasable(ctx context.Context, ids []int64) (map[int64]bool, error) {
	out := map[int64]bool{}
	var some []int64
	err := s.db.All(ctx, "looking for what may be erased", &some,
		`SELECT e.id FROM entry e WHERE e.reduced_at IS NULL AND `+isSettled+` AND `+reducible+` AND `+
			s.db.D.Among("e.id"), sqldb.ListOf(s.db.D, ids))
	for _, id := range some {
		out[id] = true
	}
	return out, err
}
