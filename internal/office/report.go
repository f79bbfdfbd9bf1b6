package office

import (
	"context"
	"io"
	"slices"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/reconcile/archive"
	"github.com/safrasync/safrasync/sync/reconcile/paper"
	"github.com/safrasync/safrasync/trade"
)

// ReportWriter returns the writer of a format.
func ReportWriter(format string, o reconcile.Options, to io.Writer) reconcile.Writer {
	switch format {
	case "csv":
		return reconcile.NewCSV(to, len(o.Sections))
	case "xlsx":
		return reconcile.NewXLSX(to)
	case "html":
		return paper.NewHTML(to)
	}
	return reconcile.NewJSON(to)
}

// ReportQuery selects the content of a report.
type ReportQuery struct {
	AsOf    trade.Date // the state at the end of that day; zero: now
	Closing string     // instead: the closing with this id
	Single  bool       // include single contracts, deliveries and records of traceability
	reconcile.Filter
}

// Closings returns the months that were closed, newest first.
func (o *Office) Closings(ctx context.Context) ([]trade.Closing, error) {
	return o.store.Closings(ctx, trade.Date{})
}

// with calls fn with the snapshot that open returns, one report at a time.
func (o *Office) with(ctx context.Context, open func() (*reconcile.Snapshot, error),
	fn func(*reconcile.Snapshot) error,
) error {
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
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
func (o *Office) asked(ctx context.Context, q ReportQuery, fn func(*reconcile.Snapshot) error) error {
	return o.with(ctx, func() (*reconcile.Snapshot, error) {
		if q.AsOf.IsZero() && q.Closing == "" {
			return o.snapshot(ctx, reconcile.Cut{})
		}
		list, err := o.store.Closings(ctx, q.AsOf)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(list, func(c trade.Closing) bool { return q.Closing == "" || c.ID == q.Closing })
		switch {
		case i >= 0:
			return reconcile.OpenClosed(ctx, o.store, list[i], "")
		case q.Closing != "":
			return nil, state.ErrNotFound
		}
		return o.snapshot(ctx, reconcile.Cut{Day: q.AsOf, Derived: true})
	}, fn)
}

// standing calls fn with the rows that closing a day would store.
func (o *Office) standing(ctx context.Context, day trade.Date, fn func(*reconcile.Snapshot) error) error {
	return o.with(ctx, func() (*reconcile.Snapshot, error) {
		return o.snapshot(ctx, reconcile.Cut{Day: day, Bare: true})
	}, fn)
}

func (o *Office) snapshot(ctx context.Context, cut reconcile.Cut) (*reconcile.Snapshot, error) {
	return reconcile.Take(ctx, reconcile.Sources{
		Ledger: o.store, Jobs: o.jobs, Zone: o.conf.Zone(), Now: o.now(),
		Program: o.version, Name: o.conf.Alerts.Name,
	}, cut)
}

// sectionsShown are the sections of a report without single rows.
var sectionsShown = []reconcile.SectionID{
	reconcile.SummarySection, reconcile.BridgeSection, reconcile.DifferenceSection, reconcile.TotalsSection,
	reconcile.DivergencesSection, reconcile.ExceptionsSection, reconcile.MessagesSection,
}

// ReportOptions returns how a report is made for a reader of a language.
func (o *Office) ReportOptions(q ReportQuery, lang trade.Lang) reconcile.Options {
	out := reconcile.Options{
		Lang: lang, Words: o.conf.Catalogue(), Tolerance: o.conf.Report.Tolerance(), Filter: q.Filter,
		Titles: o.conf.Titles(lang), Show: o.conf.Shows(""),
	}
	if !q.Single {
		out.Sections = sectionsShown
	}
	return out
}

// ReadReport returns a report. Of each section it contains the first most rows at most.
func (o *Office) ReadReport(ctx context.Context, q ReportQuery, lang trade.Lang,
	most int,
) (out *paper.Report, err error) {
	err = o.asked(ctx, q, func(s *reconcile.Snapshot) error {
		out, err = paper.Read(s, o.ReportOptions(q, lang), most)
		return err
	})
	return out, err
}

// WriteReport writes a report to a file. It first records that in the audit.
func (o *Office) WriteReport(ctx context.Context, q ReportQuery, lang trade.Lang, format string,
	w io.Writer, who acts.Person,
) error {
	return o.asked(ctx, q, func(s *reconcile.Snapshot) error {
		options := o.ReportOptions(q, lang)
		if format == "json" {
			options.Lang, options.Titles = trade.English, o.conf.Titles(trade.English)
		}
		record, err := who.Record(o.now(), reconcile.ActExport, "-", s.Export(format, options))
		if err != nil {
			return err
		}
		if err := o.store.AppendAudit(ctx, record); err != nil {
			return err
		}
		if format == "zip" {
			return o.archive(ctx, s, options, w, who)
		}
		_, err = s.Report(options, ReportWriter(format, options, w))
		return err
	})
}

// archive writes a report with its closings and its audit, and records its seal in the audit.
func (o *Office) archive(ctx context.Context, s *reconcile.Snapshot, options reconcile.Options, w io.Writer,
	who acts.Person,
) error {
	options.Sections = nil
	seal, err := archive.Write(ctx, w, archive.Contents{
		Snapshot: s, Options: options, Ledger: o.store, Who: who.Name, Now: o.now(), Program: o.version,
	})
	if err != nil {
		return err
	}
	record, err := who.Record(o.now(), archive.Act, "-", archive.Sealed{Report: s.Head.ID, Seal: seal})
	if err != nil {
		return err
	}
	return o.store.AppendAudit(ctx, record)
}

// approvable is the closing of a month that somebody ordered, as an act to approve. A closing that
// compares with the platform can be approved on the command line only.
func (o *Office) approvable() acts.OtherAct {
	return acts.OtherAct{
		Mark: func(ctx context.Context, order acts.Order) (string, error) {
			day, err := trade.ParseDate(order.Job)
			if err != nil || order.Checked {
				return "", err
			}
			plan, err := o.PlanClosing(ctx, day)
			return plan.Mark, err
		},
		Do: func(ctx context.Context, order acts.Order, mark string, who acts.Person) (bool, error) {
			day, err := trade.ParseDate(order.Job)
			if err != nil {
				return false, err
			}
			id, _, err := o.CloseReport(ctx, day, mark, who)
			return id != "", err
		},
	}
}
