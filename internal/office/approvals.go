package office

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// Waits is an act that waits for somebody's consent.
type Waits struct {
	Approval trade.Approval
	Planned  acts.Planned
	Review   acts.Review            // zero if the act is planned again only when it is done
	Closing  *reconcile.ClosingPlan // what the first person was shown of a closing; nil: it is none
	Lapsed   bool
}

// Approvals returns the acts that wait for somebody's consent.
func (o *Office) Approvals(ctx context.Context) ([]trade.Approval, error) {
	return o.store.Approvals(ctx, o.now())
}

// decidedMost is how many acts that were decided are listed; the audit has all.
const decidedMost = 50

// Decided returns the last acts that wait for consent no more.
func (o *Office) Decided(ctx context.Context) ([]trade.Approval, error) {
	return o.store.Decided(ctx, decidedMost)
}

// DoneBy lets an act to which others agreed be planned and done in another way than a service does.
func (o *Office) DoneBy(act string, other acts.OtherAct) { o.others[act] = other }

// approving returns the acts together with those that others plan and do.
func (o *Office) approving() *acts.Acts {
	people := o.acts()
	people.Others = map[string]acts.OtherAct{
		// A closing that compares with the platform can be approved on the command line only.
		acts.ActClose: {
			Mark: func(ctx context.Context, order acts.Order) (string, error) {
				day, err := trade.ParseDate(order.Job)
				if err != nil || order.Checked {
					return "", err
				}
				plan, err := o.PlanClosing(ctx, day, ReportSources{})
				return plan.Mark, err
			},
			Do: func(ctx context.Context, order acts.Order, mark string, who trade.Person) (bool, error) {
				day, err := trade.ParseDate(order.Job)
				if err != nil {
					return false, err
				}
				closing, _, err := o.CloseReport(ctx, day, ReportSources{}, who, Planned(mark))
				return closing.ID != "", err
			},
		},
		// A resync starts when the last person needed has agreed, and runs in the background.
		acts.ActResync: {
			Mark: func(ctx context.Context, order acts.Order) (string, error) {
				plan, err := o.PlanResync(ctx, order)
				return plan.Mark(), err
			},
			Do: func(ctx context.Context, order acts.Order, mark string, who trade.Person) (bool, error) {
				plan, err := o.PlanResync(ctx, order)
				if err != nil || plan.Mark() != mark {
					return false, err
				}
				if err := o.RecordResync(ctx, plan, who); err != nil {
					return false, err
				}
				return o.inBackground(func(ctx context.Context) {
					if err := o.resyncInTurn(ctx, order, "", who); err != nil {
						o.log.Error("a new reading that was approved came to nothing", zap.String("sync_job", order.Job),
							zap.Error(err))
					}
				}), nil
			},
		},
		acts.ActSetCode: {
			Mark: func(ctx context.Context, order acts.Order) (string, error) {
				_, mark, err := o.proposal(ctx, order.Job, order.Keys[0], order.ID)
				return mark, err
			},
			Do: func(ctx context.Context, order acts.Order, _ string, who trade.Person) (bool, error) {
				record, err := who.Record(o.now(), order.Act, order.Job, nil)
				if err != nil {
					return false, err
				}
				codes := map[string]string{order.Keys[0]: order.ID}
				_, _, err = o.store.ImportReferences(ctx, order.Job, codes, nil, record)
				return err == nil, err
			},
		},
	}
	maps.Copy(people.Others, o.others)
	return people
}

// Review plans an act that waits for consent again.
func (o *Office) Review(ctx context.Context, ap trade.Approval) (acts.Review, error) {
	return o.approving().Review(ctx, ap)
}

// slow lists the acts whose plans are made again only when somebody agrees, because they need a
// report of the whole ledger or a read of the ERP.
var slow = []string{acts.ActClose, acts.ActResync}

// ReviewApproval returns one act that waits for consent, with its plan as of now. Expired and slow
// acts have no new plan.
func (o *Office) ReviewApproval(ctx context.Context, id int64) (out Waits, err error) {
	out.Approval, err = o.store.Approval(ctx, id)
	if err != nil {
		return out, err
	}
	out.Lapsed = out.Approval.Outcome == trade.ApprovalLapsed ||
		out.Approval.Outcome == "" && !o.now().Before(out.Approval.Until)
	out.Planned, err = acts.PlannedOf(out.Approval)
	if err != nil {
		return out, err
	}
	if out.Approval.Act == acts.ActClose {
		out.Closing, err = ShownClosing(out.Planned)
		if err != nil {
			return out, err
		}
	}
	if out.Lapsed || out.Approval.Outcome != "" || slices.Contains(slow, out.Approval.Act) {
		return out, nil
	}
	out.Review, err = o.Review(ctx, out.Approval)
	return out, err
}

// RoleOfApproval returns the lowest role that may agree to an act.
func RoleOfApproval(ap trade.Approval) trade.Role { return acts.RoleOfApproval(ap) }

// Approve records that a person agrees. When the last person needed agrees, the act is done.
func (o *Office) Approve(ctx context.Context, id int64, who trade.Person) (acts.Decided, error) {
	ap, err := o.store.Approval(ctx, id)
	if err == nil {
		err = mayRole(who, acts.RoleOfApproval(ap))
	}
	if err != nil && !errors.Is(err, trade.ErrNotFound) { // which is an answer
		return acts.Decided{}, err
	}
	return o.approving().Approve(ctx, id, who)
}

// Decline records that a person does not agree. Who ordered an act, or agreed to it, may do so too.
func (o *Office) Decline(ctx context.Context, id int64, who trade.Person) (acts.Decided, error) {
	ap, err := o.store.Approval(ctx, id)
	if err == nil && !slices.ContainsFunc(ap.People, func(c trade.Consent) bool { return c.Name == who.Name }) {
		err = mayRole(who, acts.RoleOfApproval(ap))
	}
	if err != nil && !errors.Is(err, trade.ErrNotFound) { // which is an answer
		return acts.Decided{}, err
	}
	return o.acts().Decline(ctx, id, who)
}

// Propose stores a code of a de-para until somebody else agrees to it.
func (o *Office) Propose(ctx context.Context, kind, code, id string, who trade.Person) (*trade.Approval, error) {
	if !who.Role.May(trade.Accountant) {
		return nil, trade.ErrRole
	}
	if err := o.mayChange(kind); err != nil {
		return nil, err
	}
	parsed, err := trade.ParseID(id)
	clean := mapping.NormalCode(code)
	if err != nil || mapping.IsBlankCode(clean) {
		return nil, &ReferenceFault{Code: code, ID: id, Blank: mapping.IsBlankCode(clean)}
	}
	planned, mark, err := o.proposal(ctx, kind, clean, parsed)
	if err != nil {
		return nil, err
	}
	return o.acts().Ask(ctx, planned, mark, who, 2)
}

// turnWait is how long a resync waits for a run of the same job to end.
const turnWait = 10 * time.Minute

// leasePause is how often a resync asks again whether the job is free, if another process runs it.
const leasePause = 2 * time.Second

// resyncInTurn reads rows again once no other run of the job goes on. id is that of its run; "" means
// any. It returns an error if the run never began.
func (o *Office) resyncInTurn(ctx context.Context, order acts.Order, id string, who trade.Person) error {
	ctx, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	for {
		now := o.board.look()
		runs := slices.ContainsFunc(now.Jobs, func(p Progress) bool { return p.Job == order.Job })
		pause := turnWait
		if !runs {
			reports, err := o.Resync(o.ending, order, id, who)
			if leased := new(trade.LeasedError); !errors.As(err, &leased) {
				if err == nil && len(reports) == 1 && reports[0].ID == "" && reports[0].Stopped != nil {
					err = &ResyncStopped{Stop: *reports[0].Stopped}
				}
				return err
			}
			pause = leasePause
		}
		again := time.NewTimer(pause)
		select {
		case <-now.Changed:
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return phrase.Errorf("another run goes on: %w", ctx.Err())
		}
		again.Stop()
	}
}
