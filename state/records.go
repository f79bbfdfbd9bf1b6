// The table sent: what is, or may be, on the platform.

package state

import (
	"cmp"
	"database/sql"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// sentRow is a row of the table sent: a record of the platform, and the last attempt of its sending.
// What is newer than what was sent is empty where the row is as it was sent.
type sentRow struct {
	ID, EntryID                                 int64
	DecidedBy                                   sql.NullInt64
	SentAb, SentAc, SentBc, NewAb, NewAc, NewBc int64 // see trade.Prints.Pairs
	journal.SentImage
	attemptRow
}

var (
	sentColumns = sqldb.Columns[sentRow]()
	// addedColumns are those of a new row: the database assigns its id.
	addedColumns = slices.DeleteFunc(slices.Clone(sentColumns), func(c string) bool { return c == "id" })
	// changedColumns are those that may change, after the id.
	changedColumns = append([]string{"id"}, slices.DeleteFunc(slices.Clone(sentColumns), func(c string) bool {
		return slices.Contains([]string{"id", "origin", "kind", "job", "key", "generation"}, c)
	})...)
	// answeredColumns are those that an answer changes: of the indexes only those of the platform's ids
	// and of open attempts have one of them.
	answeredColumns = []string{
		"id", "certainty", "remote_id", "version", "outcome", "finished_at", "counts", "late", "status", "messages",
		"answer_id", "reason",
	}
)

// ownedRecord is a row of the table sent with the row that it belongs to now.
type ownedRecord struct {
	sentRow
	OwnerJob, OwnerKey string
	noted              bool    // the journal gets it
	attempted          bool    // the transaction began or ended its attempt
	stored             sentRow // as it was read
}

// selectRecord selects whole records, with the rows that they belong to.
var selectRecord = `SELECT ` + prefixed("r", sentColumns) +
	`, e.job AS owner_job, e.key AS owner_key FROM sent r JOIN entry e ON e.id = r.entry_id `

func (r *sentRow) sent() trade.Prints {
	return trade.Prints{Cells: r.SentCells, Payload: r.SentPayload, Fields: r.SentFields}
}

func (r *sentRow) newest() trade.Prints {
	return trade.Prints{Cells: r.NewCells, Payload: r.NewPayload, Fields: r.NewFields}
}

func (r *sentRow) setSent(p trade.Prints) {
	pairs := p.Pairs(trade.Kind(r.Kind))
	r.SentCells, r.SentPayload, r.SentFields = p.Cells, p.Payload, p.Fields
	r.SentAb, r.SentAc, r.SentBc = pairs[0], pairs[1], pairs[2]
}

// setNewest stores the fingerprints of the newest row; it reports whether they are new.
func (r *sentRow) setNewest(p trade.Prints) bool {
	if p == r.sent() {
		p = trade.Prints{}
	}
	if p == r.newest() {
		return false
	}
	pairs := p.Pairs(trade.Kind(r.Kind))
	r.NewCells, r.NewPayload, r.NewFields = p.Cells, p.Payload, p.Fields
	r.NewAb, r.NewAc, r.NewBc = pairs[0], pairs[1], pairs[2]
	return true
}

// recordSet are the records of the entries that a transaction changes. The entries must be locked.
type recordSet struct {
	t         *sqldb.Tx
	now       time.Time
	of        map[int64][]*ownedRecord // by the entry that they belong to
	byID      map[int64]*ownedRecord
	byAttempt map[string]*ownedRecord
	origins   map[recordOrigin]*ownedRecord
	changed   map[*ownedRecord]bool
	former    []attemptRow // whose places other attempts have taken
	assumed   bool         // they were not read, but are as the caller has them: a change compares their versions
	// what rows may be from now on
	sightings map[int64][]trade.Sighting
	sighted   []*trade.Entry
	seen      []journal.Sighting // for the journal

	// what the journal must have of the transaction
	touched []*trade.Entry
	written []*ownedRecord
}

// recordOrigin identifies a record in every ledger: the row under which it went, and the generation.
type recordOrigin struct {
	job, key, kind string
	generation     int
}

func (r *sentRow) origin() recordOrigin { return recordOrigin{r.Job, r.Key, r.Kind, r.Generation} }

func newRecords(t *sqldb.Tx, now time.Time) *recordSet {
	return &recordSet{
		t: t, now: now, of: map[int64][]*ownedRecord{}, byID: map[int64]*ownedRecord{},
		byAttempt: map[string]*ownedRecord{},
		origins:   map[recordOrigin]*ownedRecord{}, changed: map[*ownedRecord]bool{},
	}
}

// loadRecords reads the records of entries, those that they sent and that a person gave to other
// entries, and those on which they rest.
func loadRecords(t *sqldb.Tx, entries []*trade.Entry, now time.Time) (*recordSet, error) {
	r := newRecords(t, now)
	if len(entries) == 0 {
		return r, nil
	}
	read := func(of []int64, columns ...string) error {
		rows := make([]ownedRecord, 0, len(of))
		where, args := make([]string, len(columns)), make([]any, len(columns))
		for i, column := range columns {
			where[i], args[i] = t.S.D.Among(column), sqldb.ListOf(t.S.D, of)
		}
		err := t.All(&rows, selectRecord+`WHERE `+strings.Join(where, ` OR `)+` ORDER BY r.id`, args...)
		for i := range rows {
			rows[i].stored = rows[i].sentRow
			r.add(&rows[i])
		}
		return err
	}
	if err := read(trade.Map(entries, idOf), "r.entry_id", "r.origin"); err != nil {
		return nil, err
	}
	var given []int64
	for _, e := range entries {
		if e.RecordID != 0 && r.byID[e.RecordID] == nil {
			given = append(given, e.RecordID)
		}
	}
	if len(given) == 0 {
		return r, nil
	}
	return r, read(given, "r.id")
}

// newSent returns the sending of an entry in a generation, of which nothing is known yet.
func newSent(e *trade.Entry, generation int) sentRow {
	return sentRow{
		EntryID: e.ID, SentImage: journal.SentImage{Kind: string(e.Sends), Job: e.Job, Key: e.Key},
		attemptRow: attemptRow{
			Origin: e.ID, Messages: "[]",
			AttemptImage: journal.AttemptImage{Generation: generation, Outcome: outcomeNone},
		},
	}
}

func (r *recordSet) add(row *ownedRecord) {
	r.of[row.EntryID], r.origins[row.origin()] = append(r.of[row.EntryID], row), row
	r.byID[row.ID] = row
	if row.Attempt != "" {
		r.byAttempt[row.Attempt] = row
	}
}

// assign makes a record that of an entry.
func (r *recordSet) assign(have *ownedRecord, e *trade.Entry) {
	r.of[have.EntryID] = slices.DeleteFunc(r.of[have.EntryID], func(o *ownedRecord) bool { return o == have })
	have.EntryID, have.OwnerJob, have.OwnerKey, r.changed[have] = e.ID, e.Job, e.Key, true
	r.of[e.ID] = append(r.of[e.ID], have)
}

// byRemoteID returns the record of an entry that has an id of the platform; nil if there is none.
func (r *recordSet) byRemoteID(e *trade.Entry, id string) *ownedRecord {
	for _, have := range r.of[e.ID] {
		if have.RemoteID == id && id != "" {
			return have
		}
	}
	return nil
}

// idOf returns the platform's id of the record on which an entry rests, even if another entry has it
// now; "" if there is none.
func (r *recordSet) idOf(e *trade.Entry) string {
	if on := r.byID[e.RecordID]; on != nil && e.RecordID != 0 {
		return on.RemoteID
	}
	return ""
}

// ofGeneration returns the record of an entry that went in a generation; nil if there is none.
func (r *recordSet) ofGeneration(e *trade.Entry, generation int) *ownedRecord {
	return r.origins[recordOrigin{e.Job, e.Key, string(e.Sends), generation}]
}

// others returns what other sendings of an entry made, or may have made, by generation.
func (r *recordSet) others(e *trade.Entry, generation int) (out []*ownedRecord) {
	for at, have := range r.origins {
		sent := have.Certainty != string(trade.Void) && have.Certainty != string(trade.LeftOut)
		if sent && at.generation != generation && at == (recordOrigin{e.Job, e.Key, string(e.Sends), at.generation}) {
			out = append(out, have)
		}
	}
	slices.SortFunc(out, func(a, b *ownedRecord) int { return a.Generation - b.Generation })
	return out
}

// upsert sets the record of an entry in a generation to what is sent, or stated, by then.
func (r *recordSet) upsert(e *trade.Entry, generation int, certainty trade.Certainty, of trade.Entry) *ownedRecord {
	have := r.ofGeneration(e, generation)
	if have == nil {
		have = &ownedRecord{
			sentRow:  newSent(e, generation),
			OwnerJob: e.Job, OwnerKey: e.Key,
		}
		r.add(have)
	}
	have.Certainty, have.RemoteID, have.SentAt = string(certainty), "", r.now.UnixMilli()
	have.DecidedBy = numberOrNull(of.RecordedBy)
	have.Parent = contractOf(of)
	have.setSent(of.Prints())
	have.setNewest(trade.Prints{})
	kg, _ := of.Quantity.Kilograms()
	have.Kg = kg.String()
	r.changed[have] = true
	return have
}

// intend puts the record that an intent may make.
func (r *recordSet) intend(e *trade.Entry, a trade.Attempt, of trade.Entry) {
	of.Sends = e.Sends
	have := r.upsert(e, e.Generation, trade.Maybe, of)
	attempt := newAttempt(e, a, of)
	attempt.StartedAt = sqldb.AtOr(a.StartedAt, r.now)
	r.setLastAttempt(have, attempt)
}

// newAttempt returns the row of an attempt to send an entry, of which no answer is known.
func newAttempt(e *trade.Entry, a trade.Attempt, of trade.Entry) attemptRow {
	return attemptRow{
		Origin: e.ID, RunID: a.RunID, Owner: a.Owner, Epoch: a.Epoch, Target: of.Target, Messages: "[]", No: a.No,
		AttemptImage: journal.AttemptImage{
			Attempt: a.ID, Generation: e.Generation, Outcome: outcomeOpen, PayloadHash: of.PayloadHash,
			StartedAt: sqldb.AtOr(a.StartedAt, time.Time{}),
		},
	}
}

// setLastAttempt makes an attempt the last one of a sending. The former one created nothing for certain.
func (r *recordSet) setLastAttempt(have *ownedRecord, a attemptRow) {
	if have.Attempt != "" {
		r.former = append(r.former, have.attemptRow)
	}
	have.attemptRow, r.byAttempt[a.Attempt], r.changed[have] = a, have, true
}

// settle sets what the outcome of an attempt proves of its record, and returns the one that was made.
// What a person has stated meanwhile stays.
func (r *recordSet) settle(e *trade.Entry, have *ownedRecord, st trade.Settlement) *ownedRecord {
	was := have.Certainty
	switch st.Attempt.Outcome {
	case trade.OutcomeCreated:
		// the record that has the id afterwards is returned
		id := sqldb.CleanText(st.Attempt.RemoteID)
		switch other := r.byRemoteID(e, id); {
		case have.RemoteID != "" && have.RemoteID != id: // a person stated another one: an alarm tells of both
			return nil
		case other == nil || other == have:
		case other.Certainty == string(trade.Made): // two sendings got the id of one record
			have.Certainty, r.changed[have] = string(trade.Void), true
			return other
		default: // a person took the id for that of another sending, of which nothing is known again
			other.Certainty, other.RemoteID, r.changed[other] = string(trade.Maybe), "", true
		}
		if have.Certainty != string(trade.Made) {
			have.Certainty, have.RemoteID, r.changed[have] = string(trade.Made), id, true
		}
		return have
	case trade.OutcomeNotCreated, trade.OutcomeNotSent:
		weak := st.State == trade.Rejected && st.Weak
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
	return nil
}

// applyUpdate keeps the records of an entry in step with an update of it, and returns the one by which it
// is accepted from now on; nil if that is as before. e is the entry before.
func (r *recordSet) applyUpdate(e *trade.Entry, u trade.Update) (on *ownedRecord) {
	to := u.Entry
	switch {
	case to.State == trade.Accepted && u.From != trade.Accepted:
		on = r.applyStatement(e, to)
	case to.State == trade.Dismissed && u.From != trade.Dismissed && !r.blocksResend(e):
		r.upsert(e, e.Generation, trade.LeftOut, to)
	case to.State == trade.Held && to.Cause == trade.CauseExists && !r.blocksResend(e):
		r.upsert(e, e.Generation, trade.Stated, to)
	case u.From == trade.Dismissed && to.State != trade.Dismissed:
		for _, have := range r.of[e.ID] {
			if have.Certainty == string(trade.LeftOut) {
				have.Certainty = string(trade.Void)
				r.changed[have] = true
			}
		}
	}
	// Sightings end when a person decides, when the record's own row is back, or when the row returns and
	// is judged anew. They stay when the row is only withdrawn.
	decided := (u.From == trade.Held || u.From == trade.Withdrawn) &&
		to.State != trade.Held && to.State != trade.Withdrawn ||
		u.From.MayBeOnPlatform() && e.Flags.Has(trade.Replaced) && !to.Flags.Has(trade.Replaced)
	if to.Sightings != nil || decided {
		r.see(e, to.Sightings)
	}
	newest := to.Newest
	// a row about which a person decided keeps its content beside Now; a rebuilt row that is missing has none
	same := to.SourceHash == e.SourceHash && to.PayloadHash == e.PayloadHash || to.Now != nil
	if newest == (trade.Prints{}) && !same && !u.From.MayBeOnPlatform() && to.State != trade.Accepted {
		newest = trade.PrintsOf(to.Sends, to.SourceHash, to.Target, to.Payload)
	}
	if newest != (trade.Prints{}) {
		to.ID, to.Newest = e.ID, newest
		r.renew(to)
	}
	return on
}

// renew sets the newest fingerprints of the records of an entry.
func (r *recordSet) renew(e trade.Entry) {
	for _, have := range r.of[e.ID] {
		if have.Certainty != string(trade.Void) && have.setNewest(e.Newest) {
			r.changed[have] = true
		}
	}
}

// blocksResend reports whether an entry has a record that keeps its content from going again.
func (r *recordSet) blocksResend(e *trade.Entry) bool {
	return slices.ContainsFunc(r.of[e.ID], func(have *ownedRecord) bool {
		return trade.Certainty(have.Certainty).Counts()
	})
}

// applyStatement puts the record that a person, or an event, says an entry has, and returns it. Under an id
// that another entry gives up it is the record of that one, which belongs to this entry from now on.
func (r *recordSet) applyStatement(e *trade.Entry, to trade.Entry) *ownedRecord {
	by := numberOrNull(to.RecordedBy)
	for owner, of := range r.of {
		for _, have := range of {
			if owner == e.ID || to.RemoteID == "" || have.RemoteID != to.RemoteID || have.Kind != string(e.Sends) {
				continue
			}
			for _, own := range r.of[e.ID] { // what was known of the row was this record
				if own.Certainty != string(trade.Void) && own.Certainty != string(trade.Made) {
					own.Certainty, r.changed[own] = string(trade.Void), true
				}
			}
			r.assign(have, e)
			have.DecidedBy = by
			have.setNewest(trade.PrintsOf(to.Sends, to.SourceHash, to.Target, to.Payload))
			return have
		}
	}
	if made := r.byRemoteID(e, to.RemoteID); made != nil { // an earlier sending has made it
		return made
	}
	have := r.ofGeneration(e, to.Generation)
	switch {
	case have == nil || have.Certainty == string(trade.Void) || have.Certainty == string(trade.LeftOut):
		have = r.upsert(e, to.Generation, trade.Stated, to)
	case have.Certainty == string(trade.Made):
		return have
	}
	have.Certainty, have.RemoteID, have.DecidedBy, r.changed[have] = string(trade.Stated), to.RemoteID, by, true
	return have
}

// restore sets a record to its image in the journal, unless the ledger's is as new or newer. An image that
// counts replaces a void record of any version: a refusal that an older copy stored may have a higher version
// than what a rebuilt ledger sent later. The decision that made or moved the record is lost: act takes its place.
func (r *recordSet) restore(owner, origin *trade.Entry, image journal.Sent, act int64) {
	have := r.byAttempt[image.Attempt]
	if have == nil {
		have = r.origins[originOf(&image)]
	}
	switch {
	case have == nil:
		have = &ownedRecord{sentRow: newSent(owner, image.Generation)}
		have.Kind, have.Job, have.Key = image.Kind, image.Job, image.Key
		have.Origin = origin.ID
		r.add(have)
	case have.Attempt != "" && image.Attempt != "" && have.Attempt != image.Attempt:
		return // the image is of an attempt that created nothing, and another has followed
	case have.Certainty == string(trade.Made) && image.Certainty != string(trade.Made),
		have.RemoteID != "" && image.RemoteID != "" && have.RemoteID != image.RemoteID:
		return // an id that is known never changes
	case have.Version >= image.Version &&
		(have.Certainty != string(trade.Void) || image.Certainty == string(trade.Void)):
		return
	}
	r.assign(have, owner)
	image.Version = max(have.Version, image.Version-1) // Write raises it
	have.SentImage = image.SentImage
	if !have.DecidedBy.Valid && (image.Owner != nil || image.Certainty == string(trade.Stated)) {
		have.DecidedBy = numberOrNull(act)
	}
	have.setSent(have.sent())
	pairs := have.newest().Pairs(trade.Kind(have.Kind))
	have.NewAb, have.NewAc, have.NewBc = pairs[0], pairs[1], pairs[2]
}

// addJournalAttempt adds an attempt that the ledger lacked to the sending of its generation. Of the attempts of one
// generation the one that may have created a record is the last.
func (r *recordSet) addJournalAttempt(e *trade.Entry, a attemptRow) {
	have := r.ofGeneration(e, a.Generation)
	if have == nil {
		have = &ownedRecord{sentRow: newSent(e, a.Generation), OwnerJob: e.Job, OwnerKey: e.Key}
		have.Certainty, have.Kg, have.SentAt = string(trade.Void), "0", a.StartedAt
		r.add(have)
	}
	if have.Free() {
		r.setLastAttempt(have, a)
	} else {
		r.former = append(r.former, a)
	}
}

// acceptedBy returns the record by which an entry is accepted: as before, the one that an image names, or
// the last that exists; nil if there is none.
func (r *recordSet) acceptedBy(e *trade.Entry, on journal.Origin) *ownedRecord {
	may := append(slices.Clone(r.of[e.ID]), r.origins[recordOrigin{on.Job, on.Key, string(e.Sends), on.Generation}])
	if e.RecordID != 0 {
		may = append(may, r.byID[e.RecordID])
	}
	for _, have := range slices.Backward(may) {
		if have != nil && (have.Certainty == string(trade.Made) || have.Certainty == string(trade.Stated)) {
			return have
		}
	}
	return nil
}

// Write writes what has changed. The caller must note it for the journal (note), unless the journal has it.
func (r *recordSet) Write() (err error) {
	all := slices.SortedFunc(maps.Keys(r.changed), func(a, b *ownedRecord) int {
		return cmp.Or(cmp.Compare(a.EntryID, b.EntryID), cmp.Compare(a.Generation, b.Generation))
	})
	clear(r.changed)
	if err := r.writeSightings(); err != nil {
		return err
	}
	former := make([][]any, len(r.former))
	for i := range r.former {
		former[i] = sqldb.Pick(&r.former[i], attemptColumns)
	}
	r.former = nil
	if err := r.t.InsertRows("former", attemptColumns, former, ""); err != nil {
		return err
	}
	// what loses its id, what is new, and the rest: no two records have one id at once
	var added []*ownedRecord
	var changed [4][]*ownedRecord // each first what only an answer changes
	for _, have := range all {
		have.Version++
		r.noted(have)
		have.attempted = have.attempted || have.Attempt != "" && have.attemptRow != have.stored.attemptRow
		answered := have.stored
		answered.Certainty, answered.RemoteID, answered.Version = have.Certainty, have.RemoteID, have.Version
		answered.attemptRow = have.attemptRow
		kind := 0
		if have.RemoteID != "" {
			kind = 2
		}
		if answered != have.sentRow || have.stored.Attempt != have.Attempt {
			kind++
		}
		if have.ID == 0 {
			added = append(added, have)
		} else {
			changed[kind] = append(changed[kind], have)
		}
	}
	// what was not read must be as it is assumed to be
	var was []string
	if r.assumed {
		was = []string{"version", "attempt", "outcome"}
	}
	change := func(kinds [][]*ownedRecord) error {
		for i, columns := range [][]string{answeredColumns, changedColumns} {
			if err := r.t.ChangeRows("sent", columns, was, trade.Map(kinds[i], func(have *ownedRecord) []any {
				return append(sqldb.Pick(&have.sentRow, columns), sqldb.Pick(&have.stored, was)...)
			})); err != nil {
				return err
			}
		}
		return nil
	}
	if err := change(changed[:2]); err != nil {
		return err
	}
	ids, err := r.t.AddRows("sent", addedColumns, trade.Map(added, func(have *ownedRecord) []any {
		return sqldb.Pick(&have.sentRow, addedColumns)
	}), "origin, generation")
	if err != nil {
		return err
	}
	for i, have := range added {
		have.ID, r.byID[ids[i]] = ids[i], have
	}
	err = change(changed[2:])
	for _, have := range all {
		have.stored = have.sentRow
	}
	return err
}

// amongFound returns the condition that an id is among those that queries select. In PostgreSQL it is
// an array, for which the planner expects few values.
func amongFound(d sqldb.Dialect, queries ...string) string {
	all := strings.Join(queries, ` UNION `)
	if d.Name == sqldb.Postgres {
		return `= ANY(ARRAY(` + all + `))`
	}
	return `IN (` + all + `)`
}

// mayExist reports whether something is known of a sending that keeps its content from going again.
func (r *sentRow) mayExist() bool {
	return trade.Certainty(r.Certainty).Counts() || r.Attempt != "" && !r.Free()
}

// image returns a sending in the form in which the journal keeps it.
func (r *ownedRecord) image() journal.Sent {
	out := journal.Sent{SentImage: r.SentImage, AttemptImage: r.AttemptImage, Attempted: r.attempted}
	if r.OwnerJob != r.Job || r.OwnerKey != r.Key {
		out.Owner = &journal.RowRef{Job: r.OwnerJob, Key: r.OwnerKey}
	}
	return out
}
