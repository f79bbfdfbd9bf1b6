// Plans of reading again that people were shown, and what came of their orders.

package office

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// resyncPlanJob is the plan of a resync that is made for a person, in the background.
type resyncPlanJob struct {
	*work[[]ResyncPlan]
	read map[string]int // rows read so far, by job
	at   time.Time      // once done is closed
}

func planOf(orders []acts.Order, who trade.Person) string { return acts.MarkOf(who.Name, orders) }

// RequestResyncPlans returns the plans of orders, or nil and how many rows were read so far if that takes
// longer. Who asks again gets them when they are made.
func (o *Office) RequestResyncPlans(ctx context.Context, orders []acts.Order, who trade.Person) (plans []ResyncPlan,
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
	over, err := p.wait(ctx, o.reportPatience)
	switch {
	case err != nil:
		return nil, 0, err
	case over:
		return p.answer, 0, p.err
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
func (o *Office) beginPlan(orders []acts.Order, who trade.Person) *resyncPlanJob {
	of := planOf(orders, who)
	o.mu.Lock()
	defer o.mu.Unlock()
	if p := o.plans[of]; p != nil {
		switch {
		case !p.over():
			p.lapse.Reset(reportLapses)
			return p
		case o.now().Sub(p.at).Abs() < planFresh:
			if p.err != nil { // said once; who asks again tries again
				delete(o.plans, of)
			}
			return p
		}
		p.lapse.Stop()
	}
	p := &resyncPlanJob{read: map[string]int{}}
	p.work = begin(o, "", func(ctx context.Context) (plans []ResyncPlan, err error) {
		for _, order := range orders {
			var plan ResyncPlan
			plan, err = o.planResync(ctx, order, func(now run.Progress) {
				o.mu.Lock()
				defer o.mu.Unlock()
				p.read[now.Job] = max(p.read[now.Job], now.Read)
			})
			plans = append(plans, plan)
			if err != nil {
				break
			}
		}
		return plans, err
	}, func(w *work[[]ResyncPlan]) {
		p.at = o.now()
		w.lapse.Reset(planLifetime)
	})
	if p.work == nil {
		return nil
	}
	p.lapses(o, func() {
		if o.plans[of] == p {
			delete(o.plans, of)
		}
	})
	o.plans[of] = p
	return p
}

// StoredResyncPlans returns the plans of orders that a person was shown and has not ordered yet; nil if there are
// none any more.
func (o *Office) StoredResyncPlans(orders []acts.Order, who trade.Person) []ResyncPlan {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p := o.plans[planOf(orders, who)]; p != nil && p.over() && p.err == nil {
		return p.answer
	}
	return nil
}

// ResyncMark returns a hash of what a person was shown of plans.
func ResyncMark(plans []ResyncPlan) string {
	return acts.MarkOf(trade.Map(plans, func(p ResyncPlan) any { return p.Mark() })...)
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
	plans, err := o.popPlans(ctx, orders, mark, who)
	if err != nil || plans == nil {
		return nil, nil, err == nil, err
	}
	var do []acts.Order
	for _, plan := range plans {
		var waits *trade.Approval
		waits, err = o.OrderResync(ctx, plan, who)
		if err != nil { // what was ordered before is done
			break
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
				one.Why = o.Voice(o.lang).Text("The reading did not begin. See under Routines whether the job is free, and ask again.")
				if stopped := new(ResyncStopped); errors.As(err, &stopped) {
					one.Why = o.Stop(stopped.Stop, o.lang)
				}
				o.settleOrder(one)
			}
		}
	})
	return done, asked, false, err
}

// popPlans returns the plans with a mark that a person was shown, if none of the rows that they name has
// changed since, and forgets them; nil if there are none.
func (o *Office) popPlans(ctx context.Context, orders []acts.Order, mark string,
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
	if !p.over() || p.err != nil || ResyncMark(p.answer) != mark {
		return nil, nil
	}
	for _, plan := range p.answer {
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
	return p.answer, nil
}

// settleOrder remembers an order.
func (o *Office) settleOrder(one Ordered) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := slices.IndexFunc(o.ordered, func(other Ordered) bool { return other.Run == one.Run }); i >= 0 {
		o.ordered[i] = one
		return
	}
	o.ordered = append(o.ordered, one)
	o.ordered = o.ordered[max(0, len(o.ordered)-maxOrders):]
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
