package state

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// wantedFor is how long changes stay in order on PostgreSQL when no service has said any more that this
// is wanted: the services may read another configuration one after the other. wantedEvery is
// how often they say it.
const (
	wantedFor   = time.Hour
	wantedEvery = 10 * time.Minute
)

// fedTriggers are the triggers of entry that PostgreSQL has enabled only while they have something to
// do. Those of SQLite cost nothing otherwise.
var fedTriggers = []string{"entry_fed_new", "entry_fed"}

// Feed begins, or ends, the order of all changes of rows, which [Store.Changes] reads. It is in force
// for every process from the end of the transaction on. Without it nothing is stored of a change.
func (s *Store) Feed(ctx context.Context, wanted bool) error {
	const op = "recording whether the changes of rows are kept in order"
	var have []struct{ WantedAt, Now int64 }
	if err := s.db.All(ctx, op, &have, `SELECT wanted_at, `+s.db.D.Now+` AS now FROM feed`); err != nil {
		return err
	}
	off, err := s.triggersOff(ctx, op)
	ago := time.Duration(0) // since a service said that they are wanted
	for _, feed := range have {
		ago = time.Duration(feed.Now-feed.WantedAt) * time.Millisecond
	}
	switch {
	case err != nil:
		return err
	case wanted && len(have) > 0 && !off && ago >= 0 && ago <= wantedEvery:
		return nil
	case !wanted && len(have) == 0 && (off || s.db.D.Name == sqldb.SQLite):
		return nil
	case !wanted && len(have) > 0 && ago <= wantedFor && s.db.D.Name == sqldb.Postgres: // SQLite has one service
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
		return switchTriggers(t)
	})
}

// newLife begins another order of changes, because the ledger may lack some of what other programs have
// read: no place in the order before holds any more.
func newLife(t *sqldb.Tx) error { return t.Do(`UPDATE feed SET id = ?`, uuid.NewString()) }

// FeedEnd returns the end of the order of changes: each change that becomes visible later comes behind
// it. It returns trade.ErrNotFound if the order is not kept yet.
func (s *Store) FeedEnd(ctx context.Context) (trade.FeedPlace, error) {
	var end trade.FeedPlace
	err := s.db.GetOr(ctx, "reading the end of the changes", trade.ErrNotFound, &end,
		`SELECT id AS feed, seq FROM feed`)
	return end, err
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
	ids := trade.Map(rows, func(e trade.Entry) int64 { return e.RecordID })
	var found []struct {
		ID     int64
		SentAt time.Time
	}
	if err := s.db.All(ctx, "reading when rows were sent", &found, `SELECT id, sent_at FROM sent WHERE `+
		s.db.D.Among("id"), sqldb.ListOf(s.db.D, ids)); err != nil {
		return nil, err
	}
	out := make(map[int64]time.Time, len(found))
	for _, f := range found {
		out[f.ID] = f.SentAt
	}
	return out, nil
}

const disabledTriggers = `SELECT COUNT(*) FROM pg_trigger WHERE tgrelid = 'entry'::regclass AND tgenabled = 'D' AND tgname IN `

// triggersOff reports whether PostgreSQL has some of fedTriggers disabled.
func (s *Store) triggersOff(ctx context.Context, op string) (bool, error) {
	if s.db.D.Name == sqldb.SQLite {
		return false, nil
	}
	var off int
	err := s.db.Get(ctx, op, &off, disabledTriggers+`(`+sqldb.Placeholders(len(fedTriggers))+`)`, sqldb.Anys(fedTriggers)...)
	return off > 0, err
}

// aloneWithEntries waits on PostgreSQL for all transactions that write entries, and keeps others from it
// until this one ends. Whoever begins or ends what the triggers of entry write does so first: of two
// services the later one counts what the earlier one left, and no writer waits for this one meanwhile.
func aloneWithEntries(t *sqldb.Tx) error {
	if t.S.D.Name == sqldb.SQLite {
		return nil // its only writer
	}
	return t.Do(`LOCK TABLE entry IN SHARE ROW EXCLUSIVE MODE`)
}

// switchTriggers enables fedTriggers if changes are kept in order, else it disables them. That waits
// for all transactions that write entries: what commits later is in the order.
func switchTriggers(t *sqldb.Tx) error {
	if t.S.D.Name == sqldb.SQLite {
		return nil
	}
	var wanted, off int
	if err := t.Get(&wanted, `SELECT COUNT(*) FROM feed`); err != nil {
		return err
	}
	if err := t.Get(&off, disabledTriggers+`(`+sqldb.Placeholders(len(fedTriggers))+`)`, sqldb.Anys(fedTriggers)...); err != nil {
		return err
	}
	do := ` ENABLE TRIGGER `
	if wanted == 0 {
		do, off = ` DISABLE TRIGGER `, len(fedTriggers)-off
	}
	if off == 0 {
		return nil
	}
	for _, name := range fedTriggers {
		if err := t.Do(`ALTER TABLE entry` + do + name); err != nil {
			return err
		}
	}
	return nil
}
