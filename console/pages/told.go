package pages

import (
	"slices"
	"strings"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// eventsPage is what the platform told, and what came of it.
type eventsPage struct {
	office.EventBook
	Filter trade.InboxFilter
	Kinds  []string // events to choose from
}

func (p *Pages) showEvents(q *web.Request) (err error) {
	page := eventsPage{Kinds: office.EventKinds()}
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
type alertsPage struct{ office.AlertBook }

// Path returns the address of the list of the rows that an alert is about.
func (alertsPage) Path(rows trade.Figure) string { return figurePath(rows.Of) }

func (p *Pages) showAlerts(q *web.Request) error {
	book, err := p.office.AlertBook(q.Context(), q.Lang)
	return q.Show("alerts", alertsPage{book}, err)
}
