package pages

import (
	"errors"
	"net/http"
	"slices"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// homePage is the first page: what can cost money, what waits for the person's own department, for
// others, and how much of the season is on the platform.
type homePage struct {
	Live   live
	Stops  []homeStop
	Today  today
	Going  int // rows that have not gone yet, although nobody need do anything about them or their job
	Season seasonShown
	Steps  []setupStep // of an installation that has sent nothing yet
}

// Calm reports whether nothing needs a person, but for what changed after it was sent.
func (p *homePage) Calm() bool {
	return len(p.Stops) == 0 && len(p.Today.Helpers) == 0 && p.Today.Doubt.Rows == 0 && p.Today.Reading == 0
}

// homeStop is a job that is stopped, paused or backing off.
type homeStop struct {
	Name   string
	Status trade.JobStatus
	Stop   string // text about the stop
	Asked  []request
}

// setupStep is a step from an empty installation to its first sent contract.
type setupStep struct {
	Key  string // of its phrases
	Path string // where it is done
	Done bool
	Now  bool // it is the next one
	Fact string
}

// statesFirst are the states that need a person, most urgent first.
var statesFirst = []trade.State{trade.InDoubt, trade.Held, trade.Rejected, trade.Invalid}

func (p *Pages) showHome(q *web.Request) error {
	page := &homePage{Live: p.liveNow(q)}
	states := map[trade.State]int{}
	ran, fault := false, "" // a run has read the ERP; why the last run of a job stopped
	for _, job := range p.office.Jobs() {
		status, err := p.office.JobStatus(q.Context(), job.Name)
		tallies, talliesErr := p.office.Counts(q.Context(), job.Name)
		runs, runsErr := p.office.Runs(q.Context(), job.Name, 1)
		if err := errors.Join(err, talliesErr, runsErr); err != nil {
			return err
		}
		if status.State != trade.Idle && status.State != trade.Running && status.Stop != nil {
			asked, err := p.askedFor(q, job.Name, "")
			if err != nil {
				return err
			}
			fault = p.office.Stop(*status.Stop, q.Lang)
			page.Stops = append(page.Stops, homeStop{job.Name, status, fault, asked})
		}
		for _, t := range tallies {
			states[t.State] += t.Count
		}
		if status.State != trade.Paused && !office.EndedByPerson(status) {
			page.Going += trade.RowsIn(tallies, trade.Pending, trade.Sending)
		}
		ran = ran || len(runs) > 0 && !runs[0].EndedAt.IsZero() && runs[0].Stopped == nil
	}
	_, flags, err := p.office.ChangedCounts(q.Context())
	stuck, stuckErr := p.causes.Stuck(q.Context(), q.Lang, q.PopFlash() != "")
	if err := errors.Join(err, stuckErr); err != nil {
		return err
	}
	var twice []task
	for _, flag := range []trade.Flag{trade.DoubleAfterDecision, trade.Contradicted} {
		if n := flags[flag]; n > 0 { // it stands before the causes
			twice = append(twice, task{
				Name: q.Voice().Flag(flag), Helper: trade.Accounting, Rows: n, Urgent: true,
				Path: "/changed?flag=" + string(flag),
			})
		}
	}
	page.Today = todayOf(q.Voice(), stuck, q.Site.Now(), q.Login.User.Role)
	page.Today.Causes = append(twice, page.Today.Causes...)
	page.Going += page.Today.Moving
	if states[trade.Accepted] == 0 {
		// The steps to the first sent contract, as far as they are done. What is behind the first one that is
		// not done is not looked at yet.
		known := len(states) > 0
		missing, wrong := 0, 0
		for _, c := range stuck.Causes {
			if c.Advice.Fixer == trade.FixReferences {
				missing += c.Rows()
			} else if c.Advice.Fixer != trade.FixNobody {
				wrong += c.Rows()
			}
		}
		page.Steps = []setupStep{
			{Key: "jobs", Path: "/routines", Done: len(p.office.Jobs()) > 0},
			{Key: "erp", Path: "/routines", Done: ran || known, Fact: fault},
			{Key: "read", Path: "/routines", Done: known},
			{Key: "references", Path: "/references", Done: known && missing == 0},
			{Key: "right", Path: "/pending?who=accounting", Done: known && wrong == 0},
			{Key: "send", Path: "/routines"},
		}
		if i := slices.IndexFunc(page.Steps, func(s setupStep) bool { return !s.Done }); i >= 0 {
			page.Steps[i].Now = true
			if page.Steps[i].Key == "read" && ran {
				page.Steps[i].Key = "found"
			}
		}
	}
	season, err := p.office.Season(q.Context())
	if err != nil { // the rest of the page is shown all the same
		q.Site.Log.Warn("the season of the first page cannot be counted", zap.Error(err))
	}
	page.Season = seasonOf(q, season)
	return q.Page(http.StatusOK, "home", page)
}
