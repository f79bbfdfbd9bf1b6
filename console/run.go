package console

import (
	"net/http"
	"net/url"

	"github.com/safrasync/safrasync/trade"
)

var runRoutes = []route{
	{method: http.MethodGet, path: "/runs", needs: trade.Reader, handle: showRuns},
	{method: http.MethodGet, path: "/runs/{id}", needs: trade.Reader, handle: showRun},
}

// runsPage is the history of the passes.
type runsPage struct {
	Runs []trade.RunReport
	Next string
	Job  string
	Jobs []Job
}

// NextPath is the address of the next page.
func (p runsPage) NextPath() string {
	return "/runs?" + url.Values{"after": {p.Next}, "job": {p.Job}}.Encode()
}

func showRuns(q *request) error {
	page := runsPage{Job: q.FormValue("job"), Jobs: q.c.Ports.Jobs.Jobs()}
	runs, err := q.c.Ports.Runs.RunPage(q.Context(), page.Job, q.after(), pageRows)
	if err != nil {
		return err
	}
	page.Runs, page.Next = runs.Runs, runs.Next
	return q.page(http.StatusOK, "runs", page)
}

// runPage is one pass.
type runPage struct {
	Run    trade.RunReport
	States []runSum
	Flags  []flagCount
	Sum    int // of the states
	Stop   *trade.Advice
	Open   bool // it still runs, or ended without saying so
}

// runSum is how many rows stood in a state after the pass.
type runSum struct {
	State trade.State
	Rows  int
}

func showRun(q *request) error {
	run, err := q.c.Ports.Runs.Run(q.Context(), q.PathValue("id"))
	if err != nil {
		if q.c.Ports.Unknown(err) {
			return errNotFound
		}
		return err
	}
	page := runPage{Run: run, Open: run.EndedAt.IsZero()}
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
		advice := q.c.Ports.Schedules.AdviseStop(*run.Stopped, q.lang)
		page.Stop = &advice
	}
	return q.page(http.StatusOK, "run", page)
}
