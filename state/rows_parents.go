package state

import (
	"context"
	"slices"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Parents returns what is known of rows that others depend on, by job and key. Rows that the ledger
// does not have are not in the result.
func (s *Store) Parents(ctx context.Context, keys []trade.ParentKey) (map[trade.ParentKey]trade.Parent, error) {
	out := make(map[trade.ParentKey]trade.Parent, len(keys))
	return out, eachKeys(keysOf(keys), func(job string, chunk []string) error {
		var rows []struct {
			Key string
			trade.Parent
			Deleted, Replaced bool
		}
		query := `SELECT e.key, state, cause, COALESCE(r.remote_id, '') AS remote_id, (flags LIKE '%"deleted_remote"%' OR acknowledged LIKE '%"deleted_remote"%') AS deleted,
				flags LIKE '%"replaced"%' AS replaced, flags LIKE '%"changed"%' AS changed, content FROM entry e ` + joinRecord + `WHERE e.job = ? AND e.key IN (` + sqldb.Placeholders(len(chunk)) + `)`
		if err := s.db.All(ctx, "looking up the rows that others wait for", &rows, query,
			append([]any{job}, sqldb.Anys(chunk)...)...); err != nil {
			return err
		}
		for _, r := range rows {
			switch {
			case r.Deleted: // nothing is sent under a record that no longer exists
				r.RemoteID, r.Cause = "", trade.CauseDeleted
			case r.Replaced: // nor under that of another row
				r.RemoteID, r.Cause = "", trade.CauseReplaced
			}
			out[trade.ParentKey{Job: job, Key: r.Key}] = r.Parent
		}
		return nil
	})
}

// keysOf returns keys by their jobs.
func keysOf(rows []trade.ParentKey) map[string][]string {
	out := map[string][]string{}
	for _, k := range rows {
		out[k.Job] = append(out[k.Job], k.Key)
	}
	return out
}

// eachKeys calls fn with the keys of each job, as many at a time as a statement may name.
func eachKeys(byJob map[string][]string, fn func(job string, keys []string) error) error {
	for job, keys := range byJob {
		slices.Sort(keys)
		for chunk := range slices.Chunk(slices.Compact(keys), sqldb.InList) {
			if err := fn(job, chunk); err != nil {
				return err
			}
		}
	}
	return nil
}

// Orphans calls fn for the entries of a job that wait for their parent, in pages in id order; fn
// may write. It stops at the first error of fn.
func (s *Store) Orphans(ctx context.Context, job string, fn func([]trade.Entry) error) error {
	return s.eachPage(ctx, "going through the rows that wait for their parents", fn, byCause, job,
		trade.CauseParent, string(trade.Waiting))
}

// Unread returns the source hashes of the entries of a job that were sent and whose rows have changed
// since to what cannot be sent: of their newest row only the cells are known. The few records of these
// are looked up first, which CROSS JOIN says to SQLite.
func (s *Store) Unread(ctx context.Context, job string) (map[int64]trade.Hash, error) {
	var rows []struct {
		ID         int64
		SourceHash trade.Hash
	}
	err := s.db.All(ctx, "looking up changed rows that cannot be sent", &rows, `SELECT e.id, e.source_hash
		FROM sent r CROSS JOIN entry e WHERE r.new_ab = 0 AND r.new_cells <> `+emptyBytes(s.db.D)+`
			AND e.id = r.entry_id AND r.new_cells = e.source_hash AND e.job = ? AND e.flags LIKE '%"replaced"%'`, job)
	out := make(map[int64]trade.Hash, len(rows))
	for _, row := range rows {
		out[row.ID] = row.SourceHash
	}
	return out, err
}

// HeldFor calls fn for the entries of a job that are held for a cause, in pages in id order; fn may
// write. It stops at the first error of fn.
func (s *Store) HeldFor(ctx context.Context, job, cause string, fn func([]trade.Entry) error) error {
	return s.eachPage(ctx, "going through the rows that are held", fn, byCause, job, cause, string(trade.Held))
}

const byCause = `e.job = ? AND e.cause = ? AND e.state = ?`

// eachPage calls fn for the entries of a condition, page by page in id order; fn may write.
func (s *Store) eachPage(ctx context.Context, op string, fn func([]trade.Entry) error, where string,
	args ...any,
) error {
	for after := int64(0); ; {
		page, err := s.selectEntries(ctx, op, `WHERE `+where+` AND e.id > ? ORDER BY e.id LIMIT ?`,
			append(slices.Clone(args), after, entryPage)...)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].ID
		if err := fn(page); err != nil {
			return err
		}
	}
}

// fillParentStates fills in the present states of the parents of waiting entries, for people.
func (s *Store) fillParentStates(ctx context.Context, entries []trade.Entry) error {
	var keys []trade.ParentKey
	for _, e := range entries {
		for _, a := range e.WaitingFor {
			if a.Job != "" {
				keys = append(keys, trade.ParentKey{Job: a.Job, Key: a.Key})
			}
		}
	}
	if len(keys) == 0 {
		return nil
	}
	parents, err := s.Parents(ctx, keys)
	if err != nil {
		return err
	}
	for _, e := range entries {
		for i, a := range e.WaitingFor {
			p, ok := parents[trade.ParentKey{Job: a.Job, Key: a.Key}]
			// keep the cause that discovery found
			if !ok || p.State == trade.Accepted && p.Cause == "" && a.ParentCause == trade.CauseReplaced {
				continue
			}
			e.WaitingFor[i].ParentState, e.WaitingFor[i].ParentCause = p.State, p.Cause
		}
	}
	return nil
}

// RowIDs returns the ids of rows by their jobs and keys, as far as the ledger has them.
func (s *Store) RowIDs(ctx context.Context, keys []trade.ParentKey) (map[trade.ParentKey]int64, error) {
	out := make(map[trade.ParentKey]int64, len(keys))
	return out, eachKeys(keysOf(keys), func(job string, chunk []string) error {
		var rows []struct {
			ID  int64
			Key string
		}
		query := `SELECT id, key FROM entry WHERE job = ? AND key IN (` + sqldb.Placeholders(len(chunk)) + `)`
		if err := s.db.All(ctx, "looking up rows by their keys", &rows, query,
			append([]any{job}, sqldb.Anys(chunk)...)...); err != nil {
			return err
		}
		for _, r := range rows {
			out[trade.ParentKey{Job: job, Key: r.Key}] = r.ID
		}
		return nil
	})
}
