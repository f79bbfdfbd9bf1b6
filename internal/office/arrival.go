package office

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Arrival is when what is due of a job is through, as `status --json` prints it.
type Arrival struct {
	Rows      int        `json:"rows"`       // that are due, or on their way; those that wait for others are none
	Done      int        `json:"done"`       // rows of the run that goes on in this process
	PerMinute int        `json:"per_minute"` // as the last runs sent; 0: not known yet
	At        *time.Time `json:"at"`         // null: not known, for the reason
	Why       string     `json:"why"`        // "" or person, stop, service, schedule, most, rate
}

// Why it is not known when rows are through.
const (
	ArrivalPerson   = "person"   // only a person makes the job go on
	ArrivalStop     = "stop"     // it is stopped by something that must be mended
	ArrivalService  = "service"  // no service runs
	ArrivalSchedule = "schedule" // it has no next time
	ArrivalMost     = "most"     // more is due than one run may send, so a brake will pause it
	ArrivalRate     = "rate"     // it has not sent yet
)

// arrivalMost is the longest work of which it is told when it ends: as slowly as a job has sent that
// once sent a row in hours nobody will see it.
const arrivalMost = 366 * 24 * time.Hour

// underway is what an arrival is reckoned from.
type underway struct {
	now      time.Time // in the zone of the hours
	due      int
	status   trade.JobStatus
	served   bool
	next     *time.Time // the next run
	hours    clock.Hours
	most     int // rows of one run; 0 = any number
	rate     float64
	progress *Progress
}

// arrival returns when what is due is through; nil if nothing is due.
func arrival(u underway) *Arrival {
	if u.due == 0 {
		return nil
	}
	out := &Arrival{Rows: u.due}
	start := u.now
	running := u.status.State == trade.Running
	if p := u.progress; p != nil {
		running, out.Done = true, p.Done
		if took, done := u.now.Sub(p.Pace.Since), p.Done-p.Pace.Done; !p.Pace.Since.IsZero() && took > 0 && done > 0 {
			u.rate = float64(done) / took.Minutes()
		}
	}
	out.PerMinute = int(math.Ceil(u.rate))
	switch {
	case u.status.State == trade.Paused: // also while the requests in flight end
		out.Why = ArrivalPerson
	case running:
	case acts.EndedByPerson(u.status):
		out.Why = ArrivalPerson
	case u.status.State == trade.Stopped:
		out.Why = ArrivalStop
	case !u.served:
		out.Why = ArrivalService
	case u.next == nil:
		out.Why = ArrivalSchedule
	default:
		start = u.next.In(u.now.Location())
	}
	switch {
	case out.Why != "":
		return out
	case u.most > 0 && u.due > u.most && !running:
		out.Why = ArrivalMost
		return out
	case u.rate <= 0 || float64(u.due)/u.rate > arrivalMost.Minutes():
		out.Why = ArrivalRate
		return out
	}
	work := time.Duration(float64(u.due) / u.rate * float64(time.Minute))
	at := u.hours.Done(start, work).UTC().Truncate(time.Second)
	if at.Sub(u.now) > 10*arrivalMost {
		out.Why = ArrivalRate
		return out
	}
	out.At = &at
	return out
}

// How many runs, and rows of them, tell how fast a job sends. Short runs mostly read.
const (
	rateRuns = 60
	rateRows = 1000
)

// rateOf returns how many rows a minute the given runs sent, newest first; 0 if they sent none. The
// longest runs say it best: a run of a few rows mostly reads.
func rateOf(runs []trade.RunReport) float64 {
	runs = slices.DeleteFunc(slices.Clone(runs), func(r trade.RunReport) bool {
		return r.RowsSent() == 0 || !r.EndedAt.After(r.StartedAt)
	})
	slices.SortStableFunc(runs, func(a, b trade.RunReport) int { return b.RowsSent() - a.RowsSent() })
	rows, took := 0, time.Duration(0)
	for _, r := range runs {
		if rows >= rateRows {
			break
		}
		rows, took = rows+r.RowsSent(), took+r.EndedAt.Sub(r.StartedAt)
	}
	if took <= 0 {
		return 0
	}
	return float64(rows) / took.Minutes()
}

// arrives returns when the due rows of a configured job are through; nil if none is due.
func (o *Office) arrives(ctx context.Context, spec mapping.JobSpec, status trade.JobStatus, due int, served bool,
	next *time.Time,
) (*Arrival, error) {
	if due == 0 {
		return nil, nil //nolint:nilnil // nothing is due
	}
	hours, err := clock.ParseHours(spec.Hours)
	if err != nil {
		return nil, err
	}
	runs, err := o.store.Runs(ctx, spec.Name, rateRuns)
	if err != nil {
		return nil, err
	}
	u := underway{
		now: o.now().In(o.conf.Zone()), due: due, status: status, next: next, hours: hours, served: served,
		rate: rateOf(runs), progress: o.board.of(spec.Name),
	}
	if spec.Most != nil {
		u.most = spec.Most.Rows
	}
	return arrival(u), nil
}

// served reports whether a service of the ledger is alive.
func served(services []Service) bool {
	return slices.ContainsFunc(services, func(s Service) bool { return s.Alive })
}
