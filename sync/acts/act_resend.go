// Resend: a row in doubt is sent again in a new generation, after its quarantine (I14).

package acts

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Remapper maps a row as it is in the ERP now: see dryrun.Rehearsal.Newest.
type Remapper interface {
	Newest(ctx context.Context, job string, entry trade.Entry) (trade.Entry, error)
}

// Resend plans that one row in doubt is sent again, in a new generation and with its newest valid
// values. It may create a second record, so it is for one row only, needs a person's confirmation
// that the platform was checked, and is possible only after the quarantine (I14).
func (a *Acts) Resend(ctx context.Context, job, key string, checked bool) (RowPlan, error) {
	plan, err := a.plan(ctx, ActResend, job, []string{key}, func(step *RowStep) error {
		entry := &step.After
		step.MayDouble = true
		doubt := slices.ContainsFunc(step.Attempts, trade.Attempt.Undecided)
		switch {
		case entry.State != trade.InDoubt && entry.State != trade.Held:
			step.Refused = refusalOf(entry.State)
			if step.Refused == NotRefused {
				step.Refused = NotInDoubt
			}
			return nil
		case !doubt:
			step.Refused = NotInDoubt
			return nil
		}
		if err := a.remaining(ctx, step); err != nil {
			return err
		}
		switch {
		case step.Remaining > 0:
			step.Refused = InQuarantine
			return nil
		case !checked:
			step.Refused = NotChecked
		}
		// The row goes as it is in the ERP now.
		fresh, err := a.Rows.Newest(ctx, step.Before.Job, step.Before)
		refused := NotRefused
		switch {
		case errors.Is(err, run.ErrGone):
			refused = GoneFromERP
		case errors.Is(err, run.ErrCancelled):
			refused = CancelledNow
		case errors.Is(err, run.ErrDouble):
			refused = DoubleKey
		case err != nil:
			return err
		case fresh.State == trade.Invalid:
			refused, step.Problems = IsInvalid, fresh.Error.Fields
		case fresh.State != trade.Pending:
			refused, step.WaitingFor = WaitsFor, fresh.WaitingFor
		}
		if step.Refused == NotRefused {
			step.Refused = refused
		}
		if refused == NotRefused {
			step.resend = entry.Again(fresh)
		}
		return nil
	})
	plan.Order.Checked = checked
	return plan, err
}

// remaining sets how long the quarantine of a row still lasts. For a doubt that this boot did not
// know, that is all of it.
func (a *Acts) remaining(ctx context.Context, step *RowStep) error {
	since, err := a.Ledger.Watched(ctx, step.Before.ID, a.Boot)
	if err != nil {
		return err
	}
	now, least := a.Clock.Boot(), a.Limits.LeastQuarantine()
	for _, t := range step.Attempts {
		if !t.Undecided() {
			continue
		}
		from, seen := since[t.ID]
		if !seen {
			from = now
		}
		step.Remaining = max(step.Remaining, least-(now-from))
	}
	return nil
}

// Watch begins the quarantine of those doubts of a job that this boot did not know.
func (a *Acts) Watch(ctx context.Context, job string) error {
	_, err := a.Ledger.Watch(ctx, job, a.Boot, a.Clock.Boot())
	return err
}

// Doubt is what is known about a row that may be on the platform.
type Doubt struct {
	Attempts  []trade.Attempt
	Remaining time.Duration // of its quarantine (I14)
}

// Doubt returns what is known about a row that may be on the platform. It uses only the ledger. If
// this boot did not know the doubt yet, its quarantine begins now.
func (a *Acts) Doubt(ctx context.Context, entry trade.Entry) (Doubt, error) {
	attempts, err := a.Ledger.Attempts(ctx, entry.ID)
	if err != nil {
		return Doubt{}, err
	}
	step := RowStep{Before: entry, Attempts: attempts}
	if err := a.remaining(ctx, &step); err != nil {
		return Doubt{}, err
	}
	if step.Remaining >= a.Limits.LeastQuarantine() {
		err = a.Watch(ctx, entry.Job)
	}
	return Doubt{attempts, step.Remaining}, err
}

// SentFields returns the fields of the request that was sent for an entry, or that would be sent,
// in the order of the API's table.
func SentFields(entry trade.Entry) []FieldReading {
	sent := mapping.SentTexts(entry)
	var out []FieldReading
	for _, rule := range trade.Rules(entry.Sends) {
		if text := sent[rule.Field]; text != nil {
			out = append(out, FieldReading{Field: rule.Field, Sent: text})
		}
	}
	return out
}

// AnsweredFields returns the fields of the record that an answer repeats; nil if it repeats none.
// Only answers to deliveries repeat the record.
func AnsweredFields(sends trade.Kind, attempt trade.Attempt) map[string]string {
	if sends != trade.Deliveries || attempt.Outcome != trade.OutcomeCreated {
		return nil
	}
	d, err := apiclient.ReadRecord(sends, []byte(attempt.AnswerBody))
	if err != nil {
		return nil
	}
	return d.Fields
}
