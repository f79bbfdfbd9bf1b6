package office

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// shownClosing is what a person was shown of a closing.
type shownClosing struct {
	Plan  reconcile.ClosingPlan `json:"plan"`
	Swept map[string]*time.Time `json:"swept"` // by job; summaries store none
}

// ShownClosing returns the plan of a closing that waits for consent, as the first person was shown it. ok is
// false if it was not stored.
func ShownClosing(p acts.Planned) (plan reconcile.ClosingPlan, ok bool, err error) {
	if p.Shown == nil {
		return plan, false, nil
	}
	var s shownClosing
	if err := json.Unmarshal(p.Shown, &s); err != nil {
		return plan, false, fmt.Errorf("the plan of the closing %s is damaged: %w", p.Order.Job, err)
	}
	for i := range s.Plan.Summaries {
		of := &s.Plan.Summaries[i]
		of.SweptAt = s.Swept[of.Job]
	}
	return s.Plan, true, nil
}

// AskClosing stores a closing to wait for the consent of others, if the rules require that; otherwise
// it returns nil.
func AskClosing(ctx context.Context, people *acts.Acts, day trade.Date, plan reconcile.ClosingPlan, platform bool,
	who acts.Person,
) (*trade.Approval, error) {
	order, err := ClosingOrder(day, plan, platform)
	if err != nil {
		return nil, err
	}
	return people.Ask(ctx, order, plan.Mark, who, 0)
}

// ClosingOrder returns a closing in the form in which it is stored until other people agree to it,
// with what the first person was shown.
func ClosingOrder(day trade.Date, plan reconcile.ClosingPlan, platform bool) (acts.Planned, error) {
	p := acts.Planned{
		Order: acts.Order{Act: acts.ActClose, Job: day.String(), Checked: platform}, Rows: plan.Rows,
		Value: closingValue(plan),
	}
	seen := shownClosing{Plan: plan, Swept: map[string]*time.Time{}}
	for _, s := range plan.Summaries {
		seen.Swept[s.Job] = s.SweptAt
	}
	var err error
	p.Shown, err = json.Marshal(seen)
	return p, err
}

// closingValue returns the value of a closing in R$; nil if that is unknown.
func closingValue(plan reconcile.ClosingPlan) *trade.Decimal {
	sum, priced := trade.Decimal{}, false
	for _, t := range plan.Totals {
		if t.Unpriced > 0 {
			return nil
		}
		for currency, value := range t.Values {
			if currency != "BRL" { // the value in R$ is unknown
				return nil
			}
			sum, priced = sum.Add(value), true
		}
	}
	if !priced {
		return nil
	}
	return &sum
}
