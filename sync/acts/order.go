// Orders of people, in a form that can be stored and planned again.

package acts

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// Order is what a person wants done. Job is the month for a closing, and the kind for a de-para.
type Order struct {
	Act  string   `json:"act"`
	Job  string   `json:"job"`
	Keys []string `json:"keys,omitempty"`
	// instead of keys: all rows in these states, if the act allows it
	States []trade.State `json:"states,omitempty"`
	Causes []string      `json:"causes,omitempty"` // and with these causes

	// adopt: the platform's id; de-para: the id of the code
	ID string `json:"id,omitempty"`
	// adopt: it was seen there, but its id is unknown
	NoID bool `json:"no_id,omitempty"`
	// adopt: even if the platform's record differs
	DespiteDifferences bool      `json:"despite,omitempty"`
	Checked            bool      `json:"checked,omitempty"` // resend, retry, release: the platform was checked
	Since              time.Time `json:"since,omitzero"`    // resync: only rows that changed on this day or later
	Until              time.Time `json:"until,omitzero"`    // resync: and on this day or earlier
	// its keys are those of a filter; which one is not kept, for it may name people
	Filtered bool `json:"filtered,omitempty"`
	Sweep    bool `json:"sweep,omitempty"` // run: everything is compared, as in a sweep
}

// Role returns the lowest role that may give the order, or agree to it. Rows that are named may be read
// again by those who decide about rows; a whole job, and a sweep, is for administrators.
func (o Order) Role() trade.Role {
	if o.Act == ActResync && len(o.Keys) == 0 || o.Act == ActRun && o.Sweep {
		return trade.Administrator
	}
	return RoleOf(o.Act)
}

// RoleOfApproval returns the lowest role that may agree to an act that waits for consent.
func RoleOfApproval(a trade.Approval) trade.Role {
	planned, err := PlannedOf(a)
	if err != nil { // its damage is reported where it is shown
		return trade.Administrator
	}
	return planned.Order.Role()
}

// Plan plans an order for rows. Of rows that a filter selected it leaves out those whose state the act
// allows for named rows alone (F160).
func (a *Acts) Plan(ctx context.Context, o Order) (RowPlan, error) {
	plan, err := a.planOrder(ctx, o)
	if kind, _ := ActNamed(o.Act); o.Filtered && kind.On == AllRows {
		for i := range plan.Steps {
			s := &plan.Steps[i]
			if s.Refused == NotRefused && !slices.Contains(BulkStates(o.Act), s.Before.State) {
				s.Refused = cmp.Or(refusalOf(s.Before.State), NotChecked)
			}
		}
	}
	return plan, err
}

func (a *Acts) planOrder(ctx context.Context, o Order) (RowPlan, error) {
	keys, weak := o.Keys, 0
	if len(keys) == 0 {
		var err error
		keys, weak, err = a.Select(ctx, o.Act, o.Job, o.States, o.Causes)
		if err != nil {
			return RowPlan{}, err
		}
	}
	if kind, _ := ActNamed(o.Act); kind.On == OneRow && len(o.Keys) != 1 {
		return RowPlan{}, phrase.Errorf("%s is for one row", o.Act) // what may double or hide a record
	}
	switch o.Act {
	case ActRetry:
		plan, err := a.Retry(ctx, o.Job, keys, o.Checked)
		plan.Weak = weak
		return plan, err
	case ActDismiss:
		return a.Dismiss(ctx, o.Job, keys)
	case ActReopen:
		return a.Reopen(ctx, o.Job, keys)
	case ActAcknowledge:
		return a.Acknowledge(ctx, o.Job, keys)
	case ActAdopt:
		return a.Adopt(ctx, o.Job, keys[0],
			Adoption{ID: o.ID, NoID: o.NoID, DespiteDifferences: o.DespiteDifferences})
	case ActResend:
		plan, err := a.Resend(ctx, o.Job, keys[0], o.Checked)
		if err == nil && plan.Steps[0].Refused == InQuarantine {
			// its quarantine begins now if this boot did not know the doubt
			err = a.Watch(ctx, o.Job)
		}
		return plan, err
	}
	return RowPlan{}, phrase.Errorf("there is no act %q", o.Act)
}

// PlanJob plans an order for a job.
func (a *Acts) PlanJob(ctx context.Context, o Order, who trade.Person) (plan JobPlan, err error) {
	switch o.Act {
	case ActRun:
		plan, err = a.planJob(ctx, ActRun, o.Job) // who does it is the scheduler of a service
		plan.Sweep = o.Sweep
		if plan.Before.State == trade.Paused {
			plan.Refused = AlreadyPaused
		}
	case ActPause:
		plan, err = a.Pause(ctx, o.Job, who)
	case ActResume:
		plan, err = a.Resume(ctx, o.Job)
	case ActRelease:
		plan, err = a.Release(ctx, o.Job)
	default:
		err = phrase.Errorf("there is no act %q", o.Act)
	}
	plan.Checked = o.Checked
	return plan, err
}

// Mark returns a hash of what a person was shown of the plan and of what would be stored, except
// for the remaining time of a quarantine.
func (p RowPlan) Mark() string {
	return MarkOf(trade.Map(p.Steps, func(s RowStep) any { return s.parts() })...)
}

// Mark is RowPlan.Mark for one row.
func (s RowStep) Mark() string { return MarkOf(s.parts()) }

func (s RowStep) parts() []any {
	return []any{
		s.Key, string(s.Refused), s.Before.ID, s.Before.Version, s.Holder, s.Problems,
		s.WaitingFor, s.Reading, s.MayDouble, s.Counterpart.mark(),
		s.After.State, s.After.PayloadHash, s.After.RemoteID,
	}
}

// Mark returns a hash of the job's status when the plan was made, and of what a release lets pass. A
// run and a pause may be ordered whatever the job does by then.
func (p JobPlan) Mark() string {
	seen := p.Before
	if p.Act == ActRun || p.Act == ActPause {
		seen = trade.JobStatus{}
	}
	return MarkOf(p.Act, p.Job, string(p.Refused), seen, p.Release, p.Sweep)
}

// MarkOf returns a hash that is equal for equal parts.
func MarkOf(parts ...any) string {
	h := sha256.New()
	for _, part := range parts {
		text, err := json.Marshal(part)
		if err != nil {
			text = []byte(err.Error())
		}
		_, _ = fmt.Fprintf(h, "%d:%s", len(text), text) // a hash never fails to write
	}
	return hex.EncodeToString(h.Sum(nil))
}
