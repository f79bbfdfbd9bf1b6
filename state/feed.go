package state

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Feed begins, or ends, the order of all changes of rows, which [Store.Changes] reads. It is in force
// for every process from the end of the transaction on. Without it nothing is stored of a change.
func (s *Store) Feed(ctx context.Context, wanted bool) error {
	const op = "recording whether the changes of rows are kept in order"
	var have []struct{ WantedAt, Now int64 }
	if err := s.db.All(ctx, op, &have, `SELECT wanted_at, `+s.db.D.Now+` AS now FROM feed`); err != nil {
		return err
	}
	off, err := s.triggersOff(ctx, op, fedTriggers)
	switch {
	case err != nil:
		return err
	case wanted && len(have) > 0 && !off && !saidLongAgo(have[0].WantedAt, have[0].Now):
		return nil
	case !wanted && len(have) == 0 && (off || s.db.D.Name == sqldb.SQLite):
		return nil
	case !wanted && len(have) > 0 && !s.noLongerWanted(have[0].WantedAt, have[0].Now):
		return nil
	}
	return s.db.InTx(ctx, op, func(t *sqldb.Tx) error {
		if !wanted || off || len(have) == 0 {
			if err := aloneWithEntries(t); err != nil {
				return err
			}
		}
		if wanted {
			if err := t.Do(`INSERT INTO feed (one, id, seq, wanted_at) VALUES (1, ?, 0, `+t.S.D.Now+`)
				ON CONFLICT (one) DO UPDATE SET wanted_at = excluded.wanted_at`, uuid.NewString()); err != nil {
				return err
			}
		} else {
			for _, table := range []string{"feed", "change"} {
				if err := t.Do(`DELETE FROM ` + table); err != nil {
					return err
				}
			}
		}
		return switchTriggers(t, fedTriggers, `SELECT COUNT(*) FROM feed`)
	})
}

// newLife separates what other programs were told from what they are told from now on, because the
// ledger may lack some of it: no place in the order of changes holds any more, and events get numbers
// above all that were given, if there were fewer than one in each millisecond.
func newLife(t *sqldb.Tx) error {
	if err := t.Do(`UPDATE feed SET id = ?`, uuid.NewString()); err != nil {
		return err
	}
	if t.S.D.Name == sqldb.Postgres {
		var next int64
		return t.Get(&next, `SELECT setval(q.name, GREATEST(nextval(q.name), `+t.S.D.Now+`))
			FROM (SELECT CAST(pg_get_serial_sequence('outbox', 'seq') AS regclass) AS name) q`)
	}
	if err := t.Do(`INSERT INTO sqlite_sequence (name, seq) SELECT 'outbox', 0
		WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'outbox')`); err != nil {
		return err
	}
	return t.Do(`UPDATE sqlite_sequence SET seq = MAX(seq, ` + t.S.D.Now + `) WHERE name = 'outbox'`)
}

// FeedEnd returns the end of the order of changes: each change that becomes visible later comes behind
// it. It returns trade.ErrNotFound if the order is not kept yet.
func (s *Store) FeedEnd(ctx context.Context) (trade.FeedPlace, error) {
	var rows []struct {
		ID  string
		Seq int64
	}
	err := s.db.All(ctx, "reading the end of the changes", &rows, `SELECT id, seq FROM feed`)
	if err == nil && len(rows) == 0 {
		err = trade.ErrNotFound
	}
	if err != nil {
		return trade.FeedPlace{}, err
	}
	return trade.FeedPlace{Feed: rows[0].ID, Seq: rows[0].Seq}, nil
}

// Changes returns the rows that changed behind a place, each once, in the order of their newest
// changes, at most limit, and the place behind them. more reports that there are further ones. It
// returns trade.ErrNotFound if the place is of another order, or behind the end: then the ledger is an
// older one.
func (s *Store) Changes(ctx context.Context, after trade.FeedPlace, limit int) (rows []trade.Entry,
	next trade.FeedPlace, more bool, err error,
) {
	err = s.numberChanges(ctx)
	end := trade.FeedPlace{}
	if err == nil {
		end, err = s.FeedEnd(ctx)
	}
	if err == nil && (end.Feed != after.Feed || after.Seq > end.Seq) {
		err = trade.ErrNotFound
	}
	if err != nil {
		return nil, after, false, err
	}
	var found []struct{ EntryID, Seq int64 }
	if err := s.db.All(ctx, "reading the changes", &found,
		`SELECT entry_id, seq FROM change WHERE seq > ? ORDER BY seq LIMIT ?`, after.Seq, limit+1); err != nil {
		return nil, after, false, err
	}
	more = len(found) > limit
	found = found[:min(limit, len(found))]
	ids := make([]int64, len(found))
	for i, f := range found {
		ids[i], after.Seq = f.EntryID, f.Seq
	}
	rows, err = s.entriesInOrder(ctx, ids)
	return rows, after, more, err
}

// numberMost is how many changes one transaction numbers.
const numberMost = 5000

// numberChanges gives the changes that are visible, and have no number yet, the next ones. On
// PostgreSQL several transactions commit at once, and a number that each drew by itself could become
// visible after a higher one, which a reader has passed by then. In SQLite the only writer numbers.
func (s *Store) numberChanges(ctx context.Context) error {
	if s.db.D.Name == sqldb.SQLite {
		return nil
	}
	const op = "numbering the changes"
	for {
		var some []int64
		if err := s.db.All(ctx, op, &some, `SELECT entry_id FROM change WHERE seq IS NULL LIMIT 1`); err != nil ||
			len(some) == 0 {
			return err
		}
		n, err := sqldb.Stored(ctx, s.db, op, func(t *sqldb.Tx) (int, error) {
			var last []int64
			if err := t.All(&last, `SELECT seq FROM feed FOR UPDATE`); err != nil || len(last) == 0 {
				return 0, err
			}
			n, err := t.Changed(`WITH found AS (SELECT entry_id FROM change WHERE seq IS NULL ORDER BY entry_id LIMIT ? FOR UPDATE SKIP LOCKED),
				numbered AS (SELECT entry_id, row_number() OVER (ORDER BY entry_id) AS no FROM found)
				UPDATE change SET seq = CAST(? AS BIGINT) + n.no FROM numbered n WHERE change.entry_id = n.entry_id`, numberMost, last[0])
			if err != nil {
				return 0, err
			}
			return n, t.Do(`UPDATE feed SET seq = seq + ?`, n)
		})
		if err != nil || n < numberMost {
			return err // what is left is of transactions that have not ended
		}
	}
}

// SentAt returns when the records on which rows rest were sent, by the ids of the records.
func (s *Store) SentAt(ctx context.Context, rows []trade.Entry) (map[int64]time.Time, error) {
	ids := make([]int64, len(rows))
	for i, e := range rows {
		ids[i] = e.RecordID
	}
	var found []struct{ ID, SentAt int64 }
	if err := s.db.All(ctx, "reading when rows were sent", &found, `SELECT id, sent_at FROM record WHERE `+
		s.db.D.Among("id"), sqldb.ListOf(s.db.D, ids)); err != nil {
		return nil, err
	}
	out := make(map[int64]time.Time, len(found))
	for _, f := range found {
		out[f.ID] = time.UnixMilli(f.SentAt).UTC()
	}
	return out, nil
}
