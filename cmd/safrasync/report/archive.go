package report

import (
	"errors"
	"io"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/reconcile/archive"
	"github.com/safrasync/safrasync/trade"
)

// openArchive verifies an archive, and shows its report, the list of its closings, or one of them.
func openArchive(a *cli.App, f Flags) error {
	if !f.none() || f.failed || f.platform || f.close+f.archive != "" {
		return a.Usage("archive.open_alone")
	}
	in, err := office.OpenArchive(f.open)
	switch {
	case errors.Is(err, archive.ErrDamaged):
		a.Tell("archive.damaged", f.open, a.Voice().Fault(err))
		return &cli.ExitError{Code: cli.ExitFailed}
	case errors.Is(err, archive.ErrNoArchive):
		return a.Usage("archive.none", f.open)
	case errors.Is(err, archive.ErrNewer):
		return a.Usage("archive.newer", f.open)
	case err != nil:
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	voice := a.Voice()
	voice.Zone = in.Zone
	a.Tell("archive.intact", len(in.Files), voice.Moment(in.MadeAt), words.Printable(in.Who),
		words.Printable(in.Program), in.Seal)
	if f.closings {
		list := make([]trade.Closing, len(in.Closed))
		for i, c := range in.Closed {
			list[i] = c.Closing
		}
		return showClosings(a, voice, list)
	}
	f.format, err = reportFormat(a, f)
	if err != nil {
		return err
	}
	options := in.Options()
	options.Lang = lang(a, f)
	options.Sections, options.By, err = parts(a, f)
	if err != nil {
		return err
	}
	query := office.ReportQuery{Closing: f.closing}
	if f.asOf != "" {
		query.AsOf, err = parseDay(f.asOf)
		if err != nil {
			return a.Usage("report.no_day", f.asOf)
		}
	}
	snapshot, err := in.Report(query)
	if errors.Is(err, trade.ErrNotFound) {
		return a.Usage("archive.no_closing", f.open)
	} else if err != nil {
		return err
	}
	if f.output == "" {
		return show(a, f.format, snapshot, options)
	}
	return writeFile(a, f.output, func(to io.Writer) error {
		_, err := snapshot.Report(options, office.ReportWriter(f.format, options, to))
		return err
	})
}
