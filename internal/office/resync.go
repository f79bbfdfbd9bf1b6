package office

import (
	"context"
	"errors"
	"time"

	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// ResyncPlan is what reading a job's rows again would find.
type ResyncPlan struct {
	Order  acts.Order
	States map[string]int  // rows that it would find new or changed, by their state after it
	Report trade.RunReport // of the dry run
	Rows   []acts.RowStep  // these rows, with what is known of each; none if there are many
	// rows that it would send although a person has once let them go a second time
	MayDouble int
	// rows that it would send because their time has come, although nothing of them changed: of those that are
	// named or, if none is, of the whole job, also those that it does not read
	Due     int
	dueRead int // those of them that it reads
}

// ResyncStopped means that reading again ends before its work is done.
type ResyncStopped struct{ Stop trade.Stop }

// Error returns the reason, for IT.
func (e *ResyncStopped) Error() string { return e.Stop.Text() }

// resyncNamed is the number of rows from which a plan has sums only.
const resyncNamed = 20

// Reads returns how many rows of the ERP it reads: of a job whose rows are named, only those count.
func (p ResyncPlan) Reads() int {
	if n := len(p.Order.Keys); n > 0 {
		return min(n, p.Report.Read)
	}
	return p.Report.Read
}

// Same returns how many of them stay as they are.
func (p ResyncPlan) Same() int {
	same := p.Reads() - p.dueRead
	for _, n := range p.States {
		same -= n
	}
	return max(0, same)
}

// Mark returns a hash of what a person was shown of the plan.
func (p ResyncPlan) Mark() string { return acts.MarkOf(p.Order, p.States, p.Due) }

func resyncOf(o acts.Order) *discovery.Resync {
	return &discovery.Resync{Keys: o.Keys, States: o.States, Since: o.Since, Until: o.Until}
}

// PlanResync counts, by state, the rows that a resync would find new or changed. It needs an engine.
func (o *Office) PlanResync(ctx context.Context, order acts.Order) (ResyncPlan, error) {
	plan, err := o.planResync(ctx, order, func(run.Progress) {})
	if stopped := new(ResyncStopped); errors.As(err, &stopped) {
		err = errors.New(o.Voice(o.lang).Stop(stopped.Stop))
	}
	return plan, err
}

// planResync is PlanResync with its progress. Its error is *ResyncStopped if the job would stop.
func (o *Office) planResync(ctx context.Context, order acts.Order, progress func(run.Progress)) (ResyncPlan, error) {
	plan := ResyncPlan{Order: order, States: map[string]int{}}
	select {
	case o.plan <- struct{}{}:
		defer func() { <-o.plan }()
	case <-ctx.Done():
		return plan, ctx.Err()
	}
	now := o.now()
	keys, err := o.store.DueKeys(ctx, order.Job, order.Keys, now)
	if err != nil {
		return plan, err
	}
	due, again := make(map[string]bool, len(keys)), map[string]bool{}
	for _, key := range keys {
		due[key] = true
	}
	var rows []trade.Entry
	reports, err := o.engine.Sync(ctx, []string{order.Job}, engine.Options{
		DryRun: true, Resync: resyncOf(order), Progress: progress, Planned: func(entry trade.Entry) {
			next := entry.NextAttemptAt
			if due[entry.Key] && entry.State != trade.Pending && !next.IsZero() && !next.After(now) {
				again[entry.Key] = true
			} else {
				plan.States[string(entry.State)]++
				delete(due, entry.Key)
				delete(again, entry.Key)
			}
			if entry.State == trade.Pending && entry.Generation > 1 {
				plan.MayDouble++
			}
			if len(rows) < resyncNamed {
				rows = append(rows, entry)
			}
		},
	})
	if err != nil {
		return plan, err
	}
	plan.Report, plan.Due, plan.dueRead = reports[0], len(due), len(again)
	if stopped := plan.Report.Stopped; stopped != nil {
		return plan, &ResyncStopped{Stop: *stopped}
	}
	if len(rows) == resyncNamed {
		return plan, nil
	}
	for _, row := range rows { // with what is known to be on the platform
		step := acts.RowStep{Key: row.Key, Before: row}
		if row.ID > 0 {
			step.Attempts, err = o.store.Attempts(ctx, row.ID)
			if err != nil {
				return plan, err
			}
		}
		step.Counterpart, err = o.acts().Counterpart(ctx, row)
		if err != nil {
			return plan, err
		}
		plan.Rows = append(plan.Rows, step)
	}
	return plan, nil
}

// OrderResync records a resync in the audit, so that it may be done now. If other people must agree,
// it asks them instead and returns the approval.
func (o *Office) OrderResync(ctx context.Context, plan ResyncPlan, who trade.Person) (*trade.Approval, error) {
	if err := mayRole(who, plan.Order.Role()); err != nil {
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

// maxAuditedKeys is up to how many keys the audit names the rows of a resync.
const maxAuditedKeys = 200

// RecordResync records a resync to which everybody has agreed.
func (o *Office) RecordResync(ctx context.Context, plan ResyncPlan, who trade.Person) error {
	if err := mayRole(who, plan.Order.Role()); err != nil {
		return err
	}
	day := func(at time.Time) string {
		if at.IsZero() {
			return ""
		}
		return at.Format(time.RFC3339)
	}
	keys, rows, target := plan.Order.Keys, len(plan.Order.Keys), plan.Order.Job
	switch {
	case rows == 1:
		target += " " + keys[0]
	case rows > maxAuditedKeys:
		keys = nil
	}
	return o.Note(ctx, acts.ActResync, target, struct {
		Since    string         `json:"since,omitempty"`
		Until    string         `json:"until,omitempty"`
		Keys     []string       `json:"keys,omitempty"`
		Rows     int            `json:"rows,omitempty"`
		Filtered bool           `json:"filtered,omitempty"`
		States   []trade.State  `json:"states,omitempty"`
		Plan     map[string]int `json:"plan"`
	}{
		day(plan.Order.Since), day(plan.Order.Until), keys, rows, plan.Order.Filtered, plan.Order.States, plan.States,
	}, who)
}

// Resync reads a job's rows again, as an order that was recorded says. id is that of its run; "" gives it a
// new one. Of rows that are named, no other row of the job is sent.
func (o *Office) Resync(ctx context.Context, order acts.Order, id string,
	who trade.Person,
) ([]trade.RunReport, error) {
	if err := mayRole(who, order.Role()); err != nil {
		return nil, err
	}
	options := engine.Options{Resync: resyncOf(order), RunID: id}
	if len(order.Keys) > 0 {
		options.Keys = map[string][]string{order.Job: order.Keys}
	}
	return o.engine.Sync(ctx, []string{order.Job}, options)
}

// A plan that takes longer than reportPatience is shown when it is made; until then the page shows how
// far it is. Once it was shown, it can be ordered for planLifetime.
const planLifetime = 15 * time.Minute

// planFresh is how old a plan may be that is shown again.
const planFresh = 30 * time.Second

// maxOrders is how many orders are remembered, for the pages that tell what came of them.
const maxOrders = 500
