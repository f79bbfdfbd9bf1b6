package main

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/safrasync/safrasync/trade"
)

// phrase is one sentence in both languages, with the same verbs in the same order. All phrases stand in words_*.go.
type phrase struct{ pt, en string }

// voice is the language and the time zone in which somebody is spoken to.
type voice struct {
	lang trade.Lang
	zone *time.Location
	own  *trade.Catalogue // what is told of causes; nil: the program's own words
}

// machine is the voice of sentences in JSON.
var machine = voice{lang: trade.English, zone: time.UTC}

// text gives a phrase.
func (v voice) text(p phrase, args ...any) string {
	format := p.pt
	if v.lang == trade.English {
		format = p.en
	}
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
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

// lang is the language of what people read: that of the configuration, once it is loaded, else that of the environment, else Portuguese.
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

// voice speaks to who runs the command: in their language, with the times of the ERP's zone, which is the cooperative's.
func (a *App) voice() voice {
	v := voice{lang: a.lang(), zone: time.Local}
	if a.config != nil {
		v.zone, v.own = a.config.Zone(), a.config.catalogue
	}
	return v
}

// text gives a phrase in the person's language.
func (a *App) text(p phrase, args ...any) string { return a.voice().text(p, args...) }

// tell writes a line for people to standard error: progress, plans, warnings, errors.
func (a *App) tell(p phrase, args ...any) { fmt.Fprintln(a.Stderr, printable(a.text(p, args...))) }

// show writes a line for people to standard output: a result.
func (a *App) show(p phrase, args ...any) { a.line(a.text(p, args...)) }

// line writes a text to standard output.
func (a *App) line(text string) { fmt.Fprintln(a.out, printable(text)) }

// printable keeps what the ERP or a foreign server wrote from driving the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return utf8.RuneError
		}
		return r
	}, text)
}

// usage is a wrong call.
func (a *App) usage(p phrase, args ...any) error { return &usageError{a.text(p, args...)} }
