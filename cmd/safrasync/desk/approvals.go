package desk

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Approvals returns the acts that wait for somebody's consent.
func (d *Desk) Approvals(ctx context.Context) ([]trade.Approval, error) {
	return d.g.Store.Approvals(ctx, office.Now())
}

// approving returns the acts together with all acts that can be approved in the console.
func (d *Desk) approving() *acts.Acts {
	people := d.acts()
	people.Others = map[string]acts.OtherAct{
		acts.ActClose: d.reports.approvable(), acts.ActResync: d.resync(),
		acts.ActSetCode: office.ApprovableIn(func(context.Context) (*state.Store, error) { return d.g.Store, nil }),
	}
	return people
}

// slow lists the acts whose plans are made again only when somebody agrees, because they need a
// report of the whole ledger or a read of the ERP.
var slow = []string{acts.ActClose, acts.ActResync}

// ReviewApproval returns one act that waits for consent, with its plan as of now. Expired and slow
// acts have no new plan.
func (d *Desk) ReviewApproval(ctx context.Context, id int64) (out pages.Waits, err error) {
	if out.Approval, err = d.g.Store.Approval(ctx, id); err != nil {
		return out, err
	}
	out.Lapsed = !office.Now().Before(out.Approval.Until)
	if out.Planned, err = acts.PlannedOf(out.Approval); err != nil {
		return out, err
	}
	if out.Approval.Act == acts.ActClose {
		plan, ok, err := office.ShownClosing(out.Planned)
		if err != nil {
			return out, err
		}
		if ok {
			shown := planned(plan, d.g.App.Config.Zone())
			out.Closing = &shown
		}
	}
	if out.Lapsed || slices.Contains(slow, out.Approval.Act) {
		return out, nil
	}
	out.Review, err = d.approving().Review(ctx, out.Approval)
	return out, err
}

// Approve records that a person agrees. When the last person needed agrees, the act is done.
func (d *Desk) Approve(ctx context.Context, id int64, who acts.Person) (acts.Decided, error) {
	return d.approving().Approve(ctx, id, who)
}

// Decline records that a person does not agree.
func (d *Desk) Decline(ctx context.Context, id int64, who acts.Person) (acts.Decided, error) {
	return d.acts().Decline(ctx, id, who)
}

// Propose stores a code of a de-para until somebody else agrees to it.
func (d *Desk) Propose(ctx context.Context, kind, code, id string, who acts.Person) (*trade.Approval, error) {
	if err := d.mayChange(kind); err != nil {
		return nil, err
	}
	parsed, err := trade.ParseID(id)
	clean := mapping.NormalCode(code)
	if err != nil || mapping.IsBlankCode(clean) {
		return nil, &pages.ReferenceFault{Code: code, ID: id, Blank: mapping.IsBlankCode(clean)}
	}
	planned, mark, err := office.Proposal(ctx, d.g.Store, kind, clean, parsed)
	if err != nil {
		return nil, err
	}
	return d.acts().Ask(ctx, planned, mark, who, 2)
}

// resync is a resync that was ordered on the command line. It starts when the last person needed
// has agreed, and runs in the background.
func (d *Desk) resync() acts.OtherAct {
	plan := func(ctx context.Context, o acts.Order) (map[string]int, error) {
		plan, _, err := office.PlanResync(ctx, d.g.Engine.Engine, d.g.App.Voice(), o.Job, office.ResyncOf(o), nil)
		return plan, err
	}
	return acts.OtherAct{
		Mark: func(ctx context.Context, o acts.Order) (string, error) {
			plan, err := plan(ctx, o)
			return acts.MarkOf(o, plan), err
		},
		Do: func(ctx context.Context, o acts.Order, mark string, who acts.Person) (bool, error) {
			plan, err := plan(ctx, o)
			if err != nil || acts.MarkOf(o, plan) != mark {
				return false, err
			}
			record, err := office.ResyncRecord(o, plan, who)
			if err != nil {
				return false, err
			}
			if err := d.g.Store.AppendAudit(ctx, record); err != nil {
				return false, err
			}
			return d.inBackground(func(ctx context.Context) {
				wanted := office.ResyncOf(o)
				if err := d.resyncNow(ctx, o.Job, engine.Options{Resync: &wanted}); err != nil {
					d.g.Log.Error("a new reading that was approved came to nothing", zap.String("sync_job", o.Job),
						zap.Error(err))
				}
			}), nil
		},
	}
}

// turnWait is how long a resync waits for a run of the same job to end.
const turnWait = 10 * time.Minute

func (d *Desk) resyncNow(ctx context.Context, job string, o engine.Options) error {
	ctx, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	for {
		now := d.g.Board.look()
		if !slices.ContainsFunc(now.Jobs, func(p pages.Progress) bool { return p.Job == job }) {
			break
		}
		select {
		case <-now.Changed:
		case <-ctx.Done():
			return fmt.Errorf("another run goes on: %w", ctx.Err())
		}
	}
	_, err := d.g.Engine.Sync(d.ending, []string{job}, o)
	return err
}

// inBackground runs fn in the background until the generation ends. It returns false if the
// generation is already ending.
func (d *Desk) inBackground(fn func(context.Context)) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return false
	}
	d.working.Go(func() { fn(d.ending) })
	return true
}
