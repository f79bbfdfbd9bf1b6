package sync

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sort"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// conclude turns the end of a run, however it came, into its report, and stores both.
func (r *jobRun) conclude(ctx context.Context, err error) trade.RunReport {
	ctx = context.WithoutCancel(ctx)
	if err != nil {
		stop := r.stopOf(err)
		r.report.Stopped = &stop
		r.log.Warn("the job stopped", zap.String("code", stop.Code), zap.String("reason", stop.Text))
	}
	if r.dry == nil {
		r.watch(ctx)
	}
	r.countStates(ctx)
	if r.dry != nil {
		if r.report.WouldSend, err = r.dry.would(ctx, r.job.Name()); err != nil {
			r.note("what would go could not be summed: %v", err)
		}
	}
	if rows := r.ration.rows; r.dry == nil {
		r.report.SentRows = &rows
	}
	if r.report.Stopped == nil && r.report.InScope != nil && r.dry == nil {
		if err := r.verify(ctx); err != nil {
			stop := r.stopOf(err)
			r.report.Stopped = &stop
		}
	}
	r.remember(ctx)
	r.report.EndedAt = r.Clock.Now()
	r.Observe(Progress{Job: r.job.Name(), Phase: Done, Read: r.report.Read, Done: r.report.Sent, Total: r.report.Sent})
	if r.dry != nil {
		return r.report
	}
	if r.report.Stopped != nil && r.stopped != nil {
		r.stopped(r)
	}
	if err := r.ledger.FinishRun(ctx, r.report); err != nil {
		r.log.Error("the report of the run was not stored", zap.Error(err))
	}
	status := trade.JobStatus{Job: r.job.Name(), State: trade.Idle, Since: r.report.EndedAt}
	if stop := r.report.Stopped; stop != nil {
		status.Stop = stop
		switch code := stopCode(stop.Code); {
		case code == stopThrottled, code == stopUnreachable:
			status.State = trade.BackingOff
		case slices.Contains(pausing, code):
			status.State = trade.Paused
		default:
			status.State = trade.Stopped
		}
	}
	r.setStatus(ctx, status) // a pause that came while it ran stays
	return r.report
}

// watch begins the quarantine of what became unknown (I14). Where that fails, it begins later.
func (r *jobRun) watch(ctx context.Context) {
	if _, err := r.ledger.Watch(ctx, r.job.Name(), r.Owner.Boot, r.Clock.Boot()); err != nil {
		r.log.Warn("the quarantine of what is in doubt begins later", zap.Error(err))
	}
}

// alarm tells of late answers that a person must know of; the ledger has them in its audit.
func (r *jobRun) alarm(alarms []trade.Alarm) {
	r.report.Alarms = append(r.report.Alarms, alarms...)
	for _, a := range alarms {
		r.log.Warn("alarm", zap.String("kind", string(a.Kind)), zap.String("key", a.Key), zap.String("attempt", a.Attempt), zap.String("reason", a.Text))
	}
}

// stopOf finds the reason in an error. Faults of the ERP and of the ledger are reasons too.
func (r *jobRun) stopOf(err error) trade.Stop {
	var s *stopError
	var source *erp.Error
	var platform *trade.OtherPlatformError
	switch {
	case errors.As(err, &s):
		return s.stop
	case errors.Is(err, trade.ErrLeaseLost):
		return trade.Stop{Code: string(stopLease), Text: err.Error()}
	case errors.Is(err, context.Canceled):
		return interrupted()
	case errors.As(err, &platform):
		return trade.Stop{Code: string(stopPlatform), Text: err.Error(), All: true}
	case errors.As(err, &source):
		return trade.Stop{Code: string(stopERP), Text: "the ERP cannot be read: " + err.Error()}
	}
	return trade.Stop{Code: string(stopLedger), Text: "the ledger cannot be used: " + err.Error(), All: true}
}

// countStates fills in where every entry of the job stands now.
func (r *jobRun) countStates(ctx context.Context) {
	r.report.States, r.report.Flags = map[trade.State]int{}, map[trade.Flag]int{}
	tallies, err := r.ledger.Counts(ctx, r.job.Name())
	if err != nil {
		r.note("the entries could not be counted: %v", err)
		return
	}
	for _, t := range tallies {
		if t.Count > 0 {
			r.report.States[t.State] += t.Count
		}
	}
	if r.report.Flags, err = r.ledger.FlagCounts(ctx, r.job.Name()); err != nil {
		r.note("the flags could not be counted: %v", err)
	}
}

// verify proves after a sweep that everything adds up (I9): the sums kept with each move equal the entries, and the ERP's keys equal the entries that are not gone.
func (r *jobRun) verify(ctx context.Context) error {
	if !r.keeper.renew(ctx) { // another process may have found rows that this one has not seen
		return r.leaseLost()
	}
	for try := 1; ; try++ { // another process may move a row between the two looks
		kept, err := r.ledger.Counts(ctx, r.job.Name())
		if err != nil {
			return err
		}
		if !r.recorded && r.report.Sent == 0 && r.proved != nil && slices.Equal(tallyText(kept), tallyText(r.proved)) {
			break // nothing has moved since the sweep counted them
		}
		counted, err := r.ledger.Recount(ctx, r.job.Name())
		if err != nil {
			return err
		}
		a, b := tallyText(kept), tallyText(counted)
		if slices.Equal(a, b) {
			break
		}
		if try == 3 {
			return r.stop(stopUneven, fmt.Sprintf("the kept sums %v differ from the entries %v: keep a copy of the ledger and report this; `safrasync doctor --recount` puts the sums right", a, b))
		}
	}
	total := 0
	for _, n := range r.report.States {
		total += n
	}
	if *r.report.InScope != total-*r.report.Gone {
		return r.stop(stopUneven, fmt.Sprintf("the ERP has %d keys in scope, the ledger %d entries of which %d are gone: keep a copy of the ledger and report this",
			*r.report.InScope, total, *r.report.Gone))
	}
	return nil
}

func tallyText(tallies []trade.Tally) []string {
	var out []string
	for _, t := range tallies {
		if t.Count != 0 {
			out = append(out, fmt.Sprintf("%s %d %s %s", t.State, t.Count, t.Quantity.Amount, t.Quantity.Unit))
		}
	}
	sort.Strings(out)
	return out
}

func (r *jobRun) setStatus(ctx context.Context, status trade.JobStatus) {
	if err := r.Engine.Ledger.SetJobStatus(ctx, status); err != nil {
		r.log.Warn("the job's status was not stored", zap.Error(err))
	}
}

// judgePreflight tells whether a failed preflight says nothing about this job's requests (ok), or why the job must not begin.
func judgePreflight(failure *apiclient.Error) (stop trade.Stop, ok bool) {
	a := failure.Answer
	say := func(code stopCode, text string) (trade.Stop, bool) {
		return trade.Stop{Code: string(code), Text: text, All: true}, false
	}
	switch {
	case failure.Fault == apiclient.FaultCertificate:
		return say(stopCertificate, "the API's certificate is not accepted: "+a.Evidence.Err)
	case a.Status == 0:
		return say(stopUnreachable, "the API is not reached: "+a.Evidence.Err+"; nothing was sent")
	case a.Status == http.StatusUnauthorized:
		d := decideUnauthorized(a)
		return say(d.stop.code, d.stop.text)
	case slices.Contains(a.Messages, keyNotContract), a.Status == http.StatusNotFound && a.APIForm():
		return trade.Stop{}, true
	case a.Status == http.StatusForbidden:
		return say(stopPermission, "the API key has no permission (403): ask the platform")
	case a.Status == http.StatusTooManyRequests, a.Status >= http.StatusInternalServerError:
		return say(stopUnreachable, fmt.Sprintf("the API answers %d to a harmless question; nothing was sent", a.Status))
	}
	return say(stopAddress, fmt.Sprintf("the API answers %d to a harmless question: api.base_url or a proxy is wrong; nothing was sent", a.Status))
}
