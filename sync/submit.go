package sync

import (
	"context"
	"time"

	"golang.org/x/time/rate"

	"github.com/safrasync/safrasync/trade"
)

// submission sends the due entries of one job. One goroutine owns all of its fields; flights run in goroutines of their own and report by channel.
type submission struct {
	*jobRun
	*traffic

	slots    int // POSTs that may be on the wire now: max_in_flight, or less after doubts and 429
	wire     wire
	flights  map[int64]bool // entries whose intents were handed over, and that were not taken up again
	landed   chan *landing
	settling []*landing    // landed, not yet handed over
	found    []trade.Block // blocks that an acceptance ended, not yet handed over
	lacking  []trade.Block // blocks that a refusal made, not yet handed over
	storing  *storing      // the group that is being stored; nil: none
	stored   chan struct{} // closed when it is

	calm    int           // answers as usual, in a row
	took    time.Duration // of the last answer
	limited bool          // by a rate: intents are stored when they may leave

	queue  []trade.Entry  // looked at, ready to go
	lookAt time.Duration  // Boot time of the look at queue
	like   map[int64]bool // entries of other jobs that looks of this run found, sent with the content of a row
	parked []trade.Entry  // need a record of the platform that another flight is asking about
	after  int64          // number of the last entry that was taken up
	again  bool           // entries with lower numbers may be due again
	due    int
	quota  int            // rows that may still be begun in this turn; -1 = as many as are due
	until  time.Duration  // Boot time at which a turn with a quota ends
	load   trade.Freight  // what this run took up, with `most:`
	taken  map[int64]bool // and which entries are in it
	went   trade.Freight  // and what was begun, too

	unknowns, badForms, noIDs, unreached int           // in a row
	strange, strangeStatus               int           // refusals of the request since the last acceptance, and the status of the last one
	throttled                            map[int64]int // how often a row was answered with 429, in this run
	refusal                              string        // what the platform said to the last rows
	refusals                             int           // how often in a row
	doubts                               int           // of this run
	stalledAt                            time.Time     // when a send window passed last
	restUntil                            time.Time     // nothing leaves before
	rested                               time.Duration // that the API asked for since the last acceptance
	halted                               chan struct{} // closed when nothing more may leave
	halt                                 error         // why
	begun, preflown                      bool
	context                              context.Context // of the turn, for what is launched in it
}

// newSubmission makes ready to send what is due. status is the job's from before the run: a rest that the API asked for then is kept.
func newSubmission(r *jobRun, t *traffic, status trade.JobStatus) (*submission, error) {
	s := &submission{
		jobRun: r, traffic: t, slots: r.Limits.MaxInFlight, flights: map[int64]bool{}, like: map[int64]bool{}, landed: make(chan *landing, 2*r.Limits.MaxInFlight), halted: make(chan struct{}),
		limited: t.limiter.Limit() != rate.Inf,
	}
	s.wire.launch = s.fly
	if stop := status.Stop; stop != nil && status.State == trade.BackingOff && stop.Code == string(stopThrottled) {
		switch rest := stop.Until.Sub(r.now); {
		case rest > longestAsked: // a clock stood wrong
		case rest > longestRest:
			return nil, throttled(stop.Until)
		case rest > 0:
			s.restUntil = stop.Until
		}
	}
	if wait := r.crew.wait(); wait > 0 {
		if until := r.Clock.Now().Add(wait); until.After(s.restUntil) {
			s.restUntil = until
		}
	}
	return s, nil
}

// limiter is the pace of `api.rate_limit`.
func (l Limits) limiter() *rate.Limiter {
	if l.RateLimit <= 0 {
		return rate.NewLimiter(rate.Inf, 1)
	}
	return rate.NewLimiter(rate.Limit(l.RateLimit), max(1, min(l.MaxInFlight, int(l.RateLimit))))
}

// begin finds what is due by time. It is done once, when the job has its first turn.
func (s *submission) begin(ctx context.Context) (err error) {
	if s.begun {
		return nil
	}
	s.begun = true
	if _, err := s.ledger.Wake(ctx, s.lease, s.now); err != nil {
		return err
	}
	if s.blocks == nil {
		blocks, err := s.ledger.Blocks(ctx)
		if err != nil {
			return err
		}
		s.blocks = newBlockList(blocks)
	}
	s.due, err = s.pending(ctx)
	return err
}

// run sends until nothing is due, something stops it, or, with a quota, so many rows have gone or sliceTime has passed. What is on the wire at the end is awaited and settled.
// finished is false when more is due.
func (s *submission) run(ctx context.Context, quota int) (finished bool, err error) {
	if err := s.begin(ctx); err != nil {
		return false, err
	}
	if s.quota, s.until = quota, s.Clock.Boot()+sliceTime; quota == 0 {
		s.quota = -1
	}
	if s.careful {
		s.slots = 1
	}
	s.context = ctx
	for {
		if s.quota > 0 && s.Clock.Boot() >= s.until {
			s.quota = 0
		}
		more, err := s.step(ctx)
		if err != nil {
			s.stopSending(err)
		}
		if len(s.flights) > 0 || len(s.settling) > 0 || s.storing != nil {
			continue
		}
		switch {
		case s.halt != nil:
			return false, s.halt
		case s.quota == 0:
			return false, nil
		case !more:
			return true, nil
		}
	}
}

// pending counts the rows that may go in this run.
func (s *submission) pending(ctx context.Context) (int, error) {
	tallies, err := s.ledger.Counts(ctx, s.job.Name())
	n := 0
	for _, t := range tallies {
		if t.State == trade.Pending {
			n += t.Count
		}
	}
	return n, err
}

// step does the next thing: take up what has landed and what was stored, choose what goes next, and hand both over to be stored.
func (s *submission) step(ctx context.Context) (more bool, err error) {
	if ctx.Err() != nil {
		s.stopSending(&stopError{trade.Stop{Code: string(stopInterrupt), Text: "the run was interrupted; what was on the wire was awaited, the rest goes with the next run", All: true}})
	}
	if err := s.collect(ctx); err != nil {
		return false, err
	}
	s.recall()
	s.wire.open(s.open())
	if s.halt == nil && s.quota != 0 {
		if more, err = s.fill(ctx); err != nil {
			s.stopSending(err)
		}
	}
	if s.storing == nil && s.worth(more) {
		group := trade.Group{At: s.Clock.Now()}
		s.settleInto(&group)
		var flights []*flight
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

// open is how many may be on the wire: none while the harmless question is to be asked, before the first POST and after an answer that something on the road may have given.
func (s *submission) open() int {
	if !s.preflown {
		return 0
	}
	return s.slots
}

// worth tells whether a group should be stored now. While enough is cleared for the wire, a larger group costs less for each row.
func (s *submission) worth(more bool) bool {
	w := s.window()
	free := min(w-len(s.flights), len(s.queue))
	return !more || s.halt != nil || s.wire.waiting() == 0 || max(free, len(s.settling)) >= w/2
}

// recall gives up what was stored and must not leave any more. It is due again at once.
func (s *submission) recall() {
	if s.halt == nil && !s.careful && s.preflown && s.slots >= s.Limits.MaxInFlight && s.resting() <= 0 {
		return
	}
	if back := s.wire.recall(); len(back) > 0 {
		s.calm = 0
		for _, f := range back {
			s.report.Sent--
			s.ration.recalled(f.entry.ID)
			s.didNotGo(f.entry)
		}
		s.giveUp(back, "it was taken back before it left")
	}
}

// stopSending lets nothing more leave. The first reason stays.
func (s *submission) stopSending(err error) {
	if s.halt == nil {
		s.halt = err
		close(s.halted)
	}
}

// collect takes up everything that has landed, and the group that was stored, without waiting.
func (s *submission) collect(ctx context.Context) error {
	for {
		select {
		case l := <-s.landed:
			s.take(l)
			continue
		case <-s.stored:
			if err := s.conclude(ctx); err != nil {
				return err
			}
			continue
		default:
			return nil
		}
	}
}

// pausedNow stops sending, because a person has paused the job while it runs.
func (s *submission) pausedNow(ctx context.Context) error {
	status, err := s.ledger.JobStatus(ctx, s.job.Name())
	if err == nil {
		s.stopSending(&stopError{*pausedStop(status)})
	}
	return err
}
