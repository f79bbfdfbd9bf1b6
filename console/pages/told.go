package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// toldRoutes are the pages of what the platform told by itself, and of what people and other programs were
// told.
type toldRoutes struct {
	office *office.Office
}

func (p *toldRoutes) routes() []web.Route {
	return []web.Route{
		web.Get("/events", trade.Reader, p.showEvents),
		web.Get("/events/programs", trade.Administrator, p.showPrograms),
		web.Get("/events/programs/{name}/again", trade.Administrator, p.showAgain),
		web.Post("/events/programs/{name}/again", trade.Administrator, p.deliverAgain),
		web.Get("/alerts", trade.Reader, p.showAlerts),
	}
}

// eventsPage is what the platform told, and what came of it.
type eventsPage struct {
	office.EventBook
	Filter trade.InboxFilter
	Kinds  []string // events to choose from
	Soon   time.Time
	Now    time.Time
}

// expiresSoon is how long before its end a certificate asks for attention.
const expiresSoon = 21 * 24 * time.Hour

// OpenPath returns the address of the events that are not processed yet, or of all.
func (p eventsPage) OpenPath() string {
	v := url.Values{}
	if p.Filter.Event != "" {
		v.Set("event", p.Filter.Event)
	}
	if p.Filter.Text != "" {
		v.Set("q", p.Filter.Text)
	}
	if !p.Filter.Open {
		v.Set("open", "1")
	}
	return "/events?" + v.Encode()
}

// Silent reports whether nothing was heard for longer than people are told after, in plain time.
func (p eventsPage) Silent() bool {
	return p.Most > 0 && !p.Silence.Since.IsZero() && p.Silence.Made > 0 && p.Now.Sub(p.LastHeard()) > p.Most
}

// LastHeard returns when the platform was heard last, or since when it is expected.
func (p eventsPage) LastHeard() time.Time {
	if p.Silence.LastAt.After(p.Silence.Since) {
		return p.Silence.LastAt
	}
	return p.Silence.Since
}

func (p *toldRoutes) showEvents(q *web.Request) error {
	page := eventsPage{Now: q.Site.Now(), Soon: q.Site.Now().Add(expiresSoon)}
	page.Kinds = office.EventKinds()
	page.Filter = trade.InboxFilter{
		Event: q.Form.Get("event"), Text: strings.TrimSpace(q.Form.Get("q")), Open: q.Form.Get("open") == "1",
	}
	if page.Filter.Event != "" && !slices.Contains(page.Kinds, page.Filter.Event) {
		return web.BadRequest("filter")
	}
	if err := searchFits(page.Filter.Text); err != nil {
		return err
	}
	var err error
	page.EventBook, err = p.office.EventBook(q.Context(), page.Filter)
	if err != nil {
		return err
	}
	return q.Page(http.StatusOK, "events", page)
}

func (p *toldRoutes) showPrograms(q *web.Request) error {
	programs, err := p.office.Programs(q.Context())
	if err != nil {
		return err
	}
	return q.Page(http.StatusOK, "programs", programs)
}

// againPage is the plan to deliver again what a program has not taken.
type againPage struct {
	Name   string
	Events []trade.OutEvent // newest first
	Reason string
	Fault  string // key of a phrase
}

// Newest returns the newest event of the plan: those that come after it are no part of it.
func (p againPage) Newest() trade.OutEvent { return p.Events[0] }

// Oldest returns the oldest event of the plan.
func (p againPage) Oldest() trade.OutEvent { return p.Events[len(p.Events)-1] }

func (p *toldRoutes) again(q *web.Request, until int64) (page againPage, err error) {
	page.Name = q.PathValue("name")
	page.Events, err = p.office.Untaken(q.Context(), page.Name, until)
	return page, err
}

func (p *toldRoutes) showAgain(q *web.Request) error {
	page, err := p.again(q, 0)
	if err != nil {
		return err
	}
	return q.Page(http.StatusOK, "programs_again", page)
}

// deliverAgain lets the service deliver again what the plan showed, but what was taken since.
func (p *toldRoutes) deliverAgain(q *web.Request) error {
	until := Number(q.PostForm.Get("until"))
	if until == 0 {
		return web.BadRequest("form")
	}
	page, err := p.again(q, until)
	if err != nil {
		return err
	}
	page.Reason, page.Fault = Reason(q)
	if page.Fault != "" {
		return q.Page(http.StatusUnprocessableEntity, "programs_again", page)
	}
	n := 0
	if len(page.Events) > 0 {
		n, err = p.office.Redeliver(q.Context(), page.Events, q.Person(page.Reason))
		if err != nil {
			return err
		}
	}
	if n == 0 {
		q.Tell("programs.nothing")
	} else {
		q.Tell("programs.again")
	}
	return q.Redirect("/events/programs")
}

func (p *toldRoutes) showAlerts(q *web.Request) error {
	book, err := p.office.AlertBook(q.Context(), q.Lang)
	if err != nil {
		return err
	}
	return q.Page(http.StatusOK, "alerts", book)
}
