package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// voice is the language and the time zone in which somebody is spoken to.
type voice struct {
	lang trade.Lang
	zone *time.Location
	own  *trade.Catalogue // what is told of causes; nil: the program's own words
}

// machine is the voice of sentences in JSON.
var machine = voice{lang: trade.English, zone: time.UTC}

// text gives a phrase. What stands in it as a string may be the ERP's: it is one line, and steers
// nothing.
func (v voice) text(p i18n.Key, args ...any) string {
	format := i18n.CLI.Text(v.lang, p)
	if len(args) == 0 {
		return format
	}
	given := slices.Clone(args)
	for i, arg := range given {
		switch text := arg.(type) {
		case string:
			given[i] = printable(text)
		case json.RawMessage:
			given[i] = trade.EscapeJSON(text)
		}
	}
	return fmt.Sprintf(format, given...)
}

// moment is a time as people write it.
func (v voice) moment(t time.Time) string {
	switch {
	case t.IsZero():
		return "-"
	case v.zone == time.UTC:
		return t.UTC().Format(time.RFC3339)
	case v.lang == trade.English:
		return t.In(v.zone).Format("2006-01-02 15:04")
	}
	return t.In(v.zone).Format("02/01/2006 15:04")
}

// lang is the language of what people read: that of the configuration, once it is loaded, else that
// of the environment, else Portuguese.
func (a *App) lang() trade.Lang {
	if a.config != nil && a.config.Language != "" {
		return trade.ParseLang(a.config.Language)
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} { // the order in which POSIX asks them
		if value, ok := a.Env(name); ok && value != "" {
			return trade.ParseLang(value)
		}
	}
	return trade.Portuguese
}

// voice speaks to who runs the command: in their language, with the times of the ERP's zone, which
// is the cooperative's.
func (a *App) voice() voice {
	v := voice{lang: a.lang(), zone: time.Local}
	if a.config != nil {
		v.zone, v.own = a.config.Zone(), a.config.Catalogue()
	}
	return v
}

// text gives a phrase in the person's language.
func (a *App) text(p i18n.Key, args ...any) string { return a.voice().text(p, args...) }

// tell writes a line for people to standard error: progress, plans, warnings, errors.
func (a *App) tell(p i18n.Key, args ...any) { fmt.Fprintln(a.Stderr, lines(a.text(p, args...))) }

// show writes a line for people to standard output: a result.
func (a *App) show(p i18n.Key, args ...any) { a.block(a.text(p, args...)) }

// line writes one line to standard output, whatever is in it.
func (a *App) line(text string) { fmt.Fprintln(a.out, printable(text)) }

// block writes a text with line breaks of ours to standard output.
func (a *App) block(text string) { fmt.Fprintln(a.out, lines(text)) }

// printable keeps a text of the ERP, or of a foreign server, from driving the terminal, from
// turning the direction of a line and from beginning a line of its own.
func printable(text string) string {
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
		all[i] = printable(line)
	}
	return strings.Join(all, "\n")
}

// usage is a wrong call.
func (a *App) usage(p i18n.Key, args ...any) error { return &usageError{a.text(p, args...)} }

// isTerminal tells whether a stream is a terminal: only there are a progress bar and a question of
// use.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// now is the wall clock, in UTC.
func now() time.Time { return time.Now().UTC() }
