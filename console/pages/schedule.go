package pages

import (
	"net/http"
	"slices"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// schedulePlan is what an act on a job would do.
type schedulePlan struct {
	Plan   acts.JobPlan
	Stop   *trade.Advice // the stop or brake that a release ends
	Reason string
	Fault  string

	Exists  []string // what is known to exist of rows that may be made twice; none: nothing may be
	Checked bool     // the person declares to have compared with the platform
}

// Lets returns what a release allows, as parts of phrases' keys.
func (p schedulePlan) Lets() (out []string) {
	r := p.Plan.Release
	if r == nil {
		return nil
	}
	if r.Brake != nil {
		out = append(out, "brake")
	}
	if r.Stop != nil {
		out = append(out, "stop")
	}
	if r.Sweep != nil {
		out = append(out, "sweep")
	}
	return out
}

// orderOn returns what a form about a job orders.
func orderOn(q *web.Request) acts.Order {
	return acts.Order{
		Act: q.PostForm.Get("act"), Job: q.PathValue("job"), Checked: q.PostForm.Get("checked") == "1",
		Sweep: q.PostForm.Get("sweep") == "1",
	}
}

func (p *Pages) planJob(q *web.Request) (schedulePlan, error) {
	act, job := q.PostForm.Get("act"), q.PathValue("job")
	if p.jobNamed(job) == nil {
		return schedulePlan{}, web.ErrNotFound
	}
	if !slices.Contains(acts.Named(acts.OneJob), act) {
		return schedulePlan{}, web.BadRequest("form")
	}
	plan, err := p.office.PlanJob(q.Context(), orderOn(q), q.Person(q.PostForm.Get("reason")))
	page := schedulePlan{
		Plan: plan, Reason: q.PostForm.Get("reason"), Checked: q.PostForm.Get("checked") == "1",
	}
	if plan.Release != nil {
		page.Exists = p.office.Voice(q.Lang).Exists(plan.Release.Exists)
	}
	if err == nil && act == acts.ActRelease && plan.Before.Stop != nil {
		page.Stop = new(p.office.AdviseStop(*plan.Before.Stop, q.Lang))
	}
	return page, err
}

func (p *Pages) planSchedule(q *web.Request) error {
	page, err := p.planJob(q)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if page.Plan.Refused != "" {
		status = http.StatusConflict
	}
	return q.Page(status, "schedules_plan", page)
}

// doSchedule does what the plan showed, with a note for other people.
func (p *Pages) doSchedule(q *web.Request) error {
	page, err := p.planJob(q)
	if err != nil {
		return err
	}
	if page.Plan.Refused != "" {
		return q.Page(http.StatusConflict, "schedules_plan", page)
	}
	page.Reason, page.Fault = Reason(q)
	if page.Fault != "" {
		return q.Page(http.StatusUnprocessableEntity, "schedules_plan", page)
	}
	told := orderPath(q, "/routines", page.Plan.Job) // the run may end before the order is answered
	done := page.Plan
	if done.Mark() == q.PostForm.Get("mark") {
		done, err = p.office.DoJob(q.Context(), done, q.Person(page.Reason))
	}
	if err != nil {
		return err
	}
	if done.Asked != nil {
		return Asked(q, done.Asked)
	}
	if done.Refused == acts.NotChecked {
		page.Fault = notChecked
		return q.Page(http.StatusUnprocessableEntity, "schedules_plan", page)
	}
	if !done.Done {
		page, err = p.planJob(q)
		if err != nil {
			return err
		}
		page.Fault = planMoved
		return q.Page(http.StatusConflict, "schedules_plan", page)
	}
	q.Tell("schedules." + done.Act)
	if done.Act == acts.ActRun {
		return q.Redirect(told)
	}
	return q.Redirect("/routines")
}
