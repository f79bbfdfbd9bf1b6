package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/shopspring/decimal"

	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

// troubles groups the rows of a kind that did not go. What hangs on a contract has the product of that contract.
func (r *demoRun) troubles(kind trade.Kind) []*trouble {
	t := newTroubles(r.jobs)
	t.grain = r.productOf
	for _, e := range r.kept(kind) {
		t.add(e)
	}
	return t.sorted()
}

// productOf is the product of a row, that of its contract where the row has none of its own; "" when the ledger does not know the contract.
func (r *demoRun) productOf(e trade.Entry) string {
	specs := newTroubles(r.jobs).specs
	if e.Sends == trade.OrderCommitments {
		return pending.ProductOf(e, specs[e.Job])
	}
	for _, rule := range trade.Rules(e.Sends) {
		for _, parent := range specs[e.Job].Fields[rule.Field].SentBy {
			for _, c := range r.entries {
				if c.Job == parent.Job && c.Key == pending.ERPText(e, specs[e.Job], rule.Field) {
					return pending.ProductOf(c, specs[c.Job])
				}
			}
		}
	}
	return ""
}

// demoChildSum is one line of the deliveries and shares that were sent.
type demoChildSum struct {
	product, unit string
	rows          map[trade.Kind]int
	volume        map[trade.Kind]decimal.Decimal
}

// sentChildren sums the deliveries and the shares, by the product of their contracts and by unit.
func (p *demoPrinter) sentChildren(run demoRun) {
	sums := map[string]*demoChildSum{}
	for _, kind := range []trade.Kind{trade.Deliveries, trade.Traceability} {
		for _, e := range run.of(kind, trade.Accepted) {
			product := run.productOf(e)
			key := product + " " + string(e.Quantity.Unit)
			if sums[key] == nil {
				sums[key] = &demoChildSum{product, string(e.Quantity.Unit), map[trade.Kind]int{}, map[trade.Kind]decimal.Decimal{}}
			}
			sums[key].rows[kind]++
			sums[key].volume[kind] = sums[key].volume[kind].Add(decimal.RequireFromString(e.Quantity.Amount.String()))
		}
	}
	fmt.Fprintln(p.out)
	t := p.newTable(demoChildrenHead...)
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		s := sums[key]
		row := table.Row{s.product, s.unit}
		if s.unit == "" {
			row[1] = p.text(demoNoUnit)
		}
		for _, kind := range []trade.Kind{trade.Deliveries, trade.Traceability} {
			row = append(row, p.number(decimal.NewFromInt(int64(s.rows[kind])), -1), p.number(s.volume[kind], -1))
		}
		t.AppendRow(row)
	}
	var right []table.ColumnConfig
	for n := 3; n <= 6; n++ {
		right = append(right, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	t.Render()
}
