// What a person orders, in a form that can be kept and planned again.

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

// Order is what a person wants done. Job is the month of a closing, and the kind of a de-para.
type Order struct {
	Act    string        `json:"act"`
	Job    string        `json:"job"`
	Keys   []string      `json:"keys,omitempty"`
	States []trade.State `json:"states,omitempty"` // instead of keys: all rows in these states, where the act allows it
	Causes []string      `json:"causes,omitempty"` // and with these causes
	Most   int           `json:"most,omitempty"`   // of those, the first so many; 0 = all

	ID                 string    `json:"id,omitempty"`      // adopt: the platform's id; a de-para: that of the code
	NoID               bool      `json:"no_id,omitempty"`   // adopt: it was seen there, and its id is not known
	DespiteDifferences bool      `json:"despite,omitempty"` // adopt: although the platform's record differs
	Checked            bool      `json:"checked,omitempty"` // resend: the platform was looked at
	Since              time.Time `json:"since,omitzero"`    // resync: only rows that changed since
	Count              int       `json:"count,omitempty"`   // resync: so many rows it reads
}

// Plan says what an order for rows would do.
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
		return a.Retry(ctx, o.Job, keys)
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
			err = a.Watch(ctx, o.Job) // its quarantine begins here, where this host did not know of the doubt
		}
		return plan, err
	}
	return RowPlan{}, fmt.Errorf("there is no act %q", o.Act)
}

// Mark covers what a person was shown of the plan and what would be stored, not the time that is
// left of a quarantine.
func (p RowPlan) Mark() string {
	parts := make([]any, 0, len(p.Steps))
	for _, s := range p.Steps {
		parts = append(parts, []any{
			s.Key, s.Refused, s.Before.ID, s.Before.Version, s.Holder, s.Problems,
			s.WaitingFor, s.Reading, s.After.State, s.After.PayloadHash, s.After.RemoteID,
		})
	}
	return MarkOf(parts...)
}

// Mark covers where the job stood when the plan was made, and what a release lets go.
func (p JobPlan) Mark() string { return MarkOf(p.Act, p.Job, p.Refused, p.Before, p.Release) }

// MarkOf is the same for the same things.
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
