package console

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

var findRoutes = []route{
	{method: http.MethodGet, path: "/search", needs: trade.Reader, handle: find},
}

// find leads from the search box of every page to the row that is meant, or to the list of those
// that may be.
func find(q *request) error {
	text := strings.TrimSpace(q.FormValue("q"))
	if text == "" {
		return q.redirect("/rows")
	}
	values := url.Values{"q": {text}}
	f, err := readFilter(values, q.c.Zone)
	if err != nil {
		return err
	}
	f.Limit = 2
	found, err := q.c.Ledger.RowPage(q.Context(), f.RowQuery)
	if err != nil {
		return err
	}
	if len(found.Rows) == 1 {
		return q.redirect("/rows/" + strconv.FormatInt(found.Rows[0].ID, 10))
	}
	return q.redirect("/rows?" + values.Encode())
}
