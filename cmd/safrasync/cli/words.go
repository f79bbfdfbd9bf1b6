package cli

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/internal/words"
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
	v := words.Voice{Lang: a.Lang(), Zone: time.Local}
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
	return i18n.Tell(a.Lang(), phrase.New(format, args...))
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
