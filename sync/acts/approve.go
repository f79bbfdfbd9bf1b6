// Acts that need several people: the first orders, the others see the plan and agree or decline.

package acts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Rules say which acts need several people.
type Rules struct {
	People map[string]int // in all, by act; 0 and 1 = the one who orders it
	Above  trade.Decimal  // only when what the act touches is worth more than so many R$; 0 = always
	Lapses time.Duration  // an act that nobody agreed to for so long is not done
}

// Approvals keep what waits for somebody's consent.
type Approvals interface {
	// AskApproval keeps an act, with the record in the audit. The same plan is kept once.
	// trade.ErrTooMany when too many wait.
	AskApproval(ctx context.Context, a trade.Approval, record trade.AuditRecord) (trade.Approval, error)
	// Approval returns one; one that is not known: an error for which Acts.Unknown is true.
	Approval(ctx context.Context, id int64) (trade.Approval, error)
	// Agree keeps the people of an act, EndApproval takes it out; done is false when it stands
	// otherwise than it was seen.
	Agree(ctx context.Context, a trade.Approval, record trade.AuditRecord) (done bool, err error)
	EndApproval(ctx context.Context, a trade.Approval, record trade.AuditRecord) (done bool, err error)
}

// Elsewhere is an act that is planned and done outside of this package.
type Elsewhere struct {
	// Mark is that of the plan as it would be made now; "" when it cannot be done any more.
	Mark func(ctx context.Context, o Order) (string, error)
	// Do does what a plan with this mark showed.
	Do func(ctx context.Context, o Order, mark string, who Person) (done bool, err error)
}

// The acts that need several people, or may, and are planned elsewhere.
const (
	ActRelease = "release"
	ActResync  = "resync"
	ActClose   = "close"
	ActSetCode = "refs set"
)

// ApproverOf is the least role of those who may agree to an act: those who may order it.
func ApproverOf(act string) trade.Role {
	switch act {
	case ActRelease, ActSetCode, ActResync:
		return trade.Administrator
	}
	return trade.Accountant
}

// Planned is what was planned, as it is kept.
type Planned struct {
	Order Order          `json:"order"`
	Rows  int            `json:"rows"`            // that it would be done to
	Value *trade.Decimal `json:"value,omitempty"` // R$; nil: nobody knows
	Steps []PlannedStep  `json:"steps,omitempty"`
}

// PlannedStep is what would become of one row.
type PlannedStep struct {
	ID    int64       `json:"id"`
	Key   string      `json:"key"`
	From  trade.State `json:"from"`
	To    trade.State `json:"to"`
	Given string      `json:"given,omitempty"` // the id that it gets
}

// PlannedOf reads what was planned.
func PlannedOf(a trade.Approval) (p Planned, err error) {
	if err = json.Unmarshal(a.Plan, &p); err != nil {
		err = fmt.Errorf("approval %d is damaged: %w", a.ID, err)
	}
	return p, err
}

// Ask keeps an act until others agree to it, if the rules, or least, want several people for it,
// and who is not yet so many. nil: it may be done.
func (a *Acts) Ask(ctx context.Context, p Planned, mark string, who Person, least int) (*trade.Approval, error) {
	needs := a.Rules.needs(p, least)
	if needs <= 1+len(who.agreed) {
		return nil, nil //nolint:nilnil // nobody need be asked
	}
	if err := who.check(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	now := a.Now()
	asked := trade.Approval{
		Act: p.Order.Act, Target: targetOf(p.Order), Mark: mark, Plan: text, People: []trade.Consent{who.consent(now)},
		Needs: needs, Until: now.Add(a.Rules.lapses()),
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

// needs is how many people something planned needs in all, and least so many.
func (r Rules) needs(p Planned, least int) int {
	if p.Value != nil && r.Above.Sign() > 0 && p.Value.Cmp(r.Above) <= 0 {
		return least
	}
	return max(least, r.People[p.Order.Act])
}

// approvalDetail is what the audit keeps of a request and of each answer to it.
type approvalDetail struct {
	Act   string         `json:"act"`
	Mark  string         `json:"mark"`
	Needs int            `json:"needs"`
	Order *Order         `json:"order,omitempty"`
	Rows  int            `json:"rows,omitempty"`
	Value *trade.Decimal `json:"value,omitempty"`
	For   string         `json:"for,omitempty"` // who ordered it
}

func targetOf(o Order) string {
	if len(o.Keys) == 1 {
		return o.Job + " " + o.Keys[0]
	}
	return o.Job
}

// defaultLapse is how long others have to agree.
const defaultLapse = 72 * time.Hour

func (r Rules) lapses() time.Duration {
	if r.Lapses > 0 {
		return r.Lapses
	}
	return defaultLapse
}

func (p Person) consent(at time.Time) trade.Consent {
	return trade.Consent{
		Name: p.Name, Account: p.Account, From: p.From, Reason: strings.TrimSpace(p.Reason), At: at,
	}
}

// isSame reports whether two are one person, as far as the program can know: by the name or by the
// account of either.
func (p Person) isSame(c trade.Consent) bool {
	for _, mine := range []string{p.Name, p.Account} {
		if mine != "" && (strings.EqualFold(mine, c.Name) || strings.EqualFold(mine, c.Account)) {
			return true
		}
	}
	return false
}

// askRows asks for others where the act on rows needs them.
func (a *Acts) askRows(ctx context.Context, plan RowPlan, who Person) (*trade.Approval, error) {
	if a.Rules.People[plan.Act] <= 1+len(who.agreed) {
		return nil, nil //nolint:nilnil // nobody need be asked
	}
	p := Planned{Order: plan.Order, Rows: plan.Count()}
	p.Order.Keys = nil // of what was shown: a file of decisions leaves some out
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
		if p.Value, err = a.worth(ctx, plan); err != nil {
			return nil, err
		}
	}
	return a.Ask(ctx, p, plan.Mark(), who, 0)
}

// askJob asks for others where the act on a job needs them.
func (a *Acts) askJob(ctx context.Context, plan JobPlan, who Person) (*trade.Approval, error) {
	p := Planned{Order: Order{Act: plan.Act, Job: plan.Job}}
	if r := plan.Release; r != nil && r.Brake != nil {
		p.Rows = r.Brake.Rows
		if f := r.Brake.Freight; f != nil && f.Unpriced == 0 && onlyReais(f.Value) &&
			r.Sweep == nil && r.Stop == nil { // a release may let more go, of which nobody knows the value
			value := f.Value[reais]
			p.Value = &value
		}
	}
	return a.Ask(ctx, p, plan.Mark(), who, 0)
}

const reais = "BRL"

func onlyReais(values map[string]trade.Decimal) bool {
	_, there := values[reais]
	return there && len(values) == 1
}

// worth is what the rows of a plan are worth in R$; what hangs on a contract counts as that, once.
// nil when nobody can tell of one of them, which counts as much.
func (a *Acts) worth(ctx context.Context, plan RowPlan) (*trade.Decimal, error) {
	sum := trade.Decimal{}
	contracts := map[string]bool{}
	for _, s := range plan.Steps {
		if s.Refused != NotRefused {
			continue
		}
		e := s.After
		if e.Sends != trade.OrderCommitments {
			id := parentOf(e)
			if contracts[id] {
				continue
			}
			contracts[id] = true
			at, err := a.Desk.Holder(ctx, trade.OrderCommitments, id, 0)
			if err != nil || at == (trade.ParentKey{}) {
				return nil, err
			}
			if e, err = a.Desk.Entry(ctx, at.Job, at.Key); err != nil {
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

// parentOf is the platform's id of the contract that a delivery or a traceability record is of.
func parentOf(e trade.Entry) string {
	if id := mapping.SentTexts(e)["contract_id"]; id != nil {
		return *id
	}
	return e.Target
}

// Decided is what became of somebody's answer.
type Decided struct {
	Approval trade.Approval
	Refused  Refusal // why the answer does not count; "" = it does
	Waits    int     // so many people have to agree yet
	Done     bool
	Rows     *RowPlan
}

// Approve keeps that a person agrees to an act that was ordered; with the last one who has to, it is
// done, if its plan is still what was shown. A plan that has moved stays until it is declined or
// lapses. The order ends before it is done: a crash between the two loses it, with the consent in
// the audit, and never does it twice.
func (a *Acts) Approve(ctx context.Context, id int64, who Person) (Decided, error) {
	d, p, err := a.answer(ctx, id, who)
	if err != nil || d.Refused != NotRefused {
		return d, err
	}
	for _, c := range d.Approval.People {
		if who.isSame(c) {
			d.Refused = SamePerson
			return d, nil
		}
	}
	review, err := a.review(ctx, d.Approval, p)
	if err != nil {
		return d, err
	}
	if review.Outdated {
		d.Refused = Moved
		return d, nil
	}
	now := a.Now()
	ordered := d.Approval.People[0]
	d.Approval.People = append(d.Approval.People, who.consent(now))
	d.Approval.Needs = a.Rules.needs(p, d.Approval.Needs) // it may be more by now, never less
	d.Waits = d.Approval.Needs - len(d.Approval.People)
	record, err := a.answered(now, "approval give", d.Approval, who)
	if err != nil {
		return d, err
	}
	change := a.Approvals.Agree
	if d.Waits <= 0 {
		change = a.Approvals.EndApproval
	}
	kept, err := change(ctx, d.Approval, record)
	switch {
	case err != nil:
		return d, err
	case !kept:
		d.Refused = Moved
		return d, nil
	case d.Waits > 0:
		return d, nil
	}
	names := make([]string, 0, len(d.Approval.People))
	for _, c := range d.Approval.People {
		names = append(names, c.Name)
	}
	together := Person{
		Name: strings.Join(names, trade.Together), From: ordered.From, Reason: ordered.Reason,
		agreed: names[1:],
	}
	return d, a.doApproved(ctx, &d, review, p, together)
}

// doApproved does what everybody has agreed to.
func (a *Acts) doApproved(ctx context.Context, d *Decided, r Review, p Planned, who Person) (err error) {
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
	if err == nil && !d.Done {
		d.Refused = Moved
	}
	return err
}

// Decline keeps that a person does not agree: the act is not done. Who ordered it may take it back.
func (a *Acts) Decline(ctx context.Context, id int64, who Person) (Decided, error) {
	d, _, err := a.answer(ctx, id, who)
	if err != nil || d.Refused != NotRefused {
		return d, err
	}
	record, err := a.answered(a.Now(), "approval decline", d.Approval, who)
	if err != nil {
		return d, err
	}
	kept, err := a.Approvals.EndApproval(ctx, d.Approval, record)
	if err == nil && !kept {
		d.Refused = Moved
	}
	return d, err
}

func (a *Acts) answered(at time.Time, act string, ap trade.Approval, who Person) (trade.AuditRecord, error) {
	return who.Record(at, act, ap.Target,
		approvalDetail{Act: ap.Act, Mark: ap.Mark, Needs: ap.Needs, For: ap.People[0].Name})
}

// answer finds what a person answers to.
func (a *Acts) answer(ctx context.Context, id int64, who Person) (d Decided, p Planned, err error) {
	if err = who.check(); err != nil {
		return d, p, err
	}
	d.Approval, err = a.Approvals.Approval(ctx, id)
	switch {
	case err != nil && a.Unknown(err):
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

// Review is an act that waits, as its plan is now.
type Review struct {
	Outdated bool // it would no longer do what was planned
	Rows     *RowPlan
	Job      *JobPlan
}

// Review plans an act that waits again.
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
		if mark, err = other.Mark(ctx, p.Order); err != nil {
			return r, err
		}
	case p.Order.Act == ActRelease:
		plan, err := a.Release(ctx, p.Order.Job)
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
