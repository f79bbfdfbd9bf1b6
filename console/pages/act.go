// Plans of acts, and what came of them.

package pages

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// stepsShown is how many rows of a plan are shown.
const stepsShown = 20

// actPage is the plan of an act on rows or on a job, or what became of it.
type actPage struct {
	orderForm
	selection
	progress
	Act     string
	Title   string
	Says    string // what the act does
	Notes   []string
	Alarms  []string     // what is known to exist of rows that it may make twice
	Goes    trade.Figure // what a release lets go on
	Asked   []request    // to release the job already; nobody orders it twice
	Refused string       // why it cannot be done to a job; "" = it can, or it is on rows
	Plan    office.ManyPlan
	Steps   []stepView         // its first rows
	About   string             // a sentence about the row of a doubt
	Differs bool               // the platform's record differs from what was sent
	Changes *changedPage       // what is acknowledged; nil: it is not of the list of changes
	Several bool               // it is on rows of a cause, a filter or a list
	Done    *office.ManyDone   // nil: it was not done, or all of it
	Broke   string             // number of the error after which nothing more was done; "" = there was none
	Other   *trade.AuditRecord // the act of another person that changed the row

	doubt    bool // it decides a doubt
	changed  []office.ChangedRow
	versions map[trade.ParentKey]int64 // of the rows of the list of changes
}

// Most returns how many rows one order may be for.
func (selection) Most() int { return office.MaxRowsPerAct }

// stepView is one row of a plan, as it is shown.
type stepView struct {
	acts.RowStep
	Shown  string
	Reason string
	Known  []string          // what is known to exist on the platform
	Beside *comparison       // the row beside the one that it was compared with; nil: none
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
	compared, err := p.comparisonOf(q, s.Before, s.Counterpart, veil{})
	return stepView{
		RowStep: s, Shown: q.Voice().SpacedKey(s.Key), Reason: q.Voice().Key(p.office.Voice(q.Lang).Reason(s.Before)),
		Known: trade.Map(p.office.Voice(q.Lang).Known(s), view.Mask), Beside: compared,
	}, err
}

// Sent returns the fields that were sent for the row, or that the act would send.
func (s stepView) Sent() []acts.FieldReading {
	if s.After.State == trade.Pending {
		return acts.SentFields(s.After)
	}
	return acts.SentFields(s.Before)
}

// selection is what a form or an address names for an order: a row, a cause, or a filter.
type selection struct {
	What   string // in words
	Chips  map[string]rowChip
	Orders []acts.Order
	Many   bool        // too much is selected
	More   bool        // there are more rows of the cause, for the next order
	Entry  trade.Entry // the row, if it is one
}

// selected returns what a form names for an act. It sets what the form below the plan must send again, and
// where its person came from.
func (p *Pages) selected(q *web.Request, act string, form url.Values, below *orderForm) (of selection, err error) {
	asked := url.Values{}
	below.Hidden = asked
	for _, name := range []string{"row", "cause", "filter"} {
		if text := form.Get(name); text != "" || name == "filter" && form.Has(name) { // no filter: all rows
			asked.Set(name, text)
		}
	}
	switch {
	case asked.Has("row"):
		of.Entry, err = p.office.EntryByID(q.Context(), Number(asked.Get("row")))
		if err != nil {
			return of, err
		}
		below.Back = "/rows/" + strconv.FormatInt(of.Entry.ID, 10)
		of.Orders = []acts.Order{{Act: act, Job: of.Entry.Job, Keys: []string{of.Entry.Key}}}
	case asked.Has("cause"):
		stuck, err := p.causes.Stuck(q.Context(), q.Lang, true)
		if err != nil {
			return of, err
		}
		below.Back = "/pending"
		key := asked.Get("cause")
		if i := slices.IndexFunc(stuck.Causes, func(c office.Cause) bool { return c.Key == key }); i >= 0 {
			of.What = stuck.Causes[i].Advice.What
			of.Orders, of.More = p.office.OfCause(act, key)
			of.Many = of.More && act == acts.ActResync // the next one would read the same rows
		}
	case asked.Has("filter"):
		values, err := url.ParseQuery(asked.Get("filter"))
		if err != nil {
			return of, web.BadRequest("filter")
		}
		f, err := readFilter(values, q.Site.Zone)
		if err != nil {
			return of, err
		}
		asked.Set("filter", f.values("").Encode())
		below.Back, of.Chips = "/rows?"+asked.Get("filter"), p.chips(q, f)
		if f.Job != "" {
			of.Chips["job"] = rowChip{Text: p.Titles(q.Lang).Of(f.Job)}
		}
		of.Orders, of.Many, err = p.office.Selected(q.Context(), act, true, f.RowQuery)
		return of, err
	}
	return of, nil
}

// act shows what an act would do. If a form has the mark of that plan, it does it on each row that is
// still as it was then, and shows the others.
func (p *Pages) act(q *web.Request) error {
	act, known := acts.ActNamed(q.PathValue("act"))
	many := len(q.Form["row"]) > 1 && !q.Form.Has("done")
	if act.On == acts.OneRow && !many || act.On == acts.OneJob { // only what is on many may take long
		ctx, cancel := context.WithTimeout(q.Context(), web.AnswerWithin)
		defer cancel()
		q.Request = q.WithContext(ctx)
	}
	switch {
	case !known || act.On == acts.Other:
		return web.ErrNotFound
	case act.On == acts.OneJob:
		return p.actOnJob(q, act.Name)
	}
	page, err := p.chooseRows(q, act)
	if err != nil {
		return err
	}
	if page.doubt && !decidable(page.Entry, act.Name) {
		return p.doubtFor(q, page.Entry, act.Name)
	}
	marked := page.Changes != nil || page.Exact
	if marked && len(page.Hidden["row"])+len(page.Hidden["group"]) == 0 {
		return q.Done("changed.unmarked", page.Back)
	}
	mark := q.PostForm.Get("mark")
	plan, shown := p.office.StoredPlan(mark, q.Person(""))
	// the checks below are those of this act on this row
	shown = shown && plan.Act == act.Name && (page.Entry.ID == 0 ||
		plan.Rows == 1 && len(plan.Shown) == 1 && plan.Shown[0].Before.ID == page.Entry.ID)
	if !shown && !page.Many {
		plan, err = p.planRows(q, page)
		if err != nil {
			return err
		}
	}
	if err := p.fillAct(q, page, plan); err != nil {
		return err
	}
	if mark == "" {
		status := http.StatusOK
		if page.doubt && page.Mark == "" {
			status = http.StatusUnprocessableEntity
		}
		return q.Page(status, "act", page)
	}
	if page.Mark == mark && (shown || page.Entry.ID > 0) { // for many rows once
		complete := page.read(q)
		if complete && act.Name == acts.ActResend {
			page.Fault, err = p.sessions.Prove(q, q.PostForm.Get("password"))
			if err != nil {
				return err
			}
		}
		if page.Fault != "" {
			return q.Page(http.StatusUnprocessableEntity, "act", page)
		}
		answered, err := p.doRows(q, page)
		if err != nil || answered {
			return err
		}
		plan, err = p.planRows(q, page)
		if err != nil {
			return err
		}
		if err := p.fillAct(q, page, plan); err != nil {
			return err
		}
	}
	if page.doubt {
		page.Entry, err = p.office.EntryByID(q.Context(), page.Entry.ID)
		if err != nil {
			return err
		}
		if !decidable(page.Entry, act.Name) {
			return p.doubtFor(q, page.Entry, act.Name)
		}
	}
	page.Reason, page.Fault = q.PostForm.Get("reason"), planMoved
	if page.Entry.ID > 0 {
		last, err := p.office.AuditOf(q.Context(), page.Entry.Job+" "+page.Entry.Key, 1)
		if err != nil {
			return err
		}
		if len(last) == 1 && q.Site.Now().Sub(last[0].At) < time.Hour {
			page.Other = &last[0]
		}
	}
	return q.Page(http.StatusConflict, "act", page)
}

// chooseRows returns the page of an act on the rows that a form or an address names. What may be on the
// platform is decided from the page of its doubt, one by one.
func (p *Pages) chooseRows(q *web.Request, act acts.Act) (*actPage, error) {
	v := q.Voice()
	page := &actPage{Act: act.Name, Title: v.T("act." + act.Name), doubt: q.Form.Has("done")}
	page.orderForm = orderForm{
		Path: "/act/" + act.Name, Label: "act.reason", Button: "act." + act.Name, Leave: "act.back",
	}
	if act.Name == acts.ActAdopt && !page.doubt && q.Form.Has("only") {
		return page, p.chooseSame(q, page)
	}
	if act.On == acts.OneRow && !page.doubt {
		return nil, web.ErrNotFound
	}
	if act.Name == acts.ActAcknowledge {
		page.Label = "act.evidence"
		if q.Form.Has("flag") {
			return page, p.chooseChanged(q, page)
		}
	}
	var err error
	page.selection, err = p.selected(q, act.Name, q.Form, &page.orderForm)
	switch {
	case err != nil:
		return nil, err
	case page.Entry.ID == 0 && (page.doubt || act.On != acts.AllRows), page.doubt && !v.Has("doubt.sure."+act.Name):
		return nil, web.BadRequest("form")
	case page.Entry.ID == 0 && !page.Hidden.Has("cause") && len(page.Chips) == 0: // all that there is
		return nil, web.BadRequest("group")
	case page.Entry.ID == 0:
		page.Several = true
		if page.More {
			page.Notes = append(page.Notes, v.T("There are more rows than one order can take; the next order takes the rest."))
		}
		for i := range page.Orders {
			page.Orders[i].Filtered = true
		}
		if page.Hidden.Has("filter") {
			page.Title += ": " + v.T("act_many.title")
		}
		return page, nil
	}
	order := &page.Orders[0]
	order.Checked = act.Name == acts.ActResend // which always needs the declaration
	page.What = p.Titles(q.Lang).Of(order.Job) + " " + v.SpacedKey(page.Entry.Key)
	if !page.doubt {
		return page, nil
	}
	page.progress.Done = int(Number(q.Form.Get("done")))
	page.Only, err = queueOf(q)
	if err != nil {
		return nil, err
	}
	order.ID, order.NoID = strings.TrimSpace(q.Form.Get("id")), q.Form.Get("no_id") != ""
	if order.NoID { // what was typed is not the id
		order.ID = ""
	}
	page.Hidden.Set("done", strconv.Itoa(page.progress.Done))
	page.Hidden.Set("id", order.ID)
	for _, name := range []string{"only", "no_id"} {
		page.Hidden.Set(name, q.Form.Get(name))
	}
	page.What = p.Titles(q.Lang).Of(order.Job) + " " + page.Entry.Shown.Masked().Lead(v.Key(page.Entry.Key))
	page.Back = fmt.Sprintf("/doubts/%d?%s", page.Entry.ID, page.Way())
	page.Label, page.Leave = "Reason (recorded in the audit)", "Back"
	page.Suggest = "doubt.reason." + act.Name
	page.Title, page.Says = v.T("doubt.sure."+act.Name), v.T("doubt.plan."+act.Name)
	switch {
	case act.Name == acts.ActDismiss:
		page.Button = "Dismiss"
	case order.NoID:
		page.Title, page.Says = v.T("doubt.no_id"), v.T("doubt.plan.no_id")
	case act.Gives:
		page.Says = v.T("doubt.plan.adopt", order.ID)
	case act.Name == acts.ActResend && !p.sessions.Proved(q):
		page.Proof = "/doubts/" + strconv.FormatInt(page.Entry.ID, 10)
	}
	of, err := p.office.Fields(q.Context(), page.Entry)
	page.About = view.Mask(sentence(v, page.Entry, office.AskedQuantity(page.Entry), of.Fields, office.Field.Asked))
	return page, err
}

// planRows plans the orders of a page. That a person must declare something about a row is not a refusal
// here: the plan is shown with what must be declared.
func (p *Pages) planRows(q *web.Request, page *actPage) (office.ManyPlan, error) {
	for {
		plan, err := p.office.PlanMany(q.Context(), page.Orders, page.versions, q.Person(""))
		if err != nil || page.Entry.ID == 0 || len(plan.Not) != 1 {
			return plan, err
		}
		switch order := &page.Orders[0]; {
		case plan.Not[0].Why == acts.Differs && page.doubt && !order.DespiteDifferences:
			order.DespiteDifferences = true
		case plan.Not[0].Why == acts.NotChecked && !order.Checked:
			order.Checked = true
		default:
			return plan, nil
		}
	}
}

// fillAct shows a plan, with what a person must declare.
func (p *Pages) fillAct(q *web.Request, page *actPage, plan office.ManyPlan) error {
	v := q.Voice()
	page.Plan, page.Count, page.Mark, page.Steps = plan, plan.Does.Rows, "", nil
	page.Warn, page.Check, page.Differs = "", "", false
	if plan.Does.Rows > 0 {
		page.Mark = plan.Mark
	}
	shown := plan.Shown
	if page.Entry.ID > 0 && len(plan.Not) > 0 {
		shown = plan.Not[0].Some
	}
	for _, s := range shown {
		step := stepView{RowStep: s}
		if !page.Exact { // each of those is equal to the one that it was compared with
			var err error
			step, err = p.stepOf(q, s)
			if err != nil {
				return err
			}
		}
		page.Steps = append(page.Steps, step)
		if s.MayDouble && s.Refused == acts.NotRefused {
			doubles := doublesOf(askOf(s.Before, s.Attempts))
			page.Warn, page.Check, page.Button = "act.doubles."+doubles, "act.checked."+doubles, "act.go."+doubles
		}
		if r := s.Reading; r != nil && (r.Differ > 0 || r.Same == 0) {
			page.Differs, page.Check = true, "doubt.despite"
		}
	}
	if page.Act == acts.ActResend {
		page.Warn, page.Check, page.Button = "doubt.absent.never", "I have checked on the platform, and the record is not there", "act.resend"
	}
	switch {
	case page.doubt && page.Mark == "":
		page.Says = ""
	case page.doubt:
	case page.Exact:
		page.Says, page.Button = v.T("doubt.same.plan"), v.T("act.adopt")+" ("+v.Number(page.Count)+")"
	case page.Act == acts.ActRetry && page.Warn == "":
		page.Says = v.T("act.retry.what") + " " + v.T("act.retry.safe")
	default:
		page.Says = v.T("act." + page.Act + ".what")
	}
	if page.Changes != nil {
		return p.fill(q, page.Changes, page.changed, 0)
	}
	return nil
}

// doRows does the plan of a page. It reports whether it has answered; otherwise nothing was done, because
// what was shown has changed.
func (p *Pages) doRows(q *web.Request, page *actPage) (answered bool, err error) {
	done, err := p.office.DoMany(q.Context(), page.Mark, q.Person(page.Reason))
	status := http.StatusOK
	if err != nil && done.Done+len(done.Asked) > 0 {
		if f := q.Report(err); f != nil {
			page.Broke, status, err = q.ID, f.Status, nil
		}
	}
	switch {
	case err != nil:
		return false, err
	case done.Lost, page.Entry.ID > 0 && len(done.Not) > 0:
		return false, nil
	case len(done.Asked) == 1 && done.Done+len(done.Not) == 0 && page.Broke == "": // nothing else is to be told
		return true, Asked(q, done.Asked[0].Approval)
	case len(done.Not)+len(done.Asked) > 0 || page.Broke != "": // not the whole plan was done
		page.Done = &done
		return true, q.Page(status, "act", page)
	}
	back := page.Back
	if page.doubt {
		page.progress.Done++
		back, err = p.next(q, page.Entry, page.progress)
		if err != nil {
			return false, err
		}
	}
	if page.doubt || page.Exact {
		return true, q.Done("doubt."+page.Act, back)
	}
	if page.Act == acts.ActRetry || page.Act == acts.ActReopen { // the next run does it
		back = orderPath(q, back, done.Jobs...)
	}
	return true, q.Done("act."+page.Act, back)
}

// actOnJob shows what an act on a job would do, or does it, with a note for other people.
func (p *Pages) actOnJob(q *web.Request, act string) error {
	page, plan, err := p.jobPage(q, act)
	if err != nil {
		return err
	}
	mark := q.PostForm.Get("mark")
	switch {
	case page.Refused != "":
		return q.Page(http.StatusConflict, "act", page)
	case mark == "":
		return q.Page(http.StatusOK, "act", page)
	}
	complete := page.read(q)
	if !complete {
		return q.Page(http.StatusUnprocessableEntity, "act", page)
	}
	back := page.Back
	if act == acts.ActRun {
		back = orderPath(q, back, plan.Job) // the run may end before the order is answered
	}
	if mark == page.Mark {
		plan, err = p.office.DoJob(q.Context(), plan, q.Person(page.Reason))
	}
	switch {
	case err != nil:
		return err
	case plan.Asked != nil:
		return Asked(q, plan.Asked)
	case plan.Done:
		return q.Done("schedules."+act, back)
	}
	again, _, err := p.jobPage(q, act)
	if err != nil {
		return err
	}
	again.Reason, again.Fault = page.Reason, planMoved
	return q.Page(http.StatusConflict, "act", again)
}

// stopReleased returns why a job is stopped, for the page that releases it: it names its own button.
func (p *Pages) stopReleased(q *web.Request, stop trade.Stop) string {
	v := q.Voice()
	return strings.ReplaceAll(p.office.AdviseStop(&stop, q.Lang).What, v.T("jobact.see"), v.T("jobact.release"))
}

// jobPage returns the plan of what a form orders for a job, and its page.
func (p *Pages) jobPage(q *web.Request, act string) (*actPage, acts.JobPlan, error) {
	v, page, name := q.Voice(), &actPage{Act: act}, "jobact."+act
	order := acts.Order{
		Act:     act,
		Job:     q.Form.Get("job"),
		Checked: q.PostForm.Get("checked") == "1",
		Sweep:   act == acts.ActRun && q.Form.Get("sweep") == "1",
	}
	if p.jobNamed(order.Job) == nil {
		return nil, acts.JobPlan{}, web.ErrNotFound
	}
	plan, err := p.office.PlanJob(q.Context(), order, q.Person(q.PostForm.Get("reason")))
	if err != nil {
		return nil, plan, err
	}
	page.orderForm = orderForm{
		Path: "/act/" + act, Hidden: url.Values{"job": {order.Job}}, Mark: plan.Mark(),
		Label: "Reason or note (recorded in the audit)", Button: name, Back: "/routines", Leave: "Back",
	}
	how := name + ".how"
	if plan.Sweep {
		name, how = "Complete sweep now", "jobact.sweep.how"
		page.Hidden.Set("sweep", "1")
	}
	title := p.Titles(q.Lang).Of(plan.Job)
	page.Title = v.T(name) + ": " + title
	if plan.Refused != acts.NotRefused {
		page.Mark = ""
		page.Refused = v.T("Not possible for %s: %s", title, v.T("refusal."+string(plan.Refused)))
		return page, plan, nil
	}
	page.Says = v.T(how)
	release := plan.Release
	if release == nil {
		return page, plan, nil
	}
	page.Asked, err = p.askedFor(q, order.Job, "")
	if plan.Before.Stop != nil {
		page.Notes = append(page.Notes, p.stopReleased(q, *plan.Before.Stop))
	}
	if release.Sweep != nil {
		page.Notes = append(page.Notes, v.T("schedules.lets.sweep"))
	}
	if err == nil {
		page.Goes, _, err = p.goesWith(q, order)
	}
	if err != nil {
		return nil, plan, err
	}
	if release.Exists != nil {
		page.Alarms = p.office.Voice(q.Lang).Exists(release.Exists)
		page.Check = "I have checked: the new rows are no documents that the platform already has"
	}
	return page, plan, nil
}
