// Deliveries compared with their contracts.

package reconcile

import "github.com/safrasync/safrasync/trade"

// delivered is how many kilograms were delivered on each contract, by its job and key.
type delivered map[trade.ParentKey]trade.Decimal

// over returns the divergence of a contract, and whether more was delivered than its tolerance allows.
func (d delivered) over(r *Row, t Tolerance) (Divergence, bool) {
	sum, some := d[trade.ParentKey{Job: r.Job, Key: r.Key}]
	grain, ok := weight(r.ERP)
	if !some || !ok || r.Sends != trade.OrderCommitments || !contracted(r.OrderType) || !r.counts() ||
		r.State == trade.Dismissed || sum.Cmp(t.most(grain)) <= 0 {
		return Divergence{}, false
	}
	return Divergence{OverDelivered, &grain, &sum, "kg", "", false}, true
}
