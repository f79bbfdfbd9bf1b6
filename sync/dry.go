package sync

import (
	"context"
	"maps"
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// dryLedger is a ledger that cannot write: what a dry run would store is only counted. It has no way to send, because sending needs a lease and an intent.
type dryLedger struct {
	Ledger
	states map[trade.State]int          // change of each state's count
	refs   map[string]map[string]string // tables read from the ERP in this run
	judged map[int64]bool               // entries whose change is counted
	fate   map[keyHash]trade.Parent     // what would become of the rows that are new or would change
	ready  []trade.Entry                // rows read in this run that would go, without what a look reads anew; those that are new have numbers below 0
	load   trade.Freight                // what they are
	came   trade.Arrivals               // all that are new
	goes   map[keyHash]trade.Quantity   // rows that would go and would not without this run
	stays  map[trade.Unit]trade.Tally   // rows that would have gone, before they were judged in this run
	follow map[keyHash]bool             // rows that wait only for rows which would go

	planned func(trade.Entry)                // is told of each row; may be nil
	jobs    map[string]*dryLedger            // of all jobs of the pass, by name
	parents map[trade.ParentKey]trade.Parent // the answers of Parents for the rows that are recorded next
}

// dryRun makes the ledger of one job of a dry run; jobs is what the jobs of the pass share.
func dryRun(ledger Ledger, job string, jobs map[string]*dryLedger, planned func(trade.Entry)) *dryLedger {
	jobs[job] = &dryLedger{
		Ledger: ledger, states: map[trade.State]int{}, judged: map[int64]bool{}, fate: map[keyHash]trade.Parent{}, planned: planned, jobs: jobs,
		goes: map[keyHash]trade.Quantity{}, stays: map[trade.Unit]trade.Tally{}, follow: map[keyHash]bool{},
	}
	return jobs[job]
}

// Record counts what would be stored.
func (d *dryLedger) Record(ctx context.Context, _ trade.Lease, page trade.Page) (int, error) {
	for _, e := range page.New {
		d.states[e.State]++
		d.fate[hashKey(e.Key)] = trade.Parent{State: e.State, Cause: e.Cause}
		d.keep(e)
		if d.came.Count++; len(d.came.Samples) < brakeSamples {
			d.came.Samples = append(d.came.Samples, e.Key)
		}
		d.tell(e)
	}
	if err := d.leave(ctx, page.Updates); err != nil {
		return 0, err
	}
	for _, u := range page.Updates {
		if d.judged[u.Entry.ID] {
			continue // read from the ERP in this run already; what the ledger has of it is older
		}
		d.judged[u.Entry.ID] = true
		d.states[u.From]--
		d.states[u.Entry.State]++
		d.fate[hashKey(u.Entry.Key)] = trade.Parent{State: u.Entry.State, Cause: u.Entry.Cause, RemoteID: u.Entry.RemoteID}
		d.keep(u.Entry)
		d.tell(u.Entry)
	}
	d.parents = nil
	return 0, nil
}

// keep notes a row that would go.
func (d *dryLedger) keep(e trade.Entry) {
	if e.State != trade.Pending {
		return
	}
	d.load.Add(e)
	if e.ID == 0 {
		e.ID = int64(-1 - len(d.ready))
	}
	e.Values, e.Now, e.Payload, e.Warnings, e.MappedWith = nil, nil, nil, nil, ""
	d.ready = append(d.ready, e)
}

// stay counts a row as one that would stay where it is, instead of going.
func (d *dryLedger) stay(ctx context.Context, e trade.Entry) error {
	key := hashKey(e.Key)
	if _, ok := d.goes[key]; ok || e.ID < 0 {
		delete(d.goes, key)
		return nil
	}
	err := d.leave(ctx, []trade.Update{{From: trade.Pending, Entry: e}})
	d.judged[e.ID] = true
	return err
}

// holdBack counts a row that would have gone as it is after the last look.
func (d *dryLedger) holdBack(ctx context.Context, e trade.Entry) error {
	if err := d.stay(ctx, e); err != nil {
		return err
	}
	d.states[trade.Pending]--
	d.states[e.State]++
	d.fate[hashKey(e.Key)] = trade.Parent{State: e.State, Cause: e.Cause}
	if e.ID = max(e.ID, 0); d.planned != nil {
		d.planned(e)
	}
	return nil
}

// leave takes the rows that were to go already, and are judged anew, out of what would go.
func (d *dryLedger) leave(ctx context.Context, updates []trade.Update) error {
	var ids []int64
	for _, u := range updates {
		if u.From == trade.Pending && !d.judged[u.Entry.ID] {
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

// would sums what a run would send.
func (d *dryLedger) would(ctx context.Context, job string) (*trade.WouldSend, error) {
	tallies, err := d.Ledger.Counts(ctx, job)
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
	for _, q := range d.goes {
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

// holdDouble counts a new row as held, because its key stands twice.
func (d *dryLedger) holdDouble(entry trade.Entry) {
	if was, ok := d.fate[hashKey(entry.Key)]; ok {
		d.states[was.State]--
		d.states[trade.Held]++
		d.fate[hashKey(entry.Key)] = trade.Parent{State: trade.Held, Cause: entry.Cause}
		d.tell(entry)
	}
}

// tell shows a row as it would be, with where its parents would stand.
func (d *dryLedger) tell(e trade.Entry) {
	e.WaitingFor = slices.Clone(e.WaitingFor)
	follows := e.State == trade.Waiting
	for i, a := range e.WaitingFor {
		if p, ok := d.parents[trade.ParentKey{Job: a.Job, Key: a.Key}]; ok {
			e.WaitingFor[i].ParentState, e.WaitingFor[i].ParentCause = p.State, p.Cause
		}
		follows = follows && a.Job != "" && e.WaitingFor[i].ParentState == trade.Pending
	}
	key := hashKey(e.Key)
	delete(d.goes, key)
	delete(d.follow, key)
	if e.State == trade.Pending {
		d.goes[key] = e.Quantity
	} else if follows {
		d.follow[key] = true
	}
	if d.planned != nil {
		d.planned(e)
	}
}

// Parents gives the parents as they would be after this run: jobs that run earlier in the pass have judged theirs.
func (d *dryLedger) Parents(ctx context.Context, keys []trade.ParentKey) (map[trade.ParentKey]trade.Parent, error) {
	out, err := d.Ledger.Parents(ctx, keys)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if job := d.jobs[key.Job]; job != nil {
			if p, ok := job.fate[hashKey(key.Key)]; ok {
				out[key] = p
			}
		}
	}
	if d.parents == nil {
		d.parents = map[trade.ParentKey]trade.Parent{}
	}
	maps.Copy(d.parents, out)
	return out, nil
}

// Arrivals counts what would be new with what is.
func (d *dryLedger) Arrivals(ctx context.Context, job string, after int64, samples int) (trade.Arrivals, error) {
	a, err := d.Ledger.Arrivals(ctx, job, after, samples)
	a.Count += d.came.Count
	a.Samples = append(a.Samples, d.came.Samples...)
	a.Samples = a.Samples[:min(samples, len(a.Samples))]
	return a, err
}

// ReplaceReferences keeps the table for this run only.
func (d *dryLedger) ReplaceReferences(_ context.Context, kind string, codes map[string]string) (int, error) {
	if d.refs == nil {
		d.refs = map[string]map[string]string{}
	}
	d.refs[kind] = codes
	return 0, nil
}

// References gives the stored tables under those of this run. Their version is one that no entry has when a table that was read is another, so that everything is judged anew.
func (d *dryLedger) References(ctx context.Context) (map[string]map[string]string, string, error) {
	stored, version, err := d.Ledger.References(ctx)
	if err != nil {
		return nil, "", err
	}
	changed := false
	for kind, table := range d.refs {
		changed = changed || !maps.Equal(stored[kind], table)
		stored[kind] = table
	}
	if changed {
		version = fingerprint(version, d.refs)
	}
	return stored, version, nil
}

// Counts gives the states as they would be.
func (d *dryLedger) Counts(ctx context.Context, job string) ([]trade.Tally, error) {
	tallies, err := d.Ledger.Counts(ctx, job)
	if err != nil {
		return nil, err
	}
	for state, n := range d.states {
		tallies = append(tallies, trade.Tally{State: state, Count: n})
	}
	return tallies, nil
}
