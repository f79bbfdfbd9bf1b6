package pages

import (
	"context"
	"slices"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// Pages are the pages for one reading of the configuration.
type Pages struct {
	office *office.Office
	live   liveRoutes
	rest   []interface{ routes() []web.Route }
	more   []web.Route
}

// Sessions identifies people and lets them prove their identity.
type Sessions interface {
	// Identify sets the login of a request, if it has one that has not expired.
	Identify(q *web.Request) error
	// Proved reports whether the person gave the password recently enough for an act that may
	// double a record.
	Proved(q *web.Request) bool
	// Prove checks the password again; fault is the key of a phrase if it was wrong or missing.
	Prove(q *web.Request, password string) (fault string, err error)
}

// causes reads what blocks rows.
type causes interface {
	Stuck(ctx context.Context, lang trade.Lang, fresh bool) (office.Stuck, error)
	Expect()
}

// New builds the pages. more are further routes.
func New(o *office.Office, sessions Sessions, more ...web.Route) *Pages {
	told := orders{o}
	return &Pages{
		office: o, more: more,
		live: liveRoutes{office: o, sessions: sessions, beats: ticks},
		rest: []interface{ routes() []web.Route }{
			&homeRoutes{office: o, causes: o},
			&seasonRoutes{o},
			&findRoutes{o},
			&rowsRoutes{o, told},
			&rowRoutes{o, told},
			&actRoutes{o, told},
			&reportRoutes{o, make(chan struct{}, 1)},
			&pendingRoutes{o, o, told},
			&doubtRoutes{o, sessions},
			&changedRoutes{o},
			&routineRoutes{o, told},
			&runRoutes{o},
			&scheduleRoutes{o, told},
			&referenceRoutes{o},
			&auditRoutes{o},
			&sheetRoutes{o},
			&approvalRoutes{o, sessions},
			&resyncRoutes{o, o, told},
			&toldRoutes{o},
		},
	}
}

// Routes lists the routes of all pages.
func (p *Pages) Routes() []web.Route {
	out := slices.Clone(p.live.routes())
	for _, page := range p.rest {
		out = append(out, page.routes()...)
	}
	return append(out, p.more...)
}
