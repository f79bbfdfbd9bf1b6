package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Overview is a whole report for those who show no rows.
type Overview struct {
	Summaries   []Summary
	Totals      []Total
	Divergences int
	Selected    int // rows of the sections
	Undated     int // of them without a readable day

	First string // day of the earliest document of all that is right; "" = there is none
}

// Overview sums a snapshot up.
func (s *Snapshot) Overview(o Options) (Overview, error) {
	v, on, err := s.aggregate(o)
	return v, errors.Join(err, on.close())
}

// aggregate sums up, and holds deliveries against their contracts. The caller closes what it gives, with an error too.
func (s *Snapshot) aggregate(o Options) (Overview, *delivered, error) {
	sums, totals, on := newSummaries(s.Head), totals{}, newDelivered(s, o.Tolerance)
	var v Overview
	err := s.Each(func(r *Row) error {
		sums.add(r)
		if r.Day != "" && r.State != trade.Invalid && (v.First == "" || r.Day < v.First) {
			v.First = r.Day
		}
		selected := o.Filter.Match(r)
		if err := on.add(r, selected); err != nil {
			return err
		}
		if r.After || !selected {
			return nil
		}
		v.Selected++
		if r.Day == "" {
			v.Undated++
		}
		totals.add(r)
		for _, d := range divergencesOf(r, o.Tolerance) {
			if !d.Acknowledged {
				v.Divergences++
			}
		}
		return nil
	})
	v.Summaries, v.Totals = sums.done(), totals.sorted()
	if err == nil {
		var over int
		over, err = on.sum()
		v.Divergences += over
	}
	return v, on, err
}

// Report writes a report. Rows are read from the snapshot as often as there are sections of them: memory does not grow with their number.
func (s *Snapshot) Report(o Options, w Writer) (v Overview, err error) {
	v, on, err := s.aggregate(o)
	defer func() { err = errors.Join(err, on.close()) }()
	if err != nil {
		return v, err
	}
	w = maskingWriter{w}
	p := &printer{s, o, w, on}
	if err := w.Begin(p.heading()); err != nil {
		return v, err
	}
	for _, step := range []struct {
		id      SectionID
		columns []column
		write   func() error
	}{
		{SummarySection, summaryColumns, func() error { return p.summary(v.Summaries) }},
		{BridgeSection, bridgeColumns, func() error { return p.bridge(v.Summaries) }},
		{TotalsSection, totalsColumns, func() error { return p.totals(v.Totals) }},
		{ContractsSection, contractsColumns, func() error { return p.rows(trade.OrderCommitments, p.contract) }},
		{DeliveriesSection, deliveriesColumns, func() error { return p.rows(trade.Deliveries, p.delivery) }},
		{TraceabilitySection, traceabilityColumns, func() error { return p.rows(trade.Traceability, p.traceability) }},
		{DivergencesSection, divergencesColumns, p.divergences},
		{ExceptionsSection, exceptionsColumns, p.exceptions},
		{MessagesSection, messagesColumns, p.messages},
	} {
		if !o.has(step.id) {
			continue
		}
		note := sectionNotes[step.id].in(o.Lang)
		if step.id == DivergencesSection {
			note = fmt.Sprintf(note, decimalText(o.Tolerance.Kilograms, o.Lang), decimalText(o.Tolerance.Value, o.Lang), decimalText(o.Tolerance.Contract, o.Lang))
		}
		if err := w.Section(Section{step.id, sectionTitles[step.id].in(o.Lang), note, columnsIn(o.Lang, step.columns)}); err != nil {
			return v, err
		}
		if err := step.write(); err != nil {
			return v, err
		}
	}
	return v, w.End()
}

// printer writes the sections of one report.
type printer struct {
	*Snapshot
	Options
	w  Writer
	on *delivered
}

func (p *printer) say(f phrase, args ...any) string { return fmt.Sprintf(f.in(p.Lang), args...) }

// heading says in words what the numbers are.
func (p *printer) heading() Heading {
	h := p.Head
	var lines []string
	say := func(f phrase, args ...any) { lines = append(lines, p.say(f, args...)) }
	if h.Name != "" {
		say(lineName, h.Name)
	}
	switch h.Kind {
	case ClosedKind:
		say(lineClosed, dayText(h.Day, p.Lang), momentText(h.Closed.At, p.zone, p.Lang), h.Closed.Who, h.Closed.Reason)
		say(lineHash, h.Closed.Audit, h.Closed.Hash)
	case DerivedKind:
		say(lineDerived, dayText(h.Day, p.Lang), h.Rows-h.Derived-h.Unknown, h.Rows, h.Derived, h.Unknown)
	default:
		say(lineNow, momentText(h.At, p.zone, p.Lang), h.Zone)
	}
	if h.Day != "" {
		say(lineDay, dayText(h.Day, p.Lang))
	}
	if f := p.Filter; !f.From.IsZero() || !f.To.IsZero() {
		from, to := lineBegin.in(p.Lang), lineEnd.in(p.Lang)
		if !f.From.IsZero() {
			from = dayText(f.From.String(), p.Lang)
		}
		if !f.To.IsZero() {
			to = dayText(f.To.String(), p.Lang)
		}
		say(linePeriod, from, to)
	}
	if text := p.Filter.text(p.Lang); text != "" {
		say(lineFilter, text)
	}
	if h.Reduced > 0 {
		say(lineReduced, h.Reduced)
	}
	if h.Asked != nil {
		say(lineAsked, h.Asked.Contracts, h.Asked.NotFound, h.Asked.Unreadable)
	}
	say(lineReport, h.ID, h.Program)
	say(lineDocument)
	return Heading{Title: titleReport.in(p.Lang), Lines: lines, Head: h, Lang: p.Lang, Zone: p.zone}
}

// text says what is selected beside the period; "" when everything is.
func (f Filter) text(lang trade.Lang) string {
	var parts []string
	add := func(what phrase, list []string) {
		if len(list) > 0 {
			parts = append(parts, what.in(lang)+" "+strings.Join(list, ", "))
		}
	}
	add(columnJob.title, f.Jobs)
	add(phrase{"safra", "harvest"}, f.Harvests)
	add(phrase{"produto", "product"}, f.Products)
	add(phrase{"filial", "branch"}, f.Branches)
	add(phrase{"produtor", "producer"}, f.Producers)
	add(phrase{"local de entrega", "delivery place"}, f.Places)
	add(phrase{"carteira", "wallet"}, f.Wallets)
	var states []string
	for _, s := range f.States {
		states = append(states, s.Label(lang))
	}
	add(phrase{"situação", "state"}, states)
	return strings.Join(parts, "; ")
}

// splitTarget takes the target of an act on a row apart.
func splitTarget(target string) (job, key string) {
	job, key, _ = strings.Cut(target, " ")
	return job, key
}

func dayText(day string, lang trade.Lang) string {
	if t, err := time.Parse(time.DateOnly, day); err == nil && lang != trade.English {
		return t.Format("02/01/2006")
	}
	return day
}

func momentText(at time.Time, zone *time.Location, lang trade.Lang) string {
	if lang == trade.English {
		return at.In(zone).Format("2006-01-02 15:04")
	}
	return at.In(zone).Format("02/01/2006 15:04")
}

// decimalText writes a number as people of the language do, without separators of thousands.
func decimalText(d trade.Decimal, lang trade.Lang) string {
	if lang == trade.English {
		return d.String()
	}
	return strings.Replace(d.String(), ".", ",", 1)
}

// summaryOrder are the states as the summary lists them.
var summaryOrder = []trade.State{
	trade.Accepted, trade.Waiting, trade.Pending, trade.Sending, trade.Invalid, trade.Rejected, trade.InDoubt, trade.Held, trade.Dismissed, trade.Withdrawn,
}

var subCounts = []trade.Flag{trade.Changed, trade.MissingInERP, trade.Cancelled, trade.Forced, trade.EchoDiffers, trade.DoubleAfterDecision, trade.Contradicted, trade.DeletedRemote}

// summary writes the equation of each job, line by line.
func (p *printer) summary(list []Summary) error {
	roles := map[string]phrase{"total": {"total", "total"}, "summand": {"parcela", "summand"}, "of_which": {"das quais", "of which"}, "proof": {"prova", "proof"}, "outside": {"fora da conta", "not in the sum"}}
	for _, s := range list {
		line := func(id string, words phrase, n any, role string) error {
			return p.w.Row([]any{s.Job, Label{string(s.Sends), s.Sends.Plural(p.Lang)}, Label{id, words.in(p.Lang)}, n, Label{role, roles[role].in(p.Lang)}})
		}
		var err error
		add := func(id string, words phrase, n any, role string) {
			if err == nil {
				err = line(id, words, n, role)
			}
		}
		if s.InScope != nil {
			add("in_erp", summaryWords["in_erp"], *s.InScope, "total")
		} else {
			add("in_erp", summaryWords["in_erp"], nil, "total")
		}
		for _, state := range summaryOrder {
			if n := s.States[state]; n > 0 || slices.Contains([]trade.State{trade.Accepted, trade.Waiting, trade.Invalid, trade.Rejected, trade.InDoubt, trade.Dismissed}, state) {
				add(string(state), summaryStates[state], n, "summand")
			}
		}
		for _, extra := range []struct {
			id string
			n  int
		}{{"unknown", s.Unknown}, {"moved", s.Moved}, {"after", s.After}} {
			if extra.n > 0 {
				add(extra.id, summaryWords[extra.id], extra.n, "summand")
			}
		}
		add("sum", summaryWords["sum"], s.Sum(), "total")
		if d := s.Difference(); d != nil {
			add("difference", summaryWords["difference"], *d, "proof")
		} else {
			add("difference", summaryWords["no_sweep"], nil, "proof")
		}
		for _, f := range subCounts {
			if n := s.Flags[f]; n > 0 || f == trade.Changed {
				add("flag:"+string(f), phrase{f.Label(trade.Portuguese), f.Label(trade.English)}, n, "of_which")
			}
		}
		if s.Gone > 0 {
			add("gone", summaryWords["gone"], s.Gone, "outside")
			for _, state := range summaryOrder {
				if n := s.GoneStates[state]; n > 0 {
					add("gone:"+string(state), summaryStates[state], n, "outside")
				}
			}
			if s.GoneMoved > 0 {
				add("gone:moved", summaryWords["gone_moved"], s.GoneMoved, "outside")
			}
		}
		if s.Unreadable > 0 {
			add("unreadable", summaryWords["unreadable"], s.Unreadable, "outside")
		}
		if err != nil {
			return err
		}
	}
	return nil
}
