package state

import (
	"context"
	"encoding/json"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// indexedAtOnce is how many rows one transaction indexes.
const indexedAtOnce = 500

// Index updates the search index for the next rows whose shown texts have changed; more reports
// whether it must be called again. The database itself records these rows, and removes the words of
// a row together with its texts.
func (s *Store) Index(ctx context.Context) (more bool, err error) {
	var n int
	if err := s.db.Get(ctx, "looking for rows to be found", &n,
		`SELECT COUNT(*) FROM (SELECT 1 FROM search_stale LIMIT 1) AS stale`); err != nil || n == 0 {
		return false, err
	}
	return sqldb.Stored(ctx, s.db, "making rows findable", func(t *sqldb.Tx) (bool, error) {
		var rows []struct {
			ID    int64
			Shown string
		}
		// Rows that others are writing are left for the next time: after their commit, their old
		// texts must not be found.
		if err := t.All(&rows, t.S.D.FreeRows(`SELECT e.id, e.shown FROM search_stale s CROSS JOIN entry e
			WHERE e.id = s.entry_id ORDER BY s.entry_id LIMIT ?`, "e"), indexedAtOnce); err != nil {
			return false, err
		}
		if len(rows) == 0 { // another process was first
			return false, nil
		}
		ids := make([]int64, len(rows))
		for i, r := range rows {
			ids[i] = r.ID
		}
		for _, table := range []string{"search_stale", "search_term"} {
			if err := t.Do(`DELETE FROM `+table+` WHERE `+t.S.D.Among("entry_id"), sqldb.ListOf(t.S.D, ids)); err != nil {
				return false, err
			}
		}
		var terms [][]any
		for _, r := range rows {
			var shown trade.Shown
			if err := json.Unmarshal([]byte(r.Shown), &shown); err != nil {
				return false, err
			}
			for _, term := range termsOf(shown) {
				terms = append(terms, []any{term, r.ID})
			}
		}
		if len(terms) == 0 {
			return true, nil
		}
		return true, t.InsertRows("search_term", []string{"term", "entry_id"}, terms, "")
	})
}
