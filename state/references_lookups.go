package state

import (
	"context"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// LookupKey returns the key of the hashes under which documents are looked up. It is generated
// once, with the ledger, and never changes.
func (s *Store) LookupKey(ctx context.Context) ([]byte, error) {
	var secret string
	if err := s.db.Get(ctx, "reading the key of the lookups", &secret, `SELECT lookup_key FROM ledger`); err != nil {
		return nil, err
	}
	return []byte(secret), nil
}

// Lookups returns the platform's answers to the lookups of one kind, by code.
func (s *Store) Lookups(ctx context.Context, kind string) (map[string]trade.Lookup, error) {
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
func (s *Store) RecordLookups(ctx context.Context, kind string, answers []trade.Lookup) error {
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
			if err := newVersion(t); err != nil {
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

// Awaiting calls fn for every entry of the job that waits for a reference of this kind, in id
// order; fn may write.
func (s *Store) Awaiting(ctx context.Context, job, kind string, fn func(trade.Entry) error) error {
	return s.eachEntry(ctx, "looking for entries that wait", fn,
		`e.job = ? AND e.state = 'waiting' AND e.waiting_for <> '[]' AND e.waiting_for LIKE ?`, job, `%"ref":"`+kind+`"%`)
}
