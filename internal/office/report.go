package office

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/safrasync/safrasync/apiclient"
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
	AsOf     trade.Date            // the newest closing of that day; zero: now
	Closing  string                // instead: the closing with this id
	Sections []reconcile.SectionID // none: all
	By       []reconcile.By        // of the totals; none: all
	reconcile.Filter
	Sources ReportSources
}

// ReportSources are what a report is made from besides the ledger.
type ReportSources struct {
	Platform *reconcile.Answers       // nil: the platform is not asked
	erp      *reconcile.ERPNow        // nil: the ERP is not read
	Progress func(rows int, all bool) // see reconcile.Sources; nil: none
}

// Report calls fn with the rows of a report, one report at a time. If there is a closing with the
// given id or day, they are those of the closing; else they are read from the ledger at one moment.
// It returns trade.ErrNotFound if there is no such closing.
func (o *Office) Report(ctx context.Context, q ReportQuery, fn func(*reconcile.Snapshot) error) error {
	if q.AsOf.IsZero() && q.Closing == "" {
		return o.atOneMoment(ctx, reconcile.Cut{}, q.Sources, fn)
	}
	list, err := o.store.Closings(ctx, q.AsOf)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(c trade.Closing) bool { return q.Closing == "" || c.ID == q.Closing })
	if i < 0 {
		return trade.ErrNotFound
	}
	return o.inTurn(ctx, func() error {
		s, err := reconcile.OpenClosed(ctx, o.store, list[i])
		if err != nil {
			return err
		}
		return fn(s)
	})
}

// AskPlatform asks the platform for each contract that it has by the ledger, before a report that
// compares with it: that may take long. It calls progress after each.
func (o *Office) AskPlatform(ctx context.Context, from acts.Reader, progress func(contracts int)) (*reconcile.Answers,
	error,
) {
	return reconcile.AskEach(ctx, o.store, ThrottledReader{from}, progress)
}

// inTurn calls fn when no other report is made.
func (o *Office) inTurn(ctx context.Context, fn func() error) error {
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
		return fn()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// atOneMoment calls fn with the rows of the ledger, in one transaction that reads.
func (o *Office) atOneMoment(ctx context.Context, cut reconcile.Cut, with ReportSources,
	fn func(*reconcile.Snapshot) error,
) error {
	return o.inTurn(ctx, func() error { return o.snapshot(ctx, cut, with, fn) })
}

// SectionsShown are the sections of a report without single rows.
var SectionsShown = []reconcile.SectionID{
	reconcile.SummarySection, reconcile.BridgeSection, reconcile.DifferenceSection, reconcile.TotalsSection,
	reconcile.DivergencesSection, reconcile.ExceptionsSection, reconcile.MessagesSection,
}

// ReportOptions returns how a report is made for a reader of a language.
func (o *Office) ReportOptions(q ReportQuery, lang trade.Lang) reconcile.Options {
	return reconcile.Options{
		Lang: lang, Tolerance: o.conf.Report.Tolerance(), Filter: q.Filter,
		Titles: o.conf.Titles(lang), Show: o.conf.Shows(""), Sections: q.Sections, By: q.By,
		Console: o.conf.Console.PublicURL, Cooperative: o.Cooperative(),
	}
}

// ReportFile is how a report is written to a file.
type ReportFile struct {
	Format string // csv, html, json, xlsx, or zip: the archive of what is selected
	Name   string // of the file; "-" = none
	Failed bool   // only the rows that need a decision, to be filled in
}

// WriteReport writes a report to a file. It first records that in the audit. It returns the seal of an
// archive.
func (o *Office) WriteReport(ctx context.Context, q ReportQuery, lang trade.Lang, file ReportFile, w io.Writer,
	who trade.Person,
) (seal string, err error) {
	if file.Format == "json" {
		lang = trade.English
	}
	options := o.ReportOptions(q, lang)
	return seal, o.Report(ctx, q, func(s *reconcile.Snapshot) error {
		export, err := s.Export(file.Format, options)
		if err != nil {
			return err
		}
		export.Failed = file.Failed
		if err := o.Note(ctx, reconcile.ActExport, file.Name, export, who); err != nil {
			return err
		}
		switch {
		case file.Format == "zip":
			options.Sections = nil
			seal, err = archive.Write(ctx, w, archive.Contents{
				Snapshot: s, Options: options, Ledger: o.store, Now: o.now(),
			})
			// the audit names no file that is not there
			if disk, ok := w.(interface{ Sync() error }); ok && err == nil {
				err = disk.Sync()
			}
			if err == nil {
				detail := map[string]string{"report": s.Head.ID, "sha256": seal}
				err = o.Note(ctx, archive.Act, file.Name, detail, who)
			}
		case file.Failed:
			err = s.Decisions(options, reconcile.Form(file.Format), nil, w)
		default:
			_, err = s.Report(options, ReportWriter(file.Format, options, w))
		}
		return err
	})
}

// Called returns what the de-para calls codes of producers or places in totals; those without a label are
// left out.
func (o *Office) Called(ctx context.Context, by reconcile.By, codes []string) (map[string]string, error) {
	field := map[reconcile.By]string{reconcile.ByProducer: "producer_id", reconcile.ByPlace: "delivery_place_id"}[by]
	var asked []trade.Reference
	for _, job := range o.jobs {
		if kind := job.Spec.Fields[field].Ref; kind != "" {
			for _, code := range codes {
				asked = append(asked, trade.Reference{Kind: kind, Code: code})
			}
		}
	}
	labelled, err := o.store.Labelled(ctx, asked)
	out := map[string]string{}
	for _, l := range labelled {
		out[l.Code] = l.Label
	}
	return out, err
}

// ThrottledReader reads contracts from the platform. After a 429 it waits as long as the platform asks.
type ThrottledReader struct{ acts.Reader }

// throttledTries is how often a contract is requested while the platform answers 429.
const throttledTries = 3

// GetOrderCommitment reads one contract.
func (r ThrottledReader) GetOrderCommitment(ctx context.Context, id string) (apiclient.ReadBack, error) {
	for try := 1; ; try++ {
		out, err := r.Reader.GetOrderCommitment(ctx, id)
		var failure *apiclient.CallError
		if !errors.As(err, &failure) || failure.Known != apiclient.Throttled || try == throttledTries {
			return out, err
		}
		timer := time.NewTimer(time.Until(failure.ThrottledUntil))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return out, ctx.Err()
		}
	}
}
