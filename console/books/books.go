package books

import (
	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
)

// Routes lists the routes of these pages.
func Routes(o *office.Office, sessions pages.Sessions) []web.Route {
	var out []web.Route
	for _, page := range []interface{ routes() []web.Route }{
		&referenceRoutes{o}, &auditRoutes{o}, &sheetRoutes{o}, &approvalRoutes{o, sessions},
	} {
		out = append(out, page.routes()...)
	}
	return out
}
