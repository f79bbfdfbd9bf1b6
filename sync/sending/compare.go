// What identity needs to know of rows: records that may be theirs, and what the ERP has.

package sending

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/safrasync/safrasync/sync/identity"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// ContentOf returns what an entry sends, with its row as it was read last.
func ContentOf(e *trade.Entry) identity.Content {
	if e.Payload == nil && e.Newest.Known() { // a dry run keeps no more of it
		return identity.Content{Prints: e.Newest, Whole: e.PayloadHash}
	}
	return identity.Content{Prints: e.Prints(), Whole: e.PayloadHash}
}

// RowOf returns an entry of a job of this program's configuration as a row that may go.
func RowOf(job *mapping.Job, e *trade.Entry) identity.ERPRow {
	row := identity.ERPRow{
		ID: e.ID, Job: job.Name(), Key: e.Key, Space: job.Identity.Space, Content: ContentOf(e),
		SendOrdered: e.SendOrdered(),
	}
	if e.State == trade.Held && e.Cause == trade.CauseRetyped {
		row.HeldFor = -1
		if e.Error != nil && e.Error.Counterpart != nil && e.Error.Counterpart.Record != 0 {
			row.HeldFor = e.Error.Counterpart.Record
		}
	}
	return row
}

// Candidates returns the records that rows must be compared with: those that are like one of the rows,
// have the key of one, or are what one is held for. Each has the rows that the ERP has under its key now.
//   - storing: intents that are being stored, which the ledger may not have as records yet.
//   - found: the rows of this run's job that were read already, by key.
//   - unsent: entries of any job with the cells of a row and without a record, if several jobs have rows
//     of the kind.
func (r *Checker) Candidates(ctx context.Context, rows []identity.ERPRow, storing []trade.Entry,
	found map[string][]mapping.Row,
) (out []identity.Candidate, unsent []trade.Entry, err error) {
	like, err := r.nearRecords(ctx, rows)
	if err != nil {
		return nil, nil, err
	}
	r.askedPairs, r.smallBuckets = nil, nil
	query := trade.RecordQuery{
		Job: r.run.Job.Name(), Space: r.run.Job.Identity.Space, Kind: r.run.Job.Spec.Sends, Before: math.MaxInt64,
	}
	edited := false
	for _, row := range rows { // of a row that was edited in this pass, what went in it counts too
		for i, pair := range row.Pairs(query.Kind) {
			if r.edited[row.ID] && pair != 0 {
				query.Pairs[i], edited = append(query.Pairs[i], pair), true
			}
		}
	}
	if edited {
		more, _, err := r.run.Ledger.Records(ctx, query)
		if err != nil {
			return nil, nil, err
		}
		like = append(more, like...)
	}
	return r.candidates(ctx, rows, storing, found, like)
}

// Exactly returns the records that [Checker.Candidates] does, but for those that are like a row in all
// fields but one.
func (r *Checker) Exactly(ctx context.Context, rows []identity.ERPRow) ([]identity.Candidate, error) {
	out, _, err := r.candidates(ctx, rows, nil, nil, nil)
	return out, err
}

func (r *Checker) candidates(ctx context.Context, rows []identity.ERPRow, storing []trade.Entry,
	found map[string][]mapping.Row, near []trade.Record,
) (out []identity.Candidate, unsent []trade.Entry, err error) {
	if len(rows) == 0 {
		return nil, nil, nil
	}
	job := r.run.Job
	query := trade.RecordQuery{Job: job.Name(), Space: job.Identity.Space, Kind: job.Spec.Sends}
	keys := map[string]bool{}
	wanted, seen := map[int64]bool{}, map[int64]bool{}
	for _, row := range rows {
		query.Prints = append(query.Prints, row.Prints)
		keys[row.Key] = true
		query.Keys = append(query.Keys, row.Key)
		if row.HeldFor != 0 {
			query.IDs, wanted[row.HeldFor] = append(query.IDs, row.HeldFor), true
		}
		query.Seen, seen[row.ID] = append(query.Seen, row.ID), true
	}
	records, alone, err := r.run.Ledger.Records(ctx, query)
	if err != nil {
		return nil, nil, err
	}
	r.known = make(map[int64]bool, len(records))
	for _, record := range records {
		r.known[record.ID] = true
	}
	records = append(records, near...) // what was read now stands before what was read once in this pass
	slices.SortStableFunc(records, func(a, b trade.Record) int { return cmp.Compare(a.ID, b.ID) })
	records = slices.CompactFunc(records, func(a, b trade.Record) bool { return a.ID == b.ID })
	known := map[int64]bool{}
	for _, record := range records {
		known[record.Row.ID] = true
		seenAs := func(s trade.Sighting) bool { return seen[s.Row] }
		if wanted[record.ID] || slices.ContainsFunc(record.Sightings, seenAs) ||
			keys[record.Row.Key] || keys[record.Key] || identity.Alike(&record, rows) {
			out = append(out, identity.Candidate{Record: record})
		}
	}
	for i := range storing {
		record := asRecord(&storing[i])
		if !known[record.Row.ID] && (keys[record.Key] || identity.Alike(&record, rows)) {
			out = append(out, identity.Candidate{Record: record})
		}
	}
	if !alone {
		unsent, err = r.run.Ledger.Unsent(ctx, job.Spec.Sends, cellsOf(rows))
		if err != nil {
			return nil, nil, err
		}
	}
	for i := range unsent { // its record is another job's: typed again, it is still the same row
		if e := &unsent[i]; e.State == trade.Held && e.Cause == trade.CauseOtherJob {
			out = append(out, identity.Candidate{Record: asRecord(e)})
		}
	}
	if err := r.readNow(ctx, out, found); err != nil {
		return nil, nil, err
	}
	return out, unsent, r.remap(ctx, out)
}

// largeBucket is a number of records that share two groups of identifying fields. Above it the ERP is
// asked once in a pass which of them have lost their rows.
const largeBucket = 8

// nearRecords returns the records of earlier passes that differ from one of the rows in one field and may have
// lost their own row. Records of this pass were rechecked just before they went. The result is kept until
// the rows are judged.
func (r *Checker) nearRecords(ctx context.Context, rows []identity.ERPRow) ([]trade.Record, error) {
	kind := r.run.Job.Spec.Sends
	if len(rows) == 0 {
		return nil, nil
	}
	if r.before == nil {
		last, err := r.run.Ledger.LastRecord(ctx)
		if err != nil {
			return nil, err
		}
		r.before, r.lostByPair, r.hasRow = &last, map[int64][]trade.Record{}, map[int64]bool{}
	}
	if *r.before == 0 {
		return nil, nil
	}
	query := trade.RecordQuery{Job: r.run.Job.Name(), Space: r.run.Job.Identity.Space, Kind: kind, Before: *r.before}
	var known []int64
	if r.askedPairs == nil {
		r.askedPairs = map[int64]bool{}
	}
	for _, row := range rows {
		for i, pair := range row.Pairs(kind) {
			if _, once := r.lostByPair[pair]; once {
				known = append(known, pair)
			} else if pair != 0 && !r.askedPairs[pair] {
				r.askedPairs[pair] = true
				query.Pairs[i] = append(query.Pairs[i], pair)
			}
		}
	}
	records, _, err := r.run.Ledger.Records(ctx, query)
	if err != nil {
		return nil, err
	}
	buckets := map[int64][]identity.Candidate{}
	for _, record := range records {
		of := map[int64]bool{}
		prints := []trade.Prints{record.Sent, record.Newest}
		for _, s := range record.Sightings { // what else may be its row
			prints = append(prints, s.Prints)
		}
		for _, p := range prints {
			for _, pair := range p.Pairs(record.Kind) {
				if r.askedPairs[pair] && !of[pair] {
					of[pair], buckets[pair] = true, append(buckets[pair], identity.Candidate{Record: record})
				}
			}
		}
	}
	for _, pair := range slices.Sorted(maps.Keys(buckets)) {
		bucket := buckets[pair]
		if len(bucket) <= largeBucket {
			for _, c := range bucket {
				r.smallBuckets = append(r.smallBuckets, c.Record)
			}
			continue
		}
		known = append(known, pair)
		// the ERP is asked for the row of each record once in a pass
		var lost []trade.Record
		ask := slices.DeleteFunc(slices.Clone(bucket), func(c identity.Candidate) bool {
			_, once := r.hasRow[c.Record.ID]
			return once
		})
		for chunk := range slices.Chunk(ask, run.PageSize) {
			if err := r.readNow(ctx, chunk, nil); err != nil {
				return nil, err
			}
			for _, c := range chunk {
				r.hasRow[c.Record.ID] = identity.StandingOf(&c.Record, c.Now) <= identity.Amended
			}
		}
		for _, c := range bucket {
			if !r.hasRow[c.Record.ID] {
				lost = append(lost, c.Record)
			}
		}
		r.lostByPair[pair] = lost
	}
	out := slices.Clone(r.smallBuckets)
	for _, pair := range known {
		out = append(out, r.lostByPair[pair]...)
	}
	return out, nil
}

// remap sets what each record that lost its row would send today, if the mapping or a reference has
// changed since.
func (r *Checker) remap(ctx context.Context, of []identity.Candidate) error {
	var ids []int64
	for i := range of {
		if at := of[i].Record.Row; at.Job == r.run.Job.Name() &&
			identity.StandingOf(&of[i].Record, of[i].Now) >= identity.Corrected {
			ids = append(ids, at.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	entries, err := r.run.Ledger.Entries(ctx, slices.Compact(ids))
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e trade.Entry) bool {
		// a refused row is mapped again when the mapping changes, and keeps the values that were sent
		return e.MappedWith == r.run.Eval.MappedWith && !e.Weak() || len(e.Values) == 0
	})
	known, err := r.run.ParentsOf(ctx, mapping.ValuesOf(entries))
	if err != nil {
		return err
	}
	for _, e := range entries {
		would := r.run.Eval.Would(e, e.Values, known)
		for i := range of {
			if record := &of[i].Record; record.Row.ID == e.ID && record.Generation == e.Generation {
				of[i].Today = trade.PrintsOf(e.Sends, record.Sent.Cells, would.Target, would.Payload)
			}
		}
	}
	return nil
}

// asRecord returns an entry as the record that it is about to make, or that another job has.
func asRecord(e *trade.Entry) trade.Record {
	prints := ContentOf(e).Prints
	return trade.Record{
		ID: math.MinInt64/2 + e.ID, Kind: e.Sends, Job: e.Job, Key: e.Key, Certainty: trade.Maybe, Sent: prints,
		Newest: prints, Row: trade.RowRef{
			ID: e.ID, Job: e.Job, Key: e.Key, KeyParts: e.KeyParts, State: e.State, SeenAt: e.FirstSeenAt,
		},
	}
}

func cellsOf(rows []identity.ERPRow) []trade.Hash {
	out := make([]trade.Hash, len(rows))
	for i, row := range rows {
		out[i] = row.Cells
	}
	return out
}

// readNow reads the rows that the ERP has under the keys of records, as they would be sent now, in
// each job of the record's identity space: a row that went into the scope of another job still
// stands. A key of a job that is no longer configured counts as having none there.
func (r *Checker) readNow(ctx context.Context, of []identity.Candidate, found map[string][]mapping.Row) error {
	for i := range of {
		of[i].Now = nil
	}
	for _, job := range r.run.Jobs {
		if job.Spec.Sends != r.run.Job.Spec.Sends {
			continue
		}
		under := func(record *trade.Record) bool {
			return record.Row.Job == job.Name() || record.Space == job.Identity.Space
		}
		entries := map[string]trade.Entry{}
		for i := range of {
			if at := of[i].Record.Row; under(&of[i].Record) {
				entries[at.Key] = trade.Entry{Job: job.Name(), Key: at.Key, KeyParts: at.KeyParts}
			}
		}
		now, cancelled, err := r.currentContent(ctx, job, entries, found, mapping.Living)
		if err != nil {
			return err
		}
		for i := range of {
			if at := of[i].Record.Row; under(&of[i].Record) {
				of[i].Now = append(of[i].Now, now[at.Key]...)
				of[i].Cancelled = of[i].Cancelled || cancelled[at.Key]
			}
		}
	}
	return nil
}

// currentContent returns, by key, what the rows under the keys of some entries would send now, and the keys
// that have only rows that do not count. found are rows of this run's job that were read already, by
// key. stand selects the rows that count.
func (r *Checker) currentContent(ctx context.Context, job *mapping.Job, entries map[string]trade.Entry,
	found map[string][]mapping.Row, stand func([]mapping.Row) []mapping.Row,
) (out map[string][]identity.Content, idle map[string]bool, err error) {
	if len(entries) == 0 {
		return nil, nil, nil
	}
	var ask []trade.Entry
	byKey := map[string][]mapping.Row{}
	for key, e := range entries {
		if rows, ok := found[key]; ok && job == r.run.Job {
			byKey[key] = rows
		} else {
			ask = append(ask, e)
		}
	}
	read, err := r.run.ReadAgain(ctx, job, ask)
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(byKey, read)
	eval := *r.run.Eval
	eval.Job = job
	var values []trade.Values
	for key := range entries {
		for i := range byKey[key] {
			values = append(values, byKey[key][i].Values())
		}
	}
	known, err := r.run.ParentsFor(ctx, job, values)
	if err != nil {
		return nil, nil, err
	}
	out, idle = map[string][]identity.Content{}, map[string]bool{}
	for key := range entries {
		for _, row := range stand(byKey[key]) {
			would := trade.Entry{Job: job.Name(), Sends: job.Spec.Sends, Key: key, SourceHash: row.SourceHash}
			eval.Evaluate(&would, row.Values(), known)
			out[key] = append(out[key], ContentOf(&would))
		}
		idle[key] = len(byKey[key]) > 0 && len(out[key]) == 0
	}
	return out, idle, nil
}

// Near returns which of some rows have a record that is like them or has their key, or a row of the
// ledger with the same cells that nothing was sent for.
func (r *Checker) Near(ctx context.Context, entries []trade.Entry) ([]bool, error) {
	rows := make([]identity.ERPRow, len(entries))
	mine := map[int64]bool{}
	for i := range entries {
		rows[i], mine[entries[i].ID] = RowOf(r.run.Job, &entries[i]), true
	}
	of, _, err := r.Candidates(ctx, rows, nil, nil)
	if err != nil {
		return nil, err
	}
	unsent, err := r.run.Ledger.Unsent(ctx, r.run.Job.Spec.Sends, cellsOf(rows))
	if err != nil {
		return nil, err
	}
	out := make([]bool, len(rows))
	for i, row := range rows {
		out[i] = slices.ContainsFunc(of, func(c identity.Candidate) bool {
			o := &c.Record
			return o.Row.ID != row.ID && (o.Key == row.Key || o.Row.Key == row.Key || identity.Alike(o, rows[i:i+1]))
		}) || slices.ContainsFunc(unsent, func(o trade.Entry) bool { return !mine[o.ID] && o.SourceHash == row.Cells })
	}
	return out, nil
}

// waiting returns the rows of the ERP without a record that are not judged now and have the cells of
// a row that is, or of a record that lost its row: they explain the record, so that another row may
// go, and show that two jobs have one row.
func (r *Checker) waiting(ctx context.Context, rows []identity.ERPRow, unsent []trade.Entry,
	of []identity.Candidate,
) ([]identity.ERPRow, error) {
	var lost []trade.Hash
	for i := range of {
		if identity.StandingOf(&of[i].Record, of[i].Now) >= identity.Amended {
			lost = append(lost, of[i].Record.Sent.Cells, of[i].Record.Newest.Cells)
		}
	}
	if len(lost) > 0 {
		more, err := r.run.Ledger.Unsent(ctx, r.run.Job.Spec.Sends, lost)
		if err != nil {
			return nil, err
		}
		unsent = append(slices.Clone(unsent), more...)
	}
	judged := map[int64]bool{}
	for _, row := range rows {
		judged[row.ID] = true
	}
	unsent = slices.DeleteFunc(unsent, func(e trade.Entry) bool {
		again := judged[e.ID]
		judged[e.ID] = true
		return again || e.Cause == trade.CauseOtherJob
	})
	var out []identity.ERPRow
	for _, job := range r.run.Jobs {
		entries := map[string]trade.Entry{}
		for _, e := range unsent {
			if e.Job == job.Name() {
				entries[e.Key] = e
			}
		}
		now, _, err := r.currentContent(ctx, job, entries, nil, mapping.Living)
		if err != nil {
			return nil, err
		}
		for _, e := range unsent {
			stands := slices.ContainsFunc(now[e.Key], func(c identity.Content) bool { return c.Cells == e.SourceHash })
			if e.Job == job.Name() && stands {
				row := RowOf(job, &e)
				row.NotDue = true
				out = append(out, row)
			}
		}
	}
	return out, nil
}

// Judge asks what rows are. ahead are rows that go before them.
func (r *Checker) Judge(ctx context.Context, entries, ahead, storing []trade.Entry,
	found map[string][]mapping.Row,
) ([]identity.Verdict, []identity.Candidate, error) {
	rows := make([]identity.ERPRow, 0, len(ahead)+len(entries))
	for i := range ahead {
		row := RowOf(r.run.Job, &ahead[i])
		row.SendOrdered = true // it was judged
		rows = append(rows, row)
	}
	for i := range entries {
		rows = append(rows, RowOf(r.run.Job, &entries[i]))
	}
	of, unsent, err := r.Candidates(ctx, rows, storing, found)
	if err != nil {
		return nil, nil, err
	}
	waiting, err := r.waiting(ctx, rows, unsent, of)
	if err != nil {
		return nil, nil, err
	}
	check := r.run.Job.Spec.Twin
	rules := identity.Rules{Twin: check.Mode, Near: check.Near}
	if check.Days != 0 { // of a row with a record, the time of the record counts
		seen := map[int64]trade.Entry{}
		for i := range of {
			seen[of[i].Record.Row.ID] = trade.Entry{FirstSeenAt: of[i].Record.Row.SeenAt}
		}
		for _, e := range slices.Concat(entries, ahead) {
			seen[e.ID] = e
		}
		rules.Within = func(a, b int64) bool { return check.Within(seen[a], seen[b]) }
	}
	verdicts := identity.Judge(append(rows, waiting...), of, rules)
	return verdicts[len(ahead):len(rows)], of, nil
}
