package desk

import (
	"context"
	"io"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/cmd/safrasync/report"
	"github.com/safrasync/safrasync/console/pages"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// reports makes the reconciliation for the console, as `safrasync report` does.
type reports struct {
	g    *Host
	turn chan struct{} // one report at a time: it reads the whole ledger
}

func newReports(g *Host) *reports {
	return &reports{g: g, turn: make(chan struct{}, 1)}
}

// Closings lists the months that were closed, the newest first.
func (r *reports) Closings(ctx context.Context) ([]trade.Closing, error) {
	return r.g.Store.Closings(ctx, trade.Date{})
}

// with calls fn with the rows of a moment: those of the closed report of a day where there is one.
// fresh: those of the ledger in any case.
func (r *reports) with(ctx context.Context, cut reconcile.Cut, fresh bool,
	fn func(*reconcile.Snapshot) error,
) error {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	snapshot, err := r.snapshot(ctx, cut, fresh)
	if err != nil {
		return err
	}
	defer func() { _ = snapshot.Close() }() // a temporary file
	return fn(snapshot)
}

func (r *reports) snapshot(ctx context.Context, cut reconcile.Cut, fresh bool) (*reconcile.Snapshot, error) {
	store := r.g.Store
	if !fresh && !cut.Day.IsZero() {
		list, err := store.Closings(ctx, cut.Day)
		if err != nil {
			return nil, err
		}
		if len(list) > 0 {
			return reconcile.OpenClosed(ctx, store, list[0], "")
		}
		cut.Derived = true
	}
	return reconcile.Take(ctx, reconcile.Sources{
		Ledger: store, Jobs: r.g.Engine.Jobs, Zone: r.g.App.Config.Zone(), Now: cli.Now(), Program: r.g.App.Version,
		Name: r.g.App.Config.Alerts.Name,
	}, cut)
}

// sectionsShown are those of a report without its single rows.
var sectionsShown = []reconcile.SectionID{
	reconcile.SummarySection, reconcile.BridgeSection, reconcile.TotalsSection, reconcile.DivergencesSection,
	reconcile.ExceptionsSection, reconcile.MessagesSection,
}

func (r *reports) options(q pages.ReportQuery, lang trade.Lang) reconcile.Options {
	o := reconcile.Options{
		Lang: lang, Words: r.g.App.Config.Catalogue(), Tolerance: r.g.App.Config.Report.Tolerance(),
		Filter: reconcile.Filter{
			From: q.From, To: q.To, Harvests: q.Harvests, Products: q.Products, Producers: q.Producers,
			Places:   q.Places,
			Branches: q.Branches,
		},
	}
	o.Titles, o.Show = r.g.App.Config.Titles(lang), r.g.App.Config.Shows("")
	if !q.Single {
		o.Sections = sectionsShown
	}
	return o
}

// ReadReport makes a report for the page.
func (r *reports) ReadReport(ctx context.Context, q pages.ReportQuery, lang trade.Lang,
	most int,
) (pages.Report, error) {
	page := &reportView{most: most}
	err := r.with(ctx, reconcile.Cut{Day: q.AsOf}, false, func(s *reconcile.Snapshot) error {
		_, err := s.Report(r.options(q, lang), page)
		return err
	})
	return page.out, err
}

// WriteReport writes a report as a file, after it was put into the audit.
func (r *reports) WriteReport(ctx context.Context, q pages.ReportQuery, lang trade.Lang, format string,
	w io.Writer, who engine.Person,
) error {
	return r.with(ctx, reconcile.Cut{Day: q.AsOf}, false, func(s *reconcile.Snapshot) error {
		options := r.options(q, lang)
		if format == "json" {
			options.Lang, options.Titles = trade.English, r.g.App.Config.Titles(trade.English)
		}
		record, err := recordOf(who, reconcile.ActExport, "-", s.Export(format, options))
		if err != nil {
			return err
		}
		if err := r.g.Store.AppendAudit(ctx, record); err != nil {
			return err
		}
		_, err = s.Report(options, report.Writer(r.g.App, format, options, w))
		return err
	})
}

// MonthEnd reads a month.
func (*reports) MonthEnd(text string) (day trade.Date, ok bool) {
	return reconcile.MonthEnd(text)
}

// PlanClosing says what the report with a cut-off would keep.
func (r *reports) PlanClosing(ctx context.Context, day trade.Date) (plan pages.ClosingPlan, err error) {
	err = r.with(ctx, reconcile.Cut{Day: day, Bare: true}, true, func(s *reconcile.Snapshot) error {
		plan, err = r.plan(s)
		return err
	})
	if err == nil {
		plan.Before, err = r.g.Store.Closings(ctx, day)
	}
	return plan, err
}

// plan is the plan of a closing as the console shows it.
func (r *reports) plan(s *reconcile.Snapshot) (pages.ClosingPlan, error) {
	p, err := s.PlanClosing(r.g.App.Config.Report.Tolerance())
	plan := pages.ClosingPlan{
		Day: p.Day, Rows: p.Rows, Open: p.Open, Divergences: p.Divergences, Unswept: p.Unswept, Mark: p.Mark, At: p.At,
		TooEarly: p.TooEarly(),
	}
	for _, u := range p.Uneven {
		plan.Uneven = append(plan.Uneven, u.Job)
	}
	for _, state := range p.States {
		plan.States = append(plan.States, pages.OpenState(state))
	}
	for _, t := range p.Totals {
		sum := pages.ClosingSum{Product: t.Product, Contracted: t.Contracted, Delivered: t.Delivered}
		for _, currency := range slices.Sorted(maps.Keys(t.Values)) {
			sum.Values = append(sum.Values, pending.Money{Currency: currency, Amount: t.Values[currency]})
		}
		plan.Sums = append(plan.Sums, sum)
	}
	return plan, err
}

// CloseReport keeps what a plan with this mark showed, or asks others where they have to agree.
func (r *reports) CloseReport(ctx context.Context, day trade.Date, mark string,
	who engine.Person,
) (closed bool, asked *trade.Approval, err error) {
	err = r.with(ctx, reconcile.Cut{Day: day, Bare: true}, true, func(s *reconcile.Snapshot) error {
		p, err := s.PlanClosing(r.g.App.Config.Report.Tolerance())
		if err != nil || p.Mark != mark || len(p.Uneven) > 0 || p.TooEarly() {
			return err
		}
		if asked, err = (&work{r.g}).acts().Ask(ctx, report.ClosingOrder(day, p, false), mark, who, 0); err != nil ||
			asked != nil {
			return err
		}
		record, err := recordOf(who, reconcile.ActClose, day.String(), s.Kept())
		if err != nil {
			return err
		}
		_, err = reconcile.Freeze(ctx, r.g.Store, s, who.Name, who.Reason, record)
		closed = err == nil
		return err
	})
	return closed, asked, err
}

// approvable lets a closing that somebody ordered be approved. One that compares with the platform
// is of the command line.
func (r *reports) approvable() engine.Elsewhere {
	return engine.Elsewhere{
		Mark: func(ctx context.Context, o engine.ActOrder) (string, error) {
			day, err := trade.ParseDate(o.Job)
			if err != nil || o.Checked {
				return "", err
			}
			plan, err := r.PlanClosing(ctx, day)
			return plan.Mark, err
		},
		Do: func(ctx context.Context, o engine.ActOrder, mark string, who engine.Person) (bool, error) {
			day, err := trade.ParseDate(o.Job)
			if err != nil {
				return false, err
			}
			done, _, err := r.CloseReport(ctx, day, mark, who)
			return done, err
		},
	}
}

// reportView takes a report up for a page.
type reportView struct {
	out  pages.Report
	most int
	lang trade.Lang
	zone *time.Location
	now  reconcile.Section
}

func (v *reportView) Begin(h reconcile.Heading) error {
	v.out.Title, v.out.Lines, v.lang, v.zone = h.Title, h.Lines, h.Lang, h.Zone
	return nil
}

func (v *reportView) Section(s reconcile.Section) error {
	section := pages.ReportSection{ID: string(s.ID), Title: s.Title, Note: s.Note}
	for _, c := range s.Columns {
		class := map[reconcile.Type]string{
			reconcile.CodeColumn: "code", reconcile.DayColumn: "day",
			reconcile.TimeColumn: "day",
		}[c.Type]
		if c.Number() {
			class = "number"
		}
		section.Columns = append(section.Columns,
			pages.ReportColumn{Title: c.Title, Class: class, Lead: c.ID == "key" || c.ID == "name"})
	}
	v.narrow()
	v.out.Sections, v.now = append(v.out.Sections, section), s
	return nil
}

func (v *reportView) Row(cells []any) error {
	section := &v.out.Sections[len(v.out.Sections)-1]
	if len(section.Rows) >= v.most {
		section.More++
		return nil
	}
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = v.now.Columns[i].Text(cell, v.lang, v.zone)
	}
	section.Rows = append(section.Rows, row)
	if v.now.ID == reconcile.BridgeSection {
		section.Links = append(section.Links, bridgeLink(cells))
	}
	return nil
}

// bridgeLink leads from a part of the bridge to what is meant: rows of the ledger, or, for what has
// none, the run that tells of it.
func bridgeLink(cells []any) string {
	job, _ := cells[0].(reconcile.Label)
	line, _ := cells[1].(reconcile.Label)
	query := url.Values{"job": {job.ID}}
	switch line.ID {
	case string(trade.BesideNoKey):
		return "/runs?" + query.Encode()
	case string(trade.BesideDouble):
		query.Set("cause", trade.CauseDuplicateKey)
	case string(trade.BesideCancelled):
		query.Set("flag", string(trade.Cancelled))
	case "negative":
		query.Set("cause", "rule:price")
	}
	return "/rows?" + query.Encode()
}

func (v *reportView) End() error {
	v.narrow()
	return nil
}

// narrow takes the columns out of the last section that have nothing in any row.
func (v *reportView) narrow() {
	if len(v.out.Sections) == 0 {
		return
	}
	s := &v.out.Sections[len(v.out.Sections)-1]
	for i := len(s.Columns) - 1; i >= 0; i-- {
		if len(s.Rows) == 0 || slices.ContainsFunc(s.Rows, func(row []string) bool { return row[i] != "" }) {
			continue
		}
		s.Columns = slices.Delete(s.Columns, i, i+1)
		for n := range s.Rows {
			s.Rows[n] = slices.Delete(s.Rows[n], i, i+1)
		}
	}
}
