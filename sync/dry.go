package sync

import (
	"context"
	"maps"

	"github.com/safrasync/safrasync/trade"
)

// dryLedger is a ledger that cannot write: what a dry run would store is only counted. It has no way to send, because sending needs a lease and an intent.
type dryLedger struct {
	Ledger
	states map[trade.State]int          // change of each state's count
	refs   map[string]map[string]string // tables read from the ERP in this run
	judged map[int64]bool               // entries whose change is counted
	fresh  map[keyHash]trade.State      // rows that the ledger does not have

	planned func(trade.Entry) // is told of each row; may be nil
}

// Record counts what would be stored.
func (d *dryLedger) Record(_ context.Context, _ trade.Lease, page trade.Page) (int, error) {
	for _, e := range page.New {
		d.states[e.State]++
		d.fresh[hashKey(e.Key)] = e.State
		d.tell(e)
	}
	for _, u := range page.Updates {
		if d.judged[u.Entry.ID] {
			continue // read from the ERP in this run already; what the ledger has of it is older
		}
		d.judged[u.Entry.ID] = true
		d.states[u.From]--
		d.states[u.Entry.State]++
		d.tell(u.Entry)
	}
	return 0, nil
}

// holdDouble counts a new row as held, because its key stands twice.
func (d *dryLedger) holdDouble(entry trade.Entry) {
	if state, ok := d.fresh[hashKey(entry.Key)]; ok {
		d.states[state]--
		d.states[trade.Held]++
		d.tell(entry)
	}
}

func (d *dryLedger) tell(e trade.Entry) {
	if d.planned != nil {
		d.planned(e)
	}
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
