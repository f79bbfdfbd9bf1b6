package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// showRow writes everything that the ledger knows about one row.
func (a *App) showRow(ctx context.Context, job, key string) error {
	store, err := a.openLedger(ctx, toRead)
	if err != nil {
		return err
	}
	entry, err := store.Entry(ctx, job, key)
	if errors.Is(err, state.ErrNotFound) {
		if err := a.checkJobNames(a.config, []string{job}); err != nil {
			return err
		}
		return errors.New(a.text("row.unknown", job, key, job, key))
	}
	if err != nil {
		return err
	}
	attempts, err := store.Attempts(ctx, entry.ID)
	if err != nil {
		return err
	}
	changes, err := a.differences(ctx, store, entry)
	if err != nil {
		return err
	}
	hints, err := a.hints(ctx, store, entry, attempts)
	if err != nil {
		return err
	}
	if a.asJSON {
		detail := rowDetailOf(entry, attempts, changes)
		detail.Hints = hintsOf(hints)
		return a.printJSON(detail)
	}
	a.printEntry(entry, changes)
	a.printHints(entry, hints)
	for _, t := range attempts {
		a.printAttempt(t)
	}
	return nil
}

func (a *App) printEntry(e trade.Entry, changes []trade.Difference) {
	v := a.voice()
	a.show("row.title", e.Job, e.Key, e.State.Label(v.lang), e.Sends.Label(v.lang))
	if text := v.reason(e); text != "" {
		a.line("  " + text)
	}
	if advice := v.advice(e); advice.Do != "" {
		a.show("row.advice", advice.Who, advice.Do)
	}
	if e.Error != nil && e.State != trade.Invalid {
		a.show("row.error", v.outcomeReason(e.Error.Status, e.Error.Messages, e.Error.Text))
	}
	if e.RemoteID != "" {
		a.show("row.remote", e.RemoteID)
	}
	if e.MovedID != "" {
		a.show("row.moved", e.MovedID)
	}
	a.show("row.times", v.moment(e.FirstSeenAt), v.moment(e.UpdatedAt), e.Attempts, e.Generation)
	for _, text := range v.since(e, changes) {
		a.line("  " + text)
	}
	for _, p := range e.Warnings {
		a.show("row.warning", p.Sentence(v.lang))
	}
	if !e.ReducedAt.IsZero() {
		a.show("row.reduced", v.moment(e.ReducedAt))
	}
	a.show("row.values")
	width := 0
	for name := range e.Values {
		width = max(width, len(name))
	}
	for _, name := range a.columnsInOrder(e) {
		text := e.Values[name].Text
		switch e.Values[name].Kind {
		case 0:
			text = "NULL"
		case trade.Marked:
			text = "…"
		}
		a.line(fmt.Sprintf("  %-*s  %s", width, name, text))
	}
	if len(e.Payload) > 0 {
		a.show("row.payload", engine.PathOf(e))
		a.printIndented(e.Payload)
	}
}

func (a *App) printAttempt(t trade.Attempt) {
	v := a.voice()
	a.show("attempt.title", t.No, v.moment(t.StartedAt), a.text(i18n.Key("outcome."+outcomeName(t.Outcome))),
		t.Generation)
	if t.Status != 0 {
		a.line("  " + strings.TrimSpace(a.text("attempt.status", t.Status, strings.Join(t.Messages, ", "))))
	}
	if t.Reason != "" && (v.lang == trade.English || t.Status == 0) { // the answer stands above
		a.show("attempt.reason", t.Reason)
	}
	if t.AnswerBody != "" {
		a.show("attempt.answer", t.AnswerBody)
	}
	if len(t.Evidence) > 0 {
		a.show("attempt.evidence", t.Evidence)
	}
}
