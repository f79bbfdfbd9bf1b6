package pages

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

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

func (p *Pages) showEvents(q *web.Request) (err error) {
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
	page.EventBook, err = p.office.EventBook(q.Context(), page.Filter)
	return q.Show("events", page, err)
}

// alertsPage is what people were told of.
type alertsPage struct {
	office.AlertBook
	Now time.Time
}

// Path returns the address of the list of the rows that an alert is about.
func (alertsPage) Path(rows trade.Figure) string { return figurePath(rows.Of) }

func (p *Pages) showAlerts(q *web.Request) error {
	book, err := p.office.AlertBook(q.Context(), q.Lang)
	return q.Show("alerts", alertsPage{book, q.Site.Now()}, err)
}
