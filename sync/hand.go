package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/trade"
)

// A hand sends rows of a job that another instance holds and shares. It looks at each row in the ERP by itself (I8), has its own flights and its own limit of them, and its
// claims are fenced by the holder's epoch and by its own life (I12). It reads nothing, sweeps nothing and moves no cursor.

// handsTell are the stops that concern the job wherever it is sent from: a hand that meets one stops the job for all. Every other is its own affair, such as a platform that
// only it does not reach.
var handsTell = []stopCode{
	stopKey, stopKeyInside, stopModule, stopPermission, stopAddress, stopAnswers, stopDoubts, stopMalformed, stopRefusals, stopThrottled,
}

// handRests is how long a hand lets a job alone that it could not send.
const handRests = time.Minute

// lendHand sends rows of a shared job until ctx ends, or the holder shares it no longer. What is on the wire then is awaited. The error says why it ended before.
func (e *Engine) lendHand(ctx context.Context, job *Job, share trade.Share) (sent int, err error) {
	quiet := *e
	quiet.Observe = func(Progress) {}
	now := e.Clock.Now()
	r := &jobRun{
		Engine: &quiet, job: job, ledger: e.Ledger, source: e.Source, now: now, report: trade.RunReport{ID: share.Run, Job: job.Name(), StartedAt: now},
		ration: newRation(nil, 0), lease: trade.Lease{Job: job.Name(), Owner: e.Owner, Epoch: share.Epoch, Hand: true}, keeper: e.crew.keeper,
	}
	r.log = e.Log.With(zap.String("job", job.Name()), zap.String("run", share.Run), zap.Bool("hand", true))
	if err := r.makeEvaluator(ctx); err != nil {
		return 0, err
	}
	if e.Owner.Platform != share.Owner.Platform {
		return 0, fmt.Errorf("the instance that runs the job sends to %s, and api.base_url is %s here: bring the configurations of both to the same", share.Owner.Platform, e.Owner.Platform)
	}
	if r.mappedWith() != share.MappedWith {
		return 0, errOtherMapping
	}
	traffic := &traffic{limiter: e.crew.pace()}
	defer e.crew.rested()
	if r.send, err = newSubmission(r, traffic, trade.JobStatus{}); err != nil {
		return 0, err
	}
	r.log.Info("sends rows of a job that another instance holds", zap.String("holder", share.Owner.Host))
	tick := time.NewTicker(handsLook)
	defer tick.Stop()
	for err == nil {
		if _, err = r.send.run(ctx, 0); err == nil {
			select {
			case <-ctx.Done():
				return r.report.Sent, nil
			case <-tick.C:
			}
			r.send.after, r.send.leftovers = 0, false
			var shares []trade.Share
			if shares, err = e.Ledger.Leases(ctx); err == nil && !slices.ContainsFunc(shares, func(s trade.Share) bool { return s.Job == job.Name() && s.Epoch == share.Epoch && s.Shared && !s.Dead }) {
				return r.report.Sent, nil
			}
		}
	}
	return r.report.Sent, r.tellStop(ctx, err)
}

// errOtherMapping says that this instance would make other requests of the rows than the holder does.
var errOtherMapping = errors.New("this instance maps the job otherwise than the one that runs it: bring the configurations of both to the same")

// tellStop stops the job for all when its reason concerns all. It gives the error that keeps this instance from helping for a while; nil when it may help again at once.
func (r *jobRun) tellStop(ctx context.Context, err error) error {
	stop := r.stopOf(err)
	switch code := stopCode(stop.Code); {
	case code == stopLease, code == stopInterrupt, code == stopPaused, errors.Is(err, trade.ErrLeaseLost):
		return nil
	case slices.Contains(handsTell, code):
		r.log.Warn("the job stops for all instances", zap.String("code", stop.Code), zap.String("reason", stop.Text))
		tellErr := r.ledger.StopShared(context.WithoutCancel(ctx), r.lease, stop)
		if tellErr != nil && !errors.Is(tellErr, trade.ErrLeaseLost) {
			return tellErr
		}
	}
	return err
}
