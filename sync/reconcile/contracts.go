// What deliveries and traceability records take over from their contracts.

package reconcile

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/trade"
)

// contractsMost is how many contracts are in memory. Those of later pages are often those of
// earlier ones.
const contractsMost = 20_000

// contracts finds contracts by their keys and platform ids in the ledger, page by page.
type contracts struct {
	byKey map[trade.ParentKey]*contract // nil = the ledger has no such contract
	byID  map[string]*contract
}

// contract is what is needed of a contract.
type contract struct {
	trade.ParentKey
	Document
}

// need are the contracts that a row may belong to: one with one of the keys, else the one with the id.
type need struct {
	parents  []trade.ParentKey
	id, sent string // in its canonical form, and as it was sent; "" = none
}

// find looks up the contracts that a page of rows needs.
func (t *taker) find(needs []need) error {
	if len(t.contracts.byKey)+len(t.contracts.byID) > contractsMost {
		t.contracts = contracts{map[trade.ParentKey]*contract{}, map[string]*contract{}}
	}
	keys := map[string][]string{} // by job
	var ids []string
	for _, n := range needs {
		for _, p := range n.parents {
			if _, known := t.contracts.byKey[p]; !known {
				t.contracts.byKey[p] = nil
				keys[p.Job] = append(keys[p.Job], p.Key)
			}
		}
		if _, known := t.contracts.byID[n.id]; n.id != "" && !known {
			t.contracts.byID[n.id] = nil
			ids = append(ids, n.id, n.sent)
		}
	}
	var found []int64
	for job, list := range keys {
		known, err := t.Ledger.Known(t.ctx, job, list)
		if err != nil {
			return err
		}
		for _, k := range known {
			found = append(found, k.ID)
		}
	}
	if len(found) > 0 {
		entries, err := t.Ledger.Entries(t.ctx, found)
		if err != nil {
			return err
		}
		for _, e := range entries {
			t.contracts.byKey[trade.ParentKey{Job: e.Job, Key: e.Key}] = t.contract(e)
		}
	}
	if len(ids) > 0 {
		entries, err := t.Ledger.EntriesWith(t.ctx, trade.OrderCommitments, ids)
		if err != nil {
			return err
		}
		for _, e := range entries { // the newest comes last
			if id, err := uuid.Parse(e.RemoteID); err == nil {
				t.contracts.byID[id.String()] = t.contract(e)
			}
		}
	}
	return nil
}

// contract returns what is needed of an entry; nil if it is no contract.
func (t *taker) contract(e trade.Entry) *contract {
	if e.Sends != trade.OrderCommitments {
		return nil
	}
	var r Row
	t.facts(&r, e, trade.SentFields(e.Payload))
	return &contract{trade.ParentKey{Job: e.Job, Key: e.Key}, r.Document}
}

// inherit copies the contract's data to a delivery or traceability record.
func (c contracts) inherit(r *Row, n need) {
	of := c.byID[n.id]
	for _, p := range slices.Backward(n.parents) { // the first one that the ledger has counts
		of = cmp.Or(c.byKey[p], of)
	}
	if of == nil { // the ledger has none
		if len(n.parents) > 0 {
			r.Parent, r.Contract = n.parents[0].Job, n.parents[0].Key
		}
		return
	}
	r.Parent, r.Contract = of.Job, of.Key
	r.Product, r.Harvest = of.Product, of.Harvest
	r.Place, r.Wallet = of.Place, of.Wallet
	r.Producer = cmp.Or(r.Producer, of.Producer)
	if r.Sends == trade.Traceability {
		r.Day = of.Day
	}
}
