package pages

import (
	"context"
	"net/http"
	"time"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// Pages are the pages for one reading of the configuration.
type Pages struct {
	office    *office.Office
	causes    causes
	sessions  Sessions
	streams   streams
	beats     func() (at <-chan time.Time, stop func())
	reporting chan struct{} // holds one value while a report is made
	more      []web.Route
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
}

// New builds the pages. more are further routes.
func New(o *office.Office, sessions Sessions, more ...web.Route) *Pages {
	return &Pages{
		office: o, causes: o, sessions: sessions, reporting: make(chan struct{}, 1), more: more,
		beats: func() (<-chan time.Time, func()) {
			t := time.NewTicker(streamBeat)
			return t.C, t.Stop
		},
	}
}

// Routes lists the routes of all pages.
func (p *Pages) Routes() []web.Route {
	return append([]web.Route{
		web.Get("/{$}", trade.Reader, p.showHome),
		{Method: http.MethodGet, Path: "/live", Needs: trade.Reader, Stream: true, Handle: p.showLive},
		web.Get("/search", trade.Reader, p.find),
		web.Get("/season", trade.Reader, p.showSeason),

		web.Get("/rows", trade.Reader, p.showRows),
		web.Get("/rows/{id}", trade.Reader, p.showRow),
		web.Post("/reveal/{id}", trade.Accountant, p.revealRow),
		web.Get("/act/{act}", trade.Accountant, p.act).Within(reportTimeout),
		web.Post("/act/{act}", trade.Accountant, p.act).Within(reportTimeout),

		web.Get("/pending", trade.Reader, p.showPending),
		web.Post("/pending/own", trade.Accountant, p.own),
		web.Get("/doubts", trade.Reader, p.showDoubts),
		web.Get("/doubts/next", trade.Reader, p.nextDoubt),
		web.Get("/doubts/{id}", trade.Reader, p.showDoubt),
		web.Post("/doubts/{id}/reveal", trade.Accountant, p.revealDoubt),
		web.Get("/changed", trade.Reader, p.showChanged).Within(reportTimeout),
		web.Get("/approvals", trade.Reader, p.showApprovals),
		web.Get("/approvals/{id}", trade.Reader, p.showApproval),
		web.Post("/approvals/{id}/approve", trade.Accountant, p.answerApproval(true)).Within(reportTimeout),
		web.Post("/approvals/{id}/decline", trade.Accountant, p.answerApproval(false)),
		web.Post("/decisions/export", trade.Accountant, p.exportRows).Within(reportTimeout),
		web.Get("/decisions", trade.Accountant, p.showSheets),
		web.Post("/decisions/plan", trade.Accountant, p.planSheet).WithBody(sheetFile).Within(reportTimeout),
		web.Post("/decisions/do", trade.Accountant, p.doSheet).WithBody(sheetFile).Within(reportTimeout),

		web.Get("/report", trade.Reader, p.showReport).Within(reportTimeout),
		web.Post("/report/export", trade.Accountant, p.exportReport).Within(reportTimeout),
		web.Post("/report/close/plan", trade.Accountant, p.planClosing).Within(reportTimeout),
		web.Post("/report/close/do", trade.Accountant, p.doClosing).Within(reportTimeout),
		web.Get("/report/closings/{id}", trade.Reader, p.showClosing).Within(reportTimeout),
		web.Get("/references", trade.Reader, p.showReferences),
		web.Get("/references/{kind}", trade.Reader, p.showReferences),
		web.Get("/references/{kind}/export", trade.Accountant, p.exportReferences),
		web.Post("/references/{kind}/set", trade.Administrator, p.setReference),
		web.Post("/references/{kind}/propose", trade.Accountant, p.proposeReference),
		web.Post("/references/{kind}/remove", trade.Administrator, p.removeReference),
		web.Post("/references/{kind}/plan", trade.Administrator, p.planReferences).WithBody(referenceFile),
		web.Post("/references/{kind}/import", trade.Administrator, p.importReferences).WithBody(referenceFile),
		web.Get("/audit", trade.Reader, p.showAudit),
		web.Get("/audit/check", trade.Reader, p.checkAudit),
		web.Get("/audit/export", trade.Accountant, p.exportAudit),

		web.Get("/routines", trade.Reader, p.showRoutines),
		web.Get("/runs/{id}", trade.Reader, p.showRun),
		web.Get("/resync", trade.Accountant, p.showResync),
		web.Post("/resync", trade.Accountant, p.doResync),
		web.Get("/events", trade.Reader, p.showEvents),
		web.Get("/alerts", trade.Reader, p.showAlerts),
	}, p.more...)
}
