package sync

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Desk is what the acts of people need of the ledger.
type Desk interface {
	CodeKeeper
	// Entry gives one entry by its job and key; not known: an error for which Unknown is true.
	Entry(ctx context.Context, job, key string) (trade.Entry, error)
	Cursor(ctx context.Context, job string) (trade.Cursor, error)
	JobStatus(ctx context.Context, job string) (trade.JobStatus, error)
	// Act does acts, each together with its record in the audit, in one transaction. done tells for each whether it was: not when its entry or its job
	// stands otherwise than it was seen. *trade.LeasedError while a process runs a job whose cursor an act would change.
	Act(ctx context.Context, acts []trade.Act) (done []bool, err error)
}

// Acts are what people do to rows and jobs, for the command line and the console alike. Each act is planned first: the plan says what it would do to each row,
// or why it cannot. What is then done is what the plan showed: a row or job that has moved since is left alone and told.
type Acts struct {
	Desk    Desk
	Unknown func(error) bool // tells that an entry is not known
	Jobs    []*Job
	Now     func() time.Time
}

// Person is who orders an act, and why.
type Person struct {
	Name   string // of the person
	From   string // host and user of the process, or the address of a browser
	Reason string
}

// Refusal says why an act cannot be done.
type Refusal string

// The refusals.
const (
	NotRefused    Refusal = ""
	UnknownRow    Refusal = "unknown"        // the ledger has no such row
	NothingToAck  Refusal = "not_flagged"    // nothing is flagged that an acknowledgement could deal with
	NotAccepted   Refusal = "not_accepted"   // what happened to the row in the ERP waits until it is known whether the platform has it
	Moved         Refusal = "moved"          // it moved since it was seen
	NotPaused     Refusal = "not_paused"     // the job is not paused
	AlreadyPaused Refusal = "already_paused" // it is paused, by a person or a brake
	BrakeHolds    Refusal = "brake"          // a brake paused it: release ends that
	NothingBraked Refusal = "not_braked"     // no brake holds it
)

// RowPlan is what an act would do to rows.
type RowPlan struct {
	Act   string
	Job   string
	Steps []RowStep
}

// RowStep is what an act would do to one row.
type RowStep struct {
	Key           string
	Refused       Refusal
	Before, After trade.Entry // zero for a row that is not known
	Differences   []trade.Difference
}

// Possible tells whether the act can be done to any row.
func (p RowPlan) Possible() bool {
	return slices.ContainsFunc(p.Steps, func(s RowStep) bool { return s.Refused == NotRefused })
}

var errNoReason = errors.New("an act of a person needs a name and a reason")

func (p Person) check() error {
	if strings.TrimSpace(p.Name) == "" || strings.TrimSpace(p.Reason) == "" {
		return errNoReason
	}
	return nil
}

// Acknowledge plans that a person has dealt with what the ERP did to rows after they were sent: their flags go, until the row differs from what it is now.
func (a *Acts) Acknowledge(ctx context.Context, job string, keys []string) (RowPlan, error) {
	return a.plan(ctx, "acknowledge", job, keys, func(entry *trade.Entry) Refusal {
		flagged := slices.ContainsFunc(entry.Flags, func(f trade.Flag) bool { return slices.Contains(trade.AcknowledgedByAct, f) })
		switch {
		case !flagged:
			return NothingToAck
		case entry.State != trade.Accepted:
			return NotAccepted
		}
		for _, flag := range trade.AcknowledgedByAct {
			if !entry.Flags.Has(flag) {
				continue
			}
			entry.Flags, entry.Acknowledged = entry.Flags.With(flag, false), entry.Acknowledged.With(flag, true)
			if flag == trade.Changed {
				entry.AckValues = entry.Now
			}
		}
		return NotRefused
	})
}

// plan lets change make of each row what the act would make of it.
func (a *Acts) plan(ctx context.Context, act, job string, keys []string, change func(*trade.Entry) Refusal) (RowPlan, error) {
	plan := RowPlan{Act: act, Job: job}
	refs, err := Codes(ctx, a.Desk)
	if err != nil {
		return plan, err
	}
	seen := map[string]bool{}
	for _, key := range keys {
		if seen[key] {
			continue
		}
		seen[key] = true
		entry, err := a.Desk.Entry(ctx, job, key)
		switch {
		case err != nil && a.Unknown(err):
			plan.Steps = append(plan.Steps, RowStep{Key: key, Refused: UnknownRow})
			continue
		case err != nil:
			return plan, err
		}
		step := RowStep{Key: key, Before: entry, After: entry, Differences: Differences(a.job(job), entry, refs)}
		step.Refused = change(&step.After)
		plan.Steps = append(plan.Steps, step)
	}
	return plan, nil
}

func (a *Acts) job(name string) *Job {
	i := slices.IndexFunc(a.Jobs, func(j *Job) bool { return j.Name() == name })
	if i < 0 {
		return nil
	}
	return a.Jobs[i]
}

// Do does what a plan shows, to each row that stands as it was shown, in one transaction. The plan that it gives back says of each row whether it was done:
// those that moved meanwhile are refused.
func (a *Acts) Do(ctx context.Context, plan RowPlan, who Person) (RowPlan, error) {
	if err := who.check(); err != nil {
		return plan, err
	}
	var acts []trade.Act
	var steps []int
	now := a.Now()
	for i, s := range plan.Steps {
		if s.Refused != NotRefused {
			continue
		}
		after := s.After
		after.UpdatedAt = now
		record, err := who.record(now, plan.Act, plan.Job+" "+s.Key, rowDetail{viewOf(s.Before), viewOf(s.After), changesOf(s.Differences)})
		if err != nil {
			return plan, err
		}
		acts, steps = append(acts, trade.Act{Update: &trade.Update{From: s.Before.State, Entry: after}, Audit: record}), append(steps, i)
	}
	done, err := a.Desk.Act(ctx, acts)
	if err != nil {
		return plan, err
	}
	plan.Steps = slices.Clone(plan.Steps)
	for i, ok := range done {
		if !ok {
			plan.Steps[steps[i]].Refused = Moved
		}
	}
	return plan, nil
}

// rowDetail is what the audit keeps of an act on a row: no values of the ERP but those fields that an act is about, in the form that the API has them.
type rowDetail struct {
	Before  entryView     `json:"before"`
	After   entryView     `json:"after"`
	Changes []fieldChange `json:"changes,omitempty"`
}

type entryView struct {
	State        trade.State `json:"state"`
	Cause        string      `json:"cause,omitempty"`
	RemoteID     string      `json:"remote_id,omitempty"`
	Generation   int         `json:"generation"`
	Flags        trade.Flags `json:"flags"`
	Acknowledged trade.Flags `json:"acknowledged"`
	SourceHash   string      `json:"source_hash"`
	Version      int64       `json:"version"`
}

func viewOf(e trade.Entry) entryView {
	return entryView{
		State: e.State, Cause: e.Cause, RemoteID: e.RemoteID, Generation: e.Generation, Flags: append(trade.Flags{}, e.Flags...),
		Acknowledged: append(trade.Flags{}, e.Acknowledged...), SourceHash: e.SourceHash, Version: e.Version,
	}
}

type fieldChange struct {
	Field   string   `json:"field,omitempty"`
	Columns []string `json:"columns"`
	Sent    *string  `json:"sent"`
	Now     *string  `json:"now"`
}

func changesOf(differences []trade.Difference) []fieldChange {
	var out []fieldChange
	for _, d := range differences {
		out = append(out, fieldChange{d.Field, d.Columns, d.Sent, d.Now})
	}
	return out
}

// record makes the audit's record of an act.
func (p Person) record(at time.Time, act, target string, detail any) (trade.AuditRecord, error) {
	text, err := json.Marshal(detail)
	if err != nil {
		return trade.AuditRecord{}, fmt.Errorf("%s: %w", act, err)
	}
	return trade.AuditRecord{At: at, Who: p.Name, From: p.From, Act: act, Target: target, Reason: p.Reason, Detail: string(text)}, nil
}
