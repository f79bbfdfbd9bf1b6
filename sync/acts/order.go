// Orders of people, in a form that can be stored and planned again.

package acts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

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
	Most   int           `json:"most,omitempty"`   // only the first rows of these; 0 = all

	// adopt: the platform's id; de-para: the id of the code
	ID string `json:"id,omitempty"`
	// adopt: it was seen there, but its id is unknown
	NoID bool `json:"no_id,omitempty"`
	// adopt: even if the platform's record differs
	DespiteDifferences bool      `json:"despite,omitempty"`
	Checked            bool      `json:"checked,omitempty"` // resend, retry, release: the platform was checked
	Since              time.Time `json:"since,omitzero"`    // resync: only rows that changed since
	Count              int       `json:"count,omitempty"`   // resync: how many rows it reads
}

// Plan plans an order for rows.
func (a *Acts) Plan(ctx context.Context, o Order) (RowPlan, error) {
	keys := o.Keys
	if len(keys) == 0 {
		var err error
		if keys, err = a.SelectSome(ctx, o.Act, o.Job, o.States, o.Causes, o.Most); err != nil {
			return RowPlan{}, err
		}
	}
	switch {
	case o.Act == "retry":
		return a.Retry(ctx, o.Job, keys, o.Checked)
	case o.Act == "dismiss":
		return a.Dismiss(ctx, o.Job, keys)
	case o.Act == "reopen":
		return a.Reopen(ctx, o.Job, keys)
	case o.Act == "acknowledge":
		return a.Acknowledge(ctx, o.Job, keys)
	case len(o.Keys) != 1: // what may double or hide a record is decided row by row
		return RowPlan{}, fmt.Errorf("%s is for one row", o.Act)
	case o.Act == "adopt":
		return a.Adopt(ctx, o.Job, keys[0],
			Adoption{ID: o.ID, NoID: o.NoID, DespiteDifferences: o.DespiteDifferences})
	case o.Act == "resend":
		plan, err := a.Resend(ctx, o.Job, keys[0], o.Checked)
		if err == nil && plan.Steps[0].Refused == InQuarantine {
			// its quarantine begins now if this boot did not know the doubt
			err = a.Watch(ctx, o.Job)
		}
		return plan, err
	}
	return RowPlan{}, fmt.Errorf("there is no act %q", o.Act)
}

// Mark returns a hash of what a person was shown of the plan and of what would be stored, except
// for the remaining time of a quarantine.
func (p RowPlan) Mark() string {
	parts := make([]any, 0, len(p.Steps))
	for _, s := range p.Steps {
		parts = append(parts, []any{
			s.Key, s.Refused, s.Before.ID, s.Before.Version, s.Holder, s.Problems,
			s.WaitingFor, s.Reading, s.MayDouble, s.Counterpart.mark(),
			s.After.State, s.After.PayloadHash, s.After.RemoteID,
		})
	}
	return MarkOf(parts...)
}

// Mark returns a hash of the job's status when the plan was made, and of what a release lets pass. A
// run and a pause may be ordered whatever the job does by then.
func (p JobPlan) Mark() string {
	seen := p.Before
	if p.Act == ActRun || p.Act == "pause" {
		seen = trade.JobStatus{}
	}
	return MarkOf(p.Act, p.Job, p.Refused, seen, p.Release)
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

// The acts.
const (
	ActRetry       = "retry"       // send now what was certainly not created
	ActResend      = "resend"      // send a row in doubt again; it may be doubled
	ActAdopt       = "adopt"       // store its id on the platform
	ActDismiss     = "dismiss"     // leave it out
	ActReopen      = "reopen"      // undo that
	ActAcknowledge = "acknowledge" // changes in the ERP after sending have been dealt with
	ActRun         = "run"         // a run of a job now
)
