package pages

import "time"

// Sees lets the pages show what was read of what is stuck.
func (p *Pages) Sees(c causes) { p.causes = c }

// Beats drives the heartbeat of the live streams.
func (p *Pages) Beats(at <-chan time.Time) {
	p.beats = func() (<-chan time.Time, func()) { return at, func() {} }
}

// Reporting lets the pages be busy with a report.
func (p *Pages) Reporting() { p.reporting <- struct{}{} }
