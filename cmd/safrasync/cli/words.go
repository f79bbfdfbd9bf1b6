package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/safrasync/safrasync/cmd/safrasync/config"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Voice is the language and the time zone in which somebody is spoken to.
type Voice struct {
	Lang trade.Lang
	Zone *time.Location
	Own  *trade.Catalogue // what is told of causes; nil: the program's own words

	Titles trade.Titles // of the configured jobs
}

// Machine is the voice of sentences in JSON.
var Machine = Voice{Lang: trade.English, Zone: time.UTC}

// Text returns a phrase. What stands in it as a string may be the ERP's: it is one line, and steers
// nothing.
func (v Voice) Text(p i18n.Key, args ...any) string {
	format := i18n.CLI.Text(v.Lang, p)
	if len(args) == 0 {
		return format
	}
	given := slices.Clone(args)
	for i, arg := range given {
		switch text := arg.(type) {
		case error:
			given[i] = v.Fault(text)
		case string:
			given[i] = Printable(text)
		case json.RawMessage:
			given[i] = trade.EscapeJSON(text)
		}
	}
	return i18n.Format(format, given...)
}

// Said reports what the code says in English, where the person's language has it.
func (v Voice) Said(english string) string {
	told, _ := i18n.Said(v.Lang, english)
	return told
}

// Fault tells an error, as far as the person's language has its sentences.
func (v Voice) Fault(err error) string {
	if faults, ok := errors.AsType[*config.Error](err); ok {
		return faults.In(v.Said)
	}
	if spec, ok := err.(*mapping.SpecError); ok { //nolint:errorlint // one that is wrapped keeps what is around it
		return spec.Path + ": " + v.Said(spec.Text)
	}
	if v.Lang == trade.English {
		return err.Error()
	}
	return v.Said(strings.TrimPrefix(err.Error(), "erp: "))
}

// Moment is a time as people write it.
func (v Voice) Moment(t time.Time) string {
	switch {
	case t.IsZero():
		return "-"
	case v.Zone == time.UTC:
		return t.UTC().Format(time.RFC3339)
	case v.Lang == trade.English:
		return t.In(v.Zone).Format("2006-01-02 15:04")
	}
	return t.In(v.Zone).Format("02/01/2006 15:04")
}

// Lang is the language of what people read: that of the configuration, else that of the environment,
// else Portuguese.
func (a *App) Lang() trade.Lang {
	if a.Config != nil && a.Config.Language != "" {
		return trade.ParseLang(a.Config.Language)
	}
	if a.Language != "" {
		return trade.ParseLang(a.Language)
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} { // the order in which POSIX asks them
		if value, ok := a.Env(name); ok && value != "" {
			return trade.ParseLang(value)
		}
	}
	return trade.Portuguese
}

// Voice speaks to who runs the command: in their language, with the times of the ERP's zone, which
// is the cooperative's.
func (a *App) Voice() Voice {
	v := Voice{Lang: a.Lang(), Zone: time.Local}
	if a.Config != nil {
		v.Zone, v.Own, v.Titles = a.Config.Zone(), a.Config.Catalogue(), a.Config.Titles(v.Lang)
	}
	return v
}

// Text returns a phrase in the person's language.
func (a *App) Text(p i18n.Key, args ...any) string { return a.Voice().Text(p, args...) }

// Tell writes a line for people to standard error: progress, plans, warnings, errors.
func (a *App) Tell(p i18n.Key, args ...any) { fmt.Fprintln(a.Stderr, lines(a.Text(p, args...))) }

// Show writes a line for people to standard output: a result.
func (a *App) Show(p i18n.Key, args ...any) { a.Block(a.Text(p, args...)) }

// Line writes one line to standard output, whatever is in it.
func (a *App) Line(text string) { fmt.Fprintln(a.Out, Printable(text)) }

// Block writes a text with line breaks of ours to standard output.
func (a *App) Block(text string) { fmt.Fprintln(a.Out, lines(text)) }

// Printable keeps a text of the ERP, or of a foreign server, from driving the terminal, from
// turning the direction of a line and from beginning a line of its own.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return '↵'
		case r == '\t':
			return ' '
		case trade.Steers(r):
			return utf8.RuneError
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}

// lines is printable for each line of a text.
func lines(text string) string {
	all := strings.Split(text, "\n")
	for i, line := range all {
		all[i] = Printable(line)
	}
	return strings.Join(all, "\n")
}

// Usage is a wrong call.
func (a *App) Usage(p i18n.Key, args ...any) error { return &UsageError{a.Text(p, args...)} }

// IsTerminal reports whether a stream is a terminal: only there are a progress bar and a question
// of use.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Now is the wall clock, in UTC.
func Now() time.Time { return time.Now().UTC() }

// Subject says which row is meant: its title and what people are shown of it, documents masked,
// then what commands take: Contratos 01/001008 · José da Silva (contracts 01|001008).
func (v Voice) Subject(job, key string, shown trade.Shown) string {
	name := job + " " + key
	lead, line := v.Titles.Of(job), shown.Masked().Line()
	switch {
	case line != "":
		lead += " " + line
	case lead == job:
		return name
	}
	return lead + " (" + name + ")"
}

// Job is the title of a job, and the name that commands take: Contratos (contracts).
func (v Voice) Job(name string) string {
	if title := v.Titles.Of(name); !strings.EqualFold(title, name) {
		return title + " (" + name + ")"
	}
	return name
}
