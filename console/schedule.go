package console

import (
	"net/http"
	"slices"

	"github.com/safrasync/safrasync/trade"
)

var scheduleRoutes = []route{
	{method: http.MethodGet, path: "/schedules", needs: trade.Reader, handle: showSchedules},
	{method: http.MethodPost, path: "/schedules/{job}/plan", needs: trade.Administrator, handle: planSchedule},
	{method: http.MethodPost, path: "/schedules/{job}/do", needs: trade.Administrator, handle: doSchedule},
}

// schedulesPage lists the jobs with their times.
type schedulesPage struct {
	Jobs []scheduleShown
}

type scheduleShown struct {
	Schedule
	Stop *trade.Advice // why it does not move; nil: it does, or a person paused it
	Note string        // of the person who paused it
	Last *trade.RunReport
	Acts []string // that may help now
}

func showSchedules(q *request) error {
	schedules, err := q.c.Ports.Schedules.Schedules(q.Context(), q.lang)
	if err != nil {
		return err
	}
	var page schedulesPage
	for _, s := range schedules {
		shown := scheduleShown{Schedule: s, Acts: actsOn(s.Status)}
		if stop := s.Status.Stop; stop != nil {
			if s.Status.State == trade.Paused && stop.Brake == nil {
				shown.Note = stop.Text
			} else {
				advice := q.c.Ports.Schedules.AdviseStop(*stop, q.lang)
				shown.Stop = &advice
			}
		}
		runs, err := q.c.Ports.Runs.Runs(q.Context(), s.Job, 1)
		if err != nil {
			return err
		}
		if len(runs) > 0 {
			shown.Last = &runs[0]
		}
		page.Jobs = append(page.Jobs, shown)
	}
	return q.page(http.StatusOK, "schedules", page)
}

// jobActs are the acts on a job.
var jobActs = []string{"run", "pause", "resume", "release"}

// actsOn gives the acts that may help a job where it stands; whether they can be done the plan
// says.
func actsOn(status trade.JobStatus) []string {
	switch {
	case status.State == trade.Paused && status.Stop != nil && status.Stop.Brake != nil:
		return []string{"release"}
	case status.State == trade.Paused:
		return []string{"resume"}
	case status.State == trade.Stopped:
		return []string{"run", "release", "pause"}
	}
	return []string{"run", "pause"}
}

// schedulePlan is what an act on a job would do.
type schedulePlan struct {
	Plan   JobPlan
	Stop   *trade.Advice // what a release lets go
	Reason string
	Fault  string
}

func (q *request) planJob() (schedulePlan, error) {
	act, job := q.PostFormValue("act"), q.PathValue("job")
	if _, known := q.jobs()[job]; !known {
		return schedulePlan{}, errNotFound
	}
	if !slices.Contains(jobActs, act) {
		return schedulePlan{}, badRequest("form")
	}
	plan, err := q.c.Ports.Schedules.PlanJob(q.Context(), act, job, q.person(q.PostFormValue("reason")))
	page := schedulePlan{Plan: plan, Reason: q.PostFormValue("reason")}
	if err == nil && act == "release" && plan.Before.Stop != nil {
		advice := q.c.Ports.Schedules.AdviseStop(*plan.Before.Stop, q.lang)
		page.Stop = &advice
	}
	return page, err
}

func planSchedule(q *request) error {
	page, err := q.planJob()
	if err != nil {
		return err
	}
	status := http.StatusOK
	if page.Plan.Refused != "" {
		status = http.StatusConflict
	}
	return q.page(status, "schedules_plan", page)
}

// doSchedule does what the plan showed, with a note that others read.
func doSchedule(q *request) error {
	page, err := q.planJob()
	if err != nil {
		return err
	}
	if page.Plan.Refused != "" {
		return q.page(http.StatusConflict, "schedules_plan", page)
	}
	if page.Reason, page.Fault = q.reason(); page.Fault != "" {
		return q.page(http.StatusUnprocessableEntity, "schedules_plan", page)
	}
	done, err := q.c.Ports.Schedules.DoJob(q.Context(), page.Plan.Act, page.Plan.Job, q.PostFormValue("mark"),
		q.person(page.Reason))
	if err != nil {
		return err
	}
	if !done.Done {
		if page, err = q.planJob(); err != nil {
			return err
		}
		page.Fault = "desk.moved"
		return q.page(http.StatusConflict, "schedules_plan", page)
	}
	q.tell("schedules." + done.Act)
	return q.redirect("/schedules")
}
