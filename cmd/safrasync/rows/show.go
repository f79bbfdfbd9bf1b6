package rows

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// showRow prints everything that the ledger knows about one row.
func showRow(ctx context.Context, a *cli.App, job, key string) error {
	store, err := a.OpenLedger(ctx, cli.ToRead)
	if err != nil {
		return err
	}
	entry, err := store.Entry(ctx, job, key)
	if errors.Is(err, state.ErrNotFound) {
		if err := a.CheckJobNames(a.Config, []string{job}); err != nil {
			return err
		}
		return errors.New(a.Text("row.unknown", job, key, job, key))
	}
	if err != nil {
		return err
	}
	attempts, err := store.Attempts(ctx, entry.ID)
	if err != nil {
		return err
	}
	changes, err := a.Differences(ctx, store, entry)
	if err != nil {
		return err
	}
	hints, err := a.Office(store).Hints(ctx, entry, attempts)
	if err != nil {
		return err
	}
	if a.AsJSON {
		detail := cli.RowDetailOf(a.Config, entry, attempts, changes)
		detail.Hints = cli.HintsOf(hints)
		return a.PrintJSON(detail)
	}
	printEntry(a, entry, changes)
	printHints(a, entry, hints)
	for _, t := range attempts {
		printAttempt(a, t)
	}
	return nil
}

func printEntry(a *cli.App, e trade.Entry, changes []trade.Difference) {
	v := a.Voice()
	a.Show("row.title", v.Subject(e.Job, e.Key, e.Shown), e.State.Label(v.Lang), e.Sends.Label(v.Lang))
	if text := v.Reason(e); text != "" {
		a.Line("  " + text)
	}
	if advice := v.Advice(e); advice.Do != "" {
		a.Show("row.advice", advice.Who, advice.Do)
	}
	if e.Error != nil && e.State != trade.Invalid {
		a.Show("row.error", v.OutcomeReason(e.Error.Status, e.Error.Messages, e.Error.Text))
	}
	if e.RemoteID != "" {
		a.Show("row.remote", e.RemoteID)
	}
	if e.MovedID != "" {
		a.Show("row.moved", e.MovedID)
	}
	a.Show("row.times", v.Moment(e.FirstSeenAt), v.Moment(e.UpdatedAt), e.Attempts, e.Generation)
	for _, text := range v.Since(e, changes) {
		a.Line("  " + text)
	}
	for _, p := range e.Warnings {
		a.Show("row.warning", p.Sentence(v.Lang))
	}
	if !e.ReducedAt.IsZero() {
		a.Show("row.reduced", v.Moment(e.ReducedAt))
	}
	if e.Away() {
		a.Show("row.values_away")
	} else {
		a.Show("row.values")
	}
	values, width := e.NewestValues(), 0
	for name := range values {
		width = max(width, len(name))
	}
	for _, name := range office.ColumnsInOrder(a.Config, e) {
		text := values[name].Text
		switch values[name].Kind {
		case 0:
			text = "NULL"
		case trade.Marked:
			text = "…"
		}
		a.Line(fmt.Sprintf("  %-*s  %s", width, name, text))
	}
	if len(e.Payload) > 0 {
		a.Show("row.payload", mapping.PathOf(e))
		a.PrintIndented(e.Payload)
	}
}

func printAttempt(a *cli.App, t trade.Attempt) {
	v := a.Voice()
	a.Show("attempt.title", t.No, v.Moment(t.StartedAt), a.Text(i18n.Key("outcome."+words.OutcomeName(t.Outcome))),
		t.Generation)
	if t.Status != 0 {
		a.Line("  " + strings.TrimSpace(a.Text("attempt.status", t.Status, strings.Join(t.Messages, ", "))))
	}
	if t.Reason != "" && (v.Lang == trade.English || t.Status == 0) { // the answer has been printed above
		a.Show("attempt.reason", v.Said(t.Reason))
	}
	if t.AnswerBody != "" {
		a.Show("attempt.answer", t.AnswerBody)
	}
	if len(t.Evidence) > 0 {
		a.Show("attempt.evidence", t.Evidence)
	}
}
