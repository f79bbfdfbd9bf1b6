package pages

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// ran is what came of an order: the run that does it, of each job that it concerns. The address has
// the jobs and the moment of the order, or the ids of the runs, so that it is told without JavaScript
// too.
type ran struct {
	Jobs []ranJob
	Path string // address of the same page
	Live live   // what runs now
	// Polled means that the page asked by itself what has come; once it is over, all of the page changes
	Polled bool
}

// ranJob is the run of a job that an order led to.
type ranJob struct {
	Job   string
	Run   *trade.RunReport // nil: it has not begun
	Next  time.Time        // when it begins; zero: at once, or only by hand
	Stop  *trade.Advice    // why it stopped; nil: it did not
	Why   string           // why it never began; "" = it has, or will
	Rows  []trade.Entry    // the first rows that it sent or changed
	More  bool             // there are further ones
	Parts []office.RunPart // what it did with all of them
}

// Waits reports whether a run has not ended yet.
func (r ran) Waits() bool { return slices.ContainsFunc(r.Jobs, ranJob.Waits) }

// Waits reports whether the run has not ended yet.
func (j ranJob) Waits() bool { return j.Why == "" && (j.Run == nil || j.Run.EndedAt.IsZero()) }

// orderPath returns the address of a page that tells what comes of an order given now.
func orderPath(q *web.Request, page string, jobs ...string) string {
	return with(page, url.Values{"ran": jobs, "since": {strconv.FormatInt(q.Site.Now().UnixMilli(), 10)}})
}

// with adds parameters to an address, which may have some.
func with(page string, more url.Values) string {
	glue := "?"
	if strings.Contains(page, "?") {
		glue = "&"
	}
	return page + glue + more.Encode()
}

const (
	ranMost  = 20 // so many of the latest runs of a job are looked at
	ranShown = 5  // so many rows of a run are named
)

// orderRan reads what came of the order that the address of a page names; soon is set for an order to run
// now.
func (p *Pages) orderRan(q *web.Request, soon bool) (ran, error) {
	query := q.URL.Query()
	out := ran{
		Path: q.URL.RequestURI(), Live: p.liveNow(q), Polled: q.Header.Get("HX-Target") == "ran",
	}
	for _, id := range query["run"] {
		run, err := p.office.Run(q.Context(), id)
		one := ranJob{Job: run.Job, Run: &run}
		switch {
		case err == nil:
			err = p.ended(q, &one)
		case errors.Is(err, trade.ErrNotFound):
			err = nil
			one = ranJob{Why: q.Voice().T("What came of this order is not known: the service was started again before the reading began. Ask again.")}
			if ordered, known := p.office.Ordered(id); known {
				one = ranJob{Job: ordered.Job, Why: ordered.Why}
			}
		}
		if err != nil {
			return out, err
		}
		out.Jobs = append(out.Jobs, one)
	}
	since, err := strconv.ParseInt(query.Get("since"), 10, 64)
	if err != nil {
		return out, nil //nolint:nilerr // the address names no order
	}
	at := time.UnixMilli(since)
	for _, job := range p.office.Jobs() {
		if !slices.Contains(query["ran"], job.Name) {
			continue
		}
		runs, err := p.office.Runs(q.Context(), job.Name, ranMost)
		if err != nil {
			return out, err
		}
		one := ranJob{Job: job.Name}
		for i, r := range runs {
			if !r.StartedAt.Before(at) { // the first one since, as the newest come first
				one.Run = &runs[i]
			}
		}
		if one.Run == nil && !soon {
			next, err := p.office.NextRuns(q.Context(), job.Name)
			if err != nil {
				return out, err
			}
			if len(next) > 0 {
				one.Next = next[0]
			}
		}
		if err := p.ended(q, &one); err != nil {
			return out, err
		}
		out.Jobs = append(out.Jobs, one)
	}
	return out, nil
}

// ended fills in how a run ended, and the first rows that it sent or changed.
func (p *Pages) ended(q *web.Request, one *ranJob) (err error) {
	if one.Run == nil || one.Run.EndedAt.IsZero() {
		return nil
	}
	one.Stop = p.office.AdviseStop(one.Run.Stopped, q.Lang)
	one.Parts, err = p.office.RunParts(q.Context(), *one.Run)
	for _, part := range one.Parts {
		one.More = one.More || len(one.Rows) == ranShown
		if err != nil || one.More {
			break
		}
		rows := part.Of
		rows.Sort, rows.Limit = trade.NewestFirst, ranShown-len(one.Rows)
		var page trade.RowPage
		page, err = p.office.RowPage(q.Context(), rows)
		one.Rows = append(one.Rows, page.Rows...)
		one.More = page.Next != ""
	}
	return err
}
