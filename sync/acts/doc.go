// Package acts is what people do to rows and jobs, for the command line and the console alike.
//
// Each act is planned, shown, and done only to what was shown: an entry that has moved since is
// left alone. act.go is the frame; act_again.go retries, dismisses, reopens and acknowledges;
// act_resend.go and act_adopt.go decide about doubts; act_job.go and act_move_job.go are for jobs;
// act_refusal.go names why an act does not apply; order.go keeps what was ordered, and approve.go
// lets others agree before it is done.
package acts
