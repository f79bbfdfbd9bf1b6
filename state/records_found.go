// How records are looked for: those that are like rows, and what was sent for them.

package state

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Records returns the records that count and that a query selects, in the order of their ids, with
// the rows that they belong to now. alone reports that no other job has rows of this kind, so that
// no key was looked for.
func (s *Store) Records(ctx context.Context, q trade.RecordQuery) (out []trade.Record, alone bool, err error) {
	const op = "looking for records"
	all := func(dest any, query string, args ...any) error { return s.db.AllHot(ctx, op, dest, query, args...) }
	out, alone, err = likeRecords(s.db.D, all, q)
	return out, alone, s.db.Fault(ctx, op, err)
}

// LastRecord returns the number of the newest record; 0 if there is none.
func (s *Store) LastRecord(ctx context.Context) (last int64, err error) {
	err = s.db.Get(ctx, "looking for records", &last, `SELECT COALESCE(MAX(id), 0) FROM sent`)
	return last, err
}

// Reprint stores the newest fingerprints of entries with their records, in one transaction that is
// fenced by the lease ([trade.ErrLeaseLost]).
func (s *Store) Reprint(ctx context.Context, lease trade.Lease, entries []trade.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	return s.db.InTx(ctx, "storing fingerprints", func(t *sqldb.Tx) error {
		if err := fence(t, lease); err != nil {
			return err
		}
		locked, err := lockEntries(t, trade.Map(entries, func(e trade.Entry) int64 { return e.ID }))
		if err != nil {
			return err
		}
		records, err := loadRecords(t, slices.Collect(maps.Values(locked)), time.Now())
		if err != nil {
			return err
		}
		for _, e := range entries {
			if now := locked[e.ID]; now != nil && now.Version == e.Version {
				records.renew(e)
			}
		}
		err = records.Write()
		records.note()
		return err
	})
}

// foundRecord is a record with what is needed to read its row again.
type foundRecord struct {
	ownedRecord
	OwnerState, KeyParts string
	Replaced             bool
	OwnerSeen            int64
}

func likeRecords(d sqldb.Dialect, all sqldb.Select, q trade.RecordQuery) (out []trade.Record, alone bool, err error) {
	spaces, err := spacesOf(all, string(q.Kind))
	if err != nil {
		return nil, false, err
	}
	delete(spaces, q.Job)
	alone = len(spaces) == 0
	query, args := recordsQuery(d, q, slices.Sorted(maps.Keys(spaces)))
	if query == "" {
		return nil, alone, nil
	}
	var rows []foundRecord
	if err := all(&rows, query, args...); err != nil {
		return nil, alone, err
	}
	seen, err := sightingsOf(d, all, rows)
	if err != nil {
		return nil, alone, err
	}
	for i := range rows {
		record, err := rows[i].record()
		if err != nil {
			return nil, alone, err
		}
		record.Space, record.Sightings = q.Space, seen[record.ID]
		if id := spaces[record.Row.Job]; id != nil {
			record.Space = id.Space
		}
		out = append(out, record)
	}
	return out, alone, nil
}

// recordsQuery returns the statement of [Ledger.Records]. others are the other jobs of the kind.
func recordsQuery(d sqldb.Dialect, q trade.RecordQuery, others []string) (query string, args []any) {
	var ids []string
	add := func(statement string, more ...any) { ids, args = append(ids, statement), append(args, more...) }
	args = []any{string(q.Kind)}
	if len(q.Prints) > 0 {
		var cells []trade.Hash
		var ab, ac []int64
		for _, p := range q.Prints {
			cells = append(cells, p.Cells)
			if pairs := p.Pairs(q.Kind); pairs[0] != 0 && !slices.Contains(ab, pairs[0]) {
				ab, ac = append(ab, pairs[0]), append(ac, pairs[1])
			}
		}
		hashes := sqldb.HashesOf(d, distinct(cells))
		add(lookupQuery(d, `id`, `sent`, `sent_cells`, `BYTEA`, `true`), hashes)
		add(lookupQuery(d, `id`, `sent`, `new_cells`, `BYTEA`, `new_cells <> `+emptyBytes(d)), hashes)
		add(lookupQuery(d, `record_id`, `sighting`, `seen_cells`, `BYTEA`, `true`), hashes)
		for _, of := range printLists {
			add(sameFieldsQuery(d, of), sqldb.ListOf(d, ab), sqldb.ListOf(d, ac))
		}
	}
	for _, of := range printLists {
		for i, pair := range [3]string{`ab`, `ac`, `bc`} {
			if list := distinct(q.Pairs[i]); len(list) > 0 {
				add(lookupQuery(d, of.id, of.table, of.prefix+pair, `BIGINT`, of.prefix+pair+` <> 0 AND `+of.id+` <= ?`),
					sqldb.ListOf(d, list), q.Before)
			}
		}
	}
	if len(q.IDs) > 0 {
		add(`SELECT id FROM sent WHERE `+d.Among("id"), sqldb.ListOf(d, q.IDs))
	}
	if len(q.Seen) > 0 {
		add(`SELECT record_id FROM sighting WHERE `+d.Among("entry_id"), sqldb.ListOf(d, q.Seen))
	}
	if len(q.Rows) > 0 {
		add(`SELECT id FROM sent WHERE `+d.Among("entry_id"), sqldb.ListOf(d, q.Rows))
	}
	if len(others) > 0 && len(q.Keys) > 0 {
		jobs := sqldb.ListOf(d, others)
		keys := sqldb.ListOf(d, q.Keys)
		add(lookupQuery(d, `id`, `sent`, `key`, `TEXT`, `true`), keys)
		add(`SELECT o.id FROM sent o JOIN entry i ON i.id = o.entry_id WHERE `+d.Among("i.job")+` AND `+d.Among("i.key"),
			jobs, keys)
	}
	if len(ids) == 0 {
		return "", nil
	}
	query = `SELECT ` + prefixed("r", sentColumns) + `, e.job AS owner_job, e.key AS owner_key, e.state AS owner_state, e.key_parts,
		e.first_seen_at AS owner_seen, e.flags LIKE '%"replaced"%' AS replaced
		FROM sent r JOIN entry e ON e.id = r.entry_id WHERE r.kind = ? AND r.certainty <> 'void' AND r.id ` + amongFound(d, ids...) + ` ORDER BY r.id`
	return query, args
}

// printList is where the ledger has contents of records.
type printList struct{ table, id, prefix string }

var printLists = []printList{
	{`sent`, `id`, `sent_`}, {`sent`, `id`, `new_`}, {`sighting`, `record_id`, `seen_`},
}

// sameFieldsQuery selects the records that have all identifying fields of one of some contents. Its
// arguments are two lists with numbers of each.
func sameFieldsQuery(d sqldb.Dialect, of printList) string {
	ab, ac := of.prefix+`ab`, of.prefix+`ac`
	if d.Name == sqldb.Postgres {
		return `SELECT found.id FROM unnest(CAST(? AS BIGINT[]), CAST(? AS BIGINT[])) AS w (ab, ac) CROSS JOIN LATERAL (SELECT ` +
			of.id + ` AS id FROM ` + of.table + ` WHERE ` + ab + ` = w.ab AND ` + ac + ` = w.ac AND ` + ab + ` <> 0 OFFSET 0) AS found`
	}
	return `SELECT f.` + of.id + ` FROM json_each(?) AS w CROSS JOIN ` + of.table + ` AS f WHERE ` + ab + ` = w.value AND ` + ac +
		` = json_extract(?, '$[' || w.key || ']') AND ` + ab + ` <> 0`
}

func (r *foundRecord) record() (trade.Record, error) {
	out := trade.Record{
		ID: r.ID, Kind: trade.Kind(r.Kind), Job: r.Job, Key: r.Key, Generation: r.Generation,
		Row: trade.RowRef{
			ID: r.EntryID, Job: r.OwnerJob, Key: r.OwnerKey, State: trade.State(r.OwnerState),
			Replaced: r.Replaced, SeenAt: time.UnixMilli(r.OwnerSeen).UTC(),
		},
		Certainty: trade.Certainty(r.Certainty), RemoteID: r.RemoteID, Parent: r.Parent,
		Sent: r.sent(), Newest: r.newest(), At: time.UnixMilli(r.SentAt).UTC(), Version: r.Version,
	}
	if out.Newest == (trade.Prints{}) {
		out.Newest = out.Sent
	}
	var err error
	out.Kilograms, err = trade.ParseSum(r.Kg)
	if err == nil {
		err = json.Unmarshal([]byte(r.KeyParts), &out.Row.KeyParts)
	}
	if err != nil {
		return out, phrase.Errorf("entry %d is damaged in column %s: restore the backup", r.EntryID, "record")
	}
	return out, nil
}

// emptyBytes returns the SQL text of an empty hash.
func emptyBytes(d sqldb.Dialect) string {
	if d.Name == sqldb.Postgres {
		return `''`
	}
	return `x''`
}

// Unsent returns the entries of a kind, of all jobs, that nothing was sent for and whose newest rows
// have one of these cells.
func (s *Store) Unsent(ctx context.Context, kind trade.Kind, cells []trade.Hash) ([]trade.Entry, error) {
	query, args := unsentQuery(s.db.D, kind, cells)
	return s.selectEntries(ctx, "looking for rows of the same content", query, args...)
}

// unsentQuery returns the condition of [Ledger.Unsent].
func unsentQuery(d sqldb.Dialect, kind trade.Kind, cells []trade.Hash) (where string, args []any) {
	ids := lookupQuery(d, `id`, `entry`, `source_hash`, `BYTEA`, isUnsent)
	return `WHERE e.sends = ? AND e.id ` + amongFound(d, ids) + ` ORDER BY e.id`,
		[]any{string(kind), sqldb.HashesOf(d, distinct(cells))}
}

// isUnsent is the condition of an entry that has nothing on the platform as far as is known. For a
// CASE PostgreSQL has no statistics, which would lag behind what a pass has found.
const isUnsent = `CASE WHEN state IN ('pending', 'waiting', 'invalid', 'held', 'rejected') THEN true ELSE false END`

// PayloadsOf returns what was sent for records of a kind, by their ids on the platform. Records
// that the ledger does not have, or whose payload was removed, are not in the result.
func (s *Store) PayloadsOf(ctx context.Context, sends trade.Kind,
	ids []string,
) (map[string]json.RawMessage, error) {
	out := make(map[string]json.RawMessage, len(ids))
	var rows []struct {
		RemoteID, Payload string
	}
	query := `SELECT r.remote_id, b.payload FROM sent r JOIN entry e ON e.id = r.entry_id AND e.record_id = r.id
		JOIN body b ON b.entry_id = e.id WHERE r.kind = ? AND r.remote_id <> '' AND b.payload IS NOT NULL AND ` + s.db.D.Among("r.remote_id")
	err := s.db.All(ctx, "reading records that were sent", &rows, query, string(sends), sqldb.ListOf(s.db.D, ids))
	for _, r := range rows {
		if json.Valid([]byte(r.Payload)) {
			out[r.RemoteID] = json.RawMessage(r.Payload)
		}
	}
	return out, err
}

// distinct returns each value once, without the empty one. A value that many rows share would
// otherwise be searched for each of them.
func distinct[T comparable](values []T) []T {
	var none T
	seen := map[T]bool{none: true}
	out := []T{}
	for _, v := range values {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

// lookupQuery selects a column of the rows of a table in which another column has one of the values of a
// list, and a condition holds. The form for PostgreSQL leaves no choice to scan the whole table:
// for a table that grows while rows are sent, PostgreSQL does not know its size.
func lookupQuery(d sqldb.Dialect, column, table, wanted, kind, condition string) string {
	if d.Name == sqldb.Postgres {
		return `SELECT found.` + column + ` FROM unnest(CAST(? AS ` + kind +
			`[])) AS w (value) CROSS JOIN LATERAL (SELECT ` + column + ` FROM ` + table +
			` WHERE ` + wanted + ` = w.value AND ` + condition + ` OFFSET 0) AS found`
	}
	among := d.Among(wanted)
	if kind == `BYTEA` {
		among = d.AmongHashes(wanted)
	}
	return `SELECT ` + column + ` FROM ` + table + ` WHERE ` + among + ` AND ` + condition
}
