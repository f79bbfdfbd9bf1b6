// Package acts has what people do to rows and jobs, from the command line and the console alike.
//
// Each act is planned, shown, and done only to what was shown: an entry that has changed since is
// left alone. act.go is the frame, and has acknowledge; act_again.go has retry, dismiss and reopen;
// act_resend.go and act_adopt.go decide about doubts; act_job.go and act_move_job.go are for jobs;
// act_refusal.go lists why an act does not apply; table.go has what all who offer an act must know
// of it; order.go has orders in a form that can be stored, and approve.go lets others agree before an
// act is done.
package acts
