// The frame of all acts on rows: plan, show, do.

package acts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Desk is what the acts on rows, and on jobs too, need of the ledger.
type Desk interface {
	run.CodeKeeper
	// Entry returns one entry by its job and key; not known: an error for which Unknown is true.
	Entry(ctx context.Context, job, key string) (trade.Entry, error)
	// Rows calls fn for the entries that a filter selects.
	Rows(ctx context.Context, filter trade.RowFilter, fn func(trade.Entry) error) error
	Attempts(ctx context.Context, entryID int64) ([]trade.Attempt, error)
	// Holder returns the row, other than one, that has a platform id, or that an answer gave it to;
	// none: the zero key.
	Holder(ctx context.Context, sends trade.Kind, remoteID string, except int64) (trade.ParentKey, error)
	run.Quarantine
	// Act does acts, each together with its record in the audit, in one transaction. done tells for
	// each whether it was: not when its entry or its job stands otherwise than it was seen.
	// *trade.LeasedError while a process runs a job whose cursor an act would change.
	Act(ctx context.Context, acts []trade.Act) (done []bool, err error)
}

// JobDesk is what the acts on jobs need besides.
type JobDesk interface {
	Cursor(ctx context.Context, job string) (trade.Cursor, error)
	JobStatus(ctx context.Context, job string) (trade.JobStatus, error)
	// JobsOfLedger returns the jobs that have entries.
	JobsOfLedger(ctx context.Context) ([]trade.KnownJob, error)
	// MoveJob gives the entries of a job to another one, with its record in the audit. With apply
	// false, and where keys collide, it only tells what it would do.
	// *trade.LeasedError while a process runs either.
	MoveJob(ctx context.Context, from, to string, apply bool, record trade.AuditRecord) (trade.JobMove, error)
}

// Reader reads a record of the platform back. Every error is an *apiclient.Error.
type Reader interface {
	GetOrderCommitment(ctx context.Context, id string) (apiclient.OrderCommitment, error)
}

// Acts are what people do to rows and jobs, for the command line and the console alike. Each act is
// planned first: the plan says what it would do to each row, or why it cannot. What is then done is
// what the plan showed: a row or job that has moved since is left alone and told.
type Acts struct {
	Desk    Desk
	JobDesk JobDesk
	Unknown func(error) bool // tells that an entry is not known
	Jobs    []*mapping.Job
	Now     func() time.Time

	// The following are needed by Resend and Adopt only.
	Boot     string      // id of the clock, see trade.Owner
	Clock    clock.Clock // of that boot
	Limits   run.Limits  // for the quarantine
	Platform Reader      // reads an order commitment back
	Rows     Remapper    // maps a row as the ERP has it now

	Rules     Rules // which acts need several people
	Approvals Approvals
	Others    map[string]Elsewhere // what can be approved beside acts on rows and jobs
}

// Person is who orders an act, and why.
type Person struct {
	Name   string // of the person
	From   string // host and user of the process, or the address of a browser
	Reason string
	// Account is by what the program knows the person, where the name is only what was given.
	Account string
	agreed  []string // others, who agreed
}

// RowPlan is what an act would do to rows.
type RowPlan struct {
	Act   string
	Job   string
	Order Order // by which it can be planned again
	Steps []RowStep
	Asked *trade.Approval // others have to agree first: nothing was done
}

// RowStep is what an act would do to one row.
type RowStep struct {
	Key           string
	Refused       Refusal
	Done          bool        // it was done
	Before, After trade.Entry // zero for a row that is not known
	Differences   []trade.Difference

	Attempts   []trade.Attempt // what was sent before, where that is of weight
	Remaining  time.Duration   // of the quarantine
	Problems   []trade.Problem // of a row that would be sent again, as the ERP has it now
	WaitingFor []trade.Awaited // the same
	Holder     trade.ParentKey // the row that has the id
	Reading    *Readback       // what the platform has under the id; nil when it was not read back
	// Holder as it becomes, whose row is no longer in the ERP, or has another one in its place: its
	// record belongs to this row from then on. nil when nobody gives an id up
	Gives *trade.Update

	resend bool
	ask    []trade.Block
}

// Possible reports whether the act can be done to any row.
func (p RowPlan) Possible() bool { return p.Count() > 0 }

// Count reports to how many rows the act can be done.
func (p RowPlan) Count() int {
	n := 0
	for _, s := range p.Steps {
		if s.Refused == NotRefused {
			n++
		}
	}
	return n
}

var errNoReason = errors.New("an act of a person needs a name and a reason")

func (p Person) check() error {
	if strings.TrimSpace(p.Name) == "" || strings.TrimSpace(p.Reason) == "" {
		return errNoReason
	}
	return nil
}

// Acknowledge plans that a person has dealt with what the ERP did to rows after they were sent, or
// dismissed: their flags go, until the row differs from what it is now.
func (a *Acts) Acknowledge(ctx context.Context, job string, keys []string) (RowPlan, error) {
	return a.plan(ctx, "acknowledge", job, keys, func(step *RowStep) error {
		entry := &step.After
		flagged := slices.ContainsFunc(entry.Flags,
			func(f trade.Flag) bool { return slices.Contains(trade.AcknowledgedByAct, f) })
		switch {
		case !flagged:
			step.Refused = NothingToAck
			return nil
		case entry.State != trade.Accepted && entry.State != trade.Dismissed:
			step.Refused = NotAccepted
			return nil
		}
		for _, flag := range trade.AcknowledgedByAct {
			if !entry.Flags.Has(flag) {
				continue
			}
			entry.Flags, entry.Acknowledged = entry.Flags.With(flag, false), entry.Acknowledged.With(flag, true)
			if flag == trade.Changed {
				entry.AckValues = entry.Now
				entry.Flags = entry.Flags.With(trade.Replaced, false)
			}
		}
		return nil
	})
}

// plan lets change make of each row what the act would make of it.
func (a *Acts) plan(ctx context.Context, act, job string, keys []string, change func(*RowStep) error) (RowPlan, error) {
	plan := RowPlan{Act: act, Job: job, Order: Order{Act: act, Job: job}}
	refs, err := run.Codes(ctx, a.Desk)
	if err != nil {
		return plan, err
	}
	seen := map[string]bool{}
	for _, key := range keys {
		if seen[key] {
			continue
		}
		seen[key] = true
		plan.Order.Keys = append(plan.Order.Keys, key)
		entry, err := a.Desk.Entry(ctx, job, key)
		switch {
		case err != nil && a.Unknown(err):
			plan.Steps = append(plan.Steps, RowStep{Key: key, Refused: UnknownRow})
			continue
		case err != nil:
			return plan, err
		}
		step := RowStep{
			Key: key, Before: entry, After: entry,
			Differences: mapping.Differences(a.job(job), entry, refs),
		}
		if err := change(&step); err != nil {
			return plan, fmt.Errorf("%s %s: %w", job, key, err)
		}
		plan.Steps = append(plan.Steps, step)
	}
	return plan, nil
}

func (a *Acts) job(name string) *mapping.Job {
	i := slices.IndexFunc(a.Jobs, func(j *mapping.Job) bool { return j.Name() == name })
	if i < 0 {
		return nil
	}
	return a.Jobs[i]
}

// actsTogether is how many acts are stored in one transaction.
const actsTogether = 500

// Do does what a plan shows, to each row that stands as it was shown, each together with its record
// in the audit. The plan that it gives back says of each row whether it was done: those that moved
// meanwhile are refused. After an error some may have been done. Where others have to agree first
// nothing is done, and the plan says who has been asked.
func (a *Acts) Do(ctx context.Context, plan RowPlan, who Person) (RowPlan, error) {
	if err := who.check(); err != nil {
		return plan, err
	}
	asked, err := a.askRows(ctx, plan, who)
	if err != nil || asked != nil {
		plan.Asked = asked
		return plan, err
	}
	plan.Steps = slices.Clone(plan.Steps)
	var steps []int
	for i, s := range plan.Steps {
		if s.Refused == NotRefused {
			steps = append(steps, i)
		}
	}
	for chunk := range slices.Chunk(steps, actsTogether) {
		var acts []trade.Act
		for _, i := range chunk {
			act, err := a.act(plan, plan.Steps[i], who)
			if err != nil {
				return plan, err
			}
			acts = append(acts, act)
		}
		done, err := a.Desk.Act(ctx, acts)
		if err != nil {
			return plan, err
		}
		for n, ok := range done {
			s := &plan.Steps[chunk[n]]
			if s.Done = ok; !ok {
				s.Refused = Moved
			}
		}
	}
	return plan, nil
}

// act is one step as the ledger stores it.
func (a *Acts) act(plan RowPlan, s RowStep, who Person) (trade.Act, error) {
	now := a.Now()
	after := s.After
	after.UpdatedAt = now
	record, err := who.Record(now, plan.Act, plan.Job+" "+s.Key,
		rowDetail{ViewOf(s.Before), ViewOf(s.After), changesOf(s.Differences), s.Reading, s.given()})
	if err != nil {
		return trade.Act{}, err
	}
	act := trade.Act{
		Update: &trade.Update{From: s.Before.State, Entry: after}, Gives: s.Gives, Ask: s.ask,
		Audit: record,
	}
	if s.resend {
		act.Resend = &trade.Resend{Boot: a.Boot, Ticks: a.Clock.Boot(), Least: a.Limits.LeastQuarantine()}
	}
	return act, nil
}
