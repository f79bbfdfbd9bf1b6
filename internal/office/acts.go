// Acts on rows: what an order would do is planned and shown, then done to what was shown.

package office

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// Plan returns what an order would do. It changes nothing.
func (o *Office) Plan(ctx context.Context, order acts.Order) (acts.RowPlan, error) {
	plan, err := o.acts().Plan(ctx, order)
	plan.Order = order // as it was given: what it selects is looked up again when it is done
	return plan, err
}

// DoShown does a plan that was shown in this process, as far as its rows have not changed since.
func (o *Office) DoShown(ctx context.Context, plan acts.RowPlan, who trade.Person) (acts.RowPlan, error) {
	if err := may(who, plan.Act); err != nil {
		return plan, err
	}
	return o.acts().Do(ctx, plan, who)
}

// MaxRowsPerAct is how many rows one act, or one resync, may be ordered for by a selection.
const MaxRowsPerAct = 20_000

// ManyPlan is what an act would do to selected rows of several jobs.
type ManyPlan struct {
	Act   string
	Mark  string         // under which it can be done, until planLifetime is over
	Rows  int            // rows that were selected
	Does  trade.Sums     // of those to which the act can be done
	Jobs  []JobRows      // the same by job, parents first
	Not   []ManyRefusal  // the others by reason, the most frequent first
	Shown []acts.RowStep // the first rows to which it can be done
}

// JobRows is a number of rows of a job.
type JobRows struct {
	Job  string
	Rows int
}

// ManyRefusal is a reason why an act cannot be done, or was not done.
type ManyRefusal struct {
	Why  acts.Refusal
	Rows int
	Some []acts.RowStep // the first ones
}

// More returns the number of the others.
func (r ManyRefusal) More() int { return r.Rows - len(r.Some) }

// manyNamed is how many rows of each part of a plan are named.
const manyNamed = 20

// ManyDone is what became of a plan.
type ManyDone struct {
	Lost  bool // it is not known any more: it was done already, or is too old. Nothing was done
	Done  int
	Not   []ManyRefusal
	Jobs  []string // of which rows were changed
	Asked []ManyAsked
}

// ManyAsked is the part of a plan, the rows of one job, for which other people must agree first.
type ManyAsked struct {
	JobRows
	*trade.Approval
}

// manyShown is a plan that a person was shown: what identifies each row as it was then.
type manyShown struct {
	plan   ManyPlan
	who    string
	at     time.Time
	orders []acts.Order // with the keys of the rows to which the act could be done
	marks  []map[string]string
}

// manyKept is how many rows the plans that are remembered may have together; each plan counts for at least
// manyLeast.
const manyKept, manyLeast = 32 * MaxRowsPerAct, 200

// Selected returns the orders of an act for the rows that queries select, one for each job, parents
// first. many reports that these are more than MaxRowsPerAct: then there is none.
func (o *Office) Selected(ctx context.Context, act string, filtered bool,
	queries ...trade.RowQuery,
) (orders []acts.Order, many bool, err error) {
	keys, n := map[string][]string{}, 0
	for _, q := range queries {
		q.After, q.Limit, q.Sort = "", MaxRowsPerAct, trade.NewestFirst
		q, _, err = o.Chosen(ctx, q)
		if err != nil {
			return nil, false, err
		}
		found, more, err := o.store.RowKeys(ctx, q)
		if err != nil {
			return nil, false, err
		}
		n += len(found)
		if more || n > MaxRowsPerAct {
			return nil, true, nil
		}
		for _, k := range found {
			keys[k.Job] = append(keys[k.Job], k.Key)
		}
	}
	return o.OrdersOf(act, filtered, keys), false, nil
}

// OfCause returns the orders of an act for the rows that have a cause themselves, as [Office.Stuck] told them
// last, at most [MaxRowsPerAct]. more reports that there are others.
func (o *Office) OfCause(act, cause string) (orders []acts.Order, more bool) {
	keys, n := map[string][]string{}, 0
	o.blocked.Select(cause, "", func(_ int64, row trade.ParentKey, _ trade.Sums) {
		n++
		if n <= MaxRowsPerAct {
			keys[row.Job] = append(keys[row.Job], row.Key)
		}
	})
	return o.OrdersOf(act, false, keys), n > MaxRowsPerAct
}

// OrdersOf returns the orders of an act for rows, by job, parents first. filtered: they are those of a filter.
func (o *Office) OrdersOf(act string, filtered bool, keys map[string][]string) []acts.Order {
	var orders []acts.Order
	for _, job := range o.jobs {
		if of := keys[job.Name()]; len(of) > 0 {
			slices.Sort(of)
			orders = append(orders, acts.Order{Act: act, Job: job.Name(), Keys: slices.Compact(of), Filtered: filtered})
		}
	}
	return orders
}

// PlanMany plans orders of one act for a person, and remembers what the person is shown. versions are
// those of the rows that were shown beside the plan: rows that have changed since are left out.
func (o *Office) PlanMany(ctx context.Context, orders []acts.Order, versions map[trade.ParentKey]int64,
	who trade.Person,
) (ManyPlan, error) {
	var out ManyPlan
	shown := &manyShown{who: who.Name, at: o.now()}
	var all []any
	for _, order := range orders {
		if err := mayRole(who, order.Role()); err != nil {
			return out, err
		}
		plan, err := o.acts().Plan(ctx, order)
		if err != nil {
			return out, err
		}
		out.Act = order.Act
		out.Rows += len(plan.Steps)
		marks := map[string]string{}
		order.Keys = nil
		for _, s := range plan.Steps {
			version, known := versions[trade.ParentKey{Job: order.Job, Key: s.Key}]
			if known && version != s.Before.Version {
				s.Refused = acts.Moved
			}
			if s.Refused != acts.NotRefused {
				out.Not = refuse(out.Not, s)
				continue
			}
			order.Keys, marks[s.Key] = append(order.Keys, s.Key), s.Mark()
			all = append(all, marks[s.Key])
			out.Does.Join(s.Sums())
			if len(out.Shown) < manyNamed {
				out.Shown = append(out.Shown, s)
			}
		}
		if len(marks) > 0 {
			if n := len(out.Jobs); n == 0 || out.Jobs[n-1].Job != order.Job {
				out.Jobs = append(out.Jobs, JobRows{Job: order.Job})
			}
			out.Jobs[len(out.Jobs)-1].Rows += len(marks)
			shown.orders, shown.marks = append(shown.orders, order), append(shown.marks, marks)
		}
	}
	slices.SortStableFunc(out.Not, func(a, b ManyRefusal) int { return cmp.Compare(b.Rows, a.Rows) })
	out.Mark = acts.MarkOf(append(all, out.Act, who.Name)...)
	shown.plan = out
	o.mu.Lock()
	defer o.mu.Unlock()
	o.shown = slices.DeleteFunc(o.shown, func(s *manyShown) bool {
		return s.plan.Mark == out.Mark || o.now().Sub(s.at) > planLifetime
	})
	o.shown = append(o.shown, shown)
	room := manyKept
	for i, s := range slices.Backward(o.shown) {
		room -= max(s.plan.Does.Rows, manyLeast)
		if room < 0 {
			o.shown = o.shown[i+1:]
			break
		}
	}
	return out, nil
}

// refuse counts a row to which an act cannot be done.
func refuse(list []ManyRefusal, s acts.RowStep) []ManyRefusal {
	i := slices.IndexFunc(list, func(r ManyRefusal) bool { return r.Why == s.Refused })
	if i < 0 {
		i, list = len(list), append(list, ManyRefusal{Why: s.Refused})
	}
	list[i].Rows++
	if len(list[i].Some) < manyNamed {
		list[i].Some = append(list[i].Some, s)
	}
	return list
}

// planIndex returns the place of a plan that a person was shown; -1 if there is none.
func (o *Office) planIndex(mark string, who trade.Person) int {
	return slices.IndexFunc(o.shown, func(s *manyShown) bool {
		return s.plan.Mark == mark && s.who == who.Name && o.now().Sub(s.at) <= planLifetime
	})
}

// StoredPlan returns the plan that a person was shown under a mark; ok is false if it is not known any more.
func (o *Office) StoredPlan(mark string, who trade.Person) (plan ManyPlan, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := o.planIndex(mark, who)
	if i < 0 {
		return ManyPlan{}, false
	}
	return o.shown[i].plan, true
}

// DoMany executes the plan with this mark, once. Rows that have changed since are not touched, and
// returned. With an error it returns what was done before.
func (o *Office) DoMany(ctx context.Context, mark string, who trade.Person) (out ManyDone, err error) {
	var shown *manyShown
	o.mu.Lock()
	if i := o.planIndex(mark, who); i >= 0 { // once
		shown = o.shown[i]
		o.shown = slices.Delete(o.shown, i, i+1)
	}
	o.mu.Unlock()
	if shown == nil {
		return ManyDone{Lost: true}, nil
	}
	for i, order := range shown.orders {
		if err := mayRole(who, order.Role()); err != nil {
			return out, err
		}
		people := o.acts()
		plan, err := people.Plan(ctx, order)
		if err != nil {
			return out, err
		}
		plan.Order, plan.Whole = order, shown.plan.Does.Values["BRL"]
		plan.Steps = slices.DeleteFunc(plan.Steps, func(s acts.RowStep) bool {
			same := s.Mark() == shown.marks[i][s.Key]
			if !same {
				s.Refused = acts.Moved
				out.Not = refuse(out.Not, s)
			}
			return !same
		})
		plan, err = people.Do(ctx, plan, who)
		if plan.Asked != nil {
			out.Asked = append(out.Asked, ManyAsked{JobRows{order.Job, plan.Count()}, plan.Asked})
		}
		before := out.Done
		for _, s := range plan.Steps {
			switch {
			case s.Done:
				out.Done++
			case plan.Asked == nil && err == nil:
				out.Not = refuse(out.Not, s)
			}
		}
		if out.Done > before {
			out.Jobs = append(out.Jobs, order.Job)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}
