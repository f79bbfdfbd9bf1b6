package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/safrasync/safrasync/console/view"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

var actRoutes = []route{
	{method: http.MethodGet, path: "/rows/{id}/{act}", needs: trade.Accountant, handle: showAct},
	{method: http.MethodPost, path: "/rows/{id}/{act}", needs: trade.Accountant, handle: actOnRow},
	{method: http.MethodPost, path: "/acts/{act}", needs: trade.Accountant, handle: actOnGroup},
}

// stepsShown is how many rows of a plan are shown.
const stepsShown = 20

// rowActs are the acts that can be ordered for rows, one or many: those by which nothing can be
// doubled. What may be on the platform is decided at the desk for doubts, row by row.
var rowActs = []Act{Retry, Dismiss, Reopen, Acknowledge}

// actPage is a plan, to be confirmed, or what became of it.
type actPage struct {
	Act    Act
	Order  Order
	Path   string // that the form goes to
	Back   string
	Shown  string // the key of the row, documents masked; "" for a group
	Plan   *Plan
	Steps  []stepView         // the first ones
	More   int                // and so many others
	Count  bool               // the number must be typed
	Fault  string             // key of a phrase: why it was not done
	Other  *trade.AuditRecord // who was first
	Reason string
}

// stepView is one row of a plan, as people read it.
type stepView struct {
	engine.RowStep
	Shown  string
	Reason string
}

func actOf(q *request) (Act, error) {
	act := Act(q.PathValue("act"))
	if !slices.Contains(rowActs, act) {
		return "", errNotFound
	}
	return act, nil
}

// showAct shows what an act on one row would do.
func showAct(q *request) error {
	page, err := q.actPage()
	if err != nil {
		return err
	}
	if err := q.plan(page); err != nil {
		return err
	}
	return q.page(http.StatusOK, "act", page)
}

// actOnRow plans an act on one row, and does what a plan has shown.
func actOnRow(q *request) error {
	page, err := q.actPage()
	if err != nil {
		return err
	}
	return q.act(page)
}

// actOnGroup plans and does one act on all rows of a job in some states and with some causes.
func actOnGroup(q *request) error {
	act, err := actOf(q)
	if err != nil {
		return err
	}
	job := q.PostFormValue("job")
	if !slices.ContainsFunc(q.c.Ports.Jobs.Jobs(), func(j Job) bool { return j.Name == job }) {
		return badRequest("group")
	}
	order := Order{Act: act, Job: job, Causes: q.PostForm["cause"]}
	for _, state := range q.PostForm["state"] {
		order.States = append(order.States, trade.State(state))
	}
	if len(order.States)+len(order.Causes) == 0 {
		return badRequest("group")
	}
	query := url.Values{"job": {job}}
	if len(order.States) == 1 {
		query.Set("state", string(order.States[0]))
	}
	if len(order.Causes) == 1 {
		query.Set("cause", order.Causes[0])
	}
	return q.act(&actPage{Act: act, Order: order, Path: "/acts/" + string(act), Back: "/rows?" + query.Encode()})
}

// actPage is an act on the row that the path names.
func (q *request) actPage() (*actPage, error) {
	act, err := actOf(q)
	if err != nil {
		return nil, err
	}
	entry, err := q.row()
	if err != nil {
		return nil, err
	}
	at := "/rows/" + strconv.FormatInt(entry.ID, 10)
	order := Order{Act: act, Job: entry.Job, Keys: []string{entry.Key}}
	return &actPage{Act: act, Order: order, Path: at + "/" + string(act), Back: at, Shown: view.MaskKey(entry.Key)}, nil
}

// plan fills in what the order would do.
func (q *request) plan(page *actPage) error {
	plan, err := q.c.Ports.Acts.Plan(q.Context(), page.Order)
	if err != nil {
		return err
	}
	q.show(page, plan)
	return nil
}

func (q *request) show(page *actPage, plan Plan) {
	page.Plan, page.Steps = &plan, nil
	for i, s := range plan.Steps {
		if i == stepsShown {
			page.More = len(plan.Steps) - i
			break
		}
		page.Steps = append(page.Steps, stepView{
			RowStep: s, Shown: view.MaskKey(s.Key),
			Reason: view.Mask(q.c.Ports.Words.Reason(s.Before, q.lang)),
		})
	}
	page.Count = plan.Possible() > typeAbove
}

// act shows the plan of an order that was not shown yet; else it does what was shown, if the form
// is right.
func (q *request) act(page *actPage) error {
	mark := q.PostFormValue("mark")
	if err := q.plan(page); err != nil {
		return err
	}
	if mark == "" {
		return q.page(http.StatusOK, "act", page)
	}
	fault := ""
	page.Reason, fault = q.reason()
	switch {
	case page.Plan.Mark != mark:
		return q.moved(page, *page.Plan)
	case page.Plan.Possible() == 0:
		fault = "act.impossible"
	case fault == "" && !q.typedFits(page.Plan.Possible()):
		fault = "act.other_count"
	}
	if page.Fault = fault; fault != "" {
		return q.page(http.StatusUnprocessableEntity, "act", page)
	}
	done, err := q.c.Ports.Acts.Do(q.Context(), page.Order, mark, q.person(page.Reason))
	if err != nil {
		return err
	}
	if done.Moved {
		return q.moved(page, done)
	}
	q.tell("act." + string(page.Act))
	return q.redirect(page.Back)
}

// moved says that somebody, or something, was first, and shows who.
func (q *request) moved(page *actPage, now Plan) error {
	page.Fault = "act.moved"
	q.show(page, now)
	if len(page.Order.Keys) == 1 {
		last, err := q.c.Ports.Audit.AuditOf(q.Context(), page.Order.Job+" "+page.Order.Keys[0], 1)
		if err != nil {
			return err
		}
		if len(last) == 1 && q.c.Now().Sub(last[0].At) < time.Hour {
			page.Other = &last[0]
		}
	}
	return q.page(http.StatusConflict, "act", page)
}
