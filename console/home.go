package console

import (
	"net/http"

	"github.com/safrasync/safrasync/trade"
)

var homeRoutes = []route{
	{method: http.MethodGet, path: "/{$}", needs: trade.Reader, handle: showHome},
}

type chartDays struct{}

func showHome(q *request) error { return q.page(http.StatusOK, "home", nil) }
