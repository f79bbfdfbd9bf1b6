// The answers of other people to an act that needs several.

package acts

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Decided is the result of a person's answer.
type Decided struct {
	Approval trade.Approval
	Refused  Refusal // why the answer does not count; "" if it does
	Waits    int     // how many people still have to agree
	Done     bool
	Rows     *RowPlan
}

// Approve stores that a person agrees to an act. With the last consent needed the act is done, if
// its plan is still what was shown. If the plan has changed, the order stays until it is declined
// or lapses. The order is marked as given before the act is done: a crash between the two loses the
// act, with the consent in the audit, but never does it twice.
func (a *Acts) Approve(ctx context.Context, id int64, who trade.Person) (Decided, error) {
	d, p, err := a.answer(ctx, id, who)
	if err != nil || d.Refused != NotRefused {
		return d, err
	}
	now := a.Now()
	agrees := consent(who, now)
	people := append(slices.Clone(d.Approval.People), agrees)
	if slices.ContainsFunc(d.Approval.People, func(c trade.Consent) bool { return samePerson(agrees, c) }) {
		d.Refused = SamePerson
		return d, nil
	}
	apart, err := a.areIndependent(ctx, people)
	if err != nil {
		return d, err
	}
	if !apart {
		d.Refused = NotApart
		return d, nil
	}
	review, err := a.review(ctx, d.Approval, p)
	if err != nil {
		return d, err
	}
	if review.Outdated {
		d.Refused = Moved
		return d, nil
	}
	ordered := d.Approval.People[0]
	d.Approval.People = people
	d.Approval.Needs = a.Rules.needs(p, d.Approval.Needs) // may have grown since; never shrinks
	d.Waits = d.Approval.Needs - len(d.Approval.People)
	record, err := a.answered(now, "approval give", d.Approval, who)
	if err != nil {
		return d, err
	}
	if d.Waits <= 0 {
		d.Approval.Outcome = trade.ApprovalGiven
	}
	kept, err := a.Approvals.Agree(ctx, d.Approval, record)
	switch {
	case err != nil:
		return d, err
	case !kept:
		d.Refused = Moved
		return d, nil
	case d.Waits > 0:
		return d, nil
	}
	names := trade.Map(d.Approval.People, func(c trade.Consent) string { return c.Name })
	together := trade.Person{
		Name: strings.Join(names, trade.Together), From: ordered.From, Reason: ordered.Reason,
		Role: who.Role, Agreed: names[1:],
	}
	return d, a.doApproved(ctx, &d, review, p, together)
}

// doApproved does the act to which everybody has agreed.
func (a *Acts) doApproved(ctx context.Context, d *Decided, r Review, p Planned, who trade.Person) (err error) {
	switch {
	case r.Rows != nil:
		var done RowPlan
		done, err = a.Do(ctx, *r.Rows, who)
		d.Rows = &done
		for _, s := range done.Steps {
			d.Done = d.Done || s.Done
		}
	case r.Job != nil:
		var done JobPlan
		done, err = a.DoJob(ctx, *r.Job, who)
		d.Done = err == nil && done.Refused == NotRefused
	default:
		d.Done, err = a.Others[p.Order.Act].Do(ctx, p.Order, d.Approval.Mark, who)
	}
	if err != nil || d.Done {
		return err
	}
	d.Refused = Moved
	d.Approval.Version++ // by the consent
	d.Approval.Outcome = trade.ApprovalUndone
	record, err := a.answered(a.Now(), "approval undone", d.Approval, who)
	if err == nil {
		_, err = a.Approvals.Agree(ctx, d.Approval, record)
	}
	return err
}

// Decline stores that a person does not agree: the act is not done. The person who ordered it may
// withdraw it this way.
func (a *Acts) Decline(ctx context.Context, id int64, who trade.Person) (Decided, error) {
	d, _, err := a.answer(ctx, id, who)
	if err != nil || d.Refused != NotRefused {
		return d, err
	}
	now := a.Now()
	record, err := a.answered(now, "approval decline", d.Approval, who)
	if err != nil {
		return d, err
	}
	declined := d.Approval
	declined.Outcome = trade.ApprovalDeclined
	declined.People = append(slices.Clone(declined.People), consent(who, now))
	kept, err := a.Approvals.Agree(ctx, declined, record)
	if err == nil && !kept {
		d.Refused = Moved
	}
	return d, err
}

func (a *Acts) answered(at time.Time, act string, ap trade.Approval, who trade.Person) (trade.AuditRecord, error) {
	return who.Record(at, act, ap.Target,
		approvalDetail{Act: ap.Act, Mark: ap.Mark, Needs: ap.Needs, For: ap.People[0].Name})
}

// answer returns the approval that a person answers, and its plan.
func (a *Acts) answer(ctx context.Context, id int64, who trade.Person) (d Decided, p Planned, err error) {
	if err = named(who); err != nil {
		return d, p, err
	}
	d.Approval, err = a.Approvals.Approval(ctx, id)
	switch {
	case errors.Is(err, trade.ErrNotFound), err == nil && d.Approval.Outcome != "":
		d.Refused = NotAsked
		return d, p, nil
	case err != nil:
		return d, p, err
	case !a.Now().Before(d.Approval.Until):
		d.Refused = Lapsed
		return d, p, nil
	}
	p, err = PlannedOf(d.Approval)
	return d, p, err
}

// Review is an act that waits for consent, planned again.
type Review struct {
	Outdated bool // it would no longer do what was planned
	Rows     *RowPlan
	Job      *JobPlan
}

// Review plans an act that waits for consent again.
func (a *Acts) Review(ctx context.Context, ap trade.Approval) (Review, error) {
	p, err := PlannedOf(ap)
	if err != nil {
		return Review{}, err
	}
	return a.review(ctx, ap, p)
}

func (a *Acts) review(ctx context.Context, ap trade.Approval, p Planned) (Review, error) {
	mark := ""
	r := Review{}
	switch other, elsewhere := a.Others[p.Order.Act]; {
	case elsewhere:
		var err error
		mark, err = other.Mark(ctx, p.Order)
		if err != nil {
			return r, err
		}
	case p.Order.Act == ActRelease:
		plan, err := a.PlanJob(ctx, p.Order, trade.Person{})
		if err != nil {
			return r, err
		}
		r.Job, mark = &plan, plan.Mark()
	case len(p.Order.Keys) == 0:
		return r, errors.New("this program cannot do " + p.Order.Act)
	default:
		plan, err := a.Plan(ctx, p.Order)
		if err != nil {
			return r, err
		}
		r.Rows, mark = &plan, plan.Mark()
	}
	r.Outdated = mark != ap.Mark
	return r, nil
}
