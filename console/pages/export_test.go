package pages

import "time"

// Sees lets the pages show what was read of what is stuck.
func (p *Pages) Sees(c causes) {
	for _, r := range p.rest {
		switch r := r.(type) {
		case *homeRoutes:
			r.causes = c
		case *pendingRoutes:
			r.causes = c
		}
	}
}

// Beats drives the heartbeat of the live streams.
func (p *Pages) Beats(at <-chan time.Time) {
	p.live.beats = func() (<-chan time.Time, func()) { return at, func() {} }
}

// Reporting lets the pages be busy with a report.
func (p *Pages) Reporting() {
	for _, r := range p.rest {
		if r, ok := r.(*reportRoutes); ok {
			r.reporting <- struct{}{}
		}
	}
}

// Linked returns a report as a page shows it.
var Linked = reportOf
