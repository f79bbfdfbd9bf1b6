package rows

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/rehearse"
	"github.com/safrasync/safrasync/trade"
)

// NewWhyCommand makes the command why.
func NewWhyCommand(a *cli.App) *cobra.Command {
	cmd := a.Command("why JOB KEY", "help.why", cli.Exactly(2), func(cmd *cobra.Command, args []string) error {
		return tellWhy(cmd.Context(), a, args[0], args[1])
	})
	cmd.ValidArgsFunction = a.CompleteRows()
	return cmd
}

// whyJSON is the output of `why --json`.
type whyJSON struct {
	rehearse.Reasons
	ERPError  *string            `json:"erp_error"` // why the ERP could not be read; null if it was read
	Row       *cli.RowDetailJSON `json:"row"`       // the ledger's entry; null if there is none
	JobStatus trade.JobStatus    `json:"job_status"`
	NextRun   time.Time          `json:"next_run"`
	Sentences []string           `json:"sentences"` // the sentences for people, in English
}

// story is everything that is known about one key.
type story struct {
	asked    string // the key as it was typed
	reasons  rehearse.Reasons
	sends    trade.Kind
	erpErr   error
	entry    *trade.Entry
	parents  []rehearse.Reasons // of the rows that it waits for and that the ledger does not have
	attempts []trade.Attempt
	changes  []trade.Difference
	status   trade.JobStatus
	nextRun  time.Time
}

// tellWhy explains the way of one key from the ERP to the platform. If the ERP cannot be reached,
// its part is missing and the exit code shows it; the rest is printed.
func tellWhy(ctx context.Context, a *cli.App, job, key string) error {
	config, err := a.LoadConfig()
	if err != nil {
		return err
	}
	if key, err = a.CheckKey(config, job, key); err != nil {
		return err
	}
	e, err := cli.OpenReader(ctx, a, false)
	if err != nil {
		return err
	}
	s, err := tellStory(ctx, e, job, key, config.Zone())
	if err != nil {
		return err
	}
	if s.entry != nil {
		if s.changes, err = a.Differences(ctx, e.Store, *s.entry); err != nil {
			return err
		}
	}
	if a.AsJSON {
		out := whyJSON{
			Reasons: s.reasons, JobStatus: s.status, NextRun: s.nextRun.UTC(),
			Sentences: why(words.Machine, s),
		}
		if s.entry != nil {
			row := cli.RowDetailOf(a.Config, *s.entry, s.attempts, s.changes)
			out.Row = &row
		}
		if s.erpErr != nil {
			text := s.erpErr.Error()
			out.ERPError = &text
		}
		if p := out.Preview; p != nil {
			*p = tidyPreview(*p)
		}
		err = a.PrintJSON(out)
	} else {
		for _, sentence := range why(a.Voice(), s) {
			a.Line(sentence)
		}
	}
	if err == nil && s.erpErr != nil {
		return &cli.ExitError{Code: cli.ExitFailed}
	}
	return err
}

func tellStory(ctx context.Context, e *cli.Engine, job, key string, zone *time.Location) (s story, err error) {
	s.asked = key
	s.reasons, s.erpErr = e.Why(ctx, job, key)
	var ledger *state.Error
	if ctx.Err() != nil || errors.As(s.erpErr, &ledger) {
		return s, s.erpErr
	}
	if s.reasons.Job == "" {
		s.reasons.Job, s.reasons.Key, s.reasons.Excluded = job, key, []string{}
	}
	entry, err := e.Store.Entry(ctx, job, s.reasons.Key)
	switch {
	case err == nil:
		s.entry = &entry
		if s.attempts, err = e.Store.Attempts(ctx, entry.ID); err != nil {
			return s, err
		}
		for _, w := range entry.WaitingFor {
			if w.Job == "" || w.ParentState != "" || s.erpErr != nil {
				continue
			}
			parent, err := e.Why(ctx, w.Job, w.Key)
			if err != nil {
				return s, err
			}
			s.parents = append(s.parents, parent)
		}
	case !errors.Is(err, state.ErrNotFound):
		return s, err
	}
	if s.status, err = e.Store.JobStatus(ctx, job); err != nil {
		return s, err
	}
	compiled, err := e.Job(job)
	if err != nil {
		return s, err
	}
	s.sends = compiled.Spec.Sends
	schedule, err := clock.ParseSchedule(compiled.Spec.Schedule, zone)
	if err != nil {
		return s, err
	}
	s.nextRun = schedule.Next(office.Now())
	return s, nil
}

// why returns the story as sentences, from the ERP to what happens next.
func why(v words.Voice, s story) []string {
	var out []string
	say := func(p i18n.Key, args ...any) { out = append(out, v.Text(p, args...)) }
	var shown trade.Shown
	if s.entry != nil {
		shown = s.entry.Shown
	}
	say("why.title", v.Subject(s.reasons.Job, s.reasons.Key, shown), s.sends.Label(v.Lang))
	r := s.reasons
	if r.Key != s.asked {
		say("why.other_key", r.Key, s.asked)
	}
	switch {
	case s.erpErr != nil:
		say("why.no_erp", s.erpErr)
	case r.InQuery && r.Cancelled:
		say("why.cancelled")
	case r.InQuery:
		say("why.in_query")
	case !r.Asked:
		say("why.not_asked")
	case r.InERP == nil:
		say("why.not_told")
	case *r.InERP && len(r.Excluded) == 0:
		say("why.excluded_somehow")
	case *r.InERP:
		say("why.excluded")
		out = append(out, excluding(v, r.Excluded)...)
	default:
		say("why.not_in_erp")
	}
	if s.entry == nil {
		return append(out, whyUnknown(v, s)...)
	}
	return append(append(out, whyEntry(v, s)...), whyNext(v, s)...)
}

// cutOver matches a condition that leaves out rows before a date. Such a date is the one from which on
// the cooperative sends.
var cutOver = regexp.MustCompile(`>=?\s*(?i:date\s*|timestamp\s*|to_date\s*\(\s*)?'(\d{4}-?\d\d-?\d\d|\d\d/\d\d/\d{4})`)

// excluding returns a line for each condition of the query that leaves a row out.
func excluding(v words.Voice, conditions []string) []string {
	var out []string
	for _, condition := range conditions {
		line := "  - " + condition
		if date := cutOver.FindStringSubmatch(condition); date != nil {
			line += v.Text("why.before_cut_over", date[1])
		}
		out = append(out, line)
	}
	return out
}

// whyParents explains why the rows that a row waits for are not in the ledger, as far as their
// queries leave them out.
func whyParents(v words.Voice, parents []rehearse.Reasons) []string {
	var out []string
	for _, p := range parents {
		if p.InERP != nil && *p.InERP && len(p.Excluded) > 0 {
			out = append(append(out, v.Text("why.parent_excluded", p.Job, p.Key)), excluding(v, p.Excluded)...)
		}
	}
	return out
}

// whyUnknown explains a key that the ledger has never seen.
func whyUnknown(v words.Voice, s story) []string {
	out := []string{v.Text("why.no_entry")}
	r := s.reasons
	if r.InQuery && !r.Cancelled {
		out = append(out, v.Text("why.will_be_read", v.Moment(s.nextRun)))
	}
	return append(append(out, whyPreview(v, s)...), whyJob(v, s)...)
}

// whyEntry explains the state and how it came about.
func whyEntry(v words.Voice, s story) []string {
	e := s.entry
	out := []string{v.Text("why.state", e.State.Label(v.Lang), v.Moment(e.UpdatedAt))}
	if text := v.Reason(*e); text != "" {
		out = append(out, v.Text("why.reason", text))
	}
	out = append(out, whyParents(v, s.parents)...)
	if e.Error != nil && e.State != trade.Invalid {
		out = append(out, v.Text("why.error", v.OutcomeReason(e.Error.Status, e.Error.Messages, e.Error.Text)))
	}
	for _, t := range s.attempts {
		at := t.FinishedAt
		if at.IsZero() {
			at = t.StartedAt
		}
		out = append(out, v.Text("why.attempt", t.No, v.Moment(at),
			v.Text(i18n.Key("outcome."+words.OutcomeName(t.Outcome))),
			v.OutcomeReason(t.Status, t.Messages, t.Reason)))
	}
	if e.RemoteID != "" {
		out = append(out, v.Text("why.remote", e.RemoteID))
	}
	if e.MovedID != "" {
		out = append(out, strings.TrimSpace(v.Text("row.moved", e.MovedID)))
	}
	return append(out, v.Since(*e, s.changes)...)
}

// whyNext explains what happens next, and who does it.
func whyNext(v words.Voice, s story) []string {
	e := s.entry
	var out []string
	switch {
	case e.State == trade.Accepted:
		out = append(out, v.Text("why.final"))
	case e.State == trade.Rejected && !e.NextAttemptAt.IsZero():
		out = append(out, v.Text("why.retry", v.Moment(e.NextAttemptAt)))
	}
	if advice := v.Advice(*e); advice.Do != "" {
		out = append(out, v.Text("why.advice", advice.Who, advice.Do))
	}
	if !e.State.Created() {
		out = append(out, whyPreview(v, s)...)
	}
	return append(out, whyJob(v, s)...)
}

// whyPreview explains what the row would become with the ERP's present data and the present
// mapping, if that differs from its state.
func whyPreview(v words.Voice, s story) []string {
	p := s.reasons.Preview
	if p == nil || p.Cancelled || s.entry != nil && s.entry.State == p.State && s.entry.Cause == p.Cause {
		return nil
	}
	switch p.State {
	case trade.Pending:
		if s.entry != nil && staysAsItIs(*s.entry, p.Request) {
			return nil
		}
		return []string{v.Text("why.would_go")}
	case trade.Invalid:
		return []string{v.Text("why.would_not", trade.Sentences(p.Problems, v.Lang))}
	}
	if p.State == trade.Held {
		return []string{v.Text("why.would_not", v.Own.Explain(p.State, p.Cause, v.Lang).What)}
	}
	var out []string
	for _, text := range v.Awaited(p.WaitingFor) {
		out = append(out, v.Text("why.would_wait", text))
	}
	return out
}

// staysAsItIs reports whether a row does not go with the next run although its data is valid,
// because a person must decide, or because the platform has refused exactly this request.
func staysAsItIs(e trade.Entry, request json.RawMessage) bool {
	switch e.State {
	case trade.InDoubt, trade.Dismissed, trade.Sending:
		return true
	case trade.Held:
		return e.Cause != trade.CauseDuplicateKey && e.Cause != trade.CauseVanished
	case trade.Rejected, trade.Waiting:
		var was, would bytes.Buffer
		return json.Compact(&was, e.Payload) == nil && json.Compact(&would, request) == nil &&
			bytes.Equal(was.Bytes(), would.Bytes()) &&
			(e.State == trade.Rejected || !strings.HasPrefix(e.Cause, "ref:"))
	}
	return false
}

// whyJob explains that the job is not running rows, if it is stopped, paused or backing off.
func whyJob(v words.Voice, s story) []string {
	if s.status.State == trade.Idle || s.status.State == trade.Running {
		return nil
	}
	text := ""
	if s.status.Stop != nil {
		text = v.Stop(*s.status.Stop)
	}
	return []string{v.Text("why.job_stands", v.Text(i18n.Key("job.state."+string(s.status.State))), text)}
}
