// The loop that sends the due rows of one job.

package sending

import (
	"context"
	"maps"
	"time"

	"golang.org/x/time/rate"

	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/sync/brakes"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/recheck"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// Sender sends the due entries of one job. One goroutine owns all of its fields; flights run in
// goroutines of their own and report through a channel.
type Sender struct {
	Run      *run.Run
	due      run.Queue
	intents  run.Intents
	recheck  *recheck.Checker
	brakes   *brakes.Guard
	rowLimit *RowLimit // which rows it may send, and how many
	AnyHour  bool      // send outside the job's hours too
	// Renew makes the run use a de-para that has been corrected since it began
	Renew   func(context.Context) error
	traffic *Traffic

	dispatcher dispatcher
	// entries whose intents are stored or being stored, and that are not settled yet
	flights map[int64]bool
	results chan *result
	queue   queue
	commit  commit
	pace    pace
	row     streaks
	Load    load

	halted   chan struct{}   // closed when nothing more may be sent
	halt     error           // why
	preflown bool            // the harmless GET has succeeded
	context  context.Context // of the current turn, for what is sent in it
}

// New returns a sender for what is due. status is the job's status before the run: if the API had
// asked to wait, the sender waits until then.
func New(r *run.Run, c *recheck.Checker, g *brakes.Guard, n *RowLimit, t *Traffic, q run.Queue, i run.Intents,
	status trade.JobStatus,
) (*Sender, error) {
	s := &Sender{
		Run: r, due: q, intents: i, recheck: c, brakes: g, rowLimit: n, traffic: t, flights: map[int64]bool{},
		results: make(chan *result, 2*r.Env.Limits.MaxInFlight), halted: make(chan struct{}),
		pace:  pace{slots: r.Env.Limits.MaxInFlight, limited: t.Limiter.Limit() != rate.Inf},
		queue: queue{like: map[int64]bool{}},
	}
	s.dispatcher.send = s.send
	if stop := status.Stop; stop != nil && status.State == trade.BackingOff &&
		stop.Code == string(outcome.StopThrottled) {
		switch rest := stop.Until.Sub(r.Now); {
		case rest > LongestAsked: // the clock was wrong
		case rest > LongestRest:
			return nil, throttled(stop.Until)
		case rest > 0:
			s.pace.restUntil = stop.Until
		}
	}
	if wait := r.Env.Member.Wait(); wait > 0 {
		if until := r.Env.Clock.Now().Add(wait); until.After(s.pace.restUntil) {
			s.pace.restUntil = until
		}
	}
	return s, nil
}

// begin wakes what is due by time. It is done once, in the first turn of the job.
func (s *Sender) begin(ctx context.Context) (err error) {
	if s.queue.begun {
		return nil
	}
	s.queue.begun = true
	if _, err := s.due.Wake(ctx, s.Run.Lease, s.Run.Now); err != nil {
		return err
	}
	if s.traffic.blocks == nil {
		blocks, err := s.due.Blocks(ctx)
		if err != nil {
			return err
		}
		s.traffic.blocks = newMissingRecords(blocks)
	}
	s.queue.due, err = pending(ctx, s.due, s.Run.Job.Name())
	return err
}

// Send sends until nothing is due or something stops it. With a quota other than 0 it also ends
// when that many rows were begun or sliceTime has passed. It waits for what is in flight, and
// settles it. finished is false if more is due.
func (s *Sender) Send(ctx context.Context, quota int) (finished bool, err error) {
	if err := s.begin(ctx); err != nil {
		return false, err
	}
	s.queue.quota, s.queue.until = quota, s.Run.Env.Clock.Boot()+sliceTime
	if quota == 0 {
		s.queue.quota = -1
	}
	if s.traffic.Careful {
		s.pace.slots = 1
	}
	s.context = ctx
	for {
		if s.queue.quota > 0 && s.Run.Env.Clock.Boot() >= s.queue.until {
			s.queue.quota = 0
		}
		more, err := s.step(ctx)
		if err != nil {
			s.stopSending(err)
		}
		if len(s.flights) > 0 || len(s.commit.settling) > 0 || s.commit.storing != nil {
			continue
		}
		switch {
		case s.halt != nil:
			return false, s.halt
		case s.queue.quota == 0:
			return false, nil
		case !more:
			return true, nil
		}
	}
}

// step does the next thing: it takes finished results and a stored group, chooses what goes next,
// and passes both on to be stored.
func (s *Sender) step(ctx context.Context) (more bool, err error) {
	if ctx.Err() != nil {
		s.stopSending(&outcome.StopError{Stop: trade.Stop{
			Code: string(outcome.StopInterrupt),
			Text: "the run was interrupted; what was in flight was awaited, the rest goes with the next run",
			All:  true,
		}})
	}
	if err := s.collect(ctx); err != nil {
		return false, err
	}
	s.withdraw()
	s.dispatcher.Open(s.open())
	if s.halt == nil && s.queue.quota != 0 {
		if more, err = s.fill(ctx); err != nil {
			s.stopSending(err)
		}
	}
	if s.commit.storing == nil && s.shouldCommitNow(more) {
		group := trade.Group{At: s.Run.Env.Clock.Now()}
		s.settleInto(&group)
		var flights []*inFlight
		if s.halt == nil && more {
			flights = s.choose(ctx, &group)
		}
		if len(group.Settle)+len(group.Intents)+len(group.Updates)+len(group.Block)+len(group.Unblock) > 0 {
			s.store(ctx, group, flights)
			return true, nil
		}
	}
	s.await(ctx, more)
	return more, nil
}

// shouldCommitNow reports whether a group should be stored now. While enough flights are ready to
// start, it waits for a larger group, which costs less per row.
func (s *Sender) shouldCommitNow(more bool) bool {
	w := s.window()
	free := min(w-len(s.flights), len(s.queue.ready))
	return !more || s.halt != nil || s.dispatcher.waiting() == 0 || max(free, len(s.commit.settling)) >= w/2
}

// stopSending stops all sending. The first reason is kept.
func (s *Sender) stopSending(err error) {
	if s.halt == nil {
		s.halt = err
		close(s.halted)
	}
}

// collect takes all finished results, and the group that was stored, without waiting.
func (s *Sender) collect(ctx context.Context) error {
	for {
		select {
		case l := <-s.results:
			s.takeResult(l)
			continue
		case <-s.commit.stored:
			if err := s.committed(ctx); err != nil {
				return err
			}
			continue
		default:
			return nil
		}
	}
}

// pausedNow stops sending because a person has paused the running job.
func (s *Sender) pausedNow(ctx context.Context) error {
	status, err := s.due.JobStatus(ctx, s.Run.Job.Name())
	if err == nil {
		s.stopSending(&outcome.StopError{Stop: *run.PausedStop(status)})
	}
	return err
}

// sliceTime is the longest turn with a quota, even if few rows were sent: the API may be slow.
const sliceTime = time.Minute

// recheckBatch rechecks a batch, and stores what that changed before it sends anything of it.
func (s *Sender) recheckBatch(ctx context.Context, batch []trade.Entry) error {
	if err := s.Renew(ctx); err != nil {
		return err
	}
	at := s.Run.Env.Clock.Boot()
	var storing []trade.Entry
	if s.commit.storing != nil {
		for _, f := range s.commit.storing.flights {
			storing = append(storing, f.Entry)
		}
	}
	result, err := s.recheck.Recheck(ctx, batch, s.queue.parked, storing)
	if err != nil {
		return err
	}
	maps.Copy(s.queue.like, result.Known)
	if len(result.Updates) > 0 {
		res, err := s.intents.Commit(ctx, s.Run.Lease, trade.Group{At: s.Run.Env.Clock.Now(), Updates: result.Updates})
		if err != nil {
			return err
		}
		if res.LeaseLost {
			return s.Run.LeaseLost()
		}
	}
	s.queue.ready, s.queue.recheckedAt = result.Ready, at
	return failpoint.Hit("rows.looked-at")
}

// choose takes rows from the queue as intents and flights: no more than the free slots (I11) and
// the tokens of the rate limit allow, and only one row for each record that the platform may lack.
func (s *Sender) choose(ctx context.Context, group *trade.Group) []*inFlight {
	var flights []*inFlight
	// a machine that was suspended still has its lease, unless another took it
	if !s.Run.Keeper.Trusted() && !s.Run.Keeper.Renew(ctx) {
		s.stopSending(s.Run.LeaseLost())
		return nil
	}
	if s.pace.resting(s.Run.Env.Clock.Now()) > 0 {
		s.Run.Env.Observe(run.Progress{
			Job: s.Run.Job.Name(), Phase: run.Resting,
			Done: s.Run.Report.Sent - len(s.flights), Total: max(s.queue.due, s.Run.Report.Sent),
			Note: s.pace.restUntil.Format(time.RFC3339),
		})
		return nil
	}
	window := s.window()
	flights = make([]*inFlight, 0, max(0, min(len(s.queue.ready), window-len(s.flights))))
	var rest []trade.Entry
	for i := range s.queue.ready {
		entry := s.queue.ready[i]
		if len(s.flights)+len(flights) >= window || s.queue.quota == 0 || s.brakes.TrialLeft() == 0 {
			rest = s.queue.ready[i:]
			break
		}
		if !s.rowLimit.allows(entry, flights) {
			continue // it stays pending
		}
		needs := run.NeedsOf(entry)
		if block, blocked := s.traffic.blocks.blocking(needs, group.At); blocked {
			from := entry.State
			entry.Wait(block.Message, block.NextAt, trade.Awaited{Platform: block.Kind, ID: block.ID})
			entry.UpdatedAt = group.At
			group.Updates = append(group.Updates, trade.Update{From: from, Entry: entry})
			continue
		}
		if s.traffic.blocks.probing(needs) {
			s.queue.parked = append(s.queue.parked, entry)
			continue
		}
		if !s.traffic.Limiter.AllowN(s.Run.Env.Clock.Now(), 1) {
			rest = s.queue.ready[i:]
			break
		}
		s.traffic.blocks.startProbe(needs, entry.ID)
		flights = append(flights, s.prepare(entry, needs))
		s.brakes.Tried(entry.Key)
		if s.queue.quota > 0 {
			s.queue.quota--
		}
	}
	s.queue.ready = rest
	group.Intents, group.Like = make([]trade.Intent, 0, len(flights)), s.queue.like
	group.Space = s.Run.Job.Identity.Space
	for _, f := range flights {
		group.Intents = append(group.Intents, trade.Intent{Entry: f.Entry, Attempt: f.attempt})
	}
	return flights
}
