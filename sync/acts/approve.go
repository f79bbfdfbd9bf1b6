// Acts that need several people: one orders the act, the others see the plan and agree or decline.

package acts

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Rules define which acts need several people.
type Rules struct {
	People map[string]int // number of people, by act; 0 and 1 = only the one who orders it
	Above  trade.Decimal  // only if what the act concerns is worth more R$ than this; 0 = always
	Lapses time.Duration  // after this time without all consents the act is not done
}

// Approvals is the part of the ledger that stores acts waiting for consent.
type Approvals interface {
	// AskApproval stores an act together with its audit record. The same plan is stored once. It
	// returns trade.ErrTooMany if too many are waiting.
	AskApproval(ctx context.Context, a trade.Approval, record trade.AuditRecord) (trade.Approval, error)
	// Approval returns one, decided ones too. If it is unknown, it returns trade.ErrNotFound.
	Approval(ctx context.Context, id int64) (trade.Approval, error)
	// Agree stores the people of an act and its outcome. done is false if it has changed since it was read, or
	// waits no more.
	Agree(ctx context.Context, a trade.Approval, record trade.AuditRecord) (done bool, err error)
	// AccountChanges returns the acts since then that let somebody act as a user of the console, the
	// oldest first.
	AccountChanges(ctx context.Context, since time.Time) ([]trade.AuditRecord, error)
}

// OtherAct is an act that is planned and done outside this package.
type OtherAct struct {
	// Mark returns the mark of the plan as it would be made now; "" if it cannot be done any more.
	Mark func(ctx context.Context, o Order) (string, error)
	// Do executes the act if its plan still has this mark.
	Do func(ctx context.Context, o Order, mark string, who trade.Person) (done bool, err error)
	// Tell prints what the first person was shown of a plan; nil: nothing beyond the order.
	Tell func(ctx context.Context, p Planned) error
}

// Planned is what was planned, as the ledger stores it.
type Planned struct {
	Order Order          `json:"order"`
	Rows  int            `json:"rows"`            // rows that it would change
	Value *trade.Decimal `json:"value,omitempty"` // R$; nil: unknown
	Steps []PlannedStep  `json:"steps,omitempty"`
	// what the first person was shown of an act that is planned outside this package
	Shown json.RawMessage `json:"shown,omitempty"`
}

// PlannedStep is the planned change of one row.
type PlannedStep struct {
	ID    int64       `json:"id"`
	Key   string      `json:"key"`
	From  trade.State `json:"from"`
	To    trade.State `json:"to"`
	Given string      `json:"given,omitempty"` // the id that it gets
}

// PlannedOf decodes the plan of an approval.
func PlannedOf(a trade.Approval) (p Planned, err error) {
	if err = json.Unmarshal(a.Plan, &p); err != nil {
		err = phrase.Errorf("approval %d is damaged: %w", a.ID, err)
	}
	return p, err
}

// Ask stores an act to wait for the consent of others, if the rules, or least, require more people
// than have agreed so far. It returns nil if the act may be done now.
func (a *Acts) Ask(ctx context.Context, p Planned, mark string, who trade.Person, least int) (*trade.Approval, error) {
	needs := a.Rules.Needs(p, least)
	if needs <= 1+len(who.Agreed) {
		return nil, nil //nolint:nilnil // nobody need be asked
	}
	if err := named(who); err != nil {
		return nil, err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	target, lapses := p.Order.Job, a.Rules.Lapses
	if len(p.Order.Keys) == 1 {
		target += " " + p.Order.Keys[0]
	}
	if lapses <= 0 {
		lapses = defaultLapse
	}
	now := a.Now()
	asked := trade.Approval{
		Act: p.Order.Act, Target: target, Mark: mark, Plan: text, People: []trade.Consent{consent(who, now)},
		Needs: needs, Until: now.Add(lapses),
	}
	record, err := who.Record(now, "approval ask", asked.Target, approvalDetail{
		Act: asked.Act, Mark: mark, Needs: needs, Order: &p.Order, Rows: p.Rows, Value: p.Value,
	})
	if err != nil {
		return nil, err
	}
	asked, err = a.Approvals.AskApproval(ctx, asked, record)
	return &asked, err
}

// Needs returns how many people a plan needs in all, at least least.
func (r Rules) Needs(p Planned, least int) int {
	if p.Value != nil && r.Above.Sign() > 0 && p.Value.Cmp(r.Above) <= 0 {
		return least
	}
	return max(least, r.People[p.Order.Act])
}

// approvalDetail is what the audit stores about a request and about each answer to it.
type approvalDetail struct {
	Act   string         `json:"act"`
	Mark  string         `json:"mark"`
	Needs int            `json:"needs"`
	Order *Order         `json:"order,omitempty"`
	Rows  int            `json:"rows,omitempty"`
	Value *trade.Decimal `json:"value,omitempty"`
	For   string         `json:"for,omitempty"` // who ordered it
}

// defaultLapse is how long others have to agree if the rules do not set a time.
const defaultLapse = 72 * time.Hour

func consent(who trade.Person, at time.Time) trade.Consent {
	return trade.Consent{
		Name: who.Name, Account: who.Account, From: who.From, Reason: strings.TrimSpace(who.Reason), At: at,
	}
}

// askRows stores an act on rows to wait for consent, if it needs that.
func (a *Acts) askRows(ctx context.Context, plan RowPlan, who trade.Person) (*trade.Approval, error) {
	if a.Rules.People[plan.Act] <= 1+len(who.Agreed) {
		return nil, nil //nolint:nilnil // nobody need be asked
	}
	p := Planned{Order: plan.Order, Rows: plan.Count()}
	p.Order.Keys = nil // those shown: a file of decisions leaves some out
	for _, s := range plan.Steps {
		p.Order.Keys = append(p.Order.Keys, s.Key)
		if s.Refused == NotRefused {
			p.Steps = append(p.Steps, PlannedStep{s.Before.ID, s.Key, s.Before.State, s.After.State, s.After.RemoteID})
		}
	}
	if p.Rows == 0 {
		return nil, nil //nolint:nilnil // nothing would be done
	}
	var err error
	if a.Rules.Above.Sign() > 0 {
		p.Value, err = a.worth(ctx, plan)
		if err != nil {
			return nil, err
		}
		if p.Value != nil && p.Value.Cmp(plan.Whole) < 0 {
			p.Value = &plan.Whole
		}
	}
	return a.Ask(ctx, p, plan.Mark(), who, 0)
}

const reais = "BRL"

// worth returns the value in R$ of the rows of a plan; a child row counts as its contract, once. It
// returns nil if one value is unknown; the act then needs as many people as one above the limit.
func (a *Acts) worth(ctx context.Context, plan RowPlan) (*trade.Decimal, error) {
	sum := trade.Decimal{}
	contracts := map[string]bool{}
	for _, s := range plan.Steps {
		if s.Refused != NotRefused {
			continue
		}
		e := s.After
		if e.Sends != trade.OrderCommitments {
			id := e.Target // the platform's id of its contract
			if sent := mapping.SentTexts(e)["contract_id"]; sent != nil {
				id = *sent
			}
			if contracts[id] {
				continue
			}
			contracts[id] = true
			at, err := a.Ledger.Holder(ctx, trade.OrderCommitments, id, 0)
			if err != nil || at == (trade.ParentKey{}) {
				return nil, err
			}
			e, err = a.Ledger.Entry(ctx, at.Job, at.Key)
			if err != nil {
				return nil, err
			}
		}
		currency, value, known := e.Value()
		if !known || currency != reais {
			return nil, nil //nolint:nilnil // nobody knows
		}
		sum = sum.Add(value)
	}
	return &sum, nil
}

// areIndependent reports whether none of the people of an approval could have acted as another one: whether
// no account of theirs was created, or got another password, role or login, by another of them, or
// by an account that another one of them had so in his hands. What was changed longer before the
// order than trade.AccountsSettle does not count.
func (a *Acts) areIndependent(ctx context.Context, people []trade.Consent) (bool, error) {
	changes, err := a.Approvals.AccountChanges(ctx, people[0].At.Add(-trade.AccountsSettle))
	if err != nil {
		return false, err
	}
	for _, one := range people {
		hands := []trade.Consent{one} // whom this person could have been, in the order of time
		for _, c := range changes {
			if !slices.ContainsFunc(hands, func(h trade.Consent) bool { return didChange(h, c) }) {
				continue
			}
			taken := trade.Consent{Name: c.Target}
			for _, other := range people {
				if !samePerson(one, other) && samePerson(taken, other) {
					return false, nil
				}
			}
			hands = append(hands, taken)
		}
	}
	return true, nil
}

// didChange reports whether a person did an act: by the name, or by the account on the same host.
func didChange(c trade.Consent, r trade.AuditRecord) bool {
	from := func(s string) string { return strings.TrimPrefix(s, "--as: ") }
	return samePerson(c, trade.Consent{Name: r.Who}) ||
		c.From != "" && !strings.HasPrefix(c.From, "console ") && from(c.From) == from(r.From)
}

// samePerson reports whether two are the same person, as far as the program can know: by the name
// or the account of either.
func samePerson(a, b trade.Consent) bool {
	for _, mine := range []string{a.Name, a.Account} {
		if mine != "" && (strings.EqualFold(mine, b.Name) || strings.EqualFold(mine, b.Account)) {
			return true
		}
	}
	return false
}

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
	d.Approval.Needs = a.Rules.Needs(p, d.Approval.Needs) // may have grown since; never shrinks
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
