package pages

import "time"

// Beats drives the heartbeat of the live streams.
func (p *Pages) Beats(at <-chan time.Time) {
	p.live.beats = func() (<-chan time.Time, func()) { return at, func() {} }
}
