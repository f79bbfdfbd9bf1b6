package state

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Cursor returns how far a job has read, or the zero value if nothing was read yet.
func (s *Store) Cursor(ctx context.Context, job string) (trade.Cursor, error) {
	const op = "reading the cursor"
	c, err := cursorOf(s.db.Reading(ctx, op), job)
	return c, s.db.Fault(ctx, op, err)
}

// cursorOf reads the cursor of a job, inside or outside a transaction. It returns the zero value if
// nothing was read yet.
func cursorOf(all sqldb.Select, job string) (trade.Cursor, error) {
	var rows []struct {
		trade.Cursor
		BrakesJSON string
		SweepJSON  sql.NullString
	}
	if err := all(&rows, `SELECT bound, swept_at, fingerprint, sweep AS sweep_json, parents, brakes AS brakes_json,
		refs AS "references" FROM job_cursor WHERE job = ?`, job); err != nil || len(rows) == 0 {
		return trade.Cursor{}, err
	}
	c := rows[0].Cursor
	if err := json.Unmarshal([]byte(rows[0].BrakesJSON), &c.Brakes); err != nil {
		return trade.Cursor{}, phrase.Errorf("what the brakes of job %s remember is damaged: %w", job, err)
	}
	if rows[0].SweepJSON.Valid {
		if err := json.Unmarshal([]byte(rows[0].SweepJSON.String), &c.Sweep); err != nil {
			return trade.Cursor{}, phrase.Errorf("the cursor of job %s is damaged: %w", job, err)
		}
	}
	return c, nil
}

// setCursor stores the cursor of a job in the transaction that stores the rows (I4).
func setCursor(t *sqldb.Tx, job string, c trade.Cursor) error {
	var sweep sql.NullString
	if c.Sweep != nil {
		text, err := json.Marshal(c.Sweep)
		if err != nil {
			return phrase.Errorf("the sweep of job %s: %w", job, err)
		}
		sweep = textOrNull(string(text))
	}
	brakes, err := json.Marshal(c.Brakes)
	if err != nil {
		return phrase.Errorf("what the brakes of job %s remember: %w", job, err)
	}
	return t.Do(`INSERT INTO job_cursor (job, bound, swept_at, fingerprint, sweep, parents, brakes, refs) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (job) DO UPDATE
		SET bound = excluded.bound, swept_at = excluded.swept_at, fingerprint = excluded.fingerprint,
			sweep = excluded.sweep, parents = excluded.parents,
		brakes = excluded.brakes, refs = excluded.refs`, job, c.Bound, sqldb.Millis(c.SweptAt), c.Fingerprint, sweep, c.Parents, string(brakes),
		c.References)
}
