package pages

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
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
	Next   string   // address of the next page; "" = this is the last one
}

// eventReadings is how often the page of events reads on for its lines.
const eventReadings = 20

func (p *Pages) showEvents(q *web.Request) (err error) {
	page := eventsPage{Kinds: office.EventKinds()}
	page.Filter = trade.InboxFilter{
		Event: q.Form.Get("event"), Text: strings.TrimSpace(q.Form.Get("q")), Open: q.Form.Get("open") == "1",
		Before: Number(q.Form.Get("before")),
	}
	if page.Filter.Event != "" && !slices.Contains(page.Kinds, page.Filter.Event) {
		return web.BadRequest("filter")
	}
	if err := searchFits(page.Filter.Text); err != nil {
		return err
	}
	var list []office.EventShown // those of a minute of which the same came are one
	f, full := page.Filter, true
	for n := 0; full && n < eventReadings && len(list) <= pageRows; n++ {
		page.EventBook, err = p.office.EventBook(q.Context(), f)
		full = len(page.Events) == office.EventsShown
		for _, e := range page.Events {
			f.Before = e.Seq
			if n := len(list); n > 0 && list[n-1].Event == e.Event && reflect.DeepEqual(list[n-1].Outcome, e.Outcome) &&
				list[n-1].NextAt.IsZero() == e.NextAt.IsZero() &&
				list[n-1].LastAt.Truncate(time.Minute).Equal(e.LastAt.Truncate(time.Minute)) {
				list[n-1].About = append(list[n-1].About, e.About...)
				list[n-1].Times += e.Times
				continue
			}
			list = append(list, e)
		}
	}
	page.Events = list[:min(len(list), pageRows)]
	if len(list) > pageRows {
		f.Before, full = list[pageRows].Seq+1, true
	}
	if full {
		next := maps.Clone(q.Form)
		next.Set("before", strconv.FormatInt(f.Before, 10))
		page.Next = "/events?" + next.Encode()
	}
	return q.Show("events", page, err)
}

// alertsPage is what people were told of.
type alertsPage struct{ office.AlertBook }

// Path returns the address of the list of the rows that an alert is about.
func (alertsPage) Path(rows trade.Figure) string { return figurePath(rows.Of) }

// Following returns the number after that of a record of the audit: the page before it begins with the record.
func (alertsPage) Following(record int64) int64 { return record + 1 }

func (p *Pages) showAlerts(q *web.Request) error {
	book, err := p.office.AlertBook(q.Context(), q.Lang)
	return q.Show("alerts", alertsPage{book}, err)
}
