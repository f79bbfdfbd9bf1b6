// The ledger of a dry run, which cannot write.

package run

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"time"
	"unique"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// DryLedger is a ledger that cannot write: it only counts what a dry run would store. It cannot
// send either, because sending needs a lease and an intent.
type DryLedger struct {
	Readable
	job    *mapping.Job
	now    time.Time                    // start of the run; when new rows were first seen
	states map[trade.State]int          // change of each state's count
	refs   map[string]map[string]string // tables read from the ERP in this run
	rows   map[KeyHash]*DryRow          // that this run judged, by key
	Ready  []*DryRow                    // those that would be sent, as they were read
	prints map[KeyHash]bool             // cells and identifying fields of Ready; true: of several rows
	Load   trade.Freight                // their count and sums
	came   trade.Arrivals               // all new rows
	more   int                          // change of the rows that would be sent
	sums   map[trade.Unit]trade.Decimal // and of their quantities
	follow map[KeyHash]bool             // rows that wait only for rows which would be sent

	planned func(trade.Entry)                // called for each row; may be nil
	Jobs    map[string]*DryLedger            // of all jobs of the pass, by name
	next    map[trade.ParentKey]trade.Parent // answers of Parents for the rows recorded next
}

// DryRun returns the ledger of one job of a dry run, and adds it to jobs, the ledgers of all jobs
// of the pass.
func DryRun(ledger Readable, job *mapping.Job, now time.Time, jobs map[string]*DryLedger,
	planned func(trade.Entry),
) *DryLedger {
	d := &DryLedger{
		Readable: ledger,
		job:      job,
		now:      now,
		planned:  planned,
		Jobs:     jobs,
		states:   map[trade.State]int{},
		rows:     map[KeyHash]*DryRow{},
		prints:   map[KeyHash]bool{},
		sums:     map[trade.Unit]trade.Decimal{},
		follow:   map[KeyHash]bool{},
	}
	jobs[job.Name()] = d
	return d
}

// DryRow is what a dry run keeps of a row, in few bytes: there may be a million of them.
type DryRow struct {
	ID     int64 // of its entry, if it would be sent; below 0: it is new
	Key    string
	Shown  []trade.ShownText           // of a row that goes ahead of others
	Asked  bool                        // its parent is not as it was sent
	goes   bool                        // it would be sent only because of this run
	after  unique.Handle[trade.Parent] // its state after the run; zero: as it is
	packed string                      // of a row that would be sent: what the recheck needs of it
}

// PackRow returns a row that would be sent, with the fingerprints that it has as Newest.
func PackRow(e trade.Entry) *DryRow {
	texts := []string{e.Quantity.Amount.String(), string(e.Quantity.Unit)}
	for _, hash := range []trade.Hash{e.Newest.Cells, e.Newest.Payload, e.Newest.Fields, e.PayloadHash} {
		raw, _ := hex.DecodeString(string(hash)) // a hash is hexadecimal
		texts = append(texts, string(raw))
	}
	for _, c := range e.KeyParts {
		texts = append(texts, string([]byte{c.Kind})+c.Text)
	}
	var packed []byte
	for _, text := range texts { // each after its length
		packed = append(binary.AppendUvarint(packed, uint64(len(text))), text...)
	}
	return &DryRow{ID: e.ID, Key: e.Key, packed: string(packed)}
}

// State returns the state of a row after the run.
func (r *DryRow) State() trade.State { return r.after.Value().State }

// unpack overwrites an entry with a row that would be sent.
func (r *DryRow) unpack(e *trade.Entry) {
	var texts []string
	for rest := []byte(r.packed); len(rest) > 0; {
		n, size := binary.Uvarint(rest)
		rest = rest[size:]
		texts, rest = append(texts, string(rest[:n])), rest[n:]
	}
	e.ID, e.Key = r.ID, r.Key
	e.Shown.Texts, e.KeyParts = r.Shown, nil
	for _, part := range texts[6:] {
		e.KeyParts = append(e.KeyParts, trade.Cell{Kind: part[0], Text: part[1:]})
	}
	e.Quantity.Amount, _ = trade.ParseSum(texts[0]) // PackRow has written it
	e.Quantity.Unit = trade.Unit(texts[1])
	hash := func(i int) trade.Hash { return trade.Hash(hex.EncodeToString([]byte(texts[i]))) }
	e.Newest = trade.Prints{Cells: hash(2), Payload: hash(3), Fields: hash(4)}
	e.SourceHash = e.Newest.Cells
	e.TakeState(trade.Entry{State: trade.Pending})
	e.TakePayload(trade.Entry{PayloadHash: hash(5)})
	// read again by a recheck
	e.Values, e.Now = nil, nil
	e.Warnings, e.MappedWith = nil, ""
}

// Unpack returns rows that would be sent as entries: what a recheck reads again is missing, and what
// else the ledger has of them is as it is there.
func (d *DryLedger) Unpack(ctx context.Context, rows []*DryRow) ([]trade.Entry, error) {
	entries, err := d.Entries(ctx, trade.Map(rows, func(row *DryRow) int64 { return row.ID }))
	known := map[int64]trade.Entry{}
	for _, e := range entries {
		known[e.ID] = e
	}
	return trade.Map(rows, func(row *DryRow) trade.Entry {
		e, there := known[row.ID]
		if !there {
			e = trade.Entry{Job: d.job.Name(), Sends: d.job.Spec.Sends, Generation: 1, FirstSeenAt: d.now}
		}
		row.unpack(&e)
		return e
	}), err
}

// Reprint stores nothing.
func (d *DryLedger) Reprint(context.Context, trade.Lease, []trade.Entry) error { return nil }

// RecordLookups stores nothing.
func (d *DryLedger) RecordLookups(context.Context, string, []trade.Lookup) error { return nil }

// Record counts what would be stored, and returns 0 lost rows.
func (d *DryLedger) Record(ctx context.Context, _ trade.Lease, page trade.Page) (int, error) {
	for _, e := range page.New {
		d.add(e)
		d.came.Count++
		if len(d.came.Samples) < BrakeSamples {
			d.came.Samples = append(d.came.Samples, e.Key)
		}
	}
	var left []int64 // were pending before this run judged them
	for _, u := range page.Updates {
		if d.Judged(u.Entry) {
			continue // this run has read a newer version of it from the ERP
		}
		if u.From == trade.Pending {
			left = append(left, u.Entry.ID)
		}
		d.states[u.From]--
		d.add(u.Entry)
	}
	d.next = nil
	return 0, d.leave(ctx, left...)
}

// add counts a row in its new state, and keeps what is needed of one that would be sent.
func (d *DryLedger) add(e trade.Entry) {
	row := &DryRow{}
	if e.State == trade.Pending {
		d.Load.Add(e)
		if e.ID == 0 {
			e.ID = int64(-1 - len(d.Ready))
		}
		e.Newest = e.Prints()
		row = PackRow(e)
		d.Ready = append(d.Ready, row)
		for _, hash := range []trade.Hash{e.Newest.Cells, e.Newest.Fields} {
			_, again := d.prints[HashKey(hash)]
			d.prints[HashKey(hash)] = again
		}
		row.Asked = slices.ContainsFunc(d.job.Mapping.ParentKeys(nil, mapping.ColumnsIn(e.Values)),
			func(parent trade.ParentKey) bool { return d.next[parent].Changed })
	}
	d.states[e.State]++
	row.after = unique.Make(trade.Parent{
		State:    e.State,
		Cause:    e.Cause,
		RemoteID: e.RemoteID,
		Changed:  e.Flags.Has(trade.Changed),
	})
	d.rows[HashKey(e.Key)] = row
	e.ID = max(e.ID, 0)
	d.notePlanned(e)
}

// Judged reports whether the change of an entry is counted.
func (d *DryLedger) Judged(e trade.Entry) bool { return d.rows[HashKey(e.Key)] != nil }

// Goes reports whether the row with a key would be sent only because of this run.
func (d *DryLedger) Goes(key string) bool {
	row := d.rows[HashKey(key)]
	return row != nil && row.goes
}

// Several reports whether several rows that would be sent may be equal to a content.
func (d *DryLedger) Several(p trade.Prints) bool {
	return d.prints[HashKey(p.Cells)] || d.prints[HashKey(p.Fields)]
}

// Elsewhere reports whether another job of this dry run would send a row with the cells of this one.
func (d *DryLedger) Elsewhere(e trade.Entry) bool {
	for _, other := range d.Jobs {
		_, has := other.prints[HashKey(e.SourceHash)]
		if has && other != d && other.job.Spec.Sends == e.Sends &&
			!(other.Goes(e.Key) && other.job.Identity.Space == d.job.Identity.Space) {
			return true
		}
	}
	return false
}

// Stay counts a pending row as one that would not be sent.
func (d *DryLedger) Stay(ctx context.Context, e trade.Entry) error {
	if e.ID < 0 || d.Judged(e) {
		d.withdraw(e.Key)
		return nil
	}
	d.rows[HashKey(e.Key)] = &DryRow{after: unique.Make(trade.Parent{})}
	return d.leave(ctx, e.ID)
}

// withdraw subtracts a row from what would be sent because of this run.
func (d *DryLedger) withdraw(key string) {
	if d.Goes(key) {
		var e trade.Entry
		row := d.rows[HashKey(key)]
		row.unpack(&e)
		row.goes = false
		d.count(e.Quantity, -1)
	}
}

// count changes what would be sent by one row, which is added or, with -1, subtracted.
func (d *DryLedger) count(q trade.Quantity, sign int64) {
	d.more += int(sign)
	d.sums[q.Unit] = d.sums[q.Unit].Add(q.Amount.Mul(trade.NewDecimal(sign, 0)))
}

// HoldBack counts a row that would have been sent as held back by the recheck: e has the state that
// it would get.
func (d *DryLedger) HoldBack(ctx context.Context, e trade.Entry) error {
	if err := d.Stay(ctx, e); err != nil {
		return err
	}
	d.states[trade.Pending]--
	d.states[e.State]++
	d.rows[HashKey(e.Key)].after = unique.Make(trade.Parent{State: e.State, Cause: e.Cause})
	e.ID = max(e.ID, 0)
	if d.planned != nil {
		d.planned(e)
	}
	return nil
}

// leave subtracts pending rows of the ledger from what would be sent.
func (d *DryLedger) leave(ctx context.Context, ids ...int64) error {
	entries, err := d.Entries(ctx, ids)
	for _, e := range entries {
		d.count(e.Quantity, -1)
	}
	return err
}

// Would returns the sums of what a run would send.
func (d *DryLedger) Would(ctx context.Context, job string) (*trade.WouldSend, error) {
	tallies, err := d.Readable.Counts(ctx, job)
	if err != nil {
		return nil, err
	}
	out := &trade.WouldSend{Rows: d.more, Follow: len(d.follow), Quantities: []trade.Quantity{}}
	sums := maps.Clone(d.sums)
	for _, t := range tallies {
		if t.State == trade.Pending {
			out.Rows += t.Count
			sums[t.Quantity.Unit] = sums[t.Quantity.Unit].Add(t.Quantity.Amount)
		}
	}
	for _, unit := range slices.Sorted(maps.Keys(sums)) {
		if sums[unit].Sign() != 0 {
			out.Quantities = append(out.Quantities, trade.Quantity{Amount: sums[unit], Unit: unit})
		}
	}
	return out, nil
}

// HoldDouble counts a new row as held, because its key occurs twice.
func (d *DryLedger) HoldDouble(entry trade.Entry) {
	if row := d.rows[HashKey(entry.Key)]; row != nil {
		d.states[row.State()]--
		d.states[trade.Held]++
		row.after = unique.Make(trade.Parent{State: trade.Held, Cause: entry.Cause})
		d.notePlanned(entry)
	}
}

// notePlanned counts whether a row would be sent or would follow its parents, and passes it to planned as
// it would be, with the states that its parents would have.
func (d *DryLedger) notePlanned(e trade.Entry) {
	e.WaitingFor = slices.Clone(e.WaitingFor)
	follows := e.State == trade.Waiting
	for i, a := range e.WaitingFor {
		if p, ok := d.next[trade.ParentKey{Job: a.Job, Key: a.Key}]; ok {
			e.WaitingFor[i].ParentState, e.WaitingFor[i].ParentCause = p.State, p.Cause
		}
		follows = follows && a.Job != "" && e.WaitingFor[i].ParentState == trade.Pending
	}
	key := HashKey(e.Key)
	d.withdraw(e.Key)
	delete(d.follow, key)
	if e.State == trade.Pending {
		d.rows[key].goes = true
		d.count(e.Quantity, 1)
	} else if follows {
		d.follow[key] = true
	}
	if d.planned != nil {
		d.planned(e)
	}
}

// Parents returns the parents as they would be after this run, including those that jobs earlier in
// the pass have judged.
func (d *DryLedger) Parents(ctx context.Context, keys []trade.ParentKey) (map[trade.ParentKey]trade.Parent, error) {
	out, err := d.Readable.Parents(ctx, keys)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if job := d.Jobs[key.Job]; job != nil {
			if row := job.rows[HashKey(key.Key)]; row != nil && row.State() != "" {
				out[key] = row.after.Value()
			}
		}
	}
	if d.next == nil {
		d.next = map[trade.ParentKey]trade.Parent{}
	}
	maps.Copy(d.next, out)
	return out, nil
}

// Arrivals counts the new entries of the ledger and those that this run would add.
func (d *DryLedger) Arrivals(ctx context.Context, job string, after int64, samples int) (trade.Arrivals, error) {
	a, err := d.Readable.Arrivals(ctx, job, after, samples)
	a.Count += d.came.Count
	a.Samples = append(a.Samples, d.came.Samples...)
	a.Samples = a.Samples[:min(samples, len(a.Samples))]
	return a, err
}

// ReplaceReferences keeps the table in memory, for this run only.
func (d *DryLedger) ReplaceReferences(_ context.Context, kind string, codes, _ map[string]string) (int, error) {
	if d.refs == nil {
		d.refs = map[string]map[string]string{}
	}
	d.refs[kind] = codes
	return 0, nil
}

// References returns the stored tables, overridden by those read in this run. If one of these
// differs, the returned version is one that no entry has, so that every entry is judged anew.
func (d *DryLedger) References(ctx context.Context) (map[string]map[string]string, string, error) {
	stored, version, err := d.Readable.References(ctx)
	if err != nil {
		return nil, "", err
	}
	changed := false
	for kind, table := range d.refs {
		changed = changed || !maps.Equal(stored[kind], table)
		stored[kind] = table
	}
	if changed {
		version = mapping.Fingerprint(version, d.refs)
	}
	return stored, version, nil
}

// Counts returns the counts of the states as they would be.
func (d *DryLedger) Counts(ctx context.Context, job string) ([]trade.Tally, error) {
	tallies, err := d.Readable.Counts(ctx, job)
	if err != nil {
		return nil, err
	}
	for state, n := range d.states {
		tallies = append(tallies, trade.Tally{State: state, Count: n})
	}
	return tallies, nil
}

// ForgetParents forgets the parents that were read: other rows are recorded next.
func (d *DryLedger) ForgetParents() { d.next = nil }
