package pages

import (
	"net/http"
	"net/url"
	"time"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/trade"
)

// homeRoutes are the first page.
type homeRoutes struct {
	totals Totals
	runs   Runs
	jobs   Jobs
	words  Words
	causes Causes
	days   chartDays
}

func (p *homeRoutes) routes() []web.Route {
	return []web.Route{
		{Method: http.MethodGet, Path: "/{$}", Needs: trade.Reader, Handle: p.showHome},
	}
}

// homePage is what the first page shows: whether all is well, the line of truth, what needs a
// person, and the runs.
type homePage struct {
	Jobs  []homeJob
	All   truth
	Todo  []todo
	Live  []Progress
	Chart chart
}

// homeJob is one job on the first page.
type homeJob struct {
	Job
	Truth  truth
	Status trade.JobStatus
	Stop   string // in words; "" = it does not stand still
	Last   *trade.RunReport
}

// truth is the line in which every row is counted once: what the ERP has is what was sent and what
// was not, state by state.
type truth struct {
	Known int    // rows that the ledger knows and that are in the ERP
	Gone  int    // of the states below, those that the last complete comparison did not find in the ERP
	Parts []part // states with rows, in the order in which people are shown them
	Swept time.Time
	Found *int // distinct rows that the ERP had then
}

type part struct {
	State trade.State
	Count int
	Query string // of the page of rows
}

// Key is of the phrase that says how many rows it is.
func (p part) Key() string {
	if p.Count == 1 {
		return "count.one." + string(p.State)
	}
	return "count." + string(p.State)
}

// todo is something that needs a person.
type todo struct {
	Key   string // of a phrase
	State string // for its colour
	Job   string
	Count int
	Text  string
	Query string
}

// statesFirst are the states that need a person, the most urgent first.
var statesFirst = []trade.State{trade.InDoubt, trade.Held, trade.Rejected, trade.Invalid}

// flagsFirst are the flags that need a person, the most urgent first.
var flagsFirst = []trade.Flag{
	trade.DoubleAfterDecision, trade.Contradicted, trade.Changed, trade.Cancelled,
	trade.MissingInERP, trade.DeletedRemote,
}

func (p *homeRoutes) showHome(q *web.Request) error {
	p.causes.Expect()
	page, err := p.home(q)
	if err != nil {
		return err
	}
	return q.Page(http.StatusOK, "home", page)
}

func (p *homeRoutes) home(q *web.Request) (*homePage, error) {
	page := &homePage{}
	var counts []map[trade.State]int
	for _, job := range p.jobs.Jobs() {
		h := homeJob{Job: job}
		states, err := p.homeJob(q, &h, page)
		if err != nil {
			return nil, err
		}
		counts = append(counts, states)
		page.Jobs = append(page.Jobs, h)
	}
	page.All = sum(page.Jobs, counts)
	page.Live, _ = p.jobs.Progress()
	var err error
	page.Chart, err = p.days.chart(q.Context(), p.runs, q.Site.Now(), q.Site.Zone)
	return page, err
}

// homeJob reads one job, and adds what needs a person.
func (p *homeRoutes) homeJob(q *web.Request, h *homeJob, page *homePage) (map[trade.State]int, error) {
	var err error
	if h.Status, err = p.totals.JobStatus(q.Context(), h.Name); err != nil {
		return nil, err
	}
	if h.Status.State != trade.Idle && h.Status.State != trade.Running && h.Status.Stop != nil {
		h.Stop = p.words.Stop(*h.Status.Stop, q.Lang)
		page.Todo = append(page.Todo, todo{
			Key: "todo.job." + string(h.Status.State), State: "stopped", Job: h.Name,
			Text: h.Stop,
		})
	}
	tallies, err := p.totals.Counts(q.Context(), h.Name)
	if err != nil {
		return nil, err
	}
	states := map[trade.State]int{}
	for _, t := range tallies {
		states[t.State] += t.Count
	}
	cursor, err := p.totals.Cursor(q.Context(), h.Name)
	if err != nil {
		return nil, err
	}
	h.Truth = truthOf(h.Name, states, cursor)
	for _, state := range statesFirst {
		if n := states[state]; n > 0 {
			page.Todo = append(page.Todo,
				todo{
					Key: "todo." + string(state), State: string(state), Job: h.Name, Count: n,
					Query: rowsQuery(h.Name, "state", string(state)),
				})
		}
	}
	if n := states[trade.Waiting]; n > 0 { // what they wait for, and who can cure it, is told by cause
		page.Todo = append(page.Todo, todo{
			Key: "todo.waiting", State: string(trade.Waiting), Job: h.Name, Count: n,
			Query: "/pending",
		})
	}
	flags, err := p.totals.FlagCounts(q.Context(), h.Name)
	if err != nil {
		return nil, err
	}
	for _, flag := range flagsFirst {
		if n := flags[flag]; n > 0 {
			page.Todo = append(page.Todo,
				todo{
					Key: "todo.flag." + string(flag), State: "held", Job: h.Name, Count: n,
					Query: rowsQuery(h.Name, "flag", string(flag)),
				})
		}
	}
	runs, err := p.runs.Runs(q.Context(), h.Name, 1)
	if len(runs) > 0 {
		h.Last = &runs[0]
	}
	return states, err
}

func truthOf(job string, states map[trade.State]int, cursor trade.Cursor) truth {
	t := truth{Swept: cursor.SweptAt}
	if cursor.Sweep != nil {
		t.Gone, t.Found = cursor.Sweep.Gone, &cursor.Sweep.InScope
	}
	for _, state := range trade.States {
		if n := states[state]; n > 0 {
			t.Known += n
			t.Parts = append(t.Parts, part{State: state, Count: n, Query: rowsQuery(job, "state", string(state))})
		}
	}
	t.Known -= t.Gone
	return t
}

// sum is the line of truth of all jobs.
func sum(jobs []homeJob, counts []map[trade.State]int) truth {
	all := map[trade.State]int{}
	for _, states := range counts {
		for state, n := range states {
			all[state] += n
		}
	}
	t := truthOf("", all, trade.Cursor{})
	for _, j := range jobs {
		t.Gone += j.Truth.Gone
		t.Known -= j.Truth.Gone
	}
	return t
}

// rowsQuery is the address of the rows of a job ("" = all) with one more condition.
func rowsQuery(job, name, value string) string {
	query := url.Values{name: {value}}
	if job != "" {
		query.Set("job", job)
	}
	return "/rows?" + query.Encode()
}
