package desk

import (
	"context"
	"io"
	"net/url"
	"slices"

	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/reconcile/archive"
	"github.com/safrasync/safrasync/sync/reconcile/paper"
	"github.com/safrasync/safrasync/trade"
)

// reports builds the reconciliation for the console, as `safrasync report` does.
type reports struct {
	g    *Host
	turn chan struct{} // holds one value: one report at a time, because each reads the whole ledger
	file chan struct{} // holds one value: one file of decisions is read at a time, because of the memory
}

func newReports(g *Host) *reports {
	return &reports{g: g, turn: make(chan struct{}, 1), file: make(chan struct{}, 1)}
}

// Closings returns the months that were closed, newest first.
func (r *reports) Closings(ctx context.Context) ([]trade.Closing, error) {
	return r.g.Store.Closings(ctx, trade.Date{})
}

// with calls fn with the snapshot that open returns, one report at a time.
func (r *reports) with(ctx context.Context, open func() (*reconcile.Snapshot, error),
	fn func(*reconcile.Snapshot) error,
) error {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	snapshot, err := open()
	if err != nil {
		return err
	}
	defer func() { _ = snapshot.Close() }() // a temporary file
	return fn(snapshot)
}

// asked calls fn with the rows of a report. If there is a closing with the given id or day, they
// are those of the closing.
func (r *reports) asked(ctx context.Context, q pages.ReportQuery, fn func(*reconcile.Snapshot) error) error {
	return r.with(ctx, func() (*reconcile.Snapshot, error) {
		if q.AsOf.IsZero() && q.Closing == "" {
			return r.take(ctx, reconcile.Cut{})
		}
		list, err := r.g.Store.Closings(ctx, q.AsOf)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(list, func(c trade.Closing) bool { return q.Closing == "" || c.ID == q.Closing })
		switch {
		case i >= 0:
			return reconcile.OpenClosed(ctx, r.g.Store, list[i], "")
		case q.Closing != "":
			return nil, state.ErrNotFound
		}
		return r.take(ctx, reconcile.Cut{Day: q.AsOf, Derived: true})
	}, fn)
}

// now calls fn with the rows that closing a day would store.
func (r *reports) now(ctx context.Context, day trade.Date, fn func(*reconcile.Snapshot) error) error {
	return r.with(ctx, func() (*reconcile.Snapshot, error) {
		return r.take(ctx, reconcile.Cut{Day: day, Bare: true})
	}, fn)
}

func (r *reports) take(ctx context.Context, cut reconcile.Cut) (*reconcile.Snapshot, error) {
	return reconcile.Take(ctx, reconcile.Sources{
		Ledger: r.g.Store, Jobs: r.g.Engine.Jobs, Zone: r.g.App.Config.Zone(), Now: office.Now(),
		Program: r.g.App.Version, Name: r.g.App.Config.Alerts.Name,
	}, cut)
}

// sectionsShown are the sections of a report without single rows.
var sectionsShown = []reconcile.SectionID{
	reconcile.SummarySection, reconcile.BridgeSection, reconcile.DifferenceSection, reconcile.TotalsSection,
	reconcile.DivergencesSection, reconcile.ExceptionsSection, reconcile.MessagesSection,
}

func (r *reports) options(q pages.ReportQuery, lang trade.Lang) reconcile.Options {
	o := reconcile.Options{
		Lang: lang, Words: r.g.App.Config.Catalogue(), Tolerance: r.g.App.Config.Report.Tolerance(),
		Filter: q.Filter,
	}
	o.Titles, o.Show = r.g.App.Config.Titles(lang), r.g.App.Config.Shows("")
	if !q.Single {
		o.Sections = sectionsShown
	}
	return o
}

// ReadReport returns a report for the page.
func (r *reports) ReadReport(ctx context.Context, q pages.ReportQuery, lang trade.Lang,
	most int,
) (out pages.Report, err error) {
	err = r.asked(ctx, q, func(s *reconcile.Snapshot) error {
		out, err = read(s, r.options(q, lang), most)
		return err
	})
	return out, err
}

// WriteReport writes a report to a file. It first records that in the audit.
func (r *reports) WriteReport(ctx context.Context, q pages.ReportQuery, lang trade.Lang, format string,
	w io.Writer, who acts.Person,
) error {
	return r.asked(ctx, q, func(s *reconcile.Snapshot) error {
		options := r.options(q, lang)
		if format == "json" {
			options.Lang, options.Titles = trade.English, r.g.App.Config.Titles(trade.English)
		}
		record, err := who.Record(office.Now(), reconcile.ActExport, "-", s.Export(format, options))
		if err != nil {
			return err
		}
		if err := r.g.Store.AppendAudit(ctx, record); err != nil {
			return err
		}
		if format == "zip" {
			return r.archive(ctx, s, options, w, who)
		}
		_, err = s.Report(options, office.ReportWriter(format, options, w))
		return err
	})
}

// archive writes a report with its closings and its audit, and records its seal in the audit.
func (r *reports) archive(ctx context.Context, s *reconcile.Snapshot, o reconcile.Options, w io.Writer,
	who acts.Person,
) error {
	o.Sections = nil
	seal, err := archive.Write(ctx, w, archive.Contents{
		Snapshot: s, Options: o, Ledger: r.g.Store, Who: who.Name, Now: office.Now(), Program: r.g.App.Version,
	})
	if err != nil {
		return err
	}
	record, err := who.Record(office.Now(), archive.Act, "-", archive.Sealed{Report: s.Head.ID, Seal: seal})
	if err != nil {
		return err
	}
	return r.g.Store.AppendAudit(ctx, record)
}

// approvable is the closing of a month that somebody ordered, as an act to approve. A closing that
// compares with the platform can be approved on the command line only.
func (r *reports) approvable() acts.OtherAct {
	return acts.OtherAct{
		Mark: func(ctx context.Context, o acts.Order) (string, error) {
			day, err := trade.ParseDate(o.Job)
			if err != nil || o.Checked {
				return "", err
			}
			plan, err := r.PlanClosing(ctx, day)
			return plan.Mark, err
		},
		Do: func(ctx context.Context, o acts.Order, mark string, who acts.Person) (bool, error) {
			day, err := trade.ParseDate(o.Job)
			if err != nil {
				return false, err
			}
			id, _, err := r.CloseReport(ctx, day, mark, who)
			return id != "", err
		},
	}
}

// read returns a report for a page.
func read(s *reconcile.Snapshot, o reconcile.Options, most int) (pages.Report, error) {
	all, err := paper.Read(s, o, most)
	for _, t := range all.Sections {
		line := slices.IndexFunc(t.Columns, func(c paper.Column) bool { return c.Lead })
		for _, r := range t.Rows {
			switch {
			case t.ID == reconcile.BridgeSection:
				r.Cells[line].Path = bridgePath(r.Names["job"], r.Names["line"])
			case t.ID == reconcile.DifferenceSection && r.Names["line"] == "state":
				r.Cells[line].Path = statePath(trade.State(r.Names["state"]), r.Names["cause"])
			}
		}
	}
	return pages.Report{Report: all, Figures: figuresOf(all.Totals, all.Accounts, o)}, err
}

// bridgePath returns the link for a line of the bridge: the rows of the ledger or, if there are
// none, the run that reports them.
func bridgePath(job, line string) string {
	query := url.Values{"job": {job}}
	switch line {
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

// figuresOf returns the grain and the money of each product, the largest contracted weight first,
// with the parts of each difference.
func figuresOf(totals []reconcile.Total, accounts []reconcile.Account, o reconcile.Options) []pages.ProductFigures {
	var out []pages.ProductFigures
	for _, t := range totals {
		if t.By != reconcile.ByAll {
			continue
		}
		compared := func(m reconcile.Measure, currency string, erp, sent trade.Decimal) pages.Compared {
			c := pages.Compared{Currency: currency, ERP: erp, Sent: sent}
			i := slices.IndexFunc(accounts, func(a reconcile.Account) bool {
				return a.Product == t.Product && a.Measure == m && a.Currency == currency
			})
			if i >= 0 {
				c.Parts = partsOf(accounts[i], o)
			}
			return c
		}
		f := pages.ProductFigures{
			Product:    t.Product,
			Contracted: compared(reconcile.Contracted, "", t.Contracted, t.ContractedSent),
			Delivered:  compared(reconcile.Delivered, "", t.Delivered, t.DeliveredSent),
			Fixed:      compared(reconcile.Fixed, "", t.Fixed, t.FixedSent),
		}
		for _, c := range t.Currencies() {
			f.Values = append(f.Values, compared(reconcile.Worth, c, t.Values[c], t.ValuesSent[c]))
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b pages.ProductFigures) int { return b.Contracted.ERP.Cmp(a.Contracted.ERP) })
	return out
}

// partsOf returns the parts of the difference of an account, each with the list of its rows.
func partsOf(a reconcile.Account, o reconcile.Options) []pages.DifferencePart {
	var out []pages.DifferencePart
	for _, l := range a.States {
		if l.State != trade.Accepted {
			out = append(out, pages.DifferencePart{
				What: trade.MaskDocuments(l.Why(o)), Rows: l.Rows, Amount: l.Amount, Path: statePath(l.State, l.Cause),
			})
		}
	}
	for _, l := range []struct {
		id, path string
		line     reconcile.AccountLine
	}{{"changed", "/changed?flag=changed", a.Changed}, {"left", "/changed?flag=missing", a.Left}} {
		if l.line.Rows > 0 {
			out = append(out, pages.DifferencePart{
				What: reconcile.AccountWord(l.id, o.Lang), Rows: l.line.Rows,
				Amount: trade.Decimal{}.Sub(l.line.Amount), Path: l.path,
			})
		}
	}
	return out
}

// statePath returns the address of the list of the rows in a state, for a cause.
func statePath(state trade.State, cause string) string {
	query := url.Values{}
	if state != "" {
		query.Set("state", string(state))
	}
	if cause != "" {
		query.Set("cause", cause)
	}
	return "/rows?" + query.Encode()
}
