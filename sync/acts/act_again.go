// Retry, dismiss and reopen, for one row or for many.

package acts

import (
	"context"
	"errors"
	"slices"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Retry plans that rows which were not sent, or certainly refused, go now instead of later, in the
// same generation: nothing can be doubled. What the platform was found to lack is asked about
// again, as if for the first time. A row that was held because its content went out under another
// key, because another living row equals it, or because the platform says that it exists, is
// thereby declared to be another record.
func (a *Acts) Retry(ctx context.Context, job string, keys []string) (RowPlan, error) {
	return a.plan(ctx, "retry", job, keys, func(step *RowStep) error {
		entry := &step.After
		switch entry.State {
		case trade.Pending:
			if entry.NextAttemptAt.IsZero() {
				step.Refused = GoesAnyway
			}
		case trade.Waiting:
			if !run.WaitsForPlatform(*entry) {
				step.Refused = WaitsFor
			}
		case trade.Held:
			if err := a.declare(ctx, step); err != nil {
				return err
			}
		default:
			step.Refused = standing(entry.State)
		}
		if step.Refused == NotRefused && entry.Payload == nil {
			step.Refused = IsInvalid
		}
		if step.Refused != NotRefused {
			return nil
		}
		for _, n := range run.NeedsOf(*entry) {
			step.ask = append(step.ask, trade.Block{Kind: n.Kind, ID: n.ID})
		}
		goes(entry)
		return nil
	})
}

// standing is why rows in a state are not simply sent.
func standing(s trade.State) Refusal {
	return map[trade.State]Refusal{
		trade.Invalid: IsInvalid, trade.Sending: IsSending, trade.Accepted: IsAccepted, trade.InDoubt: IsInDoubt,
		trade.Dismissed: IsDismissed, trade.Withdrawn: IsWithdrawn,
	}[s]
}

// goes makes an entry go with the next run.
func goes(entry *trade.Entry) {
	entry.State, entry.Cause, entry.Error, entry.WaitingFor, entry.NextAttemptAt = trade.Pending, "", nil, nil,
		mapping.NoTime
}

// declare decides whether a held row may go because a person says that it is another record than
// the one which it was taken for.
func (a *Acts) declare(ctx context.Context, step *RowStep) (err error) {
	entry := &step.After
	switch entry.Cause {
	case trade.CauseVanished:
		step.Refused = GoneFromERP
	case trade.CauseDuplicateKey:
		step.Refused = DoubleKey
	case trade.CauseRetyped, trade.CauseOtherJob, trade.CauseTwin:
		entry.Another = entry.PayloadHash
	default:
		if step.Attempts, err = a.Desk.Attempts(ctx, entry.ID); err == nil &&
			slices.ContainsFunc(step.Attempts, Undecided) {
			step.Refused = DoubtBefore
		}
	}
	return err
}

// Undecided reports whether an attempt may have created a record, or may do so yet.
func Undecided(t trade.Attempt) bool {
	return t.Outcome == trade.OutcomeOpen || t.Outcome == trade.OutcomeUnknown
}

// Dismiss plans that rows are left out. What is sent already, or is in flight, cannot be.
func (a *Acts) Dismiss(ctx context.Context, job string, keys []string) (RowPlan, error) {
	return a.plan(ctx, "dismiss", job, keys, func(step *RowStep) error {
		entry := &step.After
		switch entry.State {
		case trade.Pending, trade.Waiting, trade.Invalid, trade.Rejected, trade.InDoubt, trade.Held:
			entry.Dismissal = &trade.Dismissal{From: entry.State, NextAttemptAt: entry.NextAttemptAt}
			entry.State, entry.NextAttemptAt = trade.Dismissed, mapping.NoTime
		default:
			step.Refused = standing(entry.State)
		}
		return nil
	})
}

// Reopen plans that rows which were dismissed stand again where they stood. It sends nothing: what
// was in doubt is in doubt, with its quarantine; the rest is judged by the next run with the
// mapping and the references of then.
func (a *Acts) Reopen(ctx context.Context, job string, keys []string) (RowPlan, error) {
	return a.plan(ctx, "reopen", job, keys, func(step *RowStep) error {
		entry := &step.After
		if entry.State != trade.Dismissed {
			step.Refused = NotDismissed
			return nil
		}
		attempts, err := a.Desk.Attempts(ctx, entry.ID)
		if err != nil {
			return err
		}
		from := trade.Dismissal{From: trade.Held}
		if entry.Dismissal != nil {
			from = *entry.Dismissal
		}
		entry.Dismissal = nil
		entry.State, entry.NextAttemptAt = from.From, from.NextAttemptAt
		inDoubt := slices.ContainsFunc(attempts,
			func(t trade.Attempt) bool { return t.Generation == entry.Generation && Undecided(t) })
		switch {
		case inDoubt:
			entry.State, entry.NextAttemptAt = trade.InDoubt, mapping.NoTime
			step.Attempts = attempts
		case from.From == trade.InDoubt: // while it was out, a late answer said that nothing was created
			entry.State, entry.Cause = trade.Rejected, ""
			entry.Error = refusalOf(attempts)
		case from.From == trade.Held:
		default:
			entry.MappedWith = "" // the next run judges it
			// it was out for so long that it is no longer kept what it would send
			gone := from.From == trade.Pending && entry.Payload == nil
			if gone {
				entry.State, entry.NextAttemptAt = trade.Invalid, mapping.NoTime
				entry.Error = &trade.EntryError{
					Kind: trade.MappingError, Fields: []trade.Problem{},
					Text: "its values are no longer kept; the next run reads it again",
				}
			}
			if run.WaitsForPlatform(*entry) && from.From == trade.Waiting {
				entry.NextAttemptAt = a.Now() // and asks whether the platform has the record by now
			}
		}
		return nil
	})
}

// refusalOf is the error of a row whose last attempt turned out to have created nothing.
func refusalOf(attempts []trade.Attempt) *trade.EntryError {
	out := trade.EntryError{
		Kind: trade.APIError, Fields: []trade.Problem{},
		Text: "it turned out late that nothing was created", Weak: true,
	}
	if len(attempts) > 0 {
		last := attempts[len(attempts)-1]
		out.Status, out.Messages = last.Status, last.Messages
		if last.Reason != "" {
			out.Text += ": " + last.Reason
		}
	}
	return &out
}

// bulkStates are the states whose rows an act may be ordered for by a filter: there nothing can be
// doubled, and nothing is hidden.
var bulkStates = map[string][]trade.State{
	"retry":   {trade.Pending, trade.Waiting, trade.Rejected},
	"dismiss": {trade.Pending, trade.Waiting, trade.Invalid, trade.Rejected, trade.Held},
	"reopen":  {trade.Dismissed},
}

// BulkStates returns the states whose rows an act may be ordered for by a filter; none for an act
// that is for one row at a time.
func BulkStates(act string) []trade.State { return slices.Clone(bulkStates[act]) }

// Select returns the keys of the rows of a job that an act may be ordered for by a filter of states
// and causes; no states: all that the act allows. Retry leaves out what would go anyway, what waits
// for something here, and what was refused in no form of the API, because an earlier step may have
// happened there.
func (a *Acts) Select(ctx context.Context, act, job string, states []trade.State, causes []string) ([]string, error) {
	return a.SelectSome(ctx, act, job, states, causes, 0)
}

// SelectSome is Select for the first so many rows; all with 0.
func (a *Acts) SelectSome(ctx context.Context, act, job string, states []trade.State, causes []string,
	most int,
) ([]string, error) {
	if len(states) == 0 {
		states = bulkStates[act]
	}
	var keys []string
	err := a.Desk.Rows(ctx, trade.RowFilter{Job: job, States: states, Causes: causes}, func(e trade.Entry) error {
		leftOut := e.State == trade.Pending && e.NextAttemptAt.IsZero() || e.State == trade.Waiting &&
			!run.WaitsForPlatform(e) || e.Weak()
		if act != "retry" || !leftOut {
			keys = append(keys, e.Key)
		}
		if most > 0 && len(keys) == most {
			return run.ErrEnough
		}
		return nil
	})
	if errors.Is(err, run.ErrEnough) {
		err = nil
	}
	return keys, err
}
