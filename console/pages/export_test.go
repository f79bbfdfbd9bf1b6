package pages

import "time"

// Beats gives the live streams their beat.
func (p *Pages) Beats(at <-chan time.Time) {
	p.live.beats = func() (<-chan time.Time, func()) { return at, func() {} }
}
