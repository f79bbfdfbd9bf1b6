package office

import (
	"context"
	"errors"
	"time"

	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/trade"
)

// ResyncPlan is what reading a job's rows again would find.
type ResyncPlan struct {
	Order  acts.Order
	States map[string]int  // rows that it would find new or changed, by their state after it
	Report trade.RunReport // of the dry run
	Rows   []acts.RowStep  // these rows, with what is known of each; none if there are many
}

// resyncNamed is the number of rows from which a plan has sums only.
const resyncNamed = 20

// Mark returns a hash of what a person was shown of the plan.
func (p ResyncPlan) Mark() string { return acts.MarkOf(p.Order, p.States) }

func resyncOf(o acts.Order) *discovery.Resync {
	return &discovery.Resync{Keys: o.Keys, States: o.States, Since: o.Since}
}

// PlanResync counts, by state, the rows that a resync would find new or changed. It needs an engine.
func (o *Office) PlanResync(ctx context.Context, order acts.Order) (ResyncPlan, error) {
	plan := ResyncPlan{Order: order, States: map[string]int{}}
	var rows []trade.Entry
	reports, err := o.engine.Sync(ctx, []string{order.Job},
		engine.Options{DryRun: true, Resync: resyncOf(order), Planned: func(entry trade.Entry) {
			plan.States[string(entry.State)]++
			if len(rows) < resyncNamed {
				rows = append(rows, entry)
			}
		}})
	if err != nil {
		return plan, err
	}
	plan.Report = reports[0]
	if stopped := plan.Report.Stopped; stopped != nil {
		return plan, errors.New(o.Voice(o.lang).Stop(*stopped))
	}
	if len(rows) < resyncNamed {
		plan.Rows, err = o.knownOf(ctx, rows)
	}
	return plan, err
}

// knownOf returns what is known to be on the platform of rows.
func (o *Office) knownOf(ctx context.Context, rows []trade.Entry) ([]acts.RowStep, error) {
	var out []acts.RowStep
	for _, row := range rows {
		step := acts.RowStep{Key: row.Key, Before: row}
		var err error
		if row.ID > 0 {
			step.Attempts, err = o.store.Attempts(ctx, row.ID)
			if err != nil {
				return nil, err
			}
		}
		step.Counterpart, err = o.acts().Counterpart(ctx, row)
		if err != nil {
			return nil, err
		}
		out = append(out, step)
	}
	return out, nil
}

// OrderResync records a resync in the audit, so that it may be done now. If other people must agree,
// it asks them instead and returns the approval.
func (o *Office) OrderResync(ctx context.Context, plan ResyncPlan, who trade.Person) (*trade.Approval, error) {
	if err := may(who, acts.ActResync); err != nil {
		return nil, err
	}
	planned := acts.Planned{Order: plan.Order}
	for _, n := range plan.States {
		planned.Rows += n
	}
	asked, err := o.acts().Ask(ctx, planned, plan.Mark(), who, 0)
	if err != nil || asked != nil {
		return asked, err
	}
	return nil, o.RecordResync(ctx, plan, who)
}

// RecordResync records a resync to which everybody has agreed.
func (o *Office) RecordResync(ctx context.Context, plan ResyncPlan, who trade.Person) error {
	if err := may(who, acts.ActResync); err != nil {
		return err
	}
	since := ""
	if !plan.Order.Since.IsZero() {
		since = plan.Order.Since.Format(time.RFC3339)
	}
	return o.Note(ctx, acts.ActResync, plan.Order.Job, struct {
		Since  string         `json:"since,omitempty"`
		Keys   []string       `json:"keys,omitempty"`
		States []trade.State  `json:"states,omitempty"`
		Plan   map[string]int `json:"plan"`
	}{since, plan.Order.Keys, plan.Order.States, plan.States}, who)
}

// Resync reads a job's rows again, as an order that was recorded says.
func (o *Office) Resync(ctx context.Context, order acts.Order, who trade.Person) ([]trade.RunReport, error) {
	if err := may(who, acts.ActResync); err != nil {
		return nil, err
	}
	return o.engine.Sync(ctx, []string{order.Job}, engine.Options{Resync: resyncOf(order)})
}
