package main

import (
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

// The sentences that the console shares with the command line.

func (w *consoleWork) voice(lang trade.Lang) voice {
	return voice{lang: lang, zone: w.g.app.config.Zone(), own: w.g.app.config.Catalogue()}
}

// Stop says why a job stands still.
func (w *consoleWork) Stop(stop trade.Stop, lang trade.Lang) string { return w.voice(lang).stop(stop) }

// Reason says in one line why a row is as it is.
func (w *consoleWork) Reason(entry trade.Entry, lang trade.Lang) string {
	return w.voice(lang).reason(entry)
}

// Advice is what to do about a row.
func (w *consoleWork) Advice(entry trade.Entry, lang trade.Lang) trade.Advice {
	return w.voice(lang).advice(entry)
}

// Attempt says how an attempt ended, and how far its request got.
func (w *consoleWork) Attempt(attempt trade.Attempt, lang trade.Lang) (outcome, phase string) {
	v := w.voice(lang)
	outcome = v.text(i18n.Key("outcome." + outcomeName(attempt.Outcome)))
	if p := phaseOf(attempt.Evidence); p != "" {
		phase = v.text(i18n.Key("phase." + p))
	}
	return outcome, phase
}
