package pages

import (
	"slices"

	"github.com/safrasync/safrasync/console/web"
)

// Pages are the pages for one reading of the configuration.
type Pages struct {
	ports Ports
	live  liveRoutes
	rest  []interface{ routes() []web.Route }
	more  []web.Route
}

// New builds the pages from the ports. more are routes from other packages.
func New(p Ports, more ...web.Route) *Pages {
	told := orders{p.Runs, p.Jobs, p.Scheduling}
	return &Pages{
		ports: p, more: more,
		live: liveRoutes{jobs: p.Jobs, sessions: p.Sessions, beats: ticks},
		rest: []interface{ routes() []web.Route }{
			&homeRoutes{
				totals: p.Totals, runs: p.Runs, jobs: p.Jobs, words: p.Words, causes: p.Causes, consents: p.Consents,
			},
			&findRoutes{p.Rows},
			&rowsRoutes{p.Rows, p.Totals, p.Jobs, p.Words, p.Filters},
			&rowRoutes{p.Rows, p.Audit, p.Jobs, p.Words, p.Fields, p.Doubts, told, p.Consents},
			&actRoutes{p.Rows, p.Audit, p.Jobs, p.Words, p.Acts, p.Fields, told},
			&reportRoutes{p.Reports, make(chan struct{}, 1)},
			&pendingRoutes{p.Rows, p.Causes, p.Acts, told},
			&doubtRoutes{p.Rows, p.Audit, p.Fields, p.Acts, p.Doubts, p.Sessions, p.Words, p.Consents},
			&changedRoutes{p.Rows, p.Totals, p.Jobs, p.Fields, p.Acts},
			&runRoutes{p.Runs, p.Jobs, p.Scheduling},
			&scheduleRoutes{p.Runs, p.Jobs, p.Scheduling, p.Words, told},
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
