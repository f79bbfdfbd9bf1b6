// Acts on all rows of a filter.

package pages

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// manyActs are the acts on all rows of a filter that the list offers.
var manyActs = []string{acts.ActRetry, acts.ActDismiss, acts.ActReopen}

// manyPage is the plan of an act on all rows of a filter, or what became of it.
type manyPage struct {
	Act    string
	Filter string
	Chips  []rowChip // the filter in words
	Plan   office.ManyPlan
	Steps  []stepView
	Many   bool // too much is selected
	Typed  bool // the number of rows must be typed
	Done   *manyDone
	Reason string
	Fault  string // key of a phrase
}

// Back returns the address of the list.
func (p manyPage) Back() string { return "/rows?" + p.Filter }

// Most returns how many rows one act may be ordered for.
func (p manyPage) Most() int { return office.ManyMost }

// ManyActs returns the acts on all rows of the list, with the address of the plan of each: those that
// one of the states of its filter allows. Of a list without any filter there are none.
func (p rowsPage) ManyActs() map[string]string {
	out := map[string]string{}
	for _, act := range manyActs {
		allowed := func(s trade.State) bool { return slices.Contains(acts.BulkStates(act), s) }
		fits := len(p.Filter.States) == 0 && act != acts.ActReopen || slices.ContainsFunc(p.Filter.States, allowed)
		if fits && (p.Filter.Job != "" || len(p.Chips) > 0) {
			out[act] = manyPath(act, p.Query)
		}
	}
	return out
}

// manyPath returns the address of the plan of an act on all rows of a filter.
func manyPath(act, filter string) string {
	return "/acts/" + act + "?" + url.Values{"filter": {filter}}.Encode()
}

// planMany plans the act that the path names on the rows of a filter.
func (p *actRoutes) planMany(q *web.Request, filter string) (manyPage, error) {
	page := manyPage{Act: q.PathValue("act"), Filter: filter}
	if !slices.Contains(manyActs, page.Act) {
		return page, web.ErrNotFound
	}
	values, err := url.ParseQuery(filter)
	if err != nil {
		return page, web.BadRequest("filter")
	}
	f, err := readFilter(values, q.Site.Zone)
	if err != nil {
		return page, err
	}
	page.Filter = f.values("").Encode()
	page.Chips = (&rowsRoutes{office: p.office}).chips(q, f)
	if f.Job == "" && len(page.Chips) == 0 { // all that there is
		return page, web.BadRequest("group")
	}
	if f.Job != "" {
		page.Chips = slices.Insert(page.Chips, 0, rowChip{Text: titlesOf(p.office, q.Lang).Of(f.Job)})
	}
	orders, many, err := p.office.Selected(q.Context(), page.Act, true, f.RowQuery)
	page.Many = many
	if err != nil || many {
		return page, err
	}
	page.Plan, err = p.office.ShowMany(q.Context(), orders, nil, q.Person(""))
	if err != nil {
		return page, err
	}
	for _, s := range page.Plan.Shown {
		step, err := stepOf(q, p.office, s)
		if err != nil {
			return page, err
		}
		page.Steps = append(page.Steps, step)
	}
	page.Typed = page.Plan.Does.Rows > typeAbove
	return page, nil
}

// showMany shows what an act on all rows of a filter would do.
func (p *actRoutes) showMany(q *web.Request) error {
	page, err := p.planMany(q, q.Form.Get("filter"))
	if err != nil {
		return err
	}
	return q.Page(http.StatusOK, "act_many", page)
}

// doMany does the plan that was shown, on each row that is still as it was then, and tells the others.
func (p *actRoutes) doMany(q *web.Request) error {
	reason, fault := Reason(q)
	if fault == "" && !typedFits(q, p.office.ShownMany(q.PostForm.Get("mark"), q.Person(""))) {
		fault = "act.other_count"
	}
	if fault != "" {
		page, err := p.planMany(q, q.PostForm.Get("filter"))
		if err != nil {
			return err
		}
		page.Reason, page.Fault = reason, fault
		return q.Page(http.StatusUnprocessableEntity, "act_many", page)
	}
	if !slices.Contains(manyActs, q.PathValue("act")) {
		return web.ErrNotFound
	}
	done, err := doMany(q, p.office, reason)
	if err != nil {
		return err
	}
	page := manyPage{Act: q.PathValue("act"), Filter: q.PostForm.Get("filter"), Done: &done}
	switch {
	case done.Lost:
		page, err := p.planMany(q, q.PostForm.Get("filter"))
		if err != nil {
			return err
		}
		page.Reason, page.Fault = reason, "act.moved"
		return q.Page(http.StatusConflict, "act_many", page)
	case done.onlyAsked():
		return Asked(q, done.Asked[0].Approval)
	case done.tells():
		return q.Page(done.status, "act_many", page)
	}
	q.Tell("act." + page.Act)
	if page.Act == acts.ActDismiss {
		return q.Redirect(page.Back())
	}
	return q.Redirect(p.orders.path(q, page.Back(), done.Jobs...)) // the next run does it
}

// manyDone is what became of a plan for many rows, as a page tells it.
type manyDone struct {
	office.ManyDone
	Broke  string // number of the error after which nothing more was done; "" = there was none
	status int
}

// onlyAsked reports whether one approval is all that there is to tell.
func (d manyDone) onlyAsked() bool {
	return len(d.Asked) == 1 && d.Done+len(d.Not) == 0 && d.Broke == ""
}

// tells reports whether there is more to tell than that the whole plan was done.
func (d manyDone) tells() bool { return len(d.Not)+len(d.Asked) > 0 || d.Broke != "" }

// doMany does the plan under the mark of a form. An error after a part was done does not hide that part.
func doMany(q *web.Request, o *office.Office, reason string) (manyDone, error) {
	done, err := o.DoMany(q.Context(), q.PostForm.Get("mark"), q.Person(reason))
	out := manyDone{ManyDone: done, status: http.StatusOK}
	if err == nil || done.Done+len(done.Asked) == 0 {
		return out, err
	}
	f := q.Report(err)
	if f == nil {
		return out, err
	}
	out.Broke, out.status = q.ID, f.Status
	return out, nil
}
