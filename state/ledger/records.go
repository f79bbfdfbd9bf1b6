// The table record: what is, or may be, on the platform.

package ledger

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/state/jobs"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// RecordRow is a row of the table record. What is newer than what was sent is empty where the row
// is as it was sent.
type RecordRow struct {
	ID, EntryID, SentAt, Version                    int64
	Kind, Job, Key, Certainty, RemoteID, Parent, Kg string
	Generation                                      int
	SentCells, SentPayload, NewCells, NewPayload    trade.Hash
	SentBusiness, SentFrame, SentDocument, SentNear int64
	NewBusiness, NewFrame, NewDocument, NewNear     int64
}

var (
	recordColumns = sqldb.Columns[RecordRow]()
	// addedColumns are those of a new record: the database assigns its id.
	addedColumns = slices.DeleteFunc(slices.Clone(recordColumns), func(c string) bool { return c == "id" })
	// changedColumns are those that may change, after the id.
	changedColumns = append([]string{"id"}, slices.DeleteFunc(slices.Clone(recordColumns), func(c string) bool {
		return slices.Contains([]string{"id", "kind", "job", "key", "generation"}, c)
	})...)
)

// OwnedRecord is a row of the table record with the row that it belongs to now.
type OwnedRecord struct {
	RecordRow
	OwnerJob, OwnerKey string
}

// SelectRecord selects whole records, with the rows that they belong to.
var SelectRecord = `SELECT ` + prefixed("r", recordColumns) +
	`, e.job AS owner_job, e.key AS owner_key FROM record r JOIN entry e ON e.id = r.entry_id `

func (r *RecordRow) sent() trade.Prints {
	return trade.Prints{
		Cells: r.SentCells, Payload: r.SentPayload, Business: r.SentBusiness, Frame: r.SentFrame,
		Document: r.SentDocument, Near: r.SentNear,
	}
}

func (r *RecordRow) newest() trade.Prints {
	return trade.Prints{
		Cells: r.NewCells, Payload: r.NewPayload, Business: r.NewBusiness, Frame: r.NewFrame,
		Document: r.NewDocument, Near: r.NewNear,
	}
}

func (r *RecordRow) setSent(p trade.Prints) {
	r.SentCells, r.SentPayload, r.SentBusiness, r.SentFrame = p.Cells, p.Payload, p.Business, p.Frame
	r.SentDocument, r.SentNear = p.Document, p.Near
}

// setNewest stores the fingerprints of the newest row; it reports whether they are new.
func (r *RecordRow) setNewest(p trade.Prints) bool {
	if p == r.sent() {
		p = trade.Prints{}
	}
	if p == r.newest() {
		return false
	}
	r.NewCells, r.NewPayload, r.NewBusiness, r.NewFrame = p.Cells, p.Payload, p.Business, p.Frame
	r.NewDocument, r.NewNear = p.Document, p.Near
	return true
}

// Records are the records of the entries that a transaction changes. The entries must be locked.
type Records struct {
	t       *sqldb.Tx
	now     time.Time
	of      map[int64][]*OwnedRecord // by the entry that they belong to
	origins map[origin]*OwnedRecord
	changed map[*OwnedRecord]bool
}

// origin identifies a record in every ledger: the row under which it went, and the generation.
type origin struct {
	job, key, kind string
	generation     int
}

func (r *RecordRow) origin() origin { return origin{r.Job, r.Key, r.Kind, r.Generation} }

// LoadRecords reads the records of entries.
func LoadRecords(t *sqldb.Tx, entries []int64, now time.Time) (*Records, error) {
	r := &Records{
		t: t, now: now, of: map[int64][]*OwnedRecord{}, origins: map[origin]*OwnedRecord{},
		changed: map[*OwnedRecord]bool{},
	}
	if len(entries) == 0 {
		return r, nil
	}
	return r, r.load(SelectRecord+`WHERE `+t.S.D.Among("r.entry_id")+` ORDER BY r.id`, sqldb.ListOf(t.S.D, entries))
}

// LoadGiven reads, beside the records of entries, those that went under them and that a person gave
// to other entries since.
func (r *Records) LoadGiven(entries []int64) error {
	return r.load(SelectRecord+`JOIN entry i ON i.job = r.job AND i.key = r.key AND i.sends = r.kind
		WHERE r.entry_id <> i.id AND `+r.t.S.D.Among("i.id")+` ORDER BY r.id`, sqldb.ListOf(r.t.S.D, entries))
}

func (r *Records) load(query string, args ...any) error {
	var rows []OwnedRecord
	if err := r.t.All(&rows, query, args...); err != nil {
		return err
	}
	for i := range rows {
		if r.origins[rows[i].origin()] == nil {
			r.add(&rows[i])
		}
	}
	return nil
}

func (r *Records) add(row *OwnedRecord) {
	r.of[row.EntryID], r.origins[row.origin()] = append(r.of[row.EntryID], row), row
}

// went returns the record of an entry that went in a generation; nil if there is none.
func (r *Records) went(e *NarrowRow, generation int) *OwnedRecord {
	return r.origins[origin{e.Job, e.Key, e.Sends, generation}]
}

// put sets the record of an entry in a generation to what is sent, or stated, by then.
func (r *Records) put(e *NarrowRow, generation int, certainty trade.Certainty, of trade.Entry) *OwnedRecord {
	have := r.went(e, generation)
	if have == nil {
		have = &OwnedRecord{
			RecordRow: RecordRow{EntryID: e.ID, Kind: e.Sends, Job: e.Job, Key: e.Key, Generation: generation},
			OwnerJob:  e.Job, OwnerKey: e.Key,
		}
		r.add(have)
	}
	have.Certainty, have.RemoteID, have.SentAt = string(certainty), "", r.now.UnixMilli()
	have.Parent = trade.ParentOf(of.Sends, of.Target, of.Payload)
	have.setSent(trade.PrintsOf(of.Sends, of.SourceHash, of.Target, of.Payload))
	have.setNewest(trade.Prints{})
	kg, _ := of.Quantity.Kilograms()
	have.Kg = kg.String()
	r.changed[have] = true
	return have
}

// Intend puts the record that an intent may make.
func (r *Records) Intend(e *NarrowRow, a trade.Attempt, of trade.Entry) {
	of.Sends, of.Target, of.Payload = trade.Kind(e.Sends), a.Target, a.Payload
	r.put(e, a.Generation, trade.Maybe, of)
}

// settle sets what the outcome of an attempt proves of its record. What a person has stated
// meanwhile stays.
func (r *Records) settle(e *NarrowRow, a *AttemptRow, st trade.Settlement) {
	have := r.went(e, a.Generation)
	if have == nil {
		return
	}
	was := have.Certainty
	switch st.Attempt.Outcome {
	case trade.OutcomeCreated:
		have.Certainty, have.RemoteID = string(trade.Made), a.RemoteID
	case trade.OutcomeNotCreated, trade.OutcomeNotSent:
		weak := st.State == trade.Rejected && st.Error != nil && st.Error.Weak
		switch {
		case was != string(trade.Maybe) || weak:
		case st.State == trade.Held && st.Cause == trade.CauseExists:
			have.Certainty = string(trade.Stated)
		default:
			have.Certainty = string(trade.Void)
		}
	}
	if have.Certainty != was {
		r.changed[have] = true
	}
}

// Concerned returns the entries of those updates that may change what is known of their records.
func Concerned(updates []trade.Update) (ids []int64) {
	for _, u := range updates {
		if u.From.Created() || slices.Contains([]trade.State{trade.Held, trade.Rejected, trade.Dismissed}, u.From) ||
			u.Entry.State == trade.Accepted || u.Entry.State == trade.Dismissed || u.Entry.Cause == trade.CauseExists {
			ids = append(ids, u.Entry.ID)
		}
	}
	return ids
}

// follow keeps the records of an entry in step with an update of it. e is the entry before.
func (r *Records) follow(e *NarrowRow, u trade.Update) {
	to := u.Entry
	switch {
	case to.State == trade.Accepted && u.From != trade.Accepted:
		r.state(e, to)
	case to.State == trade.Dismissed && u.From != trade.Dismissed && !r.counts(e):
		r.put(e, e.Generation, trade.LeftOut, to)
	case to.State == trade.Held && to.Cause == trade.CauseExists && !r.counts(e):
		r.put(e, e.Generation, trade.Stated, to)
	case u.From == trade.Dismissed && to.State != trade.Dismissed:
		for _, have := range r.of[e.ID] {
			if have.Certainty == string(trade.LeftOut) {
				have.Certainty = string(trade.Void)
				r.changed[have] = true
			}
		}
	}
	if len(r.of[e.ID]) == 0 {
		return
	}
	newest := to.Newest
	if newest == (trade.Prints{}) && !u.From.Created() && to.State != trade.Accepted {
		newest = trade.PrintsOf(to.Sends, to.SourceHash, to.Target, to.Payload)
	}
	if newest == (trade.Prints{}) {
		return
	}
	to.ID, to.Newest = e.ID, newest
	r.renew(to)
}

// renew sets the newest fingerprints of the records of an entry.
func (r *Records) renew(e trade.Entry) {
	for _, have := range r.of[e.ID] {
		if have.Certainty != string(trade.Void) && have.setNewest(e.Newest) {
			r.changed[have] = true
		}
	}
}

// counts reports whether an entry has a record that keeps its content from going again.
func (r *Records) counts(e *NarrowRow) bool {
	return slices.ContainsFunc(r.of[e.ID], func(have *OwnedRecord) bool {
		return trade.Certainty(have.Certainty).Counts()
	})
}

// state puts the record that a person, or an event, says an entry has. Under an id that another
// entry gives up it is the record of that one, which belongs to this entry from now on.
func (r *Records) state(e *NarrowRow, to trade.Entry) {
	for owner, of := range r.of {
		for i, have := range of {
			if owner == e.ID || to.RemoteID == "" || have.RemoteID != to.RemoteID || have.Kind != e.Sends {
				continue
			}
			for _, own := range r.of[e.ID] { // what was known of the row was this record
				if own.Certainty != string(trade.Void) {
					own.Certainty = string(trade.Void)
					r.changed[own] = true
				}
			}
			have.EntryID, have.OwnerJob, have.OwnerKey = e.ID, e.Job, e.Key
			r.changed[have] = true
			have.setNewest(trade.PrintsOf(to.Sends, to.SourceHash, to.Target, to.Payload))
			r.of[owner], r.of[e.ID] = slices.Delete(of, i, i+1), append(r.of[e.ID], have)
			return
		}
	}
	have := r.went(e, to.Generation)
	switch {
	case have == nil || have.Certainty == string(trade.Void) || have.Certainty == string(trade.LeftOut):
		have = r.put(e, to.Generation, trade.Stated, to)
	case have.Certainty == string(trade.Made):
		return
	}
	have.Certainty, have.RemoteID, r.changed[have] = string(trade.Stated), to.RemoteID, true
}

// Restore sets a record to its image in the journal, unless the ledger has a newer one.
func (r *Records) Restore(owner *NarrowRow, image journal.Sent) {
	have := r.origins[origin{image.Job, image.Key, image.Sends, image.Generation}]
	switch {
	case have == nil:
		have = &OwnedRecord{RecordRow: RecordRow{
			EntryID: owner.ID, Kind: image.Sends, Job: image.Job, Key: image.Key, Generation: image.Generation,
		}}
		r.add(have)
	case have.Version >= image.Version:
		return
	}
	have.EntryID, have.OwnerJob, have.OwnerKey = owner.ID, owner.Job, owner.Key
	have.Certainty, have.RemoteID, have.Parent, have.Kg = image.Certainty, image.RemoteID, image.Parent, image.Kilograms
	have.SentAt, have.Version = image.At.UnixMilli(), image.Version-1 // Write raises it
	have.setSent(image.Prints)
	have.setNewest(image.Newest)
	r.changed[have] = true
}

// Prove sets what an answer proves of the record of an entry that only the journal has.
func (r *Records) Prove(e *NarrowRow, generation int, outcome trade.Outcome, remoteID string) {
	have := r.went(e, generation)
	if have == nil || have.Certainty != string(trade.Maybe) || outcome != trade.OutcomeCreated {
		return
	}
	have.Certainty, have.RemoteID, r.changed[have] = string(trade.Made), remoteID, true
}

// Write writes what has changed, and notes it in the journal as it is then.
func (r *Records) Write() error {
	rows, err := r.Store()
	if err != nil || len(rows) == 0 {
		return err
	}
	note := r.t.Noting(journal.Group, r.now)
	for _, row := range rows {
		note.Records = append(note.Records, row.image())
	}
	return nil
}

// Store writes what has changed, and returns it. It is for what the journal has already.
func (r *Records) Store() ([]*OwnedRecord, error) {
	var added, changed []*OwnedRecord
	for have := range r.changed {
		have.Version++
		if have.ID == 0 {
			added = append(added, have)
		} else {
			changed = append(changed, have)
		}
	}
	byEntry := func(a, b *OwnedRecord) int {
		return cmp.Or(cmp.Compare(a.EntryID, b.EntryID), cmp.Compare(a.Generation, b.Generation))
	}
	slices.SortFunc(added, byEntry)
	slices.SortFunc(changed, byEntry)
	pick := func(rows []*OwnedRecord, columns []string) [][]any {
		out := make([][]any, len(rows))
		for i, row := range rows {
			out[i] = sqldb.Pick(&row.RecordRow, columns)
		}
		return out
	}
	clear(r.changed)
	if err := r.t.InsertRows("record", addedColumns, pick(added, addedColumns), ""); err != nil {
		return nil, err
	}
	return append(added, changed...), r.t.UpdateRows("record", changedColumns, pick(changed, changedColumns))
}

// image returns a record in the form in which the journal keeps it.
func (r *OwnedRecord) image() journal.Sent {
	out := journal.Sent{
		Row: journal.Row{Job: r.Job, Key: r.Key}, Generation: r.Generation, Sends: r.Kind,
		Certainty: r.Certainty, RemoteID: r.RemoteID, Parent: r.Parent, Prints: r.sent(), Newest: r.newest(),
		Kilograms: r.Kg, At: time.UnixMilli(r.SentAt).UTC(), Version: r.Version,
	}
	if r.OwnerJob != r.Job || r.OwnerKey != r.Key {
		out.Owner = &journal.Row{Job: r.OwnerJob, Key: r.OwnerKey}
	}
	return out
}

// Records returns the records that count and that a query selects, in the order of their ids, with
// the rows that they belong to now. alone reports that no other job has rows of this kind, so that
// no key was looked for.
func (s *Ledger) Records(ctx context.Context, q trade.RecordQuery) (out []trade.Record, alone bool, err error) {
	const op = "looking for records"
	out, alone, err = likeRecords(s.db.D, s.db.Reading(ctx, op), q)
	return out, alone, s.db.Fault(ctx, op, err)
}

// Reprint stores the newest fingerprints of entries with their records, in one transaction that is
// fenced by the lease ([trade.ErrLeaseLost]).
func (s *Ledger) Reprint(ctx context.Context, lease trade.Lease, entries []trade.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	return s.db.InTx(ctx, "storing fingerprints", func(t *sqldb.Tx) error {
		if err := jobs.Fence(t, lease); err != nil {
			return err
		}
		ids := make([]int64, len(entries))
		for i, e := range entries {
			ids[i] = e.ID
		}
		locked, err := LockEntries(t, ids)
		if err != nil {
			return err
		}
		records, err := LoadRecords(t, ids, time.Now())
		if err != nil {
			return err
		}
		for _, e := range entries {
			if now := locked[e.ID]; now != nil && now.Version == e.Version {
				records.renew(e)
			}
		}
		return records.Write()
	})
}

// foundRecord is a record with what is needed to read its row again.
type foundRecord struct {
	OwnedRecord
	OwnerState, KeyParts string
	OwnerSeen            int64
}

func likeRecords(d sqldb.Dialect, all sqldb.Select, q trade.RecordQuery) (out []trade.Record, alone bool, err error) {
	spaces, err := spacesOf(all, string(q.Kind))
	if err != nil {
		return nil, false, err
	}
	delete(spaces, q.Job)
	alone = len(spaces) == 0
	query, args := RecordsQuery(d, q, slices.Sorted(maps.Keys(spaces)))
	var rows []foundRecord
	if err := all(&rows, query, args...); err != nil {
		return nil, alone, err
	}
	for i := range rows {
		record, err := rows[i].record()
		if err != nil {
			return nil, alone, err
		}
		record.Space = q.Space
		if id := spaces[record.Row.Job]; id != nil {
			record.Space = id.Space
		}
		out = append(out, record)
	}
	return out, alone, nil
}

// RecordsQuery returns the statement of [Ledger.Records]. others are the other jobs of the kind.
func RecordsQuery(d sqldb.Dialect, q trade.RecordQuery, others []string) (query string, args []any) {
	var cells []trade.Hash
	var near []int64
	for _, p := range q.Prints {
		cells, near = append(cells, p.Cells), append(near, p.Near)
	}
	hashes, numbers := sqldb.HashesOf(d, Distinct(cells)), sqldb.ListOf(d, Distinct(near))
	ids := []string{
		Lookup(d, `id`, `record`, `sent_cells`, `BYTEA`, `true`), Lookup(d, `id`, `record`, `new_cells`, `BYTEA`, `new_cells <> `+emptyBytes(d)),
		Lookup(d, `id`, `record`, `sent_near`, `BIGINT`, `true`), Lookup(d, `id`, `record`, `new_near`, `BIGINT`, `new_near <> 0`),
	}
	args = []any{string(q.Kind), hashes, hashes, numbers, numbers}
	if len(q.IDs) > 0 {
		ids, args = append(ids, `SELECT id FROM record WHERE `+d.Among("id")), append(args, sqldb.ListOf(d, q.IDs))
	}
	if len(q.Rows) > 0 {
		ids, args = append(ids, `SELECT id FROM record WHERE `+d.Among("entry_id")), append(args, sqldb.ListOf(d, q.Rows))
	}
	if len(others) > 0 && len(q.Keys) > 0 {
		jobs := sqldb.ListOf(d, others)
		keys := sqldb.ListOf(d, q.Keys)
		ids = append(ids, Lookup(d, `id`, `record`, `key`, `TEXT`, `true`),
			`SELECT o.id FROM record o JOIN entry i ON i.id = o.entry_id WHERE `+d.Among("i.job")+` AND `+d.Among("i.key"))
		args = append(args, keys, jobs, keys)
	}
	among := `IN (` + strings.Join(ids, ` UNION `) + `)`
	if d.Name == sqldb.Postgres { // an array, for which the planner expects few values
		among = `= ANY(ARRAY(` + strings.Join(ids, ` UNION `) + `))`
	}
	query = `SELECT ` + prefixed("r", recordColumns) + `, e.job AS owner_job, e.key AS owner_key, e.state AS owner_state, e.key_parts,
		e.first_seen_at AS owner_seen
		FROM record r JOIN entry e ON e.id = r.entry_id WHERE r.kind = ? AND r.certainty <> 'void' AND r.id ` + among + ` ORDER BY r.id`
	return query, args
}

func (r *foundRecord) record() (trade.Record, error) {
	out := trade.Record{
		ID: r.ID, Kind: trade.Kind(r.Kind), Job: r.Job, Key: r.Key, Generation: r.Generation,
		Row: trade.RowRef{
			ID: r.EntryID, Job: r.OwnerJob, Key: r.OwnerKey, State: trade.State(r.OwnerState),
			SeenAt: time.UnixMilli(r.OwnerSeen).UTC(),
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
		return out, fmt.Errorf("entry %d is damaged in column %s: restore the backup", r.EntryID, "record")
	}
	return out, nil
}

func emptyBytes(d sqldb.Dialect) string {
	if d.Name == sqldb.Postgres {
		return `''`
	}
	return `x''`
}

// Unsent returns the entries of a kind, of all jobs, that nothing was sent for and whose newest rows
// have one of these cells.
func (s *Ledger) Unsent(ctx context.Context, kind trade.Kind, cells []trade.Hash) ([]trade.Entry, error) {
	query, args := UnsentQuery(s.db.D, kind, cells)
	return s.SelectEntries(ctx, "looking for rows of the same content", query, args...)
}

// UnsentQuery returns the condition of [Ledger.Unsent].
func UnsentQuery(d sqldb.Dialect, kind trade.Kind, cells []trade.Hash) (where string, args []any) {
	ids := Lookup(d, `id`, `entry`, `source_hash`, `BYTEA`, unsent)
	among := `IN (` + ids + `)`
	if d.Name == sqldb.Postgres {
		among = `= ANY(ARRAY(` + ids + `))`
	}
	return `WHERE e.sends = ? AND e.id ` + among + ` ORDER BY e.id`, []any{string(kind), sqldb.HashesOf(d, Distinct(cells))}
}

// unsent is the condition of an entry that has nothing on the platform as far as is known. For a
// CASE PostgreSQL has no statistics, which would lag behind what a pass has found.
const unsent = `CASE WHEN state IN ('pending', 'waiting', 'invalid', 'held', 'rejected') THEN true ELSE false END`
