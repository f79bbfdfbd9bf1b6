// Retry, dismiss and reopen, for one row or for many.

package acts

import (
	"context"
	"slices"

	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Retry plans that rows which were not sent, or certainly refused, go now instead of later, in the
// same generation. The platform is asked again for records that it lacked, as if for the first
// time. A row that was held because its content was sent under another key, because another living
// row equals it, or because the platform reported that it exists, is thereby declared to be another
// record. If it is not, it is made twice: such a row, and one of which an earlier request may have
// made a record, goes only if a person has checked that.
func (a *Acts) Retry(ctx context.Context, job string, keys []string, checked bool) (RowPlan, error) {
	plan, err := a.plan(ctx, ActRetry, job, keys, func(step *RowStep) error {
		entry := &step.After
		switch entry.State {
		case trade.Pending:
			if entry.NextAttemptAt.IsZero() {
				step.Refused = GoesAnyway
			}
		case trade.Waiting:
			if !entry.WaitsForPlatform() {
				step.Refused = WaitsFor
			}
		case trade.Held:
			// it may go where a person may declare it a different record from the one it was taken for
			switch entry.Cause {
			case trade.CauseVanished:
				step.Refused = GoneFromERP
			case trade.CauseDuplicateKey:
				step.Refused = DoubleKey
			case trade.CauseRetyped, trade.CauseOtherJob, trade.CauseTwin:
				entry.DeclaredDistinct = entry.PayloadHash
			default:
				if slices.ContainsFunc(step.Attempts, trade.Attempt.Undecided) {
					step.Refused = DoubtBefore
				}
			}
			step.MayDouble = true
		case trade.Rejected:
			step.MayDouble = entry.Weak() || slices.ContainsFunc(step.Attempts, trade.Attempt.Undecided)
		default:
			step.Refused = refusalOf(entry.State)
		}
		if step.Refused == NotRefused && entry.Payload == nil {
			step.Refused = IsInvalid
		}
		step.MayDouble = step.MayDouble && step.Refused == NotRefused
		if step.MayDouble && !checked {
			step.Refused = NotChecked
		}
		if step.Refused != NotRefused {
			return nil
		}
		for _, n := range run.NeedsOf(*entry) {
			step.ask = append(step.ask, trade.Block{Kind: n.Kind, ID: n.ID})
		}
		entry.Pend()
		return nil
	})
	plan.Order.Checked = checked
	return plan, err
}

// refusalOf returns why rows in a state cannot simply be sent; NotRefused if they can.
func refusalOf(s trade.State) Refusal {
	return map[trade.State]Refusal{
		trade.Invalid: IsInvalid, trade.Sending: IsSending, trade.Accepted: IsAccepted, trade.InDoubt: IsInDoubt,
		trade.Dismissed: IsDismissed, trade.Withdrawn: IsWithdrawn,
	}[s]
}

// Dismiss plans that rows are left out. Rows that were sent or are in flight cannot be.
func (a *Acts) Dismiss(ctx context.Context, job string, keys []string) (RowPlan, error) {
	return a.plan(ctx, ActDismiss, job, keys, func(step *RowStep) error {
		dismissed := step.After.Dismiss()
		if !dismissed {
			step.Refused = refusalOf(step.Before.State)
		}
		return nil
	})
}

// Reopen plans that dismissed rows return to the state in which they were dismissed. It sends
// nothing: what was in doubt is in doubt again, with its quarantine; the next run judges the others
// with the mapping and the references it then has. A row that is held for what was dismissed, under
// a key that has another row by now, would go: a person must decide about it first.
func (a *Acts) Reopen(ctx context.Context, job string, keys []string) (RowPlan, error) {
	var retyped []trade.Entry
	filter := trade.RowQuery{
		States: []trade.State{trade.Held, trade.Dismissed}, Causes: []string{trade.CauseRetyped},
	}
	err := a.Ledger.Rows(ctx, filter, func(e trade.Entry) error {
		if e.State == trade.Held || e.Job == job && slices.Contains(keys, e.Key) {
			retyped = append(retyped, e) // held, or again by this order
		}
		return nil
	})
	if err != nil {
		return RowPlan{}, err
	}
	return a.plan(ctx, ActReopen, job, keys, func(step *RowStep) error {
		reopened := step.After.Reopen(step.Attempts, a.Now())
		if !reopened {
			step.Refused = NotDismissed
			return nil
		}
		if len(retyped) == 0 || !step.Before.Flags.Has(trade.Changed) && !step.Before.Acknowledged.Has(trade.Changed) {
			return nil // its own row would be reopened
		}
		records, _, err := a.Ledger.Records(ctx, trade.RecordQuery{
			Kind: step.Before.Sends, Rows: []int64{step.Before.ID},
		})
		for _, record := range records {
			if record.Certainty != trade.LeftOut {
				continue // it stays as it is
			}
			for _, e := range retyped {
				if e.ID != step.Before.ID && e.Sends == step.Before.Sends && mayBeFor(e, record.ID, step.Before) {
					step.Refused, step.Counterpart = HeldForIt, &Counterpart{Job: e.Job, Key: e.Key, Entry: e}
				}
			}
		}
		return err
	})
}

// mayBeFor reports whether a row is held for the record of another one, also if that was none yet, or
// a rebuilt ledger does not say for which.
func mayBeFor(e trade.Entry, record int64, of trade.Entry) bool {
	if e.Error == nil || e.Error.Counterpart == nil {
		return true
	}
	c := e.Error.Counterpart
	return c.Record == record || c.Record == 0 && c.Job == of.Job && c.Key == of.Key
}

// Select returns the keys of the rows of a job that a filter of states and causes selects for an act; no
// states means all that the act allows. For retry it leaves out rows that go anyway, rows that wait for
// something here, and rows that were refused in no form of the API, because an earlier step may have
// happened there: weak is how many these are.
func (a *Acts) Select(ctx context.Context, act, job string, states []trade.State, causes []string) (keys []string,
	weak int, err error,
) {
	if len(states) == 0 {
		states = BulkStates(act)
	}
	selected := trade.RowQuery{Jobs: []string{job}, States: states, Causes: causes}
	err = a.Ledger.Rows(ctx, selected, func(e trade.Entry) error {
		leftOut := e.State == trade.Pending && e.NextAttemptAt.IsZero() || e.State == trade.Waiting &&
			!e.WaitsForPlatform()
		switch {
		case act == ActRetry && e.Weak():
			weak++
		case act != ActRetry || !leftOut:
			keys = append(keys, e.Key)
		}
		return nil
	})
	return keys, weak, err
}
