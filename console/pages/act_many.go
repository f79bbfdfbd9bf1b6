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
			out[act] = "/acts/" + act + "?" + url.Values{"filter": {p.Query}}.Encode()
		}
	}
	return out
}

// planMany plans the act that the path names on the rows of a filter.
func (p *Pages) planMany(q *web.Request, filter string) (manyPage, error) {
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
	page.Chips = p.chips(q, f)
	if f.Job == "" && len(page.Chips) == 0 { // all that there is
		return page, web.BadRequest("group")
	}
	if f.Job != "" {
		page.Chips = slices.Insert(page.Chips, 0, rowChip{Text: p.Titles(q.Lang).Of(f.Job)})
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
		step, err := p.stepOf(q, s)
		if err != nil {
			return page, err
		}
		page.Steps = append(page.Steps, step)
	}
	page.Typed = page.Plan.Does.Rows > typeAbove
	return page, nil
}

// showMany shows what an act on all rows of a filter would do.
func (p *Pages) showMany(q *web.Request) error {
	page, err := p.planMany(q, q.Form.Get("filter"))
	return q.Show("act_many", page, err)
}

// doMany does the plan that was shown, on each row that is still as it was then, and tells the others.
func (p *Pages) doMany(q *web.Request) error {
	filter := q.PostForm.Get("filter")
	if !slices.Contains(manyActs, q.PathValue("act")) {
		return web.ErrNotFound
	}
	page := manyPage{Act: q.PathValue("act"), Filter: filter}
	return p.doShown(q, func(status int, reason, fault string) error {
		page, err := p.planMany(q, filter)
		if err != nil {
			return err
		}
		page.Reason, page.Fault = reason, fault
		return q.Page(status, "act_many", page)
	}, func(done *manyDone) error {
		page.Done = done
		return q.Page(done.status, "act_many", page)
	}, func(jobs []string) error {
		q.Tell("act." + page.Act)
		if page.Act == acts.ActDismiss {
			return q.Redirect(page.Back())
		}
		return q.Redirect(orderPath(q, page.Back(), jobs...)) // the next run does it
	})
}

// manyDone is what became of a plan for many rows, as a page tells it.
type manyDone struct {
	office.ManyDone
	Broke  string // number of the error after which nothing more was done; "" = there was none
	status int
}

// doShown does the plan that a person was shown, as far as it is still so. If nothing was done, again shows
// the plan as it is now, with a fault (key of a phrase); if a part was done, told shows what became of it,
// also if an error ended it; on the whole follows done, with the jobs.
func (p *Pages) doShown(q *web.Request, again func(status int, reason, fault string) error,
	told func(*manyDone) error, done func(jobs []string) error,
) error {
	mark := q.PostForm.Get("mark")
	reason, fault := Reason(q)
	if fault == "" && !typedFits(q, p.office.ShownMany(mark, q.Person(""))) {
		fault = wrongCount
	}
	if fault != "" {
		return again(http.StatusUnprocessableEntity, reason, fault)
	}
	did, err := p.office.DoMany(q.Context(), mark, q.Person(reason))
	out := manyDone{ManyDone: did, status: http.StatusOK}
	if err != nil && did.Done+len(did.Asked) > 0 {
		if f := q.Report(err); f != nil {
			out.Broke, out.status, err = q.ID, f.Status, nil
		}
	}
	switch {
	case err != nil:
		return err
	case out.Lost:
		return again(http.StatusConflict, reason, planMoved)
	case len(out.Asked) == 1 && out.Done+len(out.Not) == 0 && out.Broke == "": // nothing else is to be told
		return Asked(q, out.Asked[0].Approval)
	case len(out.Not)+len(out.Asked) > 0 || out.Broke != "": // not the whole plan was done
		return told(&out)
	}
	return done(out.Jobs)
}
