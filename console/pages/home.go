package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// homeRoutes are the first page.
type homeRoutes struct {
	office *office.Office
	causes causes
	days   chartDays
}

func (p *homeRoutes) routes() []web.Route {
	return []web.Route{
		web.Get("/{$}", trade.Reader, p.showHome),
	}
}

// homePage is the first page: whether all is well, what needs a person and whom, what happened, and
// what runs next.
type homePage struct {
	Jobs  []homeJob
	All   truth
	Stops []homeJob // jobs that are stopped, paused or backing off
	Today today
	Flags []flagTask
	Live  live
	Chart chart
	Asked []trade.Approval // orders that wait for consent, the first few
	Going int              // rows that have not gone yet, although nobody need do anything about them
}

// Verdict says in numbers who must do something; "" if nobody must.
func (p *homePage) Verdict(v view.Voice) string {
	var parts []string
	if p.Today.Reading > 0 {
		parts = append(parts, v.T("home.reads", v.Rows(p.Today.Reading)))
	}
	for _, h := range p.Today.Helpers {
		parts = append(parts, v.T("home.who."+h.Key)+" "+v.RowsBehind(h.Rows, h.Behind))
	}
	changed := 0
	for _, f := range p.Flags {
		changed += f.Count
	}
	if changed > 0 {
		parts = append(parts, v.T("home.changed", v.Number(changed)))
	}
	return strings.Join(parts, "; ")
}

// Calm reports whether nothing needs a person.
func (p *homePage) Calm() bool {
	return len(p.Stops) == 0 && len(p.Today.Tasks) == 0 && len(p.Flags) == 0 && p.Today.Reading == 0
}

// Empty reports whether the ERP returned no document at all. The page then does not state that all
// is well.
func (p *homePage) Empty() bool { return len(p.All.Parts) == 0 }

// Ran reports whether a job has ever read the ERP.
func (p *homePage) Ran() bool {
	return slices.ContainsFunc(p.Jobs, func(j homeJob) bool { return j.Last != nil && !j.Last.EndedAt.IsZero() })
}

// flagTask is how many rows that were sent have a flag that needs a person.
type flagTask struct {
	Flag  trade.Flag
	Count int
	Path  string
}

// homeJob is one job on the first page.
type homeJob struct {
	office.Job
	NextRuns []time.Time
	Truth    truth
	Status   trade.JobStatus
	Stop     string // text about the stop; "" = none
	Accepted int
	// of deliveries, in kilograms; contracts and their fixations are the same grain, so they are
	// only counted
	Weight trade.Decimal
	Last   *trade.RunReport
}

// truth is the line in which every row is counted once: the rows of the ERP equal those sent plus
// those not sent, state by state.
type truth struct {
	Known int    // rows that the ledger knows and that are in the ERP
	Gone  int    // rows of the states below that the last complete sweep did not find
	Parts []part // states with rows, in the order in which they are shown
	Swept time.Time
	Found *int // distinct keys in the ERP at that time
}

type part struct {
	State trade.State
	Count int
	Query string // address of the list of rows
}

// Key returns the key of the phrase for the number of rows.
func (p part) Key() string { return "count." + string(p.State) }

// statesFirst are the states that need a person, most urgent first.
var statesFirst = []trade.State{trade.InDoubt, trade.Held, trade.Rejected, trade.Invalid}

// flagsFirst are the flags that need a person, most urgent first.
var flagsFirst = []trade.Flag{
	trade.DoubleAfterDecision, trade.Contradicted, trade.Changed, trade.Cancelled,
	trade.MissingInERP, trade.DeletedRemote, trade.Recoded,
}

// askedShown is how many orders that wait for consent are shown.
const askedShown = 5

func (p *homeRoutes) showHome(q *web.Request) error {
	p.causes.Expect()
	page, err := p.home(q)
	if err != nil {
		return err
	}
	page.Asked, err = p.office.Approvals(q.Context())
	if err != nil {
		return err
	}
	page.Asked = page.Asked[:min(len(page.Asked), askedShown)]
	return q.Page(http.StatusOK, "home", page)
}

func (p *homeRoutes) home(q *web.Request) (*homePage, error) {
	page := &homePage{}
	var counts []map[trade.State]int
	flags := map[trade.Flag]int{}
	for _, job := range p.office.Jobs() {
		h := homeJob{Job: job}
		states, err := p.homeJob(q, &h, flags)
		if err != nil {
			return nil, err
		}
		counts = append(counts, states)
		page.Jobs = append(page.Jobs, h)
		if h.Stop != "" {
			page.Stops = append(page.Stops, h)
		}
	}
	for _, flag := range flagsFirst {
		if n := flags[flag]; n > 0 {
			page.Flags = append(page.Flags, flagTask{flag, n, "/changed?flag=" + string(flag)})
		}
	}
	page.All = sum(page.Jobs, counts)
	page.Live = liveNow(p.office, q)
	stuck, err := p.causes.Stuck(q.Context(), q.Lang, q.Told() != "")
	if err != nil {
		return nil, err
	}
	page.Today = todayOf(stuck, q.Site.Now())
	known := map[string]bool{}
	for _, job := range page.Jobs {
		known[job.Name] = true
	}
	page.Chart, err = p.days.chart(q.Context(), p.office, known, q.Site.Now(), q.Site.Zone)
	if err != nil {
		// the rest of the page is shown all the same
		q.Site.Log.Warn("the chart of the first page cannot be drawn", zap.Error(err))
	}
	page.Chart.Left = left(counts)
	page.Going = page.Today.Moving
	for _, states := range counts {
		page.Going += states[trade.Pending] + states[trade.Sending]
	}
	if page.Calm() { // what waits, waits for nobody
		page.Going = page.Chart.Left
	}
	if len(page.Chart.Days) > 0 { // runs of today that have not ended
		for _, job := range page.Live.Jobs {
			page.Chart.Days[len(page.Chart.Days)-1].Sent += job.Done
		}
		page.Chart.draw()
	}
	return page, nil
}

// left returns the number of rows that have not gone yet.
func left(counts []map[trade.State]int) int {
	n := 0
	for _, states := range counts {
		for _, state := range []trade.State{
			trade.Pending, trade.Sending, trade.Waiting, trade.Invalid, trade.Rejected, trade.Held, trade.InDoubt,
		} {
			n += states[state]
		}
	}
	return n
}

// homeJob reads one job, and adds its flags to the sums.
func (p *homeRoutes) homeJob(q *web.Request, h *homeJob,
	flags map[trade.Flag]int,
) (map[trade.State]int, error) {
	var err error
	h.Status, err = p.office.JobStatus(q.Context(), h.Name)
	if err != nil {
		return nil, err
	}
	if h.Status.State != trade.Idle && h.Status.State != trade.Running && h.Status.Stop != nil {
		h.Stop = p.office.Stop(*h.Status.Stop, q.Lang)
	}
	if h.NextRuns, err = p.office.NextRuns(q.Context(), h.Name); err != nil {
		return nil, err
	}
	tallies, err := p.office.Counts(q.Context(), h.Name)
	if err != nil {
		return nil, err
	}
	states := map[trade.State]int{}
	for _, t := range tallies {
		states[t.State] += t.Count
		if t.State == trade.Accepted {
			h.Accepted += t.Count
			if kg, ok := t.Quantity.Kilograms(); ok && h.Sends != trade.OrderCommitments {
				h.Weight = h.Weight.Add(kg)
			}
		}
	}
	cursor, err := p.office.Cursor(q.Context(), h.Name)
	if err != nil {
		return nil, err
	}
	h.Truth = truthOf(h.Name, states, cursor)
	counts, err := p.office.FlagCounts(q.Context(), h.Name)
	if err != nil {
		return nil, err
	}
	for flag, n := range counts {
		flags[flag] += n
	}
	runs, err := p.office.Runs(q.Context(), h.Name, 1)
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

// sum returns the sum of all jobs' truths.
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

// rowsQuery returns the address of the rows of a job ("" = all) with one more condition.
func rowsQuery(job, name, value string) string {
	query := url.Values{name: {value}}
	if job != "" {
		query.Set("job", job)
	}
	return "/rows?" + query.Encode()
}
