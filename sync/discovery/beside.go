// The rows that are read in addition to living documents, for the report.

package discovery

import (
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// maxListedKeys is how many keys are listed for each kind.
const maxListedKeys = 20

// extraRows sums up the rows that are read in addition to living documents.
type extraRows map[trade.BesideKind]*trade.Beside

// extraRowsOf returns sums that were stored.
func extraRowsOf(list []trade.Beside) extraRows {
	out := extraRows{}
	for _, one := range list {
		out[one.Why] = &one
	}
	return out
}

func (b extraRows) of(why trade.BesideKind) *trade.Beside {
	if b[why] == nil {
		b[why] = &trade.Beside{Why: why, Keys: []string{}}
	}
	return b[why]
}

func (b extraRows) name(why trade.BesideKind, key string) {
	if of := b.of(why); len(of.Keys) < maxListedKeys {
		of.Keys = append(of.Keys, key)
	}
}

// list returns the sums in the order of trade.BesideKinds.
func (b extraRows) list() []trade.Beside {
	out := []trade.Beside{}
	for _, why := range trade.BesideKinds {
		if one := b[why]; one != nil && one.Rows != 0 {
			out = append(out, *one)
		}
	}
	return out
}

// change adds or removes a row with the ERP's values, mapped as for sending.
func (r *Discoverer) change(of *trade.Beside, values trade.Values, by func(*trade.Sums, trade.Figures),
) *trade.ProductSums {
	columns := mapping.ColumnsIn(values)
	d := r.Job.Mapping.Draft(columns, r.Eval.Refs, nil)
	f := trade.FiguresOf(d.Sends, d.Text)
	var contract trade.ParentKey
	if parents := r.Job.Mapping.ParentKeys(nil, columns); len(parents) > 0 {
		contract = parents[0]
	}
	part := of.Of(d.Text("product"), d.Text("order_type"), contract)
	by(&of.Sums, f)
	by(&part.Sums, f)
	return part
}

// leave counts a row that is not a living document.
func (p *pager) leave(why trade.BesideKind, key string, row *mapping.Row) {
	part := p.run.change(p.outOfScope.of(why), row.Values(), (*trade.Sums).Add)
	if why == trade.BesideCancelled && part.Contract.Key == "" && len(part.Keys) < trade.BesideMost {
		part.Keys = append(part.Keys, key)
	}
	p.outOfScope.name(why, key)
}

// turn is a row that was sent and that the ERP has cancelled since, or no longer.
type turn struct {
	entry     trade.Entry // before
	now       trade.Values
	cancelled bool
}

func cancelledNow(e trade.Entry) bool {
	return e.Flags.Has(trade.Cancelled) || e.Acknowledged.Has(trade.Cancelled)
}
