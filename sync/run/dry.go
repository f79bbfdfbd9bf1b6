// The ledger of a dry run, which cannot write.

package run

import (
	"context"
	"maps"
	"slices"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// DryLedger is a ledger that cannot write: it only counts what a dry run would store. It cannot
// send either, because sending needs a lease and an intent.
type DryLedger struct {
	Readable
	job    *mapping.Job
	cells  map[cellsOf]bool             // of the rows that would be sent
	states map[trade.State]int          // change of each state's count
	refs   map[string]map[string]string // tables read from the ERP in this run
	Judged map[int64]bool               // entries whose change is counted
	Fate   map[KeyHash]trade.Parent     // new state of the rows that this run judged
	// rows read in this run that would be sent, without the fields that a recheck reads again; new
	// rows have ids below 0
	Ready  []trade.Entry
	Asked  map[int64]bool             // those whose parent is not as it was sent
	Load   trade.Freight              // their count and sums
	came   trade.Arrivals             // all new rows
	Goes   map[KeyHash]trade.Quantity // rows that would be sent only because of this run
	stays  map[trade.Unit]trade.Tally // rows that were pending before this run judged them
	follow map[KeyHash]bool           // rows that wait only for rows which would be sent

	planned func(trade.Entry)                // called for each row; may be nil
	Jobs    map[string]*DryLedger            // of all jobs of the pass, by name
	next    map[trade.ParentKey]trade.Parent // answers of Parents for the rows recorded next
}

// DryRun returns the ledger of one job of a dry run, and adds it to jobs, the ledgers of all jobs
// of the pass.
func DryRun(ledger Readable, job *mapping.Job, jobs map[string]*DryLedger,
	planned func(trade.Entry),
) *DryLedger {
	jobs[job.Name()] = &DryLedger{
		Readable: ledger, job: job, cells: map[cellsOf]bool{}, states: map[trade.State]int{}, Judged: map[int64]bool{},
		Fate:    map[KeyHash]trade.Parent{},
		planned: planned, Jobs: jobs,
		Asked: map[int64]bool{}, Goes: map[KeyHash]trade.Quantity{}, stays: map[trade.Unit]trade.Tally{},
		follow: map[KeyHash]bool{},
	}
	return jobs[job.Name()]
}

// Reprint stores nothing.
func (d *DryLedger) Reprint(context.Context, trade.Lease, []trade.Entry) error { return nil }

// RecordLookups stores nothing.
func (d *DryLedger) RecordLookups(context.Context, string, []trade.Lookup) error { return nil }

// Record counts what would be stored, and returns 0 lost rows.
func (d *DryLedger) Record(ctx context.Context, _ trade.Lease, page trade.Page) (int, error) {
	for _, e := range page.New {
		d.states[e.State]++
		d.Fate[HashKey(e.Key)] = trade.Parent{State: e.State, Cause: e.Cause}
		d.keep(e)
		d.came.Count++
		if len(d.came.Samples) < BrakeSamples {
			d.came.Samples = append(d.came.Samples, e.Key)
		}
		d.notePlanned(e)
	}
	if err := d.leave(ctx, page.Updates); err != nil {
		return 0, err
	}
	for _, u := range page.Updates {
		if d.Judged[u.Entry.ID] {
			continue // this run has read a newer version of it from the ERP
		}
		d.Judged[u.Entry.ID] = true
		d.states[u.From]--
		d.states[u.Entry.State]++
		d.Fate[HashKey(u.Entry.Key)] = trade.Parent{
			State: u.Entry.State, Cause: u.Entry.Cause,
			RemoteID: u.Entry.RemoteID, Changed: u.Entry.Flags.Has(trade.Changed),
		}
		d.keep(u.Entry)
		d.notePlanned(u.Entry)
	}
	d.next = nil
	return 0, nil
}

// keep stores a row that would be sent.
func (d *DryLedger) keep(e trade.Entry) {
	if e.State != trade.Pending {
		return
	}
	d.Load.Add(e)
	if e.ID == 0 {
		e.ID = int64(-1 - len(d.Ready))
	}
	e.Newest = trade.PrintsOf(e.Sends, e.SourceHash, e.Target, e.Payload)
	d.cells[cellsOf{e.Sends, e.SourceHash}] = true
	for _, key := range d.job.Mapping.ParentKeys(nil, mapping.ColumnsIn(e.Values)) {
		if d.next[key].Changed {
			d.Asked[e.ID] = true
		}
	}
	e.Values, e.Now, e.Payload, e.Warnings, e.MappedWith = nil, nil, nil, nil, ""
	d.Ready = append(d.Ready, e)
}

// cellsOf identifies what a row of the ERP holds.
type cellsOf struct {
	kind  trade.Kind
	cells trade.Hash
}

// Elsewhere returns another job of this dry run that would send a row with the cells of this one; ""
// if there is none.
func (d *DryLedger) Elsewhere(e trade.Entry) string {
	for name, other := range d.Jobs {
		_, sameKey := other.Goes[HashKey(e.Key)]
		if other != d && other.cells[cellsOf{e.Sends, e.SourceHash}] &&
			!(sameKey && other.job.Identity.Space == d.job.Identity.Space) {
			return name
		}
	}
	return ""
}

// Stay counts a pending row as one that would not be sent.
func (d *DryLedger) Stay(ctx context.Context, e trade.Entry) error {
	key := HashKey(e.Key)
	if _, ok := d.Goes[key]; ok || e.ID < 0 {
		delete(d.Goes, key)
		return nil
	}
	err := d.leave(ctx, []trade.Update{{From: trade.Pending, Entry: e}})
	d.Judged[e.ID] = true
	return err
}

// HoldBack counts a row that would have been sent as held back by the recheck: e has the state that
// it would get.
func (d *DryLedger) HoldBack(ctx context.Context, e trade.Entry) error {
	if err := d.Stay(ctx, e); err != nil {
		return err
	}
	d.states[trade.Pending]--
	d.states[e.State]++
	d.Fate[HashKey(e.Key)] = trade.Parent{State: e.State, Cause: e.Cause}
	e.ID = max(e.ID, 0)
	if d.planned != nil {
		d.planned(e)
	}
	return nil
}

// leave subtracts from what would be sent those rows that were pending already and are judged
// again.
func (d *DryLedger) leave(ctx context.Context, updates []trade.Update) error {
	var ids []int64
	for _, u := range updates {
		if u.From == trade.Pending && !d.Judged[u.Entry.ID] {
			ids = append(ids, u.Entry.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	entries, err := d.Entries(ctx, ids)
	for _, e := range entries {
		t := d.stays[e.Quantity.Unit]
		t.Count, t.Quantity.Amount = t.Count+1, t.Quantity.Amount.Add(e.Quantity.Amount)
		d.stays[e.Quantity.Unit] = t
	}
	return err
}

// Would returns the sums of what a run would send.
func (d *DryLedger) Would(ctx context.Context, job string) (*trade.WouldSend, error) {
	tallies, err := d.Readable.Counts(ctx, job)
	if err != nil {
		return nil, err
	}
	out, sums := &trade.WouldSend{Follow: len(d.follow), Quantities: []trade.Quantity{}}, map[trade.Unit]trade.Decimal{}
	for _, t := range tallies {
		if t.State == trade.Pending {
			out.Rows += t.Count
			sums[t.Quantity.Unit] = sums[t.Quantity.Unit].Add(t.Quantity.Amount)
		}
	}
	for unit, t := range d.stays {
		out.Rows -= t.Count
		sums[unit] = sums[unit].Sub(t.Quantity.Amount)
	}
	for _, q := range d.Goes {
		out.Rows++
		sums[q.Unit] = sums[q.Unit].Add(q.Amount)
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
	if was, ok := d.Fate[HashKey(entry.Key)]; ok {
		d.states[was.State]--
		d.states[trade.Held]++
		d.Fate[HashKey(entry.Key)] = trade.Parent{State: trade.Held, Cause: entry.Cause}
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
	delete(d.Goes, key)
	delete(d.follow, key)
	if e.State == trade.Pending {
		d.Goes[key] = e.Quantity
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
			if p, ok := job.Fate[HashKey(key.Key)]; ok {
				out[key] = p
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
