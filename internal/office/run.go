package office

import (
	"cmp"
	"context"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// Refusal is why a program's order cannot be accepted, or its question not answered, now.
type Refusal struct {
	Code string
	Text string // for people, English
}

// Error returns the text.
func (r *Refusal) Error() string { return r.Text }

// The codes of a Refusal; others are states of a job.
const (
	UnknownJob    = "unknown_job"
	UnknownRow    = "unknown_row"
	WrongCursor   = "bad_request"
	CursorExpired = "cursor_expired"
	NotReady      = "unavailable"
)

// OrderRun asks for a run of a job for another program, as RunNow does for a person: by is the name of
// its token, from its address. It returns a *Refusal if the job is running, or must wait for a person or
// the platform.
func (o *Office) OrderRun(ctx context.Context, job string, sweep bool, by, from string) error {
	if _, err := o.engine.Job(job); err != nil {
		return &Refusal{UnknownJob, err.Error()}
	}
	if err := o.acceptsOrder(ctx, job); err != nil {
		return err
	}
	err := o.RunNow(ctx, job, sweep, trade.Person{
		Name: by, From: "http_api " + from,
		Role: acts.Order{Act: acts.ActRun, Sweep: sweep}.Role(), // its token has the scope
	})
	if err != nil { // the job may have been paused meanwhile
		return cmp.Or(o.acceptsOrder(ctx, job), err)
	}
	return nil
}

// acceptsOrder returns nil if a job takes an order, or else a refusal with the reason. Only a person ends a
// stop.
func (o *Office) acceptsOrder(ctx context.Context, job string) error {
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
