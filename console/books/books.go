package books

import (
	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/console/web"
)

// Routes lists the routes of these pages.
func Routes(p pages.Ports) []web.Route {
	var out []web.Route
	for _, page := range []interface{ routes() []web.Route }{
		&referenceRoutes{p.Codes, p.Rows, p.Tables, p.Audit, p.Consents},
		&auditRoutes{p.Audit, p.Rows},
		&sheetRoutes{p.Rows, p.Sheets},
		&approvalRoutes{p.Consents, p.Rows, p.Words, p.Sessions, p.Fields, p.Codes, p.Scheduling},
	} {
		out = append(out, page.routes()...)
	}
	return out
}
