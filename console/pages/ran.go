package pages

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// ran is what came of an order: the run that does it, of each job that it concerns. The address has
// the jobs and the moment of the order, so that it is told without JavaScript too.
type ran struct {
	Jobs []ranJob
	Path string // address of the same page
}

// ranJob is the first run of a job after an order.
type ranJob struct {
	Job  string
	Run  *trade.RunReport // nil: it has not begun
	Next time.Time        // when it begins; zero: at once, or only by hand
	Stop *trade.Advice    // why it stopped; nil: it did not
}

// Waits reports whether a run has not ended yet.
func (r ran) Waits() bool {
	return slices.ContainsFunc(r.Jobs, func(j ranJob) bool { return j.Run == nil || j.Run.EndedAt.IsZero() })
}

// Left lists what the run left to a person, in words.
func (j ranJob) Left(v view.Voice) string {
	var parts []string
	for _, state := range statesFirst {
		if n := j.Run.States[state]; n > 0 {
			parts = append(parts, v.T("count."+string(state), v.Number(n)))
		}
	}
	return v.Listed(parts)
}

// orders tells what came of orders.
type orders struct {
	office *office.Office
}

// path returns the address of a page that tells what comes of an order given now.
func (orders) path(q *web.Request, page string, jobs ...string) string {
	return page + "?" + url.Values{
		"ran": jobs, "since": {strconv.FormatInt(q.Site.Now().UnixMilli(), 10)},
	}.Encode()
}

// ranMost is how many of the latest runs of a job are looked at.
const ranMost = 20

// told reads what came of the order that the address of a page names; soon is set for an order to run
// now.
func (o orders) told(q *web.Request, soon bool) (ran, error) {
	query := q.URL.Query()
	since, err := strconv.ParseInt(query.Get("since"), 10, 64)
	out := ran{Path: q.URL.RequestURI()}
	if err != nil {
		return out, nil //nolint:nilerr // the address names no order
	}
	at := time.UnixMilli(since)
	for _, job := range o.office.Jobs() {
		if !slices.Contains(query["ran"], job.Name) {
			continue
		}
		runs, err := o.office.Runs(q.Context(), job.Name, ranMost)
		if err != nil {
			return out, err
		}
		one := ranJob{Job: job.Name}
		for i, r := range runs {
			if !r.StartedAt.Before(at) { // the first one since, as the newest come first
				one.Run = &runs[i]
			}
		}
		switch {
		case one.Run == nil && !soon:
			next, err := o.office.NextRuns(q.Context(), job.Name)
			if err != nil {
				return out, err
			}
			if len(next) > 0 {
				one.Next = next[0]
			}
		case one.Run != nil && one.Run.Stopped != nil:
			advice := o.office.AdviseStop(*one.Run.Stopped, q.Lang)
			one.Stop = &advice
		}
		out.Jobs = append(out.Jobs, one)
	}
	return out, nil
}
