package console

import (
	"time"

	"github.com/safrasync/safrasync/trade"
)

// RouteOf is a route as the tests see it.
type RouteOf struct {
	Method, Path string
	Needs        trade.Role
	Open, Free   bool
}

// Routes lists all routes.
func Routes() []RouteOf {
	var out []RouteOf
	for _, r := range routes() {
		out = append(out, RouteOf{r.method, r.path, r.needs, r.open, r.free})
	}
	return out
}

// Compared lets a test count the comparisons of passwords.
func (c *Console) Compared(told func()) { c.hashes.compared = told }

// FillHashes takes all places in which passwords wait to be hashed.
func (c *Console) FillHashes() (free func()) {
	for range hashesWaiting {
		c.hashes.waiting <- struct{}{}
	}
	return func() {
		for range hashesWaiting {
			<-c.hashes.waiting
		}
	}
}

// Beats gives the live streams their beat.
func (c *Console) Beats(at <-chan time.Time) {
	c.beats = func() (<-chan time.Time, func()) { return at, func() {} }
}

// CookieDevice is the name of the browser's cookie.
func (c *Console) CookieDevice() string { return c.cookieName(cookieDevice) }

// CookieLogin is the name of the login's cookie.
func (c *Console) CookieLogin() string { return c.cookieName(cookieLogin) }

// Local is the path that a browser is sent to.
func Local(next string) string { return local(next) }

// AtOnce is how many requests are worked on at once.
const AtOnce = atOnce

// Patience is how long an issuer may take for an answer.
func (o *OpenID) Patience(d time.Duration) *OpenID {
	o.patience = d
	return o
}

// Refresh is how long an issuer may take to say again what it is.
func (o *OpenID) Refresh(d time.Duration) *OpenID {
	o.refresh = d
	return o
}

// Turn is how long somebody waits for a conversation with an issuer.
func (o *OpenID) Turn(d time.Duration) *OpenID {
	o.turn = d
	return o
}

// Fill takes all conversations, until the end of them.
func (o *OpenID) Fill() (end func()) {
	for range issuerTalks {
		o.talks <- struct{}{}
	}
	return func() {
		for range issuerTalks {
			<-o.talks
		}
	}
}

// Waiting is how many wait for one.
func (o *OpenID) Waiting() int { return len(o.waiting) }

// IssuerTalks is how many conversations with an issuer there are at once.
const IssuerTalks = issuerTalks

// HashOf is what the ledger keeps of a secret.
func HashOf(secret string) string { return hashOf(secret) }
