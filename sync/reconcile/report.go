// The sections of a report in their order.

package reconcile

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// Overview is the sums of a report, without its rows.
type Overview struct {
	Summaries   []Summary
	Totals      []Total
	Accounts    []Account
	Divergences int
	Selected    int // rows in the sections

	First string // day of the earliest document that is not invalid; "" if there is none
}

// sums are what the rows of a selection add up to.
type sums struct {
	Overview
	filter    Filter
	tolerance Tolerance
	delivered delivered              // on the contracts on which too much was
	differing map[trade.Kind][]int64 // the numbers of the rows with divergences, in their order
}

// Overview returns the sums of a snapshot.
func (s *Snapshot) Overview(o Options) (Overview, error) {
	v, err := s.sum(o)
	if err != nil {
		return Overview{}, err
	}
	return v.Overview, nil
}

// sum returns the sums of what the options select, and fills in the counts of the head. It goes
// through the rows once, and not again for the same selection. Deliveries come first, so that only
// their sums must be held to see on which contracts too much was delivered.
func (s *Snapshot) sum(o Options) (*sums, error) {
	if s.sums != nil && reflect.DeepEqual(s.sums.filter, o.Filter) && s.sums.tolerance == o.Tolerance {
		return s.sums, nil
	}
	out := &sums{filter: o.Filter, tolerance: o.Tolerance, delivered: delivered{}, differing: map[trade.Kind][]int64{}}
	for _, j := range s.Head.Jobs {
		out.Summaries = append(out.Summaries, Summary{
			Job: j.Job, Sends: j.Sends, Unreadable: j.Unreadable, Read: j.Read, Beside: j.Beside, SweptAt: j.SweptAt,
			States: map[trade.State]int{}, Flags: map[trade.Flag]int{}, GoneStates: map[trade.State]int{},
		})
	}
	since := make([]int, len(s.Head.Jobs)) // rows since the last complete sweep
	totals, accounts := totals{}, accounts{}
	read, counts := 0, s.counts && s.sums == nil
	for _, kind := range []trade.Kind{trade.Deliveries, trade.OrderCommitments, trade.Traceability} {
		over := delivered{}
		err := s.rows.each(kind, false, nil, func(r *Row) error {
			read++
			if s.progress != nil && read%takePage == 0 {
				s.progress(read, false)
			}
			job := slices.IndexFunc(s.Head.Jobs, func(j JobHead) bool { return j.Job == r.Job })
			if job >= 0 {
				out.Summaries[job].add(r)
				if r.Since {
					since[job]++
				}
			}
			if counts {
				s.Head.Rows++
				if job >= 0 {
					s.Head.Jobs[job].Rows++
				}
				if r.Reduced {
					s.Head.Reduced++
				}
				if r.Platform != nil {
					s.Head.Asked.Contracts++
					switch {
					case r.Platform.Fault == notFound:
						s.Head.Asked.NotFound++
					case !r.Platform.Found, r.Platform.Unread:
						s.Head.Asked.Unreadable++
					}
				}
			}
			if r.Day != "" && r.State != trade.Invalid && (out.First == "" || r.Day < out.First) {
				out.First = r.Day
			}
			kg, ok := weight(r.ERP)
			if r.Sends == trade.Deliveries && r.Contract != "" && ok && r.counts() && r.State != trade.Dismissed {
				of := trade.ParentKey{Job: r.Parent, Key: r.Contract}
				out.delivered[of] = out.delivered[of].Add(kg)
			}
			d, more := out.delivered.over(r, o.Tolerance)
			if more {
				over[trade.ParentKey{Job: r.Job, Key: r.Key}] = *d.Then
			}
			if o.Filter.Match(r) {
				for _, p := range r.parts() {
					of := accounts.of(p.AccountKey)
					of.Read, of.Sent = of.Read.Add(p.read), of.Sent.Add(p.sent)
					if !p.bare {
						of.add(p.LineKey, 1, p.amount)
					}
				}
				if !r.After {
					out.Selected++
					list := divergencesOf(r, out.tolerance)
					for _, d := range list {
						if !d.Acknowledged {
							out.Divergences++
						}
					}
					if more {
						out.Divergences++
					}
					if more || len(list) > 0 {
						out.differing[r.Sends] = append(out.differing[r.Sends], r.Number)
					}
					totals.add(r)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if kind == trade.OrderCommitments {
			out.delivered = over
		}
	}
	if s.progress != nil {
		s.progress(read, true)
	}
	// the rows are all that the ERP's queries return, with those that are no living documents: each job was
	// swept, and the filter selects whole jobs or products
	only := Filter{Jobs: o.Filter.Jobs, Products: o.Filter.Products}
	whole, placed := reflect.DeepEqual(o.Filter, only), true
	for _, job := range s.Head.Jobs {
		if (job.SweptAt == nil || job.Rows > 0 && job.Read == 0) && among(o.Filter.Jobs, job.Job) {
			whole = false
		}
	}
	for i, job := range s.Head.Jobs {
		if sum := &out.Summaries[i]; job.InScope != nil {
			// what the sweep found or missed, and what came since, must be all rows
			scope := *job.InScope + job.SweepGone + since[i] - sum.Gone
			sum.InScope = &scope
		}
		if whole && among(o.Filter.Jobs, job.Job) {
			placed = accounts.addOther(job, o.Filter) && placed
		}
	}
	out.Totals, out.Accounts = totals.sorted(), accounts.done(whole, placed)
	s.sums = out
	return out, nil
}

// Report writes a report. It reads the rows once for their sums, and once for the sections of rows.
func (s *Snapshot) Report(o Options, w Writer) (Overview, error) {
	sums, err := s.sum(o)
	if err != nil {
		return Overview{}, err
	}
	v := sums.Overview
	w = maskingWriter{w}
	p := &printer{Snapshot: s, Options: o, w: w, sum: sums}
	heading := p.heading()
	heading.Cover = v.Accounts
	if err := w.Begin(heading); err != nil {
		return v, err
	}
	for _, step := range []struct {
		id      SectionID
		columns []column
		write   func()
	}{
		{SummarySection, summaryColumns, p.summary},
		{BridgeSection, bridgeColumns, p.bridge},
		{DifferenceSection, differenceColumns, p.accounts},
		{TotalsSection, totalsColumns, p.totals},
		{ContractsSection, o.leading(contractsColumns), func() { p.rows(trade.OrderCommitments, p.contract) }},
		{DeliveriesSection, o.leading(deliveriesColumns), func() { p.rows(trade.Deliveries, p.delivery) }},
		{TraceabilitySection, o.leading(traceabilityColumns), func() { p.rows(trade.Traceability, p.traceability) }},
		{DivergencesSection, o.leading(divergencesColumns), p.divergences},
		{ExceptionsSection, exceptionsColumns, p.exceptions},
		{MessagesSection, messagesColumns, p.messages},
	} {
		if len(o.Sections) > 0 && !slices.Contains(o.Sections, step.id) {
			continue
		}
		note := i18n.Report.Find(o.Lang, "section.note."+string(step.id))
		if step.id == DivergencesSection {
			more := ""
			if o.Tolerance.Contract.Sign() != 0 {
				more = " + " + decimalText(o.Tolerance.Contract, o.Lang) + " %"
			}
			note = fmt.Sprintf(note, decimalText(o.Tolerance.Kilograms, o.Lang),
				decimalText(o.Tolerance.Value, o.Lang), more)
		}
		p.section(step.id, note, step.columns)
		if p.err == nil {
			step.write()
		}
		if p.err != nil {
			return v, p.err
		}
	}
	return v, w.End()
}

// printer writes the sections of one report.
type printer struct {
	*Snapshot
	Options
	w   Writer
	sum *sums
	err error // the first one; no row is written after it
}

// section begins a section.
func (p *printer) section(id SectionID, note string, columns []column) {
	if p.err == nil {
		p.err = p.w.Section(Section{
			id, sentence("section.title."+string(id), p.Lang), note,
			trade.Map(columns, func(c column) Column { return Column{c.id, sentence(c.title, p.Lang), c.typ} }),
		})
	}
}

// row writes one row of the section.
func (p *printer) row(cells ...any) {
	if p.err == nil {
		p.err = p.w.Row(cells)
	}
}

// label returns an id with its text, whose key begins with a prefix.
func (p *printer) label(prefix, id string) Label {
	return Label{id, sentence(prefix+id, p.Lang)}
}

func (p *printer) text(f i18n.Key, args ...any) string {
	return i18n.Report.Text(p.Lang, f, args...)
}

// heading returns the heading, which states in words what the numbers are.
func (p *printer) heading() Heading {
	h := p.Head
	var lines []string
	say := func(f i18n.Key, args ...any) { lines = append(lines, p.text(f, args...)) }
	if h.Name != "" {
		say("Installation: %s", h.Name)
	}
	if p.Cooperative != "" {
		lines = append(lines, p.Cooperative)
	}
	if h.Kind == ClosedKind {
		say("Closing of %s: kept at %s by %s, reason: %s. The figures are exactly those of the closing.", dayText(h.Day, p.Lang), trade.MomentText(h.Closed.At, p.Lang, p.zone), h.Closed.Who,
			h.Closed.Reason)
	} else {
		zone := cmp.Or(i18n.Report.Find(p.Lang, "zone."+h.Zone), h.Zone)
		say("As things stand at %s (time of %s).", trade.MomentText(h.At, p.Lang, p.zone), zone)
	}
	moment := lines[len(lines)-1]
	if h.Kind == ClosedKind {
		say("Record no. %d of the audit; SHA-256 %s, verified.", h.Closed.Audit, h.Closed.Hash)
	}
	if h.Day != "" {
		say("Cut-off: %s. Documents with later dates are left out.", dayText(h.Day, p.Lang))
	}
	if f := p.Filter; !f.From.IsZero() || !f.To.IsZero() {
		from, to := sentence("the start", p.Lang), sentence("today", p.Lang)
		if !f.From.IsZero() {
			from = dayText(f.From.String(), p.Lang)
		}
		if !f.To.IsZero() {
			to = dayText(f.To.String(), p.Lang)
		}
		say("Documents from %s to %s; those without a readable date are always included.", from, to)
	}
	var parts []string
	add := func(what i18n.Key, list []string) {
		if len(list) > 0 {
			parts = append(parts, sentence(what, p.Lang)+" "+strings.Join(list, ", "))
		}
	}
	add("column.job", p.Filter.Jobs)
	add("harvest", p.Filter.Harvests)
	add("product", p.Filter.Products)
	add("branch", p.Filter.Branches)
	add("producer", p.Filter.Producers)
	add("delivery place", p.Filter.Places)
	add("wallet", p.Filter.Wallets)
	add("state", trade.Map(p.Filter.States, func(state trade.State) string { return state.Label(p.Lang) }))
	if len(parts) > 0 {
		say("Filter: %s. The summary always covers all rows.", strings.Join(parts, "; "))
	}
	if h.Reduced > 0 {
		say("For %d {row|rows} retention has removed product, producer and price: {it is|they are} shown without them. A closed month keeps them.", h.Reduced)
	}
	if h.Asked != nil {
		say("Each contract was looked up on the platform: %d {contract|contracts}, %d that it does not have, %d that could not be read.", h.Asked.Contracts, h.Asked.NotFound, h.Asked.Unreadable)
	}
	if p.Console != "" {
		say("In the console: %s", p.Console+"/report")
	}
	say("Report %s, safrasync %s.", h.ID, h.Program)
	say("CPFs are masked in this report (***.456.789-**). Whoever keeps it or passes it on must protect it.")
	return Heading{
		Title: sentence("title", p.Lang), Lines: lines, Moment: moment, Head: h, Lang: p.Lang, Zone: p.zone,
		Console: p.Console,
	}
}

func dayText(day string, lang trade.Lang) string {
	if t, err := time.Parse(time.DateOnly, day); err == nil && lang != trade.English {
		return t.Format("02/01/2006")
	}
	return day
}

// decimalText returns a number as written in the language, without separators of thousands.
func decimalText(d trade.Decimal, lang trade.Lang) string {
	if lang == trade.English {
		return d.String()
	}
	return strings.Replace(d.String(), ".", ",", 1)
}

// summaryOrder are the states in the order of the summary.
var summaryOrder = []trade.State{
	trade.Accepted, trade.Waiting, trade.Pending, trade.Sending, trade.Invalid, trade.Rejected, trade.InDoubt,
	trade.Held, trade.Dismissed, trade.Withdrawn,
}

// UnsentStates are the states, in that order, of what is not on the platform.
var UnsentStates = summaryOrder[1:]

var subCounts = []trade.Flag{
	trade.Changed, trade.MissingInERP, trade.Cancelled, trade.Forced, trade.EchoDiffers,
	trade.DoubleAfterDecision, trade.Contradicted, trade.DeletedRemote, trade.Recoded,
}

// summary writes the equation of each job, line by line.
func (p *printer) summary() {
	for _, s := range p.sum.Summaries {
		add := func(id, text string, n any, role string) {
			sends := Label{string(s.Sends), s.Sends.Plural(p.Lang)}
			p.row(p.job(s.Job), sends, Label{id, text}, n, Label{role, p.text("summary." + role)})
		}
		var inERP any
		if s.InScope != nil {
			inERP = *s.InScope
		}
		add("in_erp", p.text("Rows in the ERP (in scope)"), inERP, "total")
		for _, state := range summaryOrder {
			if n := s.States[state]; n > 0 ||
				slices.Contains([]trade.State{
					trade.Accepted, trade.Waiting, trade.Invalid, trade.Rejected,
					trade.InDoubt, trade.Dismissed,
				}, state) {
				add(string(state), p.text("summary.state."+string(state)), n, "summand")
			}
		}
		for _, extra := range []struct {
			id string
			n  int
		}{{"moved", s.Moved}, {"after", s.After}} {
			if extra.n > 0 {
				add(extra.id, p.text("summary."+extra.id), extra.n, "summand")
			}
		}
		add("sum", p.text("Sum of the states"), s.Sum(), "total")
		if d := s.Difference(); d != nil {
			add("difference", p.text("Difference"), *d, "proof")
		} else {
			add("difference", p.text("no complete sweep: proves nothing"), nil, "proof")
		}
		for _, f := range subCounts {
			if n := s.Flags[f]; n > 0 || f == trade.Changed {
				add("flag:"+string(f), f.Label(p.Lang), n, "of_which")
			}
		}
		if s.Gone > 0 {
			add("gone", p.text("No longer in the ERP (not in the sum)"), s.Gone, "outside")
			for _, state := range summaryOrder {
				if n := s.GoneStates[state]; n > 0 {
					add("gone:"+string(state), p.text("summary.state."+string(state)), n, "outside")
				}
			}
			if s.GoneMoved > 0 {
				add("gone:moved", p.text("moved to the renumbered row"), s.GoneMoved, "outside")
			}
		}
		if s.Unreadable > 0 {
			add("unreadable", p.text("without a usable key in the ERP (not in the sum)"), s.Unreadable, "outside")
		}
	}
}
