package office

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

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
}

// ResyncStopped means that reading again ends before its work is done.
type ResyncStopped struct{ Stop trade.Stop }

// Error returns the reason, for IT.
func (e *ResyncStopped) Error() string { return e.Stop.Text() }

// resyncNamed is the number of rows from which a plan has sums only.
const resyncNamed = 20

// Mark returns a hash of what a person was shown of the plan.
func (p ResyncPlan) Mark() string { return acts.MarkOf(p.Order, p.States) }

func resyncOf(o acts.Order) *discovery.Resync {
	return &discovery.Resync{Keys: o.Keys, States: o.States, Since: o.Since, Until: o.Until}
}

// ResyncMost is how many rows can be named for one resync.
const ResyncMost = 20_000

// ResyncOf returns the orders to read again the rows that queries select, one for each job, parents
// first. many reports that these are more than ResyncMost: then there is none.
func (o *Office) ResyncOf(ctx context.Context, filter string, queries ...trade.RowQuery) (orders []acts.Order,
	many bool, err error,
) {
	keys, n := map[string][]string{}, 0
	for _, q := range queries {
		q.Limit, q.Sort = ResyncMost, trade.NewestFirst
		found, more, err := o.store.RowKeys(ctx, q)
		if err != nil {
			return nil, false, err
		}
		n += len(found)
		if more || n > ResyncMost {
			return nil, true, nil
		}
		for _, k := range found {
			keys[k.Job] = append(keys[k.Job], k.Key)
		}
	}
	for _, job := range o.jobs {
		if of := keys[job.Name()]; len(of) > 0 {
			slices.Sort(of)
			orders = append(orders, acts.Order{
				Act: acts.ActResync, Job: job.Name(), Keys: slices.Compact(of), Filter: filter,
			})
		}
	}
	return orders, false, nil
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
	var rows []trade.Entry
	reports, err := o.engine.Sync(ctx, []string{order.Job}, engine.Options{
		DryRun: true, Resync: resyncOf(order), Progress: progress, Planned: func(entry trade.Entry) {
			plan.States[string(entry.State)]++
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
	plan.Report = reports[0]
	if stopped := plan.Report.Stopped; stopped != nil {
		return plan, &ResyncStopped{Stop: *stopped}
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

// keysKept is up to how many keys the audit names the rows of a resync.
const keysKept = 200

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
	case rows > keysKept:
		keys = nil
	}
	return o.Note(ctx, acts.ActResync, target, struct {
		Since  string         `json:"since,omitempty"`
		Until  string         `json:"until,omitempty"`
		Keys   []string       `json:"keys,omitempty"`
		Rows   int            `json:"rows,omitempty"`
		Filter string         `json:"filter,omitempty"`
		States []trade.State  `json:"states,omitempty"`
		Plan   map[string]int `json:"plan"`
	}{
		day(plan.Order.Since), day(plan.Order.Until), keys, rows, plan.Order.Filter, plan.Order.States, plan.States,
	}, who)
}

// Resync reads a job's rows again, as an order that was recorded says.
func (o *Office) Resync(ctx context.Context, order acts.Order, who trade.Person) ([]trade.RunReport, error) {
	return o.resyncAs(ctx, order, "", who)
}

// resyncAs is Resync with the id of its run. Of rows that are named, no other row of the job is sent.
func (o *Office) resyncAs(ctx context.Context, order acts.Order, id string,
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
// far it is. Once it was shown, it can be ordered for planKept.
const planKept = 15 * time.Minute

// planFresh is how old a plan may be that is shown again.
const planFresh = 30 * time.Second

// planning is the plan of a resync that is made for a person, in the background.
type planning struct {
	orders []acts.Order
	read   map[string]int // rows read so far, by job
	done   chan struct{}
	plans  []ResyncPlan // once done is closed
	at     time.Time
	err    error
	lapse  *time.Timer
}

func planOf(orders []acts.Order, who trade.Person) string { return acts.MarkOf(who.Name, orders) }

// ShowResync returns the plans of orders, or nil and how many rows were read so far if that takes
// longer. Who asks again gets them when they are made.
func (o *Office) ShowResync(ctx context.Context, orders []acts.Order, who trade.Person) (plans []ResyncPlan,
	read int, err error,
) {
	for _, order := range orders {
		if err := mayRole(who, order.Role()); err != nil {
			return nil, 0, err
		}
	}
	p := o.beginPlan(orders, who)
	if p == nil {
		return nil, 0, nil
	}
	late := time.NewTimer(o.reportPatience)
	defer late.Stop()
	select {
	case <-p.done:
		return p.plans, 0, p.err
	case <-late.C:
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, n := range p.read {
		read += n
	}
	return nil, read, nil
}

// beginPlan returns the plan of orders that is being made for a person, or was just made, and begins it
// if there is none; nil if the office ends.
func (o *Office) beginPlan(orders []acts.Order, who trade.Person) *planning {
	of := planOf(orders, who)
	o.mu.Lock()
	defer o.mu.Unlock()
	if p := o.plans[of]; p != nil {
		select {
		case <-p.done:
			if o.now().Sub(p.at).Abs() < planFresh && p.err == nil {
				return p
			}
			p.lapse.Stop()
		default:
			p.lapse.Reset(reportLapses)
			return p
		}
	}
	if o.ended {
		return nil
	}
	ctx, cancel := context.WithCancel(o.ending)
	p := &planning{orders: orders, read: map[string]int{}, done: make(chan struct{})}
	p.lapse = time.AfterFunc(reportLapses, func() { // nobody waits for it any more
		cancel()
		o.forgetPlan(of, p)
	})
	if o.plans == nil {
		o.plans = map[string]*planning{}
	}
	o.plans[of] = p
	o.working.Go(func() {
		defer cancel()
		for _, order := range orders {
			plan, err := o.planResync(ctx, order, func(now run.Progress) {
				o.mu.Lock()
				defer o.mu.Unlock()
				p.read[now.Job] = max(p.read[now.Job], now.Read)
			})
			p.plans, p.err = append(p.plans, plan), err
			if err != nil {
				break
			}
		}
		p.at = o.now()
		p.lapse.Stop()
		p.lapse = time.AfterFunc(planKept, func() { o.forgetPlan(of, p) })
		close(p.done)
	})
	return p
}

// ShownResync returns the plans of orders that a person was shown and has not ordered yet; nil if there are
// none any more.
func (o *Office) ShownResync(orders []acts.Order, who trade.Person) []ResyncPlan {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p := o.plans[planOf(orders, who)]; p != nil {
		select {
		case <-p.done:
			return p.plans
		default:
		}
	}
	return nil
}

func (o *Office) forgetPlan(of string, p *planning) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.plans[of] == p {
		delete(o.plans, of)
	}
}

// ResyncMark returns a hash of what a person was shown of plans.
func ResyncMark(plans []ResyncPlan) string {
	marks := make([]any, len(plans))
	for i, p := range plans {
		marks[i] = p.Mark()
	}
	return acts.MarkOf(marks...)
}

// Ordered is a resync of one job that a person ordered in this process.
type Ordered struct {
	Job string
	Run string // id of its run
	Why string // why the run never began, for people; "" = it has begun, or will
}

// DoResync orders what a person was shown: plans with this mark. Each is done once, in the background, in
// their order. moved reports that it is not the plan that was shown, or was ordered already: nothing was
// done then. asked is an approval that others must give first, if one is needed.
func (o *Office) DoResync(ctx context.Context, orders []acts.Order, mark string, who trade.Person) (done []Ordered,
	asked *trade.Approval, moved bool, err error,
) {
	plans, err := o.takePlan(ctx, orders, mark, who)
	if err != nil || plans == nil {
		return nil, nil, err == nil, err
	}
	var do []acts.Order
	for _, plan := range plans {
		waits, err := o.OrderResync(ctx, plan, who)
		if err != nil {
			return done, asked, false, err
		}
		if waits != nil {
			asked = waits
			continue
		}
		one := Ordered{Job: plan.Order.Job, Run: uuid.Must(uuid.NewV7()).String()}
		o.settleOrder(one)
		done, do = append(done, one), append(do, plan.Order)
	}
	o.inBackground(func(ctx context.Context) {
		for i, one := range done {
			if err := o.resyncInTurn(ctx, do[i], one.Run, who); err != nil {
				o.log.Error("a new reading that was ordered came to nothing", zap.String("sync_job", one.Job), zap.Error(err))
				one.Why = o.Voice(o.lang).Text("resync.never_began")
				if stopped := new(ResyncStopped); errors.As(err, &stopped) {
					one.Why = o.Stop(stopped.Stop, o.lang)
				}
				o.settleOrder(one)
			}
		}
	})
	return done, asked, false, nil
}

// takePlan returns the plans with a mark that a person was shown, if none of the rows that they name has
// changed since, and forgets them; nil if there are none.
func (o *Office) takePlan(ctx context.Context, orders []acts.Order, mark string,
	who trade.Person,
) ([]ResyncPlan, error) {
	of := planOf(orders, who)
	o.mu.Lock()
	p := o.plans[of]
	delete(o.plans, of)
	o.mu.Unlock()
	if p == nil {
		return nil, nil
	}
	p.lapse.Stop()
	select {
	case <-p.done:
	default:
		return nil, nil
	}
	if p.err != nil || ResyncMark(p.plans) != mark {
		return nil, p.err
	}
	for _, plan := range p.plans {
		for _, step := range plan.Rows {
			now, err := o.store.Entry(ctx, plan.Order.Job, step.Key)
			if errors.Is(err, trade.ErrNotFound) && step.Before.ID <= 0 {
				continue
			}
			if err != nil {
				return nil, err
			}
			if now.ID != step.Before.ID || now.Version != step.Before.Version {
				return nil, nil
			}
		}
	}
	return p.plans, nil
}

// orderedKept is how many orders are remembered, for the pages that tell what came of them.
const orderedKept = 500

// settleOrder remembers an order.
func (o *Office) settleOrder(one Ordered) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := slices.IndexFunc(o.ordered, func(other Ordered) bool { return other.Run == one.Run }); i >= 0 {
		o.ordered[i] = one
		return
	}
	o.ordered = append(o.ordered, one)
	if len(o.ordered) > orderedKept {
		o.ordered = slices.Delete(o.ordered, 0, len(o.ordered)-orderedKept)
	}
}

// Ordered returns a resync that was ordered in this process, by the id of its run; ok is false if there
// is none: the service was started again since.
func (o *Office) Ordered(id string) (one Ordered, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.IndexFunc(o.ordered, func(other Ordered) bool { return other.Run == id })
	if i < 0 {
		return Ordered{}, false
	}
	return o.ordered[i], true
}
