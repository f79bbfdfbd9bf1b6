package pages

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// resyncPage is what would be read again, and what would come of it.
type resyncPage struct {
	orderForm
	selection
	Plans  []resyncShown // none: they are still being made
	Read   int           // rows read so far for the plan
	Rows   int           // rows that would be read
	None   bool          // nothing is selected
	Failed string        // why it cannot be planned, in words
}

// resyncShown is the plan of one job as it is shown.
type resyncShown struct {
	office.ResyncPlan
	States []runSum
	Steps  []stepView
	Notes  []string
}

// runSum is how many rows are in a state.
type runSum struct {
	State trade.State
	Rows  int
}

// AgainPath returns the address of the same page.
func (p *resyncPage) AgainPath() string { return "/resync?" + p.Hidden.Encode() }

// ResyncPath returns the address of the plan to read again what a field names.
func ResyncPath(field, value string) string {
	return "/resync?" + url.Values{field: {value}}.Encode()
}

func (p *Pages) showResync(q *web.Request) error {
	page, err := p.planResync(q, q.Form)
	return q.Show("resync", page, err)
}

// planResync plans what a form asks for. If that takes long, the page asks again by itself.
func (p *Pages) planResync(q *web.Request, form url.Values) (*resyncPage, error) {
	page, err := p.asked(q, form)
	if err != nil || len(page.Orders) == 0 || page.Failed != "" {
		return page, err
	}
	plans, read, err := p.office.RequestResyncPlans(q.Context(), page.Orders, q.Person(""))
	if stopped := new(office.ResyncStopped); errors.As(err, &stopped) {
		page.Failed = p.office.AdviseStop(&stopped.Stop, q.Lang).What
		return page, nil
	}
	if err != nil {
		return nil, err
	}
	page.Read = read
	return page, p.fillResync(q, page, plans)
}

// asked reads what a form asks for, finds the orders of it, and where the person came from.
func (p *Pages) asked(q *web.Request, form url.Values) (*resyncPage, error) {
	page := &resyncPage{orderForm: orderForm{
		Path: "/resync", Label: "act.reason", Button: "Read again", Leave: "act.back",
	}}
	var err error
	page.selection, err = p.selected(q, acts.ActResync, form, &page.orderForm)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"job", "from", "until"} {
		if text := form.Get(name); text != "" {
			page.Hidden.Set(name, text)
		}
	}
	switch asked, e := page.Hidden, page.Entry; {
	case asked.Has("row"):
		page.What = p.Titles(q.Lang).Of(e.Job) + " " + e.Shown.Masked().Lead(q.Voice().SpacedKey(e.Key))
		if p.jobNamed(e.Job) == nil {
			page.Orders = nil
		}
	case asked.Has("cause"):
	case asked.Has("filter"):
		page.What = q.Voice().T("The documents of the filtered list")
	default: // whole jobs, or what changed in the ERP in a period
		if !q.May(trade.Administrator) {
			if len(asked) == 0 {
				return nil, web.BadRequest("filter")
			}
			return nil, web.ErrForbidden
		}
		page.Back = "/routines"
		since, err := readDay(asked.Get("from"), q.Site.Zone, 0)
		if err != nil {
			return nil, err
		}
		until, err := readDay(asked.Get("until"), q.Site.Zone, 0)
		if err != nil {
			return nil, err
		}
		page.What = q.Voice().T("all documents")
		if !since.IsZero() || !until.IsZero() {
			page.What = q.Voice().T("what changed in the ERP from %s to %s", dayOr(q, since), dayOr(q, until))
		}
		for _, job := range p.office.Jobs() {
			if name := asked.Get("job"); name != "" && name != job.Name {
				continue
			}
			if page.What != q.Voice().T("all documents") && job.ChangedAt == "" {
				page.Failed = q.Voice().T("The ERP does not have the date of the last change for %s: read all, without a period.", p.Titles(q.Lang).Of(job.Name))
			}
			order := acts.Order{Act: acts.ActResync, Job: job.Name, Since: since, Until: until}
			page.Orders = append(page.Orders, order)
		}
		if len(page.Orders) == 0 {
			return nil, web.ErrNotFound
		}
		if len(page.Orders) == 1 {
			page.What = p.Titles(q.Lang).Of(page.Orders[0].Job) + ": " + page.What
		}
	}
	page.None = len(page.Orders) == 0 && !page.Many && page.Failed == ""
	return page, nil
}

func (p *Pages) fillResync(q *web.Request, page *resyncPage, plans []office.ResyncPlan) error {
	if plans == nil {
		return nil
	}
	double := 0
	page.Mark = office.ResyncMark(plans)
	for _, plan := range plans {
		shown := resyncShown{ResyncPlan: plan, Notes: trade.Map(plan.Report.Notes, p.office.Voice(q.Lang).Say)}
		for _, state := range trade.States {
			if n := plan.States[string(state)]; n > 0 {
				shown.States = append(shown.States, runSum{state, n})
			}
		}
		for _, row := range plan.Rows {
			step, err := p.stepOf(q, row)
			if err != nil {
				return err
			}
			shown.Steps = append(shown.Steps, step)
		}
		page.Plans = append(page.Plans, shown)
		page.Rows += plan.Reads()
		page.Count += plan.States[string(trade.Pending)] + plan.Due
		double += plan.MayDouble
	}
	if double > 0 {
		page.Warn = q.Voice().T("Of these somebody had sent once more: %s. They may exist twice on the platform.", double)
		page.Check = "I have checked on the platform: they are not there"
	}
	return nil
}

// dayOr returns a day for people; "…" for none.
func dayOr(q *web.Request, at time.Time) string {
	if at.IsZero() {
		return "…"
	}
	return q.Voice().Day(at)
}

// doResync does the plan that a person saw, and shows what comes of it where the person came from.
func (p *Pages) doResync(q *web.Request) error {
	page, err := p.asked(q, q.PostForm)
	if err != nil {
		return err
	}
	if err := p.fillResync(q, page, p.office.StoredResyncPlans(page.Orders, q.Person(""))); err != nil {
		return err
	}
	if page.Plans == nil || page.Mark != q.PostForm.Get("mark") {
		return p.resyncMoved(q)
	}
	complete := page.read(q)
	if !complete {
		return q.Page(http.StatusUnprocessableEntity, "resync", page)
	}
	done, asked, moved, err := p.office.DoResync(q.Context(), page.Orders, page.Mark, q.Person(page.Reason))
	switch {
	case err != nil:
		return err
	case moved:
		return p.resyncMoved(q)
	case asked != nil && len(done) == 0:
		return Asked(q, asked)
	}
	q.SetFlash("resync")
	runs := trade.Map(done, func(one office.Ordered) string { return one.Run })
	return q.Redirect(with(page.Back, url.Values{"run": runs}))
}

// resyncMoved shows the plan as it is now: what was shown was ordered already, or is no longer true.
func (p *Pages) resyncMoved(q *web.Request) error {
	page, err := p.planResync(q, q.PostForm)
	if err != nil {
		return err
	}
	page.Reason, page.Fault = q.PostForm.Get("reason"), planMoved
	return q.Page(http.StatusConflict, "resync", page)
}
