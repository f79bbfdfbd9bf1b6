package pages

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/trade"
)

// find redirects to the row that matches, or to the list if several or none match.
func (p *Pages) find(q *web.Request) error {
	text := strings.TrimSpace(q.Form.Get("q"))
	if text == "" {
		return q.Redirect("/rows")
	}
	values := url.Values{"q": {text}}
	f, err := readFilter(values, q.Site.Zone)
	if err != nil {
		return err
	}
	f.Limit, f.Masked = 2, !q.May(trade.Accountant)
	found, err := p.office.RowPage(q.Context(), f.RowQuery)
	if err != nil {
		return err
	}
	if len(found.Rows) == 1 {
		return q.Redirect("/rows/" + strconv.FormatInt(found.Rows[0].ID, 10))
	}
	return q.Redirect("/rows?" + values.Encode())
}
