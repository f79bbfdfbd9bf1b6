// Move: a job gets another name.

package acts

import (
	"context"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// JobMovePlan is what it would mean to give a job another name.
type JobMovePlan struct {
	Act     string  `json:"act"`
	Done    bool    `json:"done"`
	Refused Refusal `json:"refused"`
	trade.JobMove
}

// MoveJob plans that a job that is no longer configured gets the name of one that is, and that the
// ledger does not know yet.
func (a *Acts) MoveJob(ctx context.Context, from, to string) (JobMovePlan, error) {
	plan := JobMovePlan{Act: ActMove, JobMove: trade.JobMove{From: from, To: to, States: map[trade.State]int{}}}
	job := a.job(to)
	switch {
	case a.job(from) != nil:
		plan.Refused = StillConfigured
		return plan, nil
	case job == nil:
		plan.Refused = NotConfigured
		return plan, nil
	}
	known, err := a.JobLedger.JobsOfLedger(ctx)
	if err != nil {
		return plan, err
	}
	for _, k := range known {
		if k.Job == from && k.Sends != job.Spec.Sends {
			plan.Sends, plan.Refused = k.Sends, OtherKind
			return plan, nil
		}
	}
	plan.JobMove, err = a.JobLedger.MoveJob(ctx, from, to, false, trade.AuditRecord{})
	plan.Refused = refusedMove(plan.JobMove)
	return plan, err
}

// refusedMove returns why the ledger does not move a job.
func refusedMove(m trade.JobMove) Refusal {
	switch {
	case m.Sends == "":
		return NoEntries
	case m.Taken:
		return NameTaken
	}
	return NotRefused
}

// DoMoveJob executes a plan on the ledger as it is then. The returned plan states what was done.
func (a *Acts) DoMoveJob(ctx context.Context, plan JobMovePlan, who trade.Person) (JobMovePlan, error) {
	if err := named(who); err != nil {
		return plan, err
	}
	if plan.Refused != NotRefused {
		return plan, phrase.Errorf("job move %s %s: refused (%s)", plan.From, plan.To, plan.Refused)
	}
	record, err := who.Record(a.Now(), ActMove, plan.From+" "+plan.To, plan.JobMove)
	if err != nil {
		return plan, err
	}
	done, err := a.JobLedger.MoveJob(ctx, plan.From, plan.To, true, record)
	if err != nil {
		return plan, err
	}
	plan.JobMove, plan.Refused = done, refusedMove(done)
	plan.Done = plan.Refused == NotRefused
	return plan, nil
}
