// The rows that are read in addition to living documents, for the report.

package discovery

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

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

// name lists a key, if it is one of the first in the order of keys.
func (b extraRows) name(why trade.BesideKind, key string) {
	of := b.of(why)
	of.Keys = append(of.Keys, key)
	slices.Sort(of.Keys)
	of.Keys = of.Keys[:min(len(of.Keys), maxListedKeys)]
}

// deliverySums are sums of deliveries that have the same contract: the first of these that the ledger has.
type deliverySums struct {
	of        *trade.Beside
	contracts []trade.ParentKey
	trade.Sums
}

// list returns the sums in the order of trade.BesideKinds, with the product of each delivery's contract.
func (r *Discoverer) list(ctx context.Context, b extraRows) ([]trade.Beside, error) {
	for _, d := range r.deliveries {
		product := ""
		for _, p := range d.contracts {
			entries, err := r.EntriesOf(ctx, p.Job, []string{p.Key})
			if err != nil {
				return nil, err
			}
			if len(entries) > 0 {
				product = r.Configured(p.Job).RowFields(entries[0].NewestValues(), r.Eval.Refs)["product"].Text
				break
			}
		}
		d.of.Of(product, "").Join(d.Sums)
	}
	clear(r.deliveries)
	out := []trade.Beside{}
	for _, why := range trade.BesideKinds {
		if one := b[why]; one != nil && one.Rows != 0 {
			slices.SortFunc(one.Products, func(x, y trade.ProductSums) int {
				return cmp.Or(strings.Compare(x.Product, y.Product), strings.Compare(x.OrderType, y.OrderType))
			})
			out = append(out, *one)
		}
	}
	return out, nil
}

// change adds or removes a row with the ERP's values, mapped as for sending.
func (r *Discoverer) change(of *trade.Beside, values trade.Values, by func(*trade.Sums, trade.Figures)) {
	columns := mapping.ColumnsIn(values)
	d := r.Job.Mapping.Draft(columns, r.Eval.Refs, nil)
	f := trade.FiguresOf(d.Sends, d.Text)
	by(&of.Sums, f)
	if r.Job.Spec.Sends != trade.Deliveries {
		by(of.Of(d.Text("product"), d.Text("order_type")), f)
		return
	}
	contracts := r.Job.Mapping.ParentKeys(nil, columns)
	at := fmt.Sprintf("%s %q", of.Why, contracts)
	if r.deliveries[at] == nil {
		r.deliveries[at] = &deliverySums{of: of, contracts: contracts}
	}
	by(&r.deliveries[at].Sums, f)
}

// leave counts a row that is not a living document.
func (p *pager) leave(why trade.BesideKind, key string, row *mapping.Row) {
	p.run.change(p.notLiving.of(why), row.Values(), (*trade.Sums).Add)
	p.notLiving.name(why, key)
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
