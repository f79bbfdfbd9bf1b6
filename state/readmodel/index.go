package readmodel

import (
	"context"
	"encoding/json"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// indexedAtOnce is how many rows one transaction makes findable.
const indexedAtOnce = 500

// Index makes the next rows findable by what people are shown of them now; more tells whether there
// are others. The ledger itself notes which rows those are, and takes the words of a row out with
// its texts.
func (s *Reader) Index(ctx context.Context) (more bool, err error) {
	var n int
	if err := s.db.Read.GetContext(ctx, &n,
		`SELECT COUNT(*) FROM (SELECT 1 FROM search_stale LIMIT 1) AS stale`); err != nil || n == 0 {
		return false, s.db.Fault(ctx, "looking for rows to be found", err)
	}
	err = s.db.InTx(ctx, "making rows findable", func(t *sqldb.Tx) error {
		var ids []int64
		if err := t.All(&ids, `DELETE FROM search_stale WHERE entry_id IN (SELECT entry_id FROM search_stale LIMIT ?)
			RETURNING entry_id`, indexedAtOnce); err != nil {
			return err
		}
		if more = len(ids) > 0; !more { // somebody else was first
			return nil
		}
		marks, args := sqldb.Marks(len(ids)), sqldb.Anys(ids)
		if err := t.Do(`DELETE FROM search_term WHERE entry_id IN (`+marks+`)`, args...); err != nil {
			return err
		}
		var rows []struct {
			ID    int64  `db:"id"`
			Shown string `db:"shown"`
		}
		if err := t.All(&rows, `SELECT id, shown FROM entry WHERE id IN (`+marks+`)`, args...); err != nil {
			return err
		}
		var terms [][]any
		for _, r := range rows {
			var shown trade.Shown
			if err := json.Unmarshal([]byte(r.Shown), &shown); err != nil {
				return err
			}
			for _, term := range termsOf(shown) {
				terms = append(terms, []any{term, r.ID})
			}
		}
		if len(terms) == 0 {
			return nil
		}
		return t.InsertRows("search_term", []string{"term", "entry_id"}, terms, "")
	})
	return more && err == nil, err
}
