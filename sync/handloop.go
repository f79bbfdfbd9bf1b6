package sync

import (
	"context"
	"errors"
	"slices"
	gosync "sync"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/trade"
)

// handsLook is how often an instance looks whether another shares a job, or has died with one.
const handsLook = time.Second

// helper is what a scheduler does for jobs that other instances hold. Its fields are guarded by the scheduler's mu.
type helper struct {
	stop  context.CancelFunc       // ends the hand that is lent now, which may still wait for what it has on the wire; nil = none is
	rests map[string]time.Duration // jobs that it could not send, and the Boot time from which it tries again
	told  map[string]bool          // mapped otherwise: said once
}

// help lends a hand to jobs of other instances while no pass of this one is on its way, and takes jobs over whose holders have died, until ctx ends.
func (s *Scheduler) help(ctx context.Context, working *gosync.WaitGroup) {
	s.helper.rests, s.helper.told = map[string]time.Duration{}, map[string]bool{}
	tick := time.NewTicker(handsLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.lookAround(ctx, working)
	}
}

// lookAround looks once at what others hold.
func (s *Scheduler) lookAround(ctx context.Context, working *gosync.WaitGroup) {
	asked, cancel := context.WithTimeout(ctx, readTimeout)
	shares, err := s.Engine.Ledger.Leases(asked)
	cancel()
	if err != nil {
		return // whoever writes says so
	}
	s.mu.Lock()
	for _, t := range s.jobs {
		orphaned := slices.ContainsFunc(shares, func(h trade.Share) bool {
			return h.Job == t.job.Name() && h.Dead && h.Owner.Instance != s.Engine.Owner.Instance
		})
		if t.again = t.again || orphaned && !t.running; t.again && !t.running {
			s.nudge()
		}
	}
	s.mu.Unlock()
	for _, h := range shares {
		job, err := s.Engine.Job(h.Job)
		if err != nil || h.Dead || h.Owner.Instance == s.Engine.Owner.Instance {
			continue
		}
		s.clearUp(ctx, h)
		if h.Shared && h.Stop == nil {
			s.lend(ctx, working, job, h)
		}
	}
}

// clearUp says of rows of this instance that are in doubt because the ledger did not take their results, while another instance holds the job.
func (s *Scheduler) clearUp(ctx context.Context, h trade.Share) {
	e := s.Engine
	s.mu.Lock()
	helps := s.helper.stop != nil
	s.mu.Unlock()
	if helps || !e.crew.hasLeft(h.Job) {
		return
	}
	lease := trade.Lease{Job: h.Job, Owner: e.Owner, Epoch: h.Epoch, Hand: true}
	n, err := e.Ledger.Recover(ctx, lease, e.Clock.Now(), e.crew.aloft()...)
	if err != nil {
		s.log.Warn("rows whose results were not stored stay as they are for now", zap.String("job", h.Job), zap.Error(err))
		return
	}
	e.crew.recovered(h.Job)
	s.log.Warn("rows whose results the ledger did not take are in doubt now", zap.String("job", h.Job), zap.Int("rows", n))
}

// lend begins to send rows of a shared job, unless a pass of this instance is on its way, it helps already, or something keeps the job from being sent from here.
func (s *Scheduler) lend(ctx context.Context, working *gosync.WaitGroup, job *Job, h trade.Share) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.passing || s.helper.stop != nil || !s.closed(job) || s.helper.rests[h.Job] > s.Engine.Clock.Boot() || s.Engine.crew.hasLeft(h.Job) || !s.Engine.crew.ready() {
		return
	}
	ctx, s.helper.stop = context.WithCancel(ctx)
	working.Go(func() { s.lent(ctx, job, h) })
}

func (s *Scheduler) lent(ctx context.Context, job *Job, h trade.Share) {
	e := s.Engine
	sent, err := e.lendHand(ctx, job, h)
	called := ctx.Err() != nil // away, by a pass of this instance or by the end
	s.mu.Lock()
	s.helper.stop()
	defer s.mu.Unlock()
	s.helper.stop = nil
	switch {
	case errors.Is(err, errOtherMapping):
		if s.helper.rests[h.Job] = e.Clock.Boot() + handRests; !s.helper.told[h.MappedWith] {
			s.helper.told[h.MappedWith] = true
			s.log.Warn("does not help with a job", zap.String("job", h.Job), zap.String("holder", h.Owner.Host), zap.Error(err))
		}
	case err != nil && !called:
		s.helper.rests[h.Job] = e.Clock.Boot() + handRests
		s.log.Warn("could not go on helping with a job; it is tried again", zap.String("job", h.Job), zap.Duration("in", handRests), zap.Error(err))
	case sent > 0:
		s.log.Info("helped with a job", zap.String("job", h.Job), zap.String("run", h.Run), zap.Int("sent", sent))
	}
}

// ready tells whether this instance may claim rows for others.
func (c *crew) ready() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.keeper != nil && c.keeper.trusted()
}

// led tells whether another living instance runs a job on which this one hangs: its rows would wait for what that one sends, and the instance that runs the parents
// takes up the children too.
func (s *Scheduler) led(shares []trade.Share, job *Job) bool {
	p := pass{Engine: s.Engine}
	above := p.above(job)
	return slices.ContainsFunc(shares, func(h trade.Share) bool {
		return above[h.Job] && !h.Dead && h.Owner.Instance != s.Engine.Owner.Instance
	})
}

// elsewhere tells whether another living instance runs a job.
func (s *Scheduler) elsewhere(shares []trade.Share, job *Job) bool {
	return slices.ContainsFunc(shares, func(h trade.Share) bool {
		return h.Job == job.Name() && !h.Dead && h.Owner.Instance != s.Engine.Owner.Instance
	})
}

// shares are the leases that are held; none for an instance that is alone.
func (s *Scheduler) shares(ctx context.Context) []trade.Share {
	if !s.Engine.Several {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	shares, err := s.Engine.Ledger.Leases(ctx)
	if err != nil { // whoever takes a lease is told
		return nil
	}
	return shares
}
