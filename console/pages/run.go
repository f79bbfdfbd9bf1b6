package pages

import (
	"net/http"
	"net/url"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// runRoutes are the history of the passes.
type runRoutes struct {
	office *office.Office
}

func (p *runRoutes) routes() []web.Route {
	return []web.Route{
		web.Get("/runs", trade.Reader, p.showRuns),
		web.Get("/runs/{id}", trade.Reader, p.showRun),
	}
}

// runsPage is the history of the passes.
type runsPage struct {
	Runs []trade.RunReport
	Next string
	Job  string
	Jobs []office.Job
	last map[string]bool // ids of the newest run of each job
	Live live
}

// Decide reports whether a pass is the newest of its job and left something to a person. What older
// ones left has been decided, or the newest counts it too.
func (p runsPage) Decide(r trade.RunReport) bool { return p.last[r.ID] && p.Open(r) > 0 }

// Open returns how many rows a pass left that a person must decide about.
func (runsPage) Open(r trade.RunReport) int {
	open := r.States[trade.InDoubt] + r.States[trade.Held]
	for _, flag := range changedFlags {
		open += r.Flags[flag]
	}
	return open
}

// Running returns the progress of a pass that runs in this process; nil if it does not.
func (p runsPage) Running(r trade.RunReport) *liveShown {
	if !r.EndedAt.IsZero() {
		return nil
	}
	return p.Live.of(r.Job)
}

// HerePath returns the address of this page.
func (p runsPage) HerePath() string { return "/runs?" + url.Values{"job": {p.Job}}.Encode() }

// NextPath returns the address of the next page.
func (p runsPage) NextPath() string {
	return "/runs?" + url.Values{"after": {p.Next}, "job": {p.Job}}.Encode()
}

func (p *runRoutes) showRuns(q *web.Request) error {
	page := runsPage{Job: q.Form.Get("job"), Jobs: p.office.Jobs(), last: map[string]bool{}}
	for _, job := range page.Jobs {
		newest, err := p.office.Runs(q.Context(), job.Name, 1)
		if err != nil {
			return err
		}
		for _, r := range newest {
			page.last[r.ID] = true
		}
	}
	runs, err := p.office.RunPage(q.Context(), page.Job, after(q), pageRows)
	if err != nil {
		return err
	}
	page.Runs, page.Next = runs.Runs, runs.Next
	page.Live = liveNow(p.office, q)
	return q.Page(http.StatusOK, "runs", page)
}

// runPage is one pass.
type runPage struct {
	Run    trade.RunReport
	States []runSum
	Flags  []flagCount
	Sum    int // of the states
	Stop   *trade.Advice
	Notes  []string
	Open   bool // it is still running, or died without recording its end
	Live   live
	Now    *liveShown // its progress, if it runs in this process
}

// runSum is how many rows were in a state after the pass.
type runSum struct {
	State trade.State
	Rows  int
}

func (p *runRoutes) showRun(q *web.Request) error {
	run, err := p.office.Run(q.Context(), q.PathValue("id"))
	if err != nil {
		return err
	}
	page := runPage{Run: run, Open: run.EndedAt.IsZero()}
	if page.Open {
		page.Live = liveNow(p.office, q)
		page.Now = page.Live.of(run.Job)
	}
	for _, state := range trade.States {
		if n := run.States[state]; n > 0 {
			page.States = append(page.States, runSum{state, n})
			page.Sum += n
		}
	}
	for _, flag := range trade.AllFlags {
		if n := run.Flags[flag]; n > 0 {
			page.Flags = append(page.Flags, flagCount{Flag: flag, Rows: n})
		}
	}
	if run.Stopped != nil {
		advice := p.office.AdviseStop(*run.Stopped, q.Lang)
		page.Stop = &advice
	}
	for _, note := range run.Notes {
		page.Notes = append(page.Notes, p.office.Say(note, q.Lang))
	}
	return q.Page(http.StatusOK, "run", page)
}
