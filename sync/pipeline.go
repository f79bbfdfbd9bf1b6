// The way of a row, on one page: Discover → Recheck → Intend → Send → Settle.
//
//	Discover  open, below, then discovery.Discoverer.Discover: the row is read, mapped (package
//	          mapping), and recorded as an entry; the brakes judge what came. A crash leaves the
//	          cursor where it was: the row is read again.
//	Recheck   turn, below, then sending.Sender.Send: recheck.Checker.Recheck reads the row once more,
//	          and holds it where it left, or was sent already. A crash changes nothing.
//	Intend    Sender.choose and Sender.store: the intent is made durable. A crash before the commit
//	          changes nothing; after it, the next run settles the entry before it sends anything.
//	Send      Sender.send: the gate, a note on the tmpfs, then the first byte. A crash after the note
//	          leaves the entry in doubt, unless the answer was noted too.
//	Settle    Sender.takeResult and Sender.settlement: package outcome says what the answer proves, and
//	          the next group stores it.
//
// A dry run takes the first two steps, on a ledger that only reads (rehearse/dry_run.go).

package sync

import (
	"context"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/sync/brakes"
	"github.com/safrasync/safrasync/sync/discovery"
	"github.com/safrasync/safrasync/sync/recheck"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/sync/sending"
)

// jobPass is one job in a pass: its run, and the stages of it.
type jobPass struct {
	run       *run.Run
	runs      run.Runs
	recheck   *recheck.Checker
	brakes    *brakes.Guard
	discovery *discovery.Discoverer
	send      *sending.Sender   // nil when nothing may be sent
	ration    *sending.RowLimit // which rows it may send, and how many
	err       error             // why the run ended before its work was done
	stopped   func(*jobPass)    // told of a stop before it is stored, and may add until when it holds; optional

	pausedBefore bool // it did not begin, because the job is paused
	idle         bool // its last turn found nothing that may go now
}

// stages makes the stages of a run.
func stages(of *run.Run) *jobPass {
	d := discovery.New(of)
	return &jobPass{run: of, recheck: d.Recheck, brakes: d.Brakes, discovery: d}
}

// open recovers what an earlier process left, and reads.
func (r *jobPass) open(ctx context.Context, opts Options) error {
	if err := r.runs.StartRun(ctx, r.run.Report); err != nil {
		return err
	}
	if err := failpoint.Hit("run.started"); err != nil {
		return err
	}
	doubts, err := r.runs.Recover(ctx, r.run.Lease, r.run.Now)
	if err != nil {
		return err
	}
	if err := failpoint.Hit("run.recovered"); err != nil {
		return err
	}
	if doubts > 0 {
		r.run.Note("%d rows were on the wire when an earlier process ended; they are in doubt now", doubts)
	}
	r.watch(ctx)
	return r.discovery.Discover(ctx, opts.Sweep, opts.Resync)
}

// turn sends a part of what is due; what waited for a parent goes as soon as the parent has gone.
func (r *jobPass) turn(ctx context.Context, yield bool) (finished bool, err error) {
	moved, err := r.discovery.AdoptOrphans(ctx)
	if err != nil {
		return false, err
	}
	if moved > 0 {
		r.send.DueAgain()
	}
	rows := 0
	if yield {
		rows = sliceRows
	}
	for {
		if finished, err = r.send.Send(ctx, rows); err != nil || !finished {
			return finished, err
		}
		more, err := r.awaitFormer(ctx)
		if err != nil || !more {
			return true, err
		}
		r.send.FromStart() // rows that came back unsent are due here
	}
}
