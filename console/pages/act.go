package pages

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// actRoutes are the pages for acts on rows whose outcome is known, or that were held: on one row, or on
// all of a filter.
type actRoutes struct {
	office *office.Office
	orders orders
}

func (p *actRoutes) routes() []web.Route {
	return []web.Route{
		web.Get("/rows/{id}/{act}", trade.Accountant, p.showAct),
		web.Post("/rows/{id}/{act}", trade.Accountant, p.actOnRow),
		web.Get("/acts/{act}", trade.Accountant, p.showMany).Within(reportTakes),
		web.Post("/acts/{act}", trade.Accountant, p.doMany).Within(reportTakes),
	}
}

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
func stepOf(q *web.Request, o *office.Office, s acts.RowStep) (stepView, error) {
	compared, err := besideOf(q, o, s.Before, s.Counterpart)
	return stepView{
		RowStep: s, Shown: q.Voice().SpacedKey(s.Key), Reason: q.Voice().Key(o.Reason(s.Before, q.Lang)),
		Known: knownOf(o, s, q.Lang), Beside: compared,
	}, err
}

// Sent returns the fields that were sent for the row, or that the act would send.
func (s stepView) Sent() []acts.FieldReading {
	if s.After.State == trade.Pending {
		return acts.SentFields(s.After)
	}
	return acts.SentFields(s.Before)
}

// actOf returns an act on one or many rows. Of these only the retry of a single row may make a record
// twice, and its plan says so. Rows that may be on the platform are decided on the page of doubts, one
// by one.
func actOf(q *web.Request) (string, error) {
	act := q.PathValue("act")
	if !slices.Contains(acts.Named(acts.SomeRows, acts.AllRows), act) {
		return "", web.ErrNotFound
	}
	return act, nil
}

// showAct shows what an act on one row would do.
func (p *actRoutes) showAct(q *web.Request) error {
	page, err := p.actPage(q)
	if err != nil {
		return err
	}
	if err := p.plan(q, page); err != nil {
		return err
	}
	return q.Page(http.StatusOK, "act", page)
}

// actOnRow plans an act on one row, or does the plan that was shown.
func (p *actRoutes) actOnRow(q *web.Request) error {
	page, err := p.actPage(q)
	if err != nil {
		return err
	}
	return p.act(q, page)
}

// actPage returns the page for an act on the row that the path names.
func (p *actRoutes) actPage(q *web.Request) (*actPage, error) {
	act, err := actOf(q)
	if err != nil {
		return nil, err
	}
	entry, err := entryOf(q, p.office)
	if err != nil {
		return nil, err
	}
	at := "/rows/" + strconv.FormatInt(entry.ID, 10)
	// planned as if the person had declared it, so that the plan shows the declaration to make
	order := acts.Order{Act: act, Job: entry.Job, Keys: []string{entry.Key}, Checked: act == acts.ActRetry}
	return &actPage{Act: act, Order: order, Path: at + "/" + act, Back: at, Shown: q.Voice().SpacedKey(entry.Key)}, nil
}

// plan makes the plan of the order and fills it in.
func (p *actRoutes) plan(q *web.Request, page *actPage) error {
	plan, err := p.office.Plan(q.Context(), page.Order)
	if err != nil {
		return err
	}
	return p.show(q, page, plan)
}

func (p *actRoutes) show(q *web.Request, page *actPage, plan acts.RowPlan) error {
	page.Plan, page.Steps = &plan, nil
	for i, s := range plan.Steps {
		if i == stepsShown {
			page.More = len(plan.Steps) - i
			break
		}
		step, err := stepOf(q, p.office, s)
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

// act shows the plan of an order for the first time. If the form has a mark, it does the plan that
// was shown, provided that the form is valid.
func (p *actRoutes) act(q *web.Request, page *actPage) error {
	mark := q.PostForm.Get("mark")
	if err := p.plan(q, page); err != nil {
		return err
	}
	if mark == "" {
		return q.Page(http.StatusOK, "act", page)
	}
	fault := ""
	page.Reason, fault = Reason(q)
	page.Checked = q.PostForm.Get("checked") == "1"
	order := page.Order
	order.Checked = page.Checked
	switch {
	case page.Plan.Mark() != mark:
		return p.moved(q, page, *page.Plan)
	case page.Plan.Count() == 0:
		fault = "act.impossible"
	case fault == "" && page.Doubles != "" && !page.Checked:
		fault = "act.not_checked"
	case fault == "" && !typedFits(q, page.Plan.Count()):
		fault = "desk.count.wrong"
	}
	page.Fault = fault
	if fault != "" {
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
		return p.moved(q, page, done)
	}
	q.Tell("act." + page.Act)
	if len(page.Order.Keys) == 1 && (page.Act == acts.ActRetry || page.Act == acts.ActReopen) { // the next run does it
		return q.Redirect(p.orders.path(q, page.Back, page.Order.Job))
	}
	return q.Redirect(page.Back)
}

// moved shows that the row has changed since the plan was shown, and who changed it.
func (p *actRoutes) moved(q *web.Request, page *actPage, now acts.RowPlan) error {
	page.Fault = "desk.moved"
	if err := p.show(q, page, now); err != nil {
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
