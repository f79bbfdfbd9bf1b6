package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// auditShown is how many records are printed without --limit; --json prints all.
const auditShown = 50

// ReportFlags are the flags of `safrasync report`.
type ReportFlags struct {
	cli.ActFlags
	filter                     reconcile.Filter // without days and states
	from, to                   string
	states                     []string
	asOf, closing              string
	Sections                   []string
	format, output             string
	by                         []string
	platform, failed, closings bool
	close, archive             string
	decided                    string
	skipRefused, audit         bool
	limit                      int
}

// reportFormats are the formats of a report.
var reportFormats = []string{"table", "csv", "xlsx", "json", "html"}

// NewReportCommand makes the command report.
func NewReportCommand(a *cli.App) *cobra.Command {
	var f ReportFlags
	var cmd *cobra.Command
	cmd = a.Command("report", "the reconciliation of ERP and platform: a summary that balances to zero, contracts, deliveries, totals, divergences, exceptions", cli.Exactly(0), func(ctx context.Context, _ []string) error {
		if f.audit && !cmd.Flags().Changed("limit") && !a.AsJSON {
			f.limit = auditShown
		}
		if err := cmp.Or(a.Alone(cmd, "decided", []string{"skip-refused"}, "as", "yes"),
			a.Alone(cmd, "audit", []string{"limit"})); err != nil {
			return err
		}
		if f.decided == "" {
			return PrintReport(ctx, a, f)
		}
		return doDecisions(ctx, a, f.decided, f.ActFlags, f.skipRefused)
	})
	f.Add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "only documents of this `DAY` and later")
	flags.StringVar(&f.to, "to", "", "only documents of this `DAY` and before")
	flags.StringVar(&f.asOf, "as-of", "",
		"the report that was closed for this `DAY`")
	flags.StringVar(&f.closing, "closing", "", "the closed report with this `ID` (see --closings)")
	flags.BoolVar(&f.closings, "closings", false, "list the closed reports")
	flags.BoolVar(&f.audit, "audit", false, "instead: the audit, who decided what, when and why, oldest first")
	flags.IntVar(&f.limit, "limit", 0, "with --audit: the latest `N` records, 0 = all; default 50, with --json all")
	flags.StringVar(&f.close, "close", "",
		"close the report of a `MONTH`, such as 2026-10, or its last day: it is kept for good, with your name; needs --reason")
	flags.StringSliceVar(&f.filter.Jobs, "job", nil, "only these `JOBS`")
	flags.StringSliceVar(&f.filter.Harvests, "harvest", nil, "only these `HARVESTS`, such as 2025/2026")
	flags.StringSliceVar(&f.filter.Products, "product", nil, "only these `PRODUCTS`")
	flags.StringSliceVar(&f.filter.Branches, "branch", nil, "only these `BRANCHES`: the first part of a key of several parts")
	flags.StringSliceVar(&f.filter.Producers, "producer", nil, "only these `PRODUCERS`, by the ERP's code, such as 'P1|01'")
	flags.StringSliceVar(&f.filter.Places, "place", nil, "only these delivery `PLACES`, by the ERP's code")
	flags.StringSliceVar(&f.filter.Wallets, "wallet", nil, "only these `WALLETS`, by the ERP's code")
	cli.AddStateFlag(a, cmd, &f.states, "only these `STATES`: %s", trade.States)
	flags.StringSliceVar(&f.Sections, "section", nil,
		a.Phrase("only these `SECTIONS`: %s", cli.Listed(reconcile.AllSections)))
	flags.StringSliceVar(&f.by, "by", nil,
		a.Phrase("totals only by these `GROUPS`: %s; default on a terminal all,season, in files all of them",
			cli.Listed(reconcile.Dimensions)))
	flags.StringVar(&f.format, "format", "",
		a.Phrase("`FORMAT`: %s; default: by the name of --output, else table", strings.Join(reportFormats, ", ")))
	flags.StringVarP(&f.output, "output", "o", "", "write to `FILE`, which only you can read; default standard output")
	flags.BoolVar(&f.platform, "platform", false, "also ask the platform for each contract, one after the other")
	flags.BoolVar(&f.failed, "failed", false,
		"instead: the rows that need a decision, to be filled in and given back with --decided")
	flags.StringVar(&f.decided, "decided", "",
		"do what was decided in `FILE`, which --failed wrote; nothing that may double")
	flags.BoolVar(&f.skipRefused, "skip-refused", false,
		"with --decided: do the others when some rows are wrong, stale or refused")
	flags.StringVar(&f.archive, "archive", "",
		"write one `FILE` (zip) with the report of --harvest, --from and --to in every form, its closings and its audit")
	cli.CompletesJobs(a, cmd, "job")
	cli.Completes(a, cmd, "section", reconcile.AllSections)
	cli.Completes(a, cmd, "format", reportFormats)
	return cmd
}

// PrintReport writes, reprints, closes or lists reports.
func PrintReport(ctx context.Context, a *cli.App, f ReportFlags) error {
	_, err := a.LoadConfig()
	if err != nil {
		return err
	}
	if f.limit < 0 {
		return a.Usage("--limit must not be negative")
	}
	if f.audit {
		o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
		if err != nil {
			return err
		}
		records, err := o.Acts(ctx, f.limit)
		if err != nil {
			return err
		}
		if a.AsJSON {
			return cli.PrintEach(a, trade.Map(records, office.AuditOf))
		}
		v, head := a.Voice(), []i18n.Key{"No.", "When", "Who", "Account", "Action", "Target", "Reason"}
		return cli.PrintTable(a, records, head, func(r trade.AuditRecord) []any {
			return []any{r.Seq, v.Moment(r.At), r.Who, r.From, r.Act, r.Target, r.Because(v.Lang, v.Zone)}
		})
	}
	if f.closings {
		reports, err := a.Office(ctx, cli.ToRead, cli.NoERP)
		if err != nil {
			return err
		}
		list, err := reports.Closings(ctx, trade.Date{})
		if err != nil {
			return err
		}
		switch {
		case a.AsJSON:
			return cli.PrintEach(a, list)
		case len(list) == 0:
			a.Tell("Nothing was closed.")
			return nil
		}
		head := []i18n.Key{"Cut-off", "As of", "Who", "Reason", "Rows", "Closing"}
		return cli.PrintTable(a, list, head, func(c trade.Closing) []any {
			return []any{closingDay(a, c.Day), a.Voice().Moment(c.At), c.Who, c.Reason, c.Rows, cli.Plain(c.ID)}
		})
	}
	f.format, err = reportFormat(a, f)
	if err != nil {
		return err
	}
	query, err := reportQuery(a, f)
	if err != nil {
		return err
	}
	for _, path := range []string{f.output, f.archive} {
		if err := cli.MayMake(path); err != nil { // checked first, because a report of a large ledger takes minutes
			return a.Usage("%s: %s; nothing was written there", path, a.Voice().FileReason(err))
		}
	}
	switch {
	case f.close != "":
		return closeReport(ctx, a, f, query)
	case f.archive != "" && (f.failed || f.output != "" || len(query.Sections)+len(query.By) > 0):
		return a.Usage("--archive writes the whole report: it cannot be combined with --failed, --output, --section or --by")
	}
	err = writeReport(ctx, a, f, query)
	if f.closing+f.asOf != "" && errors.Is(err, trade.ErrNotFound) {
		return a.Usage("there is no closing %s; see `safrasync report --closings`", strings.TrimSpace(f.closing+" "+f.asOf))
	}
	return err
}

// writeReport shows or exports a report.
func writeReport(ctx context.Context, a *cli.App, f ReportFlags, query office.ReportQuery) error {
	// JSON on standard output is for programs, like that of `rows`, and is no export.
	access, shown := cli.ToWrite, f.archive+f.output == "" && !f.failed && (f.format == "table" || f.format == "json")
	if shown {
		access = cli.ToRead
	}
	reports, err := a.Office(ctx, access, cli.NoERP)
	if err != nil {
		return err
	}
	query.Sources, err = sources(ctx, a, reports, f.platform)
	if err != nil {
		return err
	}
	if !shown {
		return exportReport(ctx, a, f, reports, query)
	}
	return reports.Report(ctx, query, func(s *reconcile.Snapshot) error {
		options := reports.ReportOptions(query, reportLang(a, f))
		if f.format == "table" {
			if len(options.By) == 0 {
				options.By = []reconcile.By{reconcile.ByAll, reconcile.BySeason}
			}
			if len(options.Sections) == 0 { // single rows only in files
				options.Sections = office.SectionsShown
			}
			_, err := s.Report(options, &sectionTable{app: a, lang: options.Lang})
			return err
		}
		_, err := s.Report(options, office.ReportWriter(f.format, options, a.Out))
		return err
	})
}

// reportLang returns the language of a report: JSON is English.
func reportLang(a *cli.App, f ReportFlags) trade.Lang {
	if f.format == "json" {
		return trade.English
	}
	return a.Lang()
}

// exportReport writes a report to a new file, which only its owner may read, or to standard output. The audit
// records who took which figures.
func exportReport(ctx context.Context, a *cli.App, f ReportFlags, reports *office.Office, q office.ReportQuery) error {
	path, file := f.output, office.ReportFile{Format: f.format, Name: "-", Failed: f.failed}
	if f.archive != "" {
		path, file.Format = f.archive, "zip"
	}
	if path != "" {
		file.Name = filepath.Base(path)
	}
	seal := ""
	write := func(to io.Writer) (err error) {
		seal, err = reports.WriteReport(ctx, q, reportLang(a, f), file, to, a.Person(f.ActFlags))
		return err
	}
	if path == "" {
		return write(a.Out)
	}
	err := cli.WriteOwn(path, write)
	switch {
	case errors.Is(err, reconcile.ErrWorkbook):
		return errors.New(a.Text("the workbook would exceed 4 GiB, and Excel could not open it: choose fewer rows (--from, --to, --job …) or --format csv; nothing was written"))
	case errors.Is(err, fs.ErrExist):
		return a.Usage("%s: %s; nothing was written there", path, a.Voice().FileReason(err))
	case err != nil:
		return err
	}
	a.Tell("Written to %s, which only you can read. From now on you are responsible for protecting it.", path)
	if seal != "" {
		a.Tell("Seal (SHA-256 of the list SHA256SUMS) %s, recorded in the audit. Unpacked, `sha256sum -c SHA256SUMS` verifies each file.", seal)
	}
	return nil
}

// reportFormat returns the format: that of --format, or else that of the file name.
func reportFormat(a *cli.App, f ReportFlags) (string, error) {
	format := f.format
	if format == "" && a.AsJSON {
		format = "json"
	}
	if ending := strings.TrimPrefix(strings.ToLower(filepath.Ext(f.output)), "."); format == "" &&
		slices.Contains(reportFormats, ending) {
		format = ending
	}
	switch {
	case strings.EqualFold(filepath.Ext(f.output), ".pdf") || format == "pdf":
		return "", a.Usage(`there is no PDF: write .html, print the page in a browser ("Save as PDF"), and sign that file`)
	case format == "" && f.output != "":
		return "", a.Usage("%s: give the format with --format: %s", f.output, strings.Join(reportFormats, ", "))
	case format == "":
		format = "table"
	}
	switch {
	case !slices.Contains(reportFormats, format):
		return "", a.Usage("there is no --format %s; the formats are %s", format, strings.Join(reportFormats, ", "))
	case f.failed && format != "xlsx" && format != "csv":
		return "", a.Usage("--failed needs --format xlsx or csv: it is a file to be filled in")
	case format == "table" && f.output != "":
		return "", a.Usage("%s: give the format with --format: %s", f.output, strings.Join(reportFormats[1:], ", "))
	case format == "xlsx" && f.output == "" && cli.IsTerminal(a.Stdout):
		return "", a.Usage("a workbook cannot be shown on a terminal: give --output FILE")
	}
	return format, nil
}

// reportQuery reads the flags strictly, so that a filter with a typing error does not look like an
// empty report.
func reportQuery(a *cli.App, f ReportFlags) (q office.ReportQuery, err error) {
	q.Closing = f.closing
	q.Filter = f.filter
	for into, text := range map[*trade.Date]string{&q.From: f.from, &q.To: f.to, &q.AsOf: f.asOf} {
		if text == "" {
			continue
		}
		*into, err = trade.ParseDate(text)
		if day, wrong := time.Parse("02/01/2006", text); wrong == nil { // as people write it
			*into, err = trade.DateOf(day), nil
		}
		if err != nil {
			return q, a.Usage("%q is not a date; write 2026-10-31 or 31/10/2026", text)
		}
	}
	switch {
	case !q.From.IsZero() && !q.To.IsZero() && q.To.Before(q.From):
		return q, a.Usage("--from %s is after --to %s", f.from, f.to)
	case f.platform && (f.asOf != "" || f.closing != ""):
		return q, a.Usage("--platform shows what the platform has today: it does not apply to a past day")
	}
	if len(f.filter.Jobs) > 0 {
		if err := a.CheckJobNames(f.filter.Jobs...); err != nil {
			return q, err
		}
	}
	q.States, err = cli.ParseStates(a, f.states, trade.States)
	if err != nil {
		return q, err
	}
	for _, s := range f.Sections {
		if !slices.Contains(reconcile.AllSections, reconcile.SectionID(s)) {
			return q, a.Usage("there is no --section %s; the sections are %s", s, cli.Listed(reconcile.AllSections))
		}
		q.Sections = append(q.Sections, reconcile.SectionID(s))
	}
	for _, by := range f.by {
		if !slices.Contains(reconcile.Dimensions, reconcile.By(by)) {
			return q, a.Usage("there is no --by %s; the values are %s", by, cli.Listed(reconcile.Dimensions))
		}
		q.By = append(q.By, reconcile.By(by))
	}
	return q, nil
}

// sources returns what a report is made from besides the ledger. It asks the platform first, which may
// take long: while a report is made the ledger is read at one moment.
func sources(ctx context.Context, a *cli.App, o *office.Office, platform bool) (out office.ReportSources, err error) {
	count := func(string, int) {}
	if cli.IsTerminal(a.Stderr) {
		count = func(text string, n int) { _, _ = io.WriteString(a.Stderr, "\r"+a.Text(text, n)) }
		end := func() { _, _ = io.WriteString(a.Stderr, "\r\x1b[K") }
		defer end()
		out.Progress = func(rows int, all bool) {
			count("reading the ledger: %d {row|rows}", rows)
			if all {
				end()
			}
		}
	}
	if platform {
		client, err := a.OpenAPI()
		if err != nil {
			return out, err
		}
		out.Platform, err = o.AskPlatform(ctx, client, func(n int) { count("asking the platform: %d {contract|contracts}", n) })
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// reportShown is how many rows of a section a terminal shows; files are complete.
const reportShown = 40

// sectionTable prints a report on a terminal: the first rows of each section, without empty
// columns.
type sectionTable struct {
	app     *cli.App
	lang    trade.Lang
	zone    *time.Location
	section reconcile.Section
	rows    []table.Row
	n       int
	given   bool // a section has begun
}

func (t *sectionTable) Begin(h reconcile.Heading) error {
	t.zone = h.Zone
	t.app.Line(h.Title)
	for _, line := range h.Lines {
		t.app.Line("  " + line)
	}
	return nil
}

func (t *sectionTable) Section(s reconcile.Section) error {
	t.close()
	t.section, t.rows, t.n, t.given = s, nil, 0, true
	return nil
}

func (t *sectionTable) Row(cells []any) error {
	t.n++
	if t.n > reportShown {
		return nil
	}
	row := make([]any, len(cells))
	for i, cell := range cells {
		row[i] = t.section.Columns[i].Text(cell, t.lang, t.zone)
	}
	t.rows = append(t.rows, cli.Printable(row))
	return nil
}

func (t *sectionTable) close() {
	if !t.given {
		return
	}
	a := t.app
	a.Line("")
	a.Line(t.section.Title)
	if t.section.Note != "" {
		a.Line("  " + t.section.Note)
	}
	if t.n == 0 {
		a.Show("  nothing")
		return
	}
	head := make(table.Row, len(t.section.Columns))
	configs := make([]table.ColumnConfig, len(t.section.Columns))
	for i, c := range t.section.Columns {
		filled := func(row table.Row) bool { return fmt.Sprint(row[i]) != "" }
		head[i] = c.Title
		configs[i] = table.ColumnConfig{
			Number: i + 1, Hidden: !slices.ContainsFunc(t.rows, filled), WidthMax: 48,
			WidthMaxEnforcer: text.WrapSoft,
		}
		if c.Number() {
			configs[i].Align = text.AlignRight
		}
	}
	out := a.TableOf(head)
	out.SetColumnConfigs(configs)
	out.AppendRows(t.rows)
	out.Render()
	if t.n > reportShown {
		a.Show("  … the first %d of %d; all of them with --format xlsx or csv (--section %s)", reportShown, t.n, t.section.ID)
	}
}

func (t *sectionTable) End() error {
	t.close()
	return nil
}
