package state

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// The sizes of pages. Nothing is open between two pages, so the caller may write meanwhile.
const (
	knownPage = 2000
	entryPage = 250
)

const selectKnown = `SELECT id, key, state, source_hash, mapped_with, flags, gone_sweeps, cause, version, shown_mark,
	acknowledged FROM entry `

// Known returns what is known of these keys, by key.
func (s *Store) Known(ctx context.Context, job string, keys []string) (map[string]trade.Known, error) {
	out := make(map[string]trade.Known, len(keys))
	for chunk := range slices.Chunk(keys, sqldb.InList) {
		found, err := s.known(ctx, "looking up keys", `WHERE job = ? AND key IN (`+sqldb.Placeholders(len(chunk))+`)`,
			append([]any{job}, sqldb.Anys(chunk)...)...)
		if err != nil {
			return nil, err
		}
		for _, k := range found {
			out[k.Key] = k
		}
	}
	return out, nil
}

// known reads what discovery needs of the entries that match a condition.
func (s *Store) known(ctx context.Context, op, where string, args ...any) ([]trade.Known, error) {
	return sqldb.List[trade.Known](ctx, s.db, op, selectKnown+where, args...)
}

// Entries returns whole entries by their ids, in any order. Ids that do not exist are left out.
func (s *Store) Entries(ctx context.Context, ids []int64) ([]trade.Entry, error) {
	return s.selectEntries(ctx, "reading entries", `WHERE `+s.db.D.Among("e.id"), sqldb.ListOf(s.db.D, ids))
}

// EachKnown calls fn for every entry of the job in id order; fn may write. It stops at the first
// error of fn.
func (s *Store) EachKnown(ctx context.Context, job string, fn func(trade.Known) error) error {
	read := func(after int64) ([]trade.Known, error) {
		return s.known(ctx, goingThrough, `WHERE job = ? AND id > ? ORDER BY id LIMIT ?`, job, after, knownPage)
	}
	return sqldb.InPages(knownPage, read, func(k trade.Known) (int64, error) { return k.ID, fn(k) })
}

// eachEntry calls fn for every entry of a condition in id order; fn may write.
func (s *Store) eachEntry(ctx context.Context, op string, fn func(trade.Entry) error, where string, args ...any) error {
	read := func(after int64) ([]trade.Entry, error) {
		return s.selectEntries(ctx, op, `WHERE `+where+` AND e.id > ? ORDER BY e.id LIMIT ?`,
			append(slices.Clone(args), after, entryPage)...)
	}
	return sqldb.InPages(entryPage, read, func(e trade.Entry) (int64, error) { return e.ID, fn(e) })
}

// Stale calls fn for every entry in one of the states whose MappedWith differs, state by state,
// each in id order; fn may write.
func (s *Store) Stale(ctx context.Context, job, mappedWith string, states []trade.State,
	fn func(trade.Entry) error,
) error {
	// one state at a time: for several, the databases would scan all entries of the job in id order
	for _, state := range states {
		if err := s.eachEntry(ctx, "looking for entries of an earlier mapping", fn,
			`e.job = ? AND e.state = ? AND e.mapped_with <> ?`, job, string(state), mappedWith); err != nil {
			return err
		}
	}
	return nil
}

// arrived is the SQL condition for an entry that a reading has found and that nobody has sent or
// decided about: a rebuild also adds entries with new ids, but those were there before.
const arrived = `e.state NOT IN ('accepted', 'dismissed') AND NOT EXISTS (SELECT 1 FROM sent a WHERE a.origin = e.id AND a.outcome <> 'none')`

// Arrivals returns how many entries of a job with ids greater than after were never sent, the keys
// of the first few, the highest id of all, and whether there are earlier entries and accepted ones.
func (s *Store) Arrivals(ctx context.Context, job string, after int64, samples int) (trade.Arrivals, error) {
	const op = "counting new rows"
	var a trade.Arrivals
	var row struct {
		N, Accepted int
		Last        int64
	}
	if err := s.db.Get(ctx, op, &row, `SELECT COUNT(CASE WHEN `+arrived+` THEN 1 END) AS n, COALESCE(MAX(e.id), 0) AS last,
		COUNT(CASE WHEN e.state = 'accepted' THEN 1 END) AS accepted FROM entry e WHERE e.job = ? AND e.id > ?`,
		job, after); err != nil {
		return a, err
	}
	a.Count, a.Last, a.Rebuilt = row.N, row.Last, row.Accepted > 0
	var earlier []int64
	if err := s.db.All(ctx, op, &earlier, `SELECT id FROM entry WHERE job = ? AND id <= ? LIMIT 1`, job,
		after); err != nil {
		return a, err
	}
	a.Before = len(earlier) > 0
	if a.Count == 0 {
		return a, nil
	}
	err := s.db.All(ctx, op, &a.Samples,
		`SELECT e.key FROM entry e WHERE e.job = ? AND e.id > ? AND `+arrived+` ORDER BY e.id LIMIT ?`, job, after, samples)
	return a, err
}

// Record stores one page of discovery in one transaction that is fenced by the lease
// (trade.ErrLeaseLost). A new entry whose key exists, and an update whose entry has changed since
// it was read, is left out and counted in lost.
func (s *Store) Record(ctx context.Context, lease trade.Lease, page trade.Page) (lost int, err error) {
	now := time.Now()
	return sqldb.Stored(ctx, s.db, "recording a page of discovery", func(t *sqldb.Tx) (int, error) {
		if err := fence(t, lease); err != nil {
			return 0, err
		}
		lost, err := insertEntries(t, lease.Job, page.New, now)
		if err != nil {
			return 0, err
		}
		if len(page.Updates) > 0 {
			entries, err := lockEntries(t, updateIDs(page.Updates))
			if err != nil {
				return 0, err
			}
			var concerned []*trade.Entry // of which the update may change what is known of their records
			for _, u := range page.Updates {
				e, to := entries[u.Entry.ID], u.Entry
				if e != nil && (u.From.MayBeOnPlatform() || u.From == trade.Held || u.From == trade.Rejected ||
					u.From == trade.Dismissed || to.State == trade.Accepted || to.State == trade.Dismissed ||
					to.Cause == trade.CauseExists) {
					concerned = append(concerned, e)
				}
			}
			records, err := loadRecords(t, concerned, now)
			if err != nil {
				return 0, err
			}
			left, err := applyUpdates(t, entries, records, page.Updates, now)
			if err != nil {
				return 0, err
			}
			records.note()
			lost += left
		}
		if page.Cursor != nil {
			if err := setCursor(t, lease.Job, *page.Cursor); err != nil {
				return 0, err
			}
		}
		return lost, nil
	})
}

// insertEntries adds the entries whose key is new and returns how many others there were.
func insertEntries(t *sqldb.Tx, job string, entries []trade.Entry, now time.Time) (lost int, err error) {
	lost = len(entries)
	kinds := map[trade.Kind]bool{}
	for _, e := range entries {
		if !kinds[e.Sends] {
			kinds[e.Sends] = true
			if err := knowJob(t, job, string(e.Sends)); err != nil {
				return 0, err
			}
		}
	}
	// in chunks, so that a page is not in memory a second time as arguments
	for chunk := range slices.Chunk(entries, sqldb.BulkRows) {
		rows, stored := make([][]any, len(chunk)), make([]*entryRow, len(chunk))
		for i, e := range chunk {
			e.Job, e.Version = job, 1
			stored[i] = entryRowOf(e, now)
			rows[i] = sqldb.Pick(stored[i], newColumns)
		}
		added, err := insertEntryRows(t, rows)
		if err != nil {
			return 0, err
		}
		if err := insertBodies(t, job, stored, added); err != nil {
			return 0, err
		}
		lost -= len(added)
	}
	return lost, nil
}

// insertEntryRows inserts the entries whose key is new, and returns which these are.
func insertEntryRows(t *sqldb.Tx, rows [][]any) (added []int, err error) {
	const unlessKnown = `ON CONFLICT (job, key) DO NOTHING`
	if t.S.D.Name == sqldb.Postgres {
		at := map[any]int{} // by key the first of them
		for i, row := range slices.Backward(rows) {
			at[row[slices.Index(newColumns, "key")]] = i
		}
		err := sqldb.EachArray(newColumns, rows, func(list string, args []any) error {
			var keys []string
			err := t.All(&keys, "INSERT INTO entry ("+strings.Join(newColumns, ", ")+") SELECT * FROM "+list+" "+
				unlessKnown+" RETURNING key", args...)
			for _, key := range keys {
				added = append(added, at[key])
			}
			return err
		})
		return added, err
	}
	return t.ChangedBy(sqldb.InsertText("entry", newColumns, 1, unlessKnown), rows)
}

// NewContents returns entries of a job in a state, pending or waiting, with ids greater than after, in
// id order, at most limit, with only what is compared of each: id, job, key, kind, hashes, target and
// payload.
func (s *Store) NewContents(ctx context.Context, job string, state trade.State, after int64, limit int,
) ([]trade.Entry, error) {
	return sqldb.List[trade.Entry](ctx, s.db, "looking for new rows", `SELECT e.id, e.job, e.sends, e.key, e.source_hash,
		e.payload_hash, b.target, COALESCE(b.payload, '') AS payload `+fromEntry+`WHERE e.job = ? AND e.state = ? AND e.id > ? ORDER BY e.id LIMIT ?`,
		job, string(state), after, limit)
}

// EntriesWith returns the entries of one kind of record that have these platform ids.
func (s *Store) EntriesWith(ctx context.Context, sends trade.Kind, remoteIDs []string) ([]trade.Entry, error) {
	return s.selectEntries(ctx, "reading rows by their platform ids",
		`WHERE r.entry_id = e.id AND r.kind = ? AND r.remote_id <> '' AND `+s.db.D.Among("r.remote_id")+` ORDER BY e.id`, string(sends),
		sqldb.ListOf(s.db.D, remoteIDs))
}

// manyIDs is the number of ids from which on every row that was sent is read: a condition for each
// would take longer.
const manyIDs = 50

// SentWith calls fn for the entries of the job that were sent, or may have been, with one of these
// ids in their request, and for those with the flag recoded, page by page in id order; with many ids
// also for others. fn may write.
func (s *Store) SentWith(ctx context.Context, job string, ids []string, fn func([]trade.Entry) error) error {
	with, args := strings.Repeat("b.payload LIKE ? OR ", len(ids)), []any{job}
	for _, id := range ids {
		args = append(args, "%"+id+"%")
	}
	if len(ids) > manyIDs {
		with, args = "b.payload IS NOT NULL OR ", args[:1]
	}
	return s.eachPage(ctx, "looking for what was sent with other ids", fn,
		`e.job = ? AND e.state IN ('accepted', 'in_doubt') AND (`+with+`e.flags LIKE '%"recoded"%')`, args...)
}

// Awaiting calls fn for every entry of the job that waits for a reference of this kind, in id
// order; fn may write.
func (s *Store) Awaiting(ctx context.Context, job, kind string, fn func(trade.Entry) error) error {
	return s.eachEntry(ctx, "looking for entries that wait", fn,
		`e.job = ? AND e.state = 'waiting' AND e.waiting_for <> '[]' AND e.waiting_for LIKE ?`, job, `%"ref":"`+kind+`"%`)
}
