package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Lang returns the language for people: that of the configuration, else that of the environment,
// else Portuguese.
func (a *App) Lang() trade.Lang {
	if a.Config != nil && a.Config.Language != "" {
		return trade.ParseLang(a.Config.Language)
	}
	if a.Language != "" {
		return trade.ParseLang(a.Language)
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} { // in the order of precedence in POSIX
		if value, ok := a.Env(name); ok && value != "" {
			return trade.ParseLang(value)
		}
	}
	return trade.Portuguese
}

// Voice returns the voice for the person who runs the command: in their language, with times in the
// ERP's zone, which is the cooperative's.
func (a *App) Voice() words.Voice {
	v := words.Voice{Lang: a.Lang(), Zone: time.Local, Now: time.Now()}
	if a.Config != nil {
		v.Zone, v.Titles = a.Config.Zone(), a.Config.Titles(v.Lang)
	}
	return v
}

// Text returns a phrase in the person's language.
func (a *App) Text(p i18n.Key, args ...any) string { return a.Voice().Text(p, args...) }

// Tell prints a phrase for people to standard error: progress, plans, warnings, errors.
func (a *App) Tell(p i18n.Key, args ...any) { fmt.Fprintln(a.Stderr, words.Lines(a.Text(p, args...))) }

// Show prints a phrase for people to standard output: a result.
func (a *App) Show(p i18n.Key, args ...any) { a.Block(a.Text(p, args...)) }

// Line prints a text to standard output as one line; line breaks in it are shown as ↵.
func (a *App) Line(text string) { fmt.Fprintln(a.Out, words.Printable(text)) }

// Block prints a text with line breaks of our own to standard output.
func (a *App) Block(text string) { fmt.Fprintln(a.Out, words.Lines(text)) }

// Phrase returns a sentence of the code in the person's language.
func (a *App) Phrase(format string, args ...any) string {
	return i18n.ErrorText(a.Lang(), phrase.New(format, args...))
}

// Error returns an error in the person's language.
func (a *App) Error(p i18n.Key, args ...any) error { return errors.New(a.Text(p, args...)) }

// Usage returns a usage error.
func (a *App) Usage(p i18n.Key, args ...any) error { return &UsageError{a.Text(p, args...)} }

// IsTerminal reports whether a stream is a terminal; only a terminal gets a progress bar or a
// question.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// NewTable makes a table for people on standard output.
func (a *App) NewTable(head ...i18n.Key) table.Writer {
	return a.TableOf(trade.Map(head, func(h i18n.Key) any { return a.Text(h) }))
}

// TableOf is NewTable with a head of texts.
func (a *App) TableOf(head table.Row) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(a.Out)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault // as written, not in capitals
	t.AppendHeader(head)
	return t
}

// PrintIndented prints a JSON document for people. Text that is not valid JSON is printed
// unchanged, in one line.
func (a *App) PrintIndented(doc json.RawMessage) {
	var b bytes.Buffer
	if err := json.Indent(&b, doc, "  ", "  "); err != nil {
		a.Line("  " + string(doc))
		return
	}
	a.Block("  " + string(trade.EscapeJSON(b.Bytes())))
}

// OrDash returns a dash for an empty text.
func OrDash(text string) string { return cmp.Or(text, "-") }

// Listed joins names with commas.
func Listed[T ~string](names []T) string { return strings.Join(Texts(names), ", ") }

// Texts converts names to strings.
func Texts[T ~string](values []T) []string {
	return trade.Map(values, func(v T) string { return string(v) })
}

// Completes offers the values of an enumeration to the shell.
func Completes[T ~string](a *App, cmd *cobra.Command, flag string, values []T) {
	a.offers(cmd, flag, cobra.FixedCompletions(Texts(values), cobra.ShellCompDirectiveNoFileComp))
}

// planShown is how many lines of each kind a plan shows.
const planShown = 20

// PrintPlan prints the first lines of one kind of a plan with tell, and how many more there are.
func PrintPlan[T any](a *App, lines []T, tell func(T)) {
	for i, line := range lines {
		if i == planShown {
			a.Tell("  … and %d more", len(lines)-i)
			return
		}
		tell(line)
	}
}

// PrintEach prints a list as one line of JSON for each element.
func PrintEach[T any](a *App, list []T) error {
	for _, one := range list {
		if err := a.PrintJSON(one); err != nil {
			return err
		}
	}
	return nil
}

// PrintTable prints a list for people: a table with the cells of each element, in one line each.
func PrintTable[T any](a *App, list []T, head []i18n.Key, cells func(T) []any) error {
	t := a.NewTable(head...)
	t.AppendRows(trade.Map(list, func(one T) table.Row { return Printable(cells(one)) }))
	t.Render()
	return nil
}

// Plain is a cell that is printed as it is: an id, or a sentence of ours, in which no document is masked.
type Plain string

// Printable returns cells as they are printed: a text in one line, documents masked.
func Printable(cells []any) table.Row {
	return trade.Map(cells, func(cell any) any {
		if text, ok := cell.(string); ok {
			return words.Printable(text)
		}
		return cell
	})
}

// Watcher prints the progress of a run. A short run prints nothing before its summary.
type Watcher interface {
	Observe(run.Progress) // called by one goroutine at a time
	Close()               // returns when nothing more is written
}

// Watch returns a progress bar for terminals, and plain lines for everything else. With --verbose
// it never returns a bar, because the log has the details.
func (a *App) Watch() Watcher {
	if IsTerminal(a.Stderr) && !a.Verbose {
		return newBar(a)
	}
	return &plainWatcher{app: a, since: time.Since, saidAt: time.Now()}
}

// Without a terminal a run prints at most one line every ten seconds, and while it sends at most
// one for each tenth.
const (
	plainInterval = 10 * time.Second
	PlainTenths   = 10
)

// plainWatcher prints a line from time to time.
type plainWatcher struct {
	app    *App
	since  func(time.Time) time.Duration
	saidAt time.Time
	job    string // of the last line about sending
	tenth  int    // in the last line about sending
}

func (w *plainWatcher) Observe(p run.Progress) {
	if w.since(w.saidAt) < plainInterval {
		return
	}
	switch p.Phase {
	case run.Reading:
		w.app.Tell("%s: reading the ERP, %d {row|rows} so far", p.Job, p.Read)
	case run.Sending:
		tenth := p.Done * PlainTenths / max(p.Total, 1)
		if p.Job == w.job && tenth == w.tenth {
			return
		}
		w.job, w.tenth = p.Job, tenth
		w.app.Tell("%s: sending, %d of %d", p.Job, p.Done, p.Total)
	case run.Resting:
		w.app.Tell("%s: waiting until %s", p.Job, w.app.restsUntil(p.Note))
	default:
		return
	}
	w.saidAt = time.Now()
}

// restsUntil returns the end of a pause as people write it; the engine writes it in RFC 3339.
func (a *App) restsUntil(note string) string {
	until, err := time.Parse(time.RFC3339, note)
	if err != nil {
		return note
	}
	return until.In(a.Voice().Zone).Format("15:04:05")
}

func (w *plainWatcher) Close() {}

// bar draws one line for each job.
type bar struct {
	app      *App
	writer   progress.Writer
	trackers map[string]*progress.Tracker
	ended    chan struct{}
}

func newBar(a *App) *bar {
	w := progress.NewWriter()
	w.SetOutputWriter(a.Stderr)
	w.SetUpdateFrequency(200 * time.Millisecond)
	w.SetTrackerPosition(progress.PositionRight)
	w.SetMessageLength(32)
	w.Style().Visibility.Speed = true
	w.Style().Visibility.ETA = true
	b := &bar{app: a, writer: w, trackers: map[string]*progress.Tracker{}, ended: make(chan struct{})}
	go func() {
		defer close(b.ended)
		w.Render()
	}()
	return b
}

func (b *bar) Observe(p run.Progress) {
	t := b.trackers[p.Job]
	if t == nil {
		t = &progress.Tracker{Message: b.app.Text("%s: reading the ERP", p.Job)}
		b.trackers[p.Job] = t
		b.writer.AppendTracker(t)
	}
	switch p.Phase {
	case run.Reading:
		t.SetValue(int64(p.Read))
	case run.Sending:
		t.UpdateMessage(b.app.Text("%s: sending", p.Job))
		t.UpdateTotal(int64(max(p.Total, 1)))
		t.SetValue(int64(p.Done))
	case run.Resting:
		t.UpdateMessage(b.app.Text("%s: waiting until %s", p.Job, b.app.restsUntil(p.Note)))
	case run.Done:
		t.UpdateMessage(p.Job)
		t.MarkAsDone()
	}
}

func (b *bar) Close() {
	for _, t := range b.trackers {
		t.MarkAsDone()
	}
	// Stop has no effect on a Render that has not begun.
	for {
		b.writer.Stop()
		select {
		case <-b.ended:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}
