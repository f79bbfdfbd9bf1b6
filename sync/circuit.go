// Circuits: which jobs wait after a stop, and what ends the wait.

package sync

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/sending"
	"github.com/safrasync/safrasync/trade"
)

// How long nothing is tried after a stop that ends by itself. A wait with a Most doubles with each
// failure in a row, up to it.
const (
	probeEvery      = 5 * time.Minute  // key, address, certificate, full disk: one GET or write
	tellEvery       = time.Minute      // a stop that the ledger did not take
	serverFirst     = 10 * time.Second // a ledger on a server
	refusedMost     = time.Hour        // 403: one row is tried, at growing intervals
	unreachedFirst  = time.Minute
	unreachedMost   = 15 * time.Minute
	erpFirst        = time.Minute
	erpMost         = 30 * time.Minute
	failuresCounted = 10
)

// endedByProbe are the stops that one successful question to the API ends. Each run that has
// something to send begins with the same GET.
var endedByProbe = []outcome.StopCode{
	outcome.StopKey, outcome.StopKeyInside, outcome.StopModule,
	outcome.StopPermission, outcome.StopAddress, outcome.StopCertificate,
}

// circuit keeps jobs from running for a time: all jobs, those of one route of the API (its kind of
// record), or one job. A run that ends well closes it again.
type circuit struct {
	stop     trade.Stop
	until    time.Duration // Boot time from which it may be tried
	failures int           // in a row
	probe    bool          // a GET must succeed first
}

// circuitOf returns the name of the circuit that a stop of a job opens: that of all jobs, of the
// job's route, or of the job alone.
func circuitOf(job *mapping.Job, stop trade.Stop) string {
	switch {
	case stop.All:
		return "all"
	case stop.Sends != "":
		return "sends " + string(stop.Sends)
	}
	return "job " + job.Name()
}

// circuitsOf returns the names of the circuits that concern a job.
func circuitsOf(job *mapping.Job) []string {
	return []string{"all", "sends " + string(job.Spec.Sends), "job " + job.Name()}
}

// mayTry reports whether no circuit keeps the job from running.
func (s *Scheduler) mayTry(job *mapping.Job) bool {
	boot := s.Engine.Clock.Boot()
	return !slices.ContainsFunc(circuitsOf(job), func(name string) bool {
		c := s.circuits[name]
		return c != nil && (c.probe || c.until > boot)
	})
}

// triedAtERP are the stops whose cause each run checks in the ERP before it sends anything.
var triedAtERP = []outcome.StopCode{outcome.StopERP, outcome.StopColumns, outcome.StopReferences}

// stopped opens the circuit of a stop and returns until when the stop holds, or the zero time if
// time does not end it.
func (s *Scheduler) stopped(job *mapping.Job, stop trade.Stop) time.Time {
	name, boot := circuitOf(job, stop), s.Engine.Clock.Boot()
	wait := s.patience(name, stop)
	if wait == 0 {
		return mapping.NoTime
	}
	// the same stop, reported by several jobs while the circuit is open, counts once
	if c := s.circuits[name]; c == nil || c.until <= boot || c.stop.Code != stop.Code {
		s.openAt(name, stop, boot+wait)
	}
	until := s.Engine.Clock.Now().Add(s.circuits[name].until - s.Engine.Clock.Boot())
	i := slices.IndexFunc(s.jobs, func(t *timetable) bool { return t.job == job })
	// retry at the job's own times, unless they are rare
	if code := outcome.StopCode(stop.Code); slices.Contains(triedAtERP, code) {
		if next := s.jobs[i].schedule.Next(until.Add(-time.Nanosecond)); !next.IsZero() && next.Sub(until) < erpMost {
			s.circuits[name].until += next.Sub(until)
			return next
		}
	}
	s.jobs[i].again = true
	return until
}

// patience returns how long to wait after a stop; 0 if time does not end it.
func (s *Scheduler) patience(name string, stop trade.Stop) time.Duration {
	failures := 0
	if c := s.circuits[name]; c != nil {
		failures = min(c.failures, failuresCounted)
	}
	switch outcome.StopCode(stop.Code) {
	case outcome.StopThrottled:
		return min(max(stop.Until.Sub(s.Engine.Clock.Now()), time.Second), sending.LongestAsked)
	case outcome.StopUnreachable:
		return min(unreachedFirst<<failures, unreachedMost)
	case outcome.StopERP, outcome.StopColumns, outcome.StopReferences:
		return min(erpFirst<<failures, erpMost)
	case outcome.StopModule, outcome.StopPermission:
		return min(probeEvery<<failures, refusedMost)
	case outcome.StopLedger:
		if s.Engine.Several { // a server may be away for a moment, from here or for everybody
			return serverFirst
		}
		return probeEvery
	case outcome.StopWitness:
		return tellEvery
	case outcome.StopKey, outcome.StopKeyInside, outcome.StopAddress, outcome.StopCertificate, outcome.StopPlatform:
		return probeEvery
	}
	return 0
}

// openAt opens a circuit until a Boot time; mayTry asks for it before a job runs, and probe sends the GET.
func (s *Scheduler) openAt(name string, stop trade.Stop, until time.Duration) {
	c := s.circuits[name]
	if c == nil {
		c = &circuit{}
		s.circuits[name] = c
	}
	c.failures++
	c.stop, c.until, c.probe = stop, until, slices.Contains(endedByProbe, outcome.StopCode(stop.Code))
}

// probeDue reports whether a circuit waits for a GET that may be sent now.
func (s *Scheduler) probeDue() bool {
	boot := s.Engine.Clock.Boot()
	for _, c := range s.circuits {
		if c.probe && c.until <= boot {
			return true
		}
	}
	return false
}

// probe sends one harmless GET to the API; if it succeeds, the jobs that waited for it may run
// again.
func (s *Scheduler) probe(ctx context.Context) {
	stop := sending.Preflight(ctx, s.Engine.Platform)
	var waiting []*mapping.Job
	s.mu.Lock()
	boot := s.Engine.Clock.Boot()
	for name, c := range s.circuits {
		if !c.probe || c.until > boot || ctx.Err() != nil {
			continue
		}
		c.probe = stop != nil
		if c.probe {
			c.failures++
			c.until = boot + s.patience(name, c.stop)
		}
		for _, t := range s.jobs {
			if slices.Contains(circuitsOf(t.job), name) {
				t.cleared = !c.probe
				if c.probe {
					waiting = append(waiting, t.job)
				}
			}
		}
	}
	s.mu.Unlock()
	switch {
	case ctx.Err() != nil:
	case stop == nil:
		s.log.Info("the API answers a harmless question again; the jobs that stopped for it go on")
	default:
		s.log.Warn("the API was asked whether jobs may go on, and they may not", zap.String("code", stop.Code),
			zap.Stringer("reason", stop.Sentence()))
	}
	for _, job := range waiting {
		// only the holder of a job's lease writes its status
		s.mu.Lock()
		until := mapping.NoTime
		for _, name := range circuitsOf(job) {
			if c := s.circuits[name]; c != nil && c.probe {
				until = s.Engine.Clock.Now().Add(c.until - s.Engine.Clock.Boot())
			}
		}
		s.mu.Unlock()
		err := s.amend(ctx, job.Name(), func(status trade.JobStatus) *trade.JobStatus {
			if status.State != trade.Stopped || status.Stop == nil ||
				!slices.Contains(endedByProbe, outcome.StopCode(status.Stop.Code)) {
				return nil
			}
			status.Stop.Until = until
			return &status
		})
		// another process that runs it will store its status
		if err != nil && !isLeased(err) && ctx.Err() == nil {
			s.log.Warn("the ledger was not told when the API is asked again", zap.String("job", job.Name()), zap.Error(err))
		}
	}
	s.mu.Lock()
	s.probing = false
	s.mu.Unlock()
	s.wakeLoop()
}

// amend changes the stored status of a job that does not run; change returns nil to leave it as it
// is. Only the holder of a job's lease writes its status.
func (s *Scheduler) amend(ctx context.Context, job string, change func(trade.JobStatus) *trade.JobStatus) error {
	ledger := s.Engine.Ledger
	lease, err := ledger.AcquireLease(ctx, job, s.Engine.Owner)
	if err != nil {
		return err
	}
	status, err := ledger.JobStatus(ctx, job)
	if err == nil {
		if after := change(status); after != nil {
			err = ledger.SetJobStatus(ctx, *after)
		}
	}
	return errors.Join(err, ledger.ReleaseLease(context.WithoutCancel(ctx), lease))
}

// withoutLedger opens the circuit for a job that could not begin because the ledger failed.
func (s *Scheduler) withoutLedger(t *timetable, err error) {
	stop := trade.Stop{Code: string(outcome.StopLedger), Why: trade.Say("stop.ledger.use", "cause", err), All: true}
	stop.Until = s.stopped(t.job, stop)
	t.untold = &trade.JobStatus{Job: t.job.Name(), State: trade.Stopped, Stop: &stop, Since: s.Engine.Clock.Now()}
}
