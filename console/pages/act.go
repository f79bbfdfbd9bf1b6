package pages

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// stepsShown is how many rows of a plan are shown.
const stepsShown = 20

// actPage is a plan to confirm, or its result.
type actPage struct {
	Act    string
	Order  acts.Order
	Path   string // target of the form
	Back   string
	Shown  string // the key of the row, documents masked; "" for a group
	Plan   *acts.RowPlan
	Steps  []stepView         // the first ones
	More   int                // number of further steps
	Count  bool               // the number of rows must be typed
	Fault  string             // key of a phrase: why it was not done
	Other  *trade.AuditRecord // the act of another person that changed the row
	Reason string

	Doubles string // what a person must declare, as a part of a phrase's key: two, absent; "" = nothing
	Checked bool   // the person declared it
}

// stepView is one row of a plan, as it is shown.
type stepView struct {
	acts.RowStep
	Shown  string
	Reason string
	Known  []string          // what is known to exist on the platform
	Beside *beside           // the row beside the one that it was compared with; nil: none
	codes  map[string]string // by id of the platform: what the ERP calls it
}

// Called returns what the ERP calls the id that was sent in a field, with its name; "" = it is no id of the
// de-para.
func (s stepView) Called(r acts.FieldReading) string {
	if r.Sent == nil {
		return ""
	}
	if _, err := trade.ParseID(*r.Sent); err != nil {
		return ""
	}
	return s.codes[*r.Sent]
}

// stepOf returns one row of a plan, as it is shown.
func (p *Pages) stepOf(q *web.Request, s acts.RowStep) (stepView, error) {
	compared, err := p.besideOf(q, s.Before, s.Counterpart)
	return stepView{
		RowStep: s, Shown: q.Voice().SpacedKey(s.Key), Reason: q.Voice().Key(p.office.Voice(q.Lang).Reason(s.Before)),
		Known: p.knownOf(s, q.Lang), Beside: compared,
	}, err
}

// Sent returns the fields that were sent for the row, or that the act would send.
func (s stepView) Sent() []acts.FieldReading {
	if s.After.State == trade.Pending {
		return acts.SentFields(s.After)
	}
	return acts.SentFields(s.Before)
}

func (p *Pages) showSteps(q *web.Request, page *actPage, plan acts.RowPlan) error {
	page.Plan, page.Steps = &plan, nil
	for i, s := range plan.Steps {
		if i == stepsShown {
			page.More = len(plan.Steps) - i
			break
		}
		step, err := p.stepOf(q, s)
		if err != nil {
			return err
		}
		page.Steps = append(page.Steps, step)
		if s.MayDouble && s.Refused == acts.NotRefused {
			page.Doubles = doublesOf(askOf(s.Before, s.Attempts))
		}
	}
	page.Count = plan.Count() > typeAbove
	return nil
}

// actOnRow shows what an act on one row would do. If there is a form with a mark, it does the plan that was
// shown, provided that the form is valid.
func (p *Pages) actOnRow(q *web.Request) error {
	// Of these acts only the retry of a single row may make a record twice, and its plan says so. Rows that
	// may be on the platform are decided on the page of doubts, one by one.
	act := q.PathValue("act")
	if !slices.Contains(acts.Named(acts.SomeRows, acts.AllRows), act) {
		return web.ErrNotFound
	}
	entry, err := p.entryOf(q)
	if err != nil {
		return err
	}
	at := "/rows/" + strconv.FormatInt(entry.ID, 10)
	// planned as if the person had declared it, so that the plan shows the declaration to make
	order := acts.Order{Act: act, Job: entry.Job, Keys: []string{entry.Key}, Checked: act == acts.ActRetry}
	page := &actPage{
		Act: act, Order: order, Path: at + "/" + act, Back: at,
		Shown: q.Voice().SpacedKey(entry.Key),
	}
	plan, err := p.office.Plan(q.Context(), order)
	if err != nil {
		return err
	}
	if err := p.showSteps(q, page, plan); err != nil {
		return err
	}
	mark := q.PostForm.Get("mark")
	if mark == "" {
		return q.Page(http.StatusOK, "act", page)
	}
	page.Reason, page.Fault = Reason(q)
	page.Checked = q.PostForm.Get("checked") == "1"
	order.Checked = page.Checked
	switch {
	case plan.Mark() != mark:
		return p.actMoved(q, page, plan)
	case plan.Count() == 0:
		page.Fault = "This is not possible now; the plan shows why."
	case page.Fault == "" && page.Doubles != "" && !page.Checked:
		page.Fault = notChecked
	case page.Fault == "" && !typedFits(q, plan.Count()):
		page.Fault = wrongCount
	}
	if page.Fault != "" {
		return q.Page(http.StatusUnprocessableEntity, "act", page)
	}
	done, err := p.office.Do(q.Context(), order, mark, q.Person(page.Reason))
	if err != nil {
		return err
	}
	if done.Asked != nil {
		return Asked(q, done.Asked)
	}
	if done.Moved {
		return p.actMoved(q, page, done)
	}
	q.Tell("act." + page.Act)
	if len(page.Order.Keys) == 1 && (page.Act == acts.ActRetry || page.Act == acts.ActReopen) { // the next run does it
		return q.Redirect(orderPath(q, page.Back, page.Order.Job))
	}
	return q.Redirect(page.Back)
}

// actMoved shows that the row has changed since the plan was shown, and who changed it.
func (p *Pages) actMoved(q *web.Request, page *actPage, now acts.RowPlan) error {
	page.Fault = planMoved
	if err := p.showSteps(q, page, now); err != nil {
		return err
	}
	if len(page.Order.Keys) == 1 {
		last, err := p.office.AuditOf(q.Context(), page.Order.Job+" "+page.Order.Keys[0], 1)
		if err != nil {
			return err
		}
		if len(last) == 1 && q.Site.Now().Sub(last[0].At) < time.Hour {
			page.Other = &last[0]
		}
	}
	return q.Page(http.StatusConflict, "act", page)
}
