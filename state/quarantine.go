package state

import (
	"context"
	"time"

	"github.com/safrasync/safrasync/state/sqldb"
)

// watchedStates are the states in which a person may order, or request, a second sending.
const watchedStates = `('in_doubt', 'held', 'dismissed')`

// Watch records, for every attempt of a job that is unknown, that this boot knows of it from now
// on, unless it is recorded already. It returns how many are new.
//
// The quarantine counts from then (I14), on the clock of the boot, which goes on while the machine
// is suspended and which nobody can set. Another machine, or this one after a restart, does not
// know how much time has passed and begins anew, so no wall clock is ever trusted.
func (s *Store) Watch(ctx context.Context, job, boot string, ticks time.Duration) (int, error) {
	const op = "noting what is in doubt"
	from := ` FROM entry e JOIN sent a ON a.origin = e.id
		WHERE e.job = ? AND e.state IN ` + watchedStates + ` AND a.outcome = 'unknown' AND NOT EXISTS (SELECT 1 FROM quarantine q WHERE q.attempt_id = a.attempt AND q.boot = ?)`
	var fresh int
	if err := s.db.Get(ctx, op, &fresh, `SELECT COUNT(*)`+from, job, boot); err != nil || fresh == 0 {
		return 0, err
	}
	return sqldb.Stored(ctx, s.db, op, func(t *sqldb.Tx) (int, error) {
		return t.Changed(
			`INSERT INTO quarantine (attempt_id, boot, ticks) SELECT a.attempt, CAST(? AS TEXT), CAST(? AS BIGINT)`+from+
				` ON CONFLICT DO NOTHING`,
			boot, ticks.Milliseconds(), job, boot)
	})
}

// Watched returns, for the unknown attempts of an entry, since when this boot knows of them, on its
// clock. Attempts that it does not know of are not in the result.
func (s *Store) Watched(ctx context.Context, entryID int64, boot string) (map[string]time.Duration, error) {
	var rows []watchRow
	if err := s.db.All(ctx, "reading the quarantine", &rows, selectWatched, boot, entryID); err != nil {
		return nil, err
	}
	out := map[string]time.Duration{}
	for _, r := range rows {
		if r.Ticks != nil {
			out[r.Attempt] = time.Duration(*r.Ticks) * time.Millisecond
		}
	}
	return out, nil
}

type watchRow struct {
	Attempt string
	Open    bool
	Ticks   *int64
}

const selectWatched = `SELECT a.attempt, (a.outcome = 'open') AS open, q.ticks FROM sent a LEFT JOIN quarantine q ON q.attempt_id = a.attempt AND q.boot = ?
	WHERE a.origin = ? AND a.outcome IN ('open', 'unknown')`
