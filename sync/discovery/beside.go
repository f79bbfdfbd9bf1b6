// The rows that a sweep reads in addition to living documents, for the report.

package discovery

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// besideKeys is how many keys are listed for each kind.
const besideKeys = 20

// extraRows sums up the rows that a sweep reads in addition to living documents.
type extraRows map[trade.BesideKind]*trade.Beside

func (b extraRows) of(why trade.BesideKind) *trade.Beside {
	if b[why] == nil {
		b[why] = &trade.Beside{Why: why, Keys: []string{}}
	}
	return b[why]
}

func (b extraRows) name(why trade.BesideKind, key string) {
	if of := b.of(why); len(of.Keys) < besideKeys {
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
func (r *Discoverer) change(of *trade.Beside, values trade.Values, by func(*trade.Sums, trade.Figures)) {
	d := r.Run.Job.Mapping.Draft(mapping.ColumnsIn(values), r.Run.Eval.Refs, nil)
	f := d.Figures()
	by(&of.Sums, f)
	by(of.Of(d.Text("product"), d.Text("order_type")), f)
}

// leave counts a row that is not a living document.
func (p *pager) leave(why trade.BesideKind, key string, row erp.Row) {
	p.run.change(p.beside.of(why), p.run.Run.Job.Values(row.Get), (*trade.Sums).Add)
	p.beside.name(why, key)
}

// keyAsItIs returns the columns of a key that cannot be used, as text.
func (p *pager) keyAsItIs(row erp.Row) string {
	parts := make([]string, len(p.run.Run.Job.Spec.Key))
	for i, column := range p.run.Run.Job.Spec.Key {
		parts[i] = "NULL"
		if v, ok := row.Get(column); ok && v.Kind != 0 {
			parts[i] = mapping.PlainText(v)
		}
	}
	return strings.Join(parts, "|")
}

// leaveDoubles counts the additional rows of keys that occur more than once: all rows of the key,
// minus the row that the ledger has under it.
func (p *pager) leaveDoubles(ctx context.Context) error {
	r := p.run
	for keys := range slices.Chunk(slices.Sorted(maps.Keys(p.doubles)), run.PageSize) {
		entries, err := r.Run.EntriesOf(ctx, r.Run.Job.Name(), keys)
		if err != nil {
			return err
		}
		rows, err := r.Run.ReadAgain(ctx, r.Run.Job, entries)
		if err != nil {
			return err
		}
		found := run.ByKeyOf(r.Run.Job, rows)
		for _, e := range entries {
			living := r.Run.Job.Living(found[e.Key])
			if len(living) < 2 { // cured since it was read
				continue
			}
			of := p.beside.of(trade.BesideDouble)
			for _, row := range living {
				r.change(of, r.Run.Job.Values(row.Get), (*trade.Sums).Add)
			}
			r.change(of, e.Newest(), (*trade.Sums).Remove)
			p.beside.name(trade.BesideDouble, e.Key)
		}
	}
	return nil
}
