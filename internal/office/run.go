package office

import (
	"cmp"
	"context"

	"github.com/safrasync/safrasync/trade"
)

// Refusal is why a run cannot be ordered now.
type Refusal struct {
	Code string // unknown_job, or the state of the job
	Text string // for people, English
}

// Error returns the text.
func (r *Refusal) Error() string { return r.Text }

// UnknownJob is the code of a Refusal for a job that is not configured.
const UnknownJob = "unknown_job"

// OrderRun asks for a run of a job for another program, as RunNow does for a person. It returns a
// *Refusal if the job is running, or must wait for a person or the platform.
func (o *Office) OrderRun(ctx context.Context, job string, sweep bool, who trade.Person) error {
	if _, err := o.engine.Job(job); err != nil {
		return &Refusal{UnknownJob, err.Error()}
	}
	if err := o.taken(ctx, job); err != nil {
		return err
	}
	err := o.RunNow(ctx, job, sweep, who)
	if err != nil { // the job may have been paused meanwhile
		return cmp.Or(o.taken(ctx, job), err)
	}
	return nil
}

// taken returns nil if a job takes an order, or else a refusal with the reason. Only a person ends a
// stop.
func (o *Office) taken(ctx context.Context, job string) error {
	status, err := o.JobStatus(ctx, job)
	switch {
	case err != nil:
		return err
	case status.State == "", status.State == trade.Idle, status.Stop != nil && status.Stop.Code == "process_gone":
		return nil // the next run ends that stop
	}
	text := "job " + status.Job + " is " + string(status.State)
	if status.Stop != nil {
		text += " (" + status.Stop.Code + "): " + status.Stop.Text()
	}
	return &Refusal{string(status.State), text}
}
