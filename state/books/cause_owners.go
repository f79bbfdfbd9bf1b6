package books

import (
	"context"
	"encoding/json"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// OwnCause stores who takes care of a cause, with the audit record, in place of who did before.
// Without an owner nobody does any more.
func (s *Books) OwnCause(ctx context.Context, o trade.CauseOwner, record trade.AuditRecord) error {
	rows, err := json.Marshal(o.Rows)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, "taking a cause", func(t *sqldb.Tx) error {
		if err := AddAudit(t, record); err != nil { // its lock lets one at a time
			return err
		}
		if err := t.Do(`DELETE FROM cause_owner WHERE key = ?`, sqldb.CleanText(o.Key)); err != nil || o.Owner == "" {
			return err
		}
		return t.Do(
			`INSERT INTO cause_owner (key, cause, owner, note, until, row_counts, who, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			sqldb.CleanText(o.Key), sqldb.CleanText(o.Cause), sqldb.CleanText(o.Owner), sqldb.CleanText(o.Note),
			sqldb.Millis(o.Until), string(rows), sqldb.CleanText(record.Who), record.At.UnixMilli())
	})
}

// CauseOwners returns who takes care of causes, by their keys. A cause may have ended since.
func (s *Books) CauseOwners(ctx context.Context) (map[string]trade.CauseOwner, error) {
	rows, err := sqldb.List[trade.CauseOwner](ctx, s.db, "reading who takes care of causes",
		`SELECT key, cause, owner, note, until, row_counts AS rows, who, at FROM cause_owner ORDER BY key`)
	out := map[string]trade.CauseOwner{}
	for _, o := range rows {
		out[o.Key] = o
	}
	return out, err
}

// LowerCause stores that a cause of which somebody takes care has fewer rows now, so that it is told
// again when it grows; without a row, people are reminded of it again. It does nothing if somebody
// else took the cause meanwhile.
func (s *Books) LowerCause(ctx context.Context, o trade.CauseOwner) error {
	rows, err := json.Marshal(o.Rows)
	if err != nil {
		return err
	}
	return s.db.Do(ctx, "counting a cause", `UPDATE cause_owner SET row_counts = ?, until = ? WHERE key = ? AND at = ?`,
		string(rows), sqldb.Millis(o.Until), o.Key, o.At.UnixMilli())
}
