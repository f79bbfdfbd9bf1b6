// What changed in the ERP, or on the platform, after rows were sent.

package office

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// ChangedRow is a row that changed after it was sent.
type ChangedRow struct {
	ID       int64
	Job, Key string
	Version  int64
	May      bool // a person may acknowledge it
	Effect   Effect
	Lines    []ChangedLine // at least one
}

// ChangedLine is one field of a row that changed, or what else became of it.
type ChangedLine struct {
	Of        ChangedGroup
	Sent, Now *string // in the API's form; nil: absent, or not a field
	Effect    Effect  // of this field alone. Those of a row add up to that of the row
}

// ChangedGroup is what lines have in common: one of its parts is set.
type ChangedGroup struct {
	Field  string     // of the API
	Column string     // of the ERP, if no field alone comes of it; several joined with commas
	Flag   trade.Flag // if it is about the row as a whole
}

// String returns the group as an address has it.
func (g ChangedGroup) String() string {
	switch {
	case g.Flag != "":
		return "flag:" + string(g.Flag)
	case g.Column != "":
		return "column:" + g.Column
	}
	return g.Field
}

// ChangedSums are sums of rows, or of lines, that changed: of the differences.
type ChangedSums struct {
	trade.Sums
	Of    ChangedGroup // of the lines; zero: of rows
	May   int          // rows that a person may acknowledge
	Apart int          // rows whose values cannot be compared
}

// Add counts a row.
func (s *ChangedSums) Add(row ChangedRow, e Effect) {
	adds := trade.Sums{Rows: 1, Kilograms: e.Weight}
	if e.Valued {
		adds.Values = map[string]trade.Decimal{e.Currency: e.Value}
	}
	s.Join(adds)
	if row.May {
		s.May++
	}
	if e.Apart {
		s.Apart++
	}
}

// ChangedGroups returns the sums of each group of rows, the most frequent first; last those whose key has
// another document.
func ChangedGroups(rows []ChangedRow) (out []ChangedSums) {
	for _, row := range rows {
		for _, line := range row.Lines {
			i := slices.IndexFunc(out, func(s ChangedSums) bool { return s.Of == line.Of })
			if i < 0 {
				i, out = len(out), append(out, ChangedSums{Of: line.Of})
			}
			out[i].Add(row, line.Effect)
		}
	}
	slices.SortStableFunc(out, func(a, b ChangedSums) int {
		switch trade.Replaced {
		case a.Of.Flag:
			return 1
		case b.Of.Flag:
			return -1
		}
		return cmp.Compare(b.Rows, a.Rows)
	})
	return out
}

// Effect is a change in weight and in money.
type Effect struct {
	Sent     trade.Decimal // kilograms
	Now      trade.Decimal
	Weight   trade.Decimal // difference; negative: less now
	Valued   bool
	Currency string
	Value    trade.Decimal // difference
	Apart    bool          // there is a value in one of them alone, or in another currency
}

// changedPage is how many rows are read at a time.
const changedPage = 500

// ChangedRows returns the rows with one of some flags, the oldest first, and where each of them differs
// from what was sent. many reports that these are the first MaxRowsPerAct of more.
func (o *Office) ChangedRows(ctx context.Context, flags []trade.Flag) (rows []ChangedRow, many bool, err error) {
	refs, err := run.Codes(ctx, o.store)
	if err != nil {
		return nil, false, err
	}
	q := trade.RowQuery{States: trade.ChangedIn, Flags: flags, Sort: trade.OldestFirst, Limit: changedPage}
	for {
		page, err := o.store.RowPage(ctx, q)
		if err != nil {
			return nil, false, err
		}
		differences, err := run.Differences(ctx, o.store, o.jobNamed, page.Rows, refs)
		if err != nil {
			return nil, false, err
		}
		for i, e := range page.Rows {
			if len(flags) == 1 && e.Flags.Hides(flags[0]) {
				continue
			}
			if len(rows) == MaxRowsPerAct {
				return rows, true, nil
			}
			row := o.changedRow(e, differences[i], refs)
			row.May = slices.Contains(trade.AcknowledgedIn, e.State) && !e.Flags.Has(trade.Replaced)
			if e.Flags.Has(trade.Replaced) { // a person says of each by itself which document it is
				row.Lines = []ChangedLine{{Of: ChangedGroup{Flag: trade.Replaced}, Effect: row.Effect}}
			}
			rows = append(rows, row)
		}
		if page.Next == "" {
			return rows, false, nil
		}
		q.After = page.Next
	}
}

func (o *Office) changedRow(e trade.Entry, differences []trade.Difference, refs mapping.Codes) ChangedRow {
	out := ChangedRow{ID: e.ID, Job: e.Job, Key: e.Key, Version: e.Version}
	sent := mapping.SentTexts(e)
	for _, flag := range trade.AcknowledgedByAct {
		if e.Flags.Has(flag) && flag != trade.Changed && flag != trade.Recoded {
			out.Lines = append(out.Lines, ChangedLine{Of: ChangedGroup{Flag: flag}})
		}
	}
	if goneFromERP(e) { // whatever its fields were then
		out.Effect = effectOf(e, sent, sent)
		i := slices.IndexFunc(out.Lines, func(l ChangedLine) bool {
			return l.Of.Flag == trade.MissingInERP || l.Of.Flag == trade.Cancelled
		})
		out.Lines[i].Effect = out.Effect
		return out
	}
	var fields []ChangedLine // in the order of the API
	for _, d := range differences {
		of := ChangedGroup{Field: d.Field}
		if d.Field == "" {
			of.Column = strings.Join(d.Columns, ", ")
		}
		fields = append(fields, ChangedLine{Of: of, Sent: d.Sent, Now: d.Now})
	}
	if job, spec := o.job(e.Job); job != nil && e.Flags.Has(trade.Recoded) {
		mapped := job.RowFields(e.NewestValues(), refs)
		for _, rule := range trade.Rules(e.Sends) { // also those of which only the de-para is another one now
			now, was := mapped[rule.Field].Text, sent[rule.Field]
			known := slices.ContainsFunc(fields, func(l ChangedLine) bool { return l.Of.Field == rule.Field })
			if spec.Fields[rule.Field].Ref != "" && !known && was != nil && now != "" && now != *was {
				fields = append(fields, ChangedLine{Of: ChangedGroup{Field: rule.Field}, Sent: was, Now: &now})
			}
		}
	}
	now := maps.Clone(sent)
	for _, line := range fields {
		if line.Of.Field != "" {
			now[line.Of.Field] = line.Now
		}
	}
	out.Effect = effectOf(e, sent, now)
	now = maps.Clone(sent) // then field by field, from what was sent to what there is now
	for _, line := range fields {
		if line.Of.Field != "" {
			before := maps.Clone(now)
			now[line.Of.Field] = line.Now
			line.Effect = effectOf(e, before, now)
			if out.Effect.Apart { // so that they do not add up to anything
				line.Effect.Valued, line.Effect.Apart = false, true
			}
		}
		out.Lines = append(out.Lines, line)
	}
	if len(out.Lines) == 0 {
		flag := trade.Changed
		if !e.Flags.Has(flag) {
			flag = trade.Recoded
		}
		out.Lines = []ChangedLine{{Of: ChangedGroup{Flag: flag}}}
	}
	return out
}

// goneFromERP reports whether the ERP has a row no more, or cancelled it: then there is nothing of it now.
func goneFromERP(e trade.Entry) bool {
	return e.Flags.Has(trade.MissingInERP) || e.Flags.Has(trade.Cancelled)
}

// effectOf compares exactly two versions of the fields of a row. What is gone is now zero.
func effectOf(entry trade.Entry, sent, now map[string]*string) Effect {
	var e Effect
	was, is := figuresFrom(entry.Sends, sent), figuresFrom(entry.Sends, now)
	a, okA := was.Kilograms()
	b, okB := is.Kilograms()
	if goneFromERP(entry) {
		b, okB = trade.Decimal{}, true
	}
	if okA && okB {
		e.Sent, e.Now, e.Weight = a, b, b.Sub(a)
	}
	from, okFrom := was.Value()
	to, okTo := is.Value()
	switch {
	case goneFromERP(entry) && okFrom:
		e.Valued, e.Currency, e.Value = true, was.Currency, from.Neg()
	case okFrom != okTo, okFrom && was.Currency != is.Currency:
		e.Apart = true
	case okFrom && okTo:
		e.Valued, e.Currency, e.Value = true, was.Currency, to.Sub(from)
	}
	return e
}

// AskedQuantity is the quantity of a row as the platform was asked for it: the ERP may have another one
// now.
func AskedQuantity(e trade.Entry) trade.Quantity {
	if !e.State.MayBeOnPlatform() {
		return e.Quantity
	}
	e.Now = nil
	return e.Listing().Quantity
}

// figuresFrom returns quantity and price of a row as far as its fields have them.
func figuresFrom(sends trade.Kind, fields map[string]*string) trade.Figures {
	return trade.FiguresOf(sends, func(field string) string {
		if text := fields[field]; text != nil {
			return *text
		}
		return ""
	})
}
