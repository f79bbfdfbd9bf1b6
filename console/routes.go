package console

import (
	"slices"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// route is one thing that a browser can ask for.
type route struct {
	method string
	path   string        // as net/http has it
	needs  trade.Role    // the least role; "" = nobody, unless open
	open   bool          // without having logged in
	free   bool          // also before the first administrator is there: what the page that says so is made of
	body   int64         // of a form, at most; 0 = bodyMost
	takes  time.Duration // at most, where that is longer than answerWithin
	stream bool          // the answer goes on until the browser goes away
	handle func(*request) error
}

// routes lists everything that exists. Who may use it stands here and nowhere else.
func routes() []route {
	return slices.Concat(
		staticRoutes, loginRoutes, openIDRoutes,
		homeRoutes,
		rowsRoutes,
		rowRoutes,
		actRoutes,
		usersRoutes,
		reportRoutes,
		pendingRoutes, doubtRoutes, changedRoutes, referenceRoutes, runRoutes, scheduleRoutes, auditRoutes,
	)
}
