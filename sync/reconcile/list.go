// A list of rows as a file: its columns, with numbers, and their sums.

package reconcile

import (
	"errors"
	"maps"
	"slices"

	"github.com/safrasync/safrasync/trade"
)

var (
	listColumns = columnsOf(TextColumn.of("job"), CodeColumn.of("show", "key"), TextColumn.of("product"),
		DayColumn.of("day"), NumberColumn.of("t"), TextColumn.of("currency"), MoneyColumn.of("value"),
		TextColumn.of("state", "reason"), CodeColumn.of("remote_id"))
	sumColumns = columnsOf(TextColumn.of("job"), CountColumn.of("rows"), NumberColumn.of("t"),
		TextColumn.of("currency"), MoneyColumn.of("value"))
	missingColumns = columnsOf(CodeColumn.of("code", "name"), TextColumn.of("title"), CountColumn.of("rows"),
		NumberColumn.of("t"), TextColumn.of("currency"), MoneyColumn.of("value"), TimeColumn.of("since"))
)

// begin begins a file that has a heading.
func begin(o Options, h Heading, to Writer) *printer {
	w := maskingWriter{to}
	return &printer{Options: o, w: w, err: w.Begin(h)}
}

// Missing writes the codes without an id, with what each blocks. names are those of the codes.
func Missing(short []trade.Shortage, names []string, o Options, h Heading, to Writer) error {
	p := begin(o, h, to)
	p.section("missing", "", missingColumns)
	for i, s := range short {
		loads := s.Blocked
		if len(loads) == 0 {
			loads = s.Invalid // which have other errors beside
		}
		for _, pile := range trade.Piles {
			l := loads[pile]
			if l == nil {
				continue
			}
			title := pile.Kind.Plural(o.Lang)
			if pile.Fixing {
				title = p.text("fixations")
			}
			p.sums([]any{s.Code, names[i], title}, l.Rows, l.Kilograms, l.Values, s.Since)
		}
	}
	return errors.Join(p.err, p.w.End())
}

// sums writes what some rows come to, with a line more for each further currency, so that no column counts twice.
func (p *printer) sums(lead []any, rows int, kg trade.Decimal, values map[string]trade.Decimal, more ...any) {
	cells := append(slices.Clone(lead), rows, kg.Tonnes())
	currencies := slices.Sorted(maps.Keys(values))
	if len(currencies) == 0 {
		p.row(slices.Concat(cells, []any{nil, nil}, more)...)
	}
	for _, currency := range currencies {
		p.row(slices.Concat(cells, []any{currency, values[currency]}, more)...)
		cells = append(slices.Clone(lead), nil, nil)
	}
}

// List writes a list of rows, and the sums of each job. in has what a row adds to the number whose rows the list
// has; the others are whole. why returns why a row does not go.
func List(list []trade.Entry, o Options, h Heading, in Selected, why func(trade.Entry) string, to Writer) error {
	p := begin(o, h, to)
	p.section("list", "", listColumns)
	sums := map[string]trade.Sums{}
	for _, e := range list {
		l := e.Listing()
		is, counted := in.Each[trade.ParentKey{Job: e.Job, Key: e.Key}]
		if !counted {
			is = l.Sums()
		}
		var currency, value any
		for of, amount := range is.Values { // it has one
			currency, value = of, amount
		}
		p.row(o.job(e.Job), e.Shown, e.Key, l.Product, Day(l.Day.String()), is.Kilograms.Tonnes(), currency, value,
			Label{string(e.State), e.State.Label(o.Lang)}, inWords(why(e), o.Lang), e.RemoteID)
		of := sums[e.Job]
		of.Join(is)
		sums[e.Job] = of
	}
	p.section("sums", "", sumColumns)
	for _, job := range slices.Sorted(maps.Keys(sums)) {
		p.sums([]any{o.job(job)}, sums[job].Rows, sums[job].Kilograms, sums[job].Values)
	}
	return errors.Join(p.err, p.w.End())
}
