package console

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/safrasync/safrasync/trade"
)

var actRoutes = []route{
	{method: http.MethodGet, path: "/rows/{id}/{act}", needs: trade.Accountant, handle: showAct},
	{method: http.MethodPost, path: "/rows/{id}/{act}", needs: trade.Accountant, handle: actOnRow},
	{method: http.MethodPost, path: "/acts/{act}", needs: trade.Accountant, handle: actOnGroup},
}

// stepsShown is how many rows of a plan are shown.
const stepsShown = 20

// groupActs are the acts that can be ordered for many rows: those by which nothing can be doubled or hidden.
var groupActs = []Act{Retry, Dismiss, Reopen, Acknowledge}

// actPage is a plan, to be confirmed, or what became of it.
type actPage struct {
	Act    Act
	Order  Order
	Path   string // that the form goes to
	Back   string
	Shown  string             // the key of the row, documents masked; "" for a group
	Plan   *Plan              // nil: it takes more to make one
	Steps  []stepView         // the first ones
	More   int                // and so many others
	Count  bool               // the number must be typed
	Prove  bool               // the password must be given
	Fault  string             // key of a phrase: why it was not done
	Other  *trade.AuditRecord // who was first
	Reason string
	Wait   time.Duration
}

// stepView is one row of a plan, as people read it.
type stepView struct {
	Step
	Shown  string
	Reason string
	Tried  []attemptView
	Holder string
}

func actOf(q *request) (Act, error) {
	act := Act(q.PathValue("act"))
	if !slices.Contains(Acts, act) {
		return "", errNotFound
	}
	return act, nil
}

// showAct shows what an act on one row would do. A second sending and an adoption take more than the act to be planned.
func showAct(q *request) error {
	act, err := actOf(q)
	if err != nil {
		return err
	}
	entry, err := q.row()
	if err != nil {
		return err
	}
	page := q.actPage(Order{Act: act, Job: entry.Job, Keys: []string{entry.Key}}, entry)
	if act != Adopt && act != Resend {
		if err := q.plan(page); err != nil {
			return err
		}
	}
	return q.page(http.StatusOK, "act", page)
}

// actOnRow plans an act on one row, and does what a plan has shown.
func actOnRow(q *request) error {
	act, err := actOf(q)
	if err != nil {
		return err
	}
	entry, err := q.row()
	if err != nil {
		return err
	}
	order := Order{
		Act: act, Job: entry.Job, Keys: []string{entry.Key}, ID: strings.TrimSpace(q.PostFormValue("remote_id")), NoID: q.PostFormValue("no_id") != "",
		DespiteDifferences: q.PostFormValue("despite_differences") != "", Checked: q.PostFormValue("checked") != "",
	}
	if order.NoID {
		order.ID = ""
	}
	return q.act(q.actPage(order, entry))
}

// actOnGroup plans and does one act on all rows of a job in some states and with some causes.
func actOnGroup(q *request) error {
	act, err := actOf(q)
	if err != nil {
		return err
	}
	job := q.PostFormValue("job")
	if !slices.Contains(groupActs, act) || !slices.ContainsFunc(q.c.Work.Jobs(), func(j Job) bool { return j.Name == job }) {
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

func (q *request) actPage(o Order, entry trade.Entry) *actPage {
	at := "/rows/" + strconv.FormatInt(entry.ID, 10)
	return &actPage{Act: o.Act, Order: o, Path: at + "/" + string(o.Act), Back: at, Shown: maskKey(entry.Key)}
}

// plan fills in what the order would do.
func (q *request) plan(page *actPage) error {
	plan, err := q.c.Work.Plan(q.Context(), page.Order)
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
		view := stepView{Step: s, Shown: maskKey(s.Key), Reason: maskText(q.c.Work.Reason(s.Before, q.lang))}
		if s.Holder != (trade.ParentKey{}) {
			view.Holder = s.Holder.Job + " " + maskKey(s.Holder.Key)
		}
		for _, a := range s.Attempts {
			tried := attemptView{Attempt: a}
			tried.Ended, tried.Phase = q.c.Work.Attempt(a, q.lang)
			view.Tried = append(view.Tried, tried)
		}
		page.Steps = append(page.Steps, view)
	}
	page.Count = plan.Possible() > typeAbove
	page.Prove = page.Act == Resend && !q.proved()
}

// act shows the plan of an order that was not shown yet; else it does what was shown, if the form is right.
func (q *request) act(page *actPage) error {
	page.Reason = strings.TrimSpace(q.PostFormValue("reason"))
	mark := q.PostFormValue("mark")
	if err := q.plan(page); err != nil {
		return err
	}
	if mark == "" {
		return q.page(http.StatusOK, "act", page)
	}
	status, err := q.ready(page, mark)
	if err != nil {
		return err
	}
	if page.Fault != "" {
		return q.page(status, "act", page)
	}
	done, err := q.c.Work.Do(q.Context(), page.Order, mark, q.person(page.Reason))
	if err != nil {
		return err
	}
	if done.Moved {
		if err := q.moved(page, done); err != nil {
			return err
		}
		return q.page(http.StatusConflict, "act", page)
	}
	q.tell("act." + string(page.Act))
	return q.redirect(page.Back)
}

// ready tells whether everything is there that a confirmation needs.
func (q *request) ready(page *actPage, mark string) (status int, err error) {
	n := utf8.RuneCountInString(page.Reason)
	switch {
	case page.Plan.Mark != mark:
		return http.StatusConflict, q.moved(page, *page.Plan)
	case page.Plan.Possible() == 0:
		page.Fault = "act.impossible"
	case n < reasonLeast || n > reasonMost:
		page.Fault = "act.no_reason"
	case page.Count && strings.TrimSpace(q.PostFormValue("count")) != strconv.Itoa(page.Plan.Possible()):
		page.Fault = "act.other_count"
	case page.Prove:
		page.Fault, err = q.prove(q.PostFormValue("password"))
		page.Prove = page.Fault != ""
		return http.StatusUnprocessableEntity, err
	}
	return http.StatusUnprocessableEntity, nil
}

// moved says that somebody, or something, was first, and shows who.
func (q *request) moved(page *actPage, now Plan) error {
	page.Fault = "act.moved"
	q.show(page, now)
	if len(page.Order.Keys) != 1 {
		return nil
	}
	last, err := q.c.Ledger.AuditOf(q.Context(), page.Order.Job+" "+page.Order.Keys[0], 1)
	if err == nil && len(last) == 1 && q.c.Now().Sub(last[0].At) < time.Hour {
		page.Other = &last[0]
	}
	return err
}
