package office

import (
	"context"
	"encoding/json"

	"github.com/safrasync/safrasync/internal/phrase"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// ShownClosing returns the plan of a closing that waits for consent, as the first person was shown it; nil if
// it was not stored.
func ShownClosing(p acts.Planned) (*reconcile.ClosingPlan, error) {
	if p.Shown == nil {
		return nil, nil //nolint:nilnil // none was stored
	}
	var plan reconcile.ClosingPlan
	if err := json.Unmarshal(p.Shown, &plan); err != nil {
		return nil, phrase.Errorf("the plan of the closing %s is damaged: %w", p.Order.Job, err)
	}
	return &plan, nil
}

// ClosingOrder returns a closing in the form in which it is stored until other people agree to it,
// with what the first person was shown.
func ClosingOrder(day trade.Date, plan reconcile.ClosingPlan, platform bool) (acts.Planned, error) {
	p := acts.Planned{
		Order: acts.Order{Act: acts.ActClose, Job: day.String(), Checked: platform}, Rows: plan.Rows,
		Value: closingValue(plan),
	}
	var err error
	p.Shown, err = json.Marshal(plan)
	return p, err
}

// ClosingNeeds returns how many people a closing needs in all.
func (o *Office) ClosingNeeds(plan reconcile.ClosingPlan) int {
	of := acts.Planned{Order: acts.Order{Act: acts.ActClose}, Value: closingValue(plan)}
	return o.conf.Approve.Rules().Needs(of, 1)
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

// PlanClosing returns what closing a month would store, with its earlier closings.
func (o *Office) PlanClosing(ctx context.Context, day trade.Date, with ReportSources) (plan reconcile.ClosingPlan,
	err error,
) {
	err = o.standing(ctx, day, with, func(_ *reconcile.Snapshot, p reconcile.ClosingPlan) error {
		plan = p
		return nil
	})
	return plan, err
}

// standing calls fn with the rows that closing a day would store, and its plan, with its earlier closings.
func (o *Office) standing(ctx context.Context, day trade.Date, with ReportSources,
	fn func(*reconcile.Snapshot, reconcile.ClosingPlan) error,
) error {
	if o.engine != nil { // it reads the whole ERP beside whoever sends, without a lease, and records nothing
		now := &reconcile.ERPNow{At: o.now(), Found: map[trade.ParentKey]trade.Entry{}}
		reports, err := o.engine.Sync(ctx, nil, engine.Options{
			DryRun: true, Sweep: true, Progress: func(run.Progress) {},
			Planned: now.Add,
		})
		if err != nil {
			return err
		}
		for _, r := range reports {
			job := reconcile.ERPJob{Job: r.Job}
			if r.InScope == nil {
				job.Unread = trade.Say("note.sweep", "rows", r.Unreadable)
				if stop := r.Stopped; stop != nil && stop.Brake != nil {
					job.Unread = stop.Sentence()
				} else if stop != nil { // its cause is told by `check`
					job.Unread = trade.Say("stop." + stop.Code)
				}
			}
			now.Jobs = append(now.Jobs, job)
		}
		with.erp = now
	}
	return o.atOneMoment(ctx, reconcile.Cut{Day: day, Bare: true}, with, func(s *reconcile.Snapshot) error {
		plan, err := s.PlanClosing(o.conf.Report.Tolerance())
		if err == nil {
			plan.Before, err = o.store.Closings(ctx, day)
		}
		if err != nil {
			return err
		}
		return fn(s, plan)
	})
}

// Planned agrees to the plan with this mark.
func Planned(mark string) func(reconcile.ClosingPlan) (bool, error) {
	return func(p reconcile.ClosingPlan) (bool, error) { return p.Mark == mark, nil }
}

// CloseReport stores the report of a month if agree returns true for its plan. It reads the ledger once.
// If other people must agree, it asks them instead and returns the approval. It does neither if the plan
// does not add up, or comes too early; then the closing has no id and asked is nil.
func (o *Office) CloseReport(ctx context.Context, day trade.Date, with ReportSources, who trade.Person,
	agree func(reconcile.ClosingPlan) (bool, error),
) (closing trade.Closing, asked *trade.Approval, err error) {
	if err := may(who, acts.ActClose); err != nil {
		return closing, nil, err
	}
	err = o.standing(ctx, day, with, func(s *reconcile.Snapshot, p reconcile.ClosingPlan) error {
		agreed, err := agree(p)
		if err != nil || !agreed || len(p.Uneven) > 0 || p.TooEarly() {
			return err
		}
		order, err := ClosingOrder(day, p, with.Platform != nil)
		if err != nil {
			return err
		}
		asked, err = o.acts().Ask(ctx, order, p.Mark, who, 0)
		if err != nil || asked != nil {
			return err
		}
		detail := map[string]any{"report": s.Head.ID, "rows": p.Rows}
		record, err := who.Record(o.now(), reconcile.ActClose, day.String(), detail)
		if err != nil {
			return err
		}
		closing, err = reconcile.Freeze(ctx, o.store, s, who.Name, who.Reason, record)
		return err
	})
	if err != nil {
		return trade.Closing{}, nil, err
	}
	return closing, asked, nil
}

// ReadClosing returns a closing with its content. It returns trade.ErrNotFound if the id is unknown.
func (o *Office) ReadClosing(ctx context.Context, id string) (closing trade.Closing, plan reconcile.ClosingPlan,
	err error,
) {
	err = o.Report(ctx, ReportQuery{Closing: id}, func(s *reconcile.Snapshot) error {
		plan, err = s.PlanClosing(o.conf.Report.Tolerance())
		if err != nil {
			return err
		}
		c := s.Head.Closed
		closing = trade.Closing{
			ID: c.ID, Day: plan.Day, At: c.At, Who: c.Who, Reason: c.Reason, Hash: c.Hash, Audit: c.Audit,
			Program: s.Head.Program, Rows: plan.Rows,
		}
		return nil
	})
	return closing, plan, err
}

// Cooperative returns the name and the CNPJ of the cooperative, as they are printed; "" without a CNPJ.
func (o *Office) Cooperative() string {
	if o.conf.Console.CNPJ == "" {
		return ""
	}
	return o.conf.Console.Name + " · CNPJ " + o.conf.Console.CNPJ
}
