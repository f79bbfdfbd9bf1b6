// The sections of a report that list rows.

package reconcile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// rows writes the rows of one kind.
func (p *printer) rows(kind trade.Kind, cells func(*Row) []any) {
	p.err = p.Snapshot.rows.each(kind, true, nil, func(r *Row) error {
		if r.After || r.Moved || !p.Filter.Match(r) {
			return nil
		}
		return p.w.Row(cells(r))
	})
}

func (p *printer) contract(r *Row) []any {
	sent := Figures{}
	if r.Sent != nil {
		sent = *r.Sent
	}
	currency := r.ERP.Currency
	if sent.Currency != "" && sent.Currency != currency {
		currency = strings.Trim(currency+" / "+sent.Currency, " /")
	}
	here, okHere := r.now().Value()
	there, okThere := sent.Value()
	var difference any
	if okHere && okThere && r.ERP.Currency == sent.Currency {
		difference = here.Sub(there)
	}
	money := []any{currency, number(r.ERP.Price), maybe(here, okHere), maybe(there, okThere), difference}
	return slices.Concat(p.lead(r), []any{r.OrderType, Day(r.Day)}, place(r), volumes(r), money, p.reading(r),
		p.stateCells(r), p.statusCells(r, trade.OrderCommitments))
}

func (p *printer) delivery(r *Row) []any {
	return slices.Concat(p.lead(r), []any{r.Contract, Day(r.Day)}, place(r), volumes(r), []any{r.CAR},
		p.stateCells(r))
}

func (p *printer) traceability(r *Row) []any {
	return slices.Concat(p.lead(r), []any{r.Contract}, place(r), volumes(r), p.stateCells(r),
		p.statusCells(r, trade.Traceability))
}

func place(r *Row) []any { return []any{r.Product, r.Harvest, r.Producer, r.Place, r.Wallet} }

func volumes(r *Row) []any {
	now := r.now()
	kg, ok := now.Kilograms()
	unit := now.Unit
	out := []any{string(unit), number(now.Amount), nil, maybe(kg, ok), nil, nil, sacasOf(now, kg, ok), nil}
	if r.Sent == nil {
		return out
	}
	sent, okSent := r.Sent.Kilograms()
	if unit != r.Sent.Unit && r.Sent.Unit != "" {
		out[0] = strings.Trim(string(unit)+" / "+string(r.Sent.Unit), " /")
	}
	out[2], out[4], out[7] = number(r.Sent.Amount), maybe(sent, okSent), sacasOf(*r.Sent, sent, okSent)
	if ok && okSent {
		out[5] = kg.Sub(sent)
	}
	return out
}

// sacasOf returns a weight in sacas: exactly, if the unit is the saca, else with four digits.
func sacasOf(f Figures, kg trade.Decimal, ok bool) any {
	if !ok {
		return nil
	}
	if f.Unit == trade.SC {
		return *f.Amount
	}
	return sacas(kg)
}

// sacasDigits is how many digits after the point sacas have that are computed from kilograms.
const sacasDigits = 4

func sacas(kg trade.Decimal) trade.Decimal {
	out, _ := kg.Sacas(sacasDigits)
	return out
}

func number(d *trade.Decimal) any {
	if d == nil {
		return nil
	}
	return *d
}

func maybe(d trade.Decimal, ok bool) any {
	if !ok {
		return nil
	}
	return d
}

// reading returns the cells with the platform's answer.
func (p *printer) reading(r *Row) []any {
	if r.Platform == nil {
		return []any{nil, nil, ""}
	}
	kg, ok := r.Platform.Kilograms()
	value, okValue := r.Platform.Value()
	text := Label{"read", ""}
	switch {
	case r.Platform.Found && !r.Platform.Unread:
		text.Text = sentence("yes", p.Lang)
	case r.Platform.Fault == notFound:
		text = Label{"not_found", sentence("not found", p.Lang)}
	default:
		text = Label{"unreadable", strings.TrimSpace(sentence("could not be read", p.Lang) + " " + r.Platform.Fault)}
	}
	return []any{maybe(kg, ok), maybe(value, okValue), text}
}

// stateCells returns the cells with the state of a row and its reason.
func (p *printer) stateCells(r *Row) []any {
	flags := trade.Map(r.Flags, func(f trade.Flag) string { return f.Label(p.Lang) })
	codes := trade.Map(r.Flags, func(f trade.Flag) string { return string(f) })
	reason, who := p.reason(r)
	var at any
	if r.SentAt != nil {
		at = *r.SentAt
	}
	by := ""
	if r.State == trade.Accepted {
		by = cmp.Or(r.By, sentence("safrasync (automatic)", p.Lang))
	}
	return []any{
		p.stateLabel(r),
		Label{strings.Join(codes, ","), strings.Join(flags, ", ")},
		reason, who, at, by,
	}
}

func (p *printer) stateLabel(r *Row) Label {
	return Label{string(r.State), r.State.Label(p.Lang)}
}

// reason returns why a row is not on the platform, and who resolves it.
func (p *printer) reason(r *Row) (text, who string) {
	if r.State == trade.Accepted {
		for _, f := range r.Flags {
			if a := trade.ExplainFlag(f, p.Lang); a.Fixer != trade.FixNobody {
				return a.What, a.Who
			}
		}
		return "", ""
	}
	a := trade.ExplainEntry(r.Entry(), p.Lang)
	if r.State == trade.Invalid && r.Error != nil {
		return trade.Sentences(r.Error.Fields, p.Lang), a.Who
	}
	return a.What, a.Who
}

// totals writes the totals, one line for each currency. Only the first of them has the weights, so
// that no column of a sheet counts twice.
func (p *printer) totals() {
	for _, t := range p.sum.Totals {
		if !among(p.By, t.By) {
			continue
		}
		currencies := t.Currencies()
		if len(currencies) == 0 {
			currencies = []string{""}
		}
		for i, currency := range currencies {
			row := []any{p.label("by.", string(t.By)), t.Name, t.Product}
			weights := []any{
				t.Contracted, sacas(t.Contracted), t.Delivered, sacas(t.Delivered), t.ToDeliver(), sacas(t.ToDeliver()),
				t.Fixed, sacas(t.Fixed), t.Deposit, t.ToFix, sacas(t.ToFix),
			}
			more := []any{
				t.Sent.Contracted, t.Sent.Delivered, t.Sent.Fixed, t.Dismissed, t.Rows,
				t.Unweighed, t.Unpriced,
			}
			if i > 0 {
				weights, more = make([]any, len(weights)), make([]any, len(more))
			}
			row = append(append(row, weights...), currency, nil, nil)
			if currency != "" {
				row[len(row)-2], row[len(row)-1] = t.Values[currency], t.Sent.Values[currency]
			}
			p.row(append(row, more...)...)
		}
	}
}

// divergences writes the differences.
func (p *printer) divergences() {
	for _, kind := range trade.Kinds {
		if p.err != nil || len(p.sum.differing[kind]) == 0 {
			continue
		}
		p.err = p.Snapshot.rows.each(kind, true, p.sum.differing[kind], func(r *Row) error {
			list := divergencesOf(r, p.Tolerance)
			if over, more := p.sum.delivered.over(r, p.Tolerance); more {
				list = append(list, over)
			}
			for _, d := range list {
				dealt := Label{"", ""}
				if d.Acknowledged {
					dealt = Label{"acknowledged", sentence("resolved (see Exceptions)", p.Lang)}
				}
				p.row(append(p.lead(r), p.label("divergence.", string(d.Kind)), number(d.Here), number(d.Then),
					number(d.Difference()), d.Unit, d.Note, r.Product, r.Harvest, r.Producer, dealt)...)
			}
			return p.err
		})
	}
}

// exceptions writes people's decisions.
func (p *printer) exceptions() {
	for _, a := range p.Head.Acts {
		job, key, _ := strings.Cut(a.Target, " ")
		f, day := p.Filter, trade.DateOf(a.At.In(p.zone))
		if !f.From.IsZero() && day.Before(f.From) || !f.To.IsZero() && f.To.Before(day) || !among(f.Jobs, job) {
			continue
		}
		who, reason := a.Who, cmp.Or(a.Reason, a.Why.In(p.Lang, p.zone))
		if a.Target == "" { // retention has removed who, what and why
			who, reason = sentence("(no longer kept)", p.Lang), sentence("(no longer kept)", p.Lang)
		}
		label := func(state string) any {
			if state == "" {
				return nil
			}
			return Label{state, trade.State(state).Label(p.Lang)}
		}
		name := Label{a.Act, i18n.Report.Find(p.Lang, "act."+a.Act)}
		p.row(a.At, who, name, p.job(job), key, reason, label(a.Before), label(a.After), int(a.Seq))
	}
}

// messages writes the message keys that the platform answered.
func (p *printer) messages() {
	for _, m := range p.Head.Messages {
		a := trade.Explain(trade.Rejected, m.Key, p.Lang)
		known := Label{"false", sentence("no", p.Lang)}
		if trade.KnowsMessage(m.Key) {
			known = Label{"true", sentence("yes", p.Lang)}
		}
		p.row(m.Key, m.Count, m.Last, known, a.What, a.Who)
	}
}

// statuses are the statuses that a report shows for the rows of each kind, in the order of its
// columns.
var statuses = map[trade.Kind][]trade.ReportedStatus{
	trade.OrderCommitments: {trade.Workflow, trade.ProducerESG},
	trade.Traceability:     {trade.ProducerESG, trade.FarmESG},
}

// statusCells returns the cells of the statuses of a kind: each status, and when it was reported.
func (p *printer) statusCells(r *Row, kind trade.Kind) []any {
	var out []any
	for _, status := range statuses[kind] {
		told, ok := r.Told[status]
		switch {
		case !ok:
			out = append(out, nil, nil)
		case told.Word == "":
			out = append(out, Label{"", sentence("changed; the event does not give the new status", p.Lang)}, told.At)
		default:
			out = append(out, told.Word, told.At)
		}
	}
	return out
}

// statusColumns returns the columns of these cells.
func statusColumns(kind trade.Kind) []column {
	var out []column
	for _, status := range statuses[kind] {
		title := "status." + string(status)
		out = append(out, column{string(status), title, TextColumn},
			column{string(status) + "_at", title + ".at", TimeColumn})
	}
	return out
}
