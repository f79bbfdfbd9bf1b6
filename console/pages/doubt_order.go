// Deciding about a row on the desk: the plan of what a person chose, and doing it.

package pages

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/sync/acts"
)

// Doubles returns what a person must declare before the row is sent, as a part of a phrase's key.
func (p doubtPage) Doubles() string { return doublesOf(p.Ask) }

// Declares returns the key of the phrase that a person declares before the order of the plan is done;
// "" if nothing need be declared.
func (p doubtPage) Declares() string {
	switch p.Order.Act {
	case acts.ActResend:
		return "I have checked on the platform, and the record is not there"
	case acts.ActRetry:
		return "act.checked." + p.Doubles()
	}
	return ""
}

// Taken returns the id of the only record that the row may be; "" if there are none or several.
func (p doubtPage) Taken() string {
	if len(p.Hints.Like) != 1 {
		return ""
	}
	return p.Hints.Like[0].ID
}

// adoptNoID is the form's act for a record that is on the platform under an unknown id.
const adoptNoID = "adopt_no_id"

// ordered reads the form about a row. ok is false if a response has been written, because the row
// is already decided.
func (p *Pages) ordered(q *web.Request) (page doubtPage, order acts.Order, ok bool, err error) {
	page, err = p.doubtPage(q)
	if err != nil {
		return page, order, false, err
	}
	if !page.Open {
		return page, order, false, q.Page(http.StatusConflict, "doubt", page)
	}
	page.Order = doubtForm{
		Act: q.PostForm.Get("act"), ID: strings.TrimSpace(q.PostForm.Get("id")),
		Checked: q.PostForm.Get("checked") == "1", Despite: q.PostForm.Get("despite") == "1",
	}
	page.Order.Reason, page.Fault = Reason(q)
	order = acts.Order{Act: page.Order.Act, Job: page.Entry.Job, Keys: []string{page.Entry.Key}}
	switch order.Act {
	case adoptNoID:
		order.Act, order.NoID = acts.ActAdopt, true
	case acts.ActAdopt:
		order.ID = page.Order.ID
	case acts.ActResend, acts.ActRetry:
		order.Checked = true // so that the plan shows the declaration to make
	case acts.ActDismiss:
	default:
		return page, order, false, web.BadRequest("form")
	}
	if err := p.closeFor(q, &page, order.Act); err != nil {
		return page, order, false, err
	}
	if !page.Open {
		return page, order, false, q.Page(http.StatusConflict, "doubt", page)
	}
	return page, order, true, nil
}

// closeFor closes the page for an act that somebody else's decision has made impossible: the row is
// not in doubt any more.
func (p *Pages) closeFor(q *web.Request, page *doubtPage, act string) (err error) {
	if page.Unsent && act != acts.ActAdopt {
		page.Open = false
		page.Decided, err = p.decided(q, page.Entry)
	}
	return err
}

// planDoubt shows what a decision would do. It reads the record of an id back and compares it.
func (p *Pages) planDoubt(q *web.Request) error {
	page, order, ok, err := p.ordered(q)
	if err != nil || !ok {
		return err
	}
	page.Fault = ""
	return p.showPlan(q, page, order, http.StatusOK)
}

// showPlan shows a plan to confirm, or why there is none. Differences are not a refusal here; they
// are shown and confirmed separately.
func (p *Pages) showPlan(q *web.Request, page doubtPage, order acts.Order, status int) error {
	order.DespiteDifferences = false
	plan, err := p.office.Plan(q.Context(), order)
	if err == nil && plan.Steps[0].Refused == acts.Differs {
		page.Differs, order.DespiteDifferences = true, true
		plan, err = p.office.Plan(q.Context(), order)
	}
	if err != nil {
		return err
	}
	page.Plan, page.Step = &plan, plan.Steps[0]
	page.Known = p.knownOf(page.Step, q.Lang)
	if refused := page.Step.Refused; refused != "" {
		page.Plan, page.Refused, page.Wait = nil, string(refused), page.Step.Remaining
		return q.Page(http.StatusUnprocessableEntity, "doubt", page)
	}
	return q.Page(status, "doubt_plan", page)
}

// doDoubt does the plan that a person saw, if the row has not changed since. Of two people the
// second one sees who was first (F157). Then it redirects to the next doubt.
func (p *Pages) doDoubt(q *web.Request) error {
	page, order, ok, err := p.ordered(q)
	if err != nil || !ok {
		return err
	}
	sends := order.Act == acts.ActResend || order.Act == acts.ActRetry
	if sends && page.Fault == "" && !page.Order.Checked {
		page.Fault = notChecked
	}
	if order.Act == acts.ActResend && page.Fault == "" {
		page.Fault, err = p.sessions.Prove(q, q.PostForm.Get("password"))
		if err != nil {
			return err
		}
	}
	if page.Fault != "" {
		return p.showPlan(q, page, order, http.StatusUnprocessableEntity)
	}
	order.DespiteDifferences, order.Checked = page.Order.Despite, page.Order.Checked
	done, err := p.office.Do(q.Context(), order, q.PostForm.Get("mark"), q.Person(page.Order.Reason))
	if err != nil {
		return err
	}
	if done.Asked != nil {
		return Asked(q, done.Asked)
	}
	if done.Steps[0].Done {
		page.progress.Done++
		path, err := p.next(q, strconv.FormatInt(page.Entry.ID, 10), page.progress)
		if err != nil {
			return err
		}
		return q.Done("doubt."+order.Act, path)
	}
	again, err := p.doubtPage(q)
	if err != nil {
		return err
	}
	if err := p.closeFor(q, &again, order.Act); err != nil {
		return err
	}
	if !again.Open {
		return q.Page(http.StatusConflict, "doubt", again)
	}
	again.Order, again.Fault = page.Order, planMoved
	return p.showPlan(q, again, order, http.StatusConflict)
}
