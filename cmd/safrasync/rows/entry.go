package rows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// printEntry prints what the ledger has of a row beyond the sentences of office.Story.
// jobs are those of its installation, and now is the request that would be sent, which follows.
func printEntry(a *cli.App, jobs []mapping.JobSpec, e trade.Entry, now json.RawMessage) {
	v := a.Voice()
	a.Show("row.times", v.Moment(e.FirstSeenAt), v.Moment(e.UpdatedAt), e.Attempts, e.Generation)
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
	for _, name := range office.ColumnsInOrder(jobs, e) {
		text := values[name].Text
		switch values[name].Kind {
		case 0:
			text = "NULL"
		case trade.Marked, mapping.Sealed:
			text = "…"
		}
		a.Line(fmt.Sprintf("  %-*s  %s", width, name, text))
	}
	if len(e.Payload) > 0 && !bytes.Equal(e.Payload, now) {
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
	if t.AnswerBody != "" {
		a.Show("attempt.answer", t.AnswerBody)
	}
	if len(t.Evidence) > 0 {
		a.Show("attempt.evidence", t.Evidence)
	}
}
