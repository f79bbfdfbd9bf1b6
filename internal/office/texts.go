package office

import (
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/trade"
)

// The texts that the console shares with the command line.

// Stop returns why a job is stopped and who must act, without a command.
func (o *Office) Stop(stop trade.Stop, lang trade.Lang) string {
	v := o.Voice(lang)
	advice := o.AdviseStop(&stop, lang)
	text := advice.What
	switch {
	case stop.Code == string(trade.Paused): // the text states who paused it, and why
		text = v.Say(stop.Why)
	case advice.Fixer == trade.FixIT:
		text += v.Text(". Tell IT")
	}
	if !stop.Until.IsZero() {
		text += v.Text("; next attempt at %s", v.Moment(stop.Until))
	}
	return text
}

// Advice returns what to do about a row. For a row that was sent it is about what happened
// afterwards.
func (o *Office) Advice(entry trade.Entry, lang trade.Lang) trade.Advice {
	for _, flag := range append([]trade.Flag{trade.Moved, trade.Replaced}, trade.AcknowledgedByAct...) {
		if entry.State == trade.Accepted && entry.Flags.Has(flag) {
			return trade.ExplainFlag(flag, lang)
		}
	}
	return o.Voice(lang).Advice(entry)
}

// Attempt returns how an attempt ended, with the platform's answer, and phaseOf.
func (o *Office) Attempt(attempt trade.Attempt, lang trade.Lang) (outcome, phase string) {
	v := o.Voice(lang)
	outcome = v.Text("outcome." + words.OutcomeName(attempt.Outcome))
	if len(attempt.Messages) > 0 {
		outcome += ": " + trade.Explain(trade.Rejected, attempt.Messages[0], lang).What
	}
	return outcome, phaseOf(attempt)
}

// phaseOf returns how far the request of an attempt got, or that the answer proves that it created nothing.
func phaseOf(a trade.Attempt) string {
	if a.Outcome == trade.OutcomeNotCreated {
		return string(a.Outcome)
	}
	return words.PhaseOf(a.Evidence)
}

// HeldCauses are the causes of held rows.
var HeldCauses = []string{
	trade.CauseRetyped, trade.CauseOtherJob, trade.CauseTwin, trade.CauseDuplicateKey, trade.CauseVanished,
	trade.CauseExists, trade.CauseReplaced,
}

// CauseName says in words what a cause means.
func (o *Office) CauseName(cause string, lang trade.Lang) string {
	state := trade.Rejected
	switch {
	case strings.HasPrefix(cause, "rule:"):
		state = trade.Invalid
	case strings.HasPrefix(cause, "ref:"), cause == trade.CauseParent:
		state = trade.Waiting
	case cause == trade.CauseUnknown:
		state = trade.InDoubt
	case slices.Contains(HeldCauses, cause):
		state = trade.Held
	}
	return o.Advice(trade.Entry{State: state, Cause: cause}, lang).What
}
