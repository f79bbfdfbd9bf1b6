package books

import (
	"context"
	"time"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// LookupKey returns the key of the hashes under which documents are looked up. It is generated
// once, with the ledger, and never changes.
func (s *Books) LookupKey(ctx context.Context) ([]byte, error) {
	var secret string
	if err := s.db.Get(ctx, "reading the key of the lookups", &secret, `SELECT lookup_key FROM ledger`); err != nil {
		return nil, err
	}
	return []byte(secret), nil
}

// Lookups returns the platform's answers to the lookups of one kind, by code.
func (s *Books) Lookups(ctx context.Context, kind string) (map[string]trade.Lookup, error) {
	query := `SELECT code, id, message, first_at, asked_at, next_at, tries FROM lookup WHERE kind = ?`
	lookups, err := sqldb.List[trade.Lookup](ctx, s.db, "reading the lookups", query, kind)
	out := make(map[string]trade.Lookup, len(lookups))
	for _, l := range lookups {
		out[l.Code] = l
	}
	return out, err
}

// RecordLookups stores answers, replacing earlier ones to the same lookups. If one of them has an
// id, the references get a new version, so that the rows that waited for it are mapped again.
func (s *Books) RecordLookups(ctx context.Context, kind string, answers []trade.Lookup) error {
	if len(answers) == 0 {
		return nil
	}
	return s.db.InTx(ctx, "recording lookups", func(t *sqldb.Tx) error {
		rows := make([][]any, len(answers))
		found := false
		for i, a := range answers {
			rows[i] = []any{
				kind, a.Code, a.ID, sqldb.CleanText(a.Message), a.FirstAt.UnixMilli(),
				a.AskedAt.UnixMilli(), a.NextAt.UnixMilli(), a.Tries,
			}
			found = found || a.ID != ""
		}
		// first, because all changes of references lock the row of the table ledger first
		if found {
			if err := NewVersion(t); err != nil {
				return err
			}
		}
		return t.InsertRows("lookup", []string{
			"kind", "code", "id", "message", "first_at", "asked_at", "next_at",
			"tries",
		}, rows,
			`ON CONFLICT (kind, code) DO UPDATE SET id = excluded.id, message = excluded.message, first_at = excluded.first_at,
			asked_at = excluded.asked_at, next_at = excluded.next_at, tries = excluded.tries`)
	})
}

// AskLookupsAgain makes the lookups by document for which the platform had no answer due in the
// next run. It returns how many.
func (s *Books) AskLookupsAgain(ctx context.Context, now time.Time) (int, error) {
	return sqldb.Stored(ctx, s.db, "waking questions by document", func(t *sqldb.Tx) (int, error) {
		return t.Changed(`UPDATE lookup SET next_at = ? WHERE id = '' AND next_at > ?`, now.UnixMilli(),
			now.UnixMilli())
	})
}
