package sync

import (
	"context"
	"errors"
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// Remapper maps a row as the ERP has it now: see [Engine.Newest].
type Remapper interface {
	Newest(ctx context.Context, job string, entry trade.Entry) (trade.Entry, error)
}

// The reasons why the ERP gives no newest version of a row.
var (
	ErrGone      = errors.New("the job's query does not return the row")
	ErrCancelled = errors.New("the row is cancelled in the ERP")
	ErrDouble    = errors.New("the row's key stands twice in the ERP")
)

// Newest maps and checks the row of an entry as the ERP has it now, and gives the entry that it would be: pending, waiting or invalid. The error is ErrGone,
// ErrCancelled, ErrDouble, or why the ERP could not be asked. It stores and sends nothing.
func (e *Engine) Newest(ctx context.Context, jobName string, entry trade.Entry) (trade.Entry, error) {
	job, err := e.Job(jobName)
	if err != nil {
		return entry, err
	}
	r := &jobRun{Engine: e, job: job, ledger: &dryLedger{Ledger: e.Ledger}, source: e.Source, now: e.Clock.Now(), log: e.Log}
	if err := r.loadReferences(ctx); err != nil {
		return entry, err
	}
	found, err := r.readAgain(ctx, job, []trade.Entry{entry})
	if err != nil {
		return entry, err
	}
	rows := byKeyOf(r.job, found)[entry.Key]
	c := job.choose(rows)
	switch {
	case len(rows) == 0:
		return entry, ErrGone
	case c.cancelled():
		return entry, ErrCancelled
	case c.row == nil:
		return entry, ErrDouble
	}
	values := job.values(c.row.Get)
	known, err := r.parentsOf(ctx, []trade.Values{values})
	if err != nil {
		return entry, err
	}
	r.eval.evaluate(&entry, values, known)
	entry.SourceHash, entry.GoneSweeps, entry.Now, entry.AckValues = job.sourceHash(c.row.Get), 0, nil, nil
	return entry, nil
}

// Resend plans that one row which is in doubt is sent again, in a new generation and with its newest valid values. It may double the record, so it is for a
// person who says that the platform was checked, for one row, and only after the quarantine (I14).
func (a *Acts) Resend(ctx context.Context, job, key string, checked bool) (RowPlan, error) {
	return a.plan(ctx, "resend", job, []string{key}, func(step *RowStep) (err error) {
		entry := &step.After
		if step.Attempts, err = a.Desk.Attempts(ctx, entry.ID); err != nil {
			return err
		}
		doubt := slices.ContainsFunc(step.Attempts, undecided)
		switch {
		case entry.State != trade.InDoubt && entry.State != trade.Held:
			step.Refused = standing(entry.State)
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
		return a.newest(ctx, step)
	})
}

// remaining tells how long the quarantine of a row still lasts. What this boot sees for the first time begins now.
func (a *Acts) remaining(ctx context.Context, step *RowStep) error {
	since, err := a.Desk.Watched(ctx, step.Before.ID, a.Boot)
	if err != nil {
		return err
	}
	now, least := a.Clock.Boot(), a.Limits.quarantine()
	for _, t := range step.Attempts {
		if !undecided(t) {
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

// newest puts the row as the ERP has it now into the plan.
func (a *Acts) newest(ctx context.Context, step *RowStep) error {
	fresh, err := a.Rows.Newest(ctx, step.Before.Job, step.Before)
	refused := NotRefused
	switch {
	case errors.Is(err, ErrGone):
		refused = GoneFromERP
	case errors.Is(err, ErrCancelled):
		refused = CancelledNow
	case errors.Is(err, ErrDouble):
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
	if refused != NotRefused {
		return nil
	}
	fresh.Generation++
	fresh.Flags = fresh.Flags.With(trade.Forced, true).With(trade.Changed, false).With(trade.Cancelled, false).With(trade.MissingInERP, false).With(trade.Contradicted, false)
	fresh.Acknowledged = nil
	step.After, step.resend = fresh, true
	return nil
}

// Watch begins the quarantine of what is in doubt in a job, where this boot did not know of it.
func (a *Acts) Watch(ctx context.Context, job string) error {
	_, err := a.Desk.Watch(ctx, job, a.Boot, a.Clock.Boot())
	return err
}
