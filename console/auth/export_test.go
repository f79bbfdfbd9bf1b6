package auth

import "time"

// The names of cookies on a console without TLS.
const (
	CookieDevice = cookieDevice + "-loopback"
	CookieLogin  = cookieLogin + "-loopback"
)

// Compared lets a test count the comparisons of passwords.
func (s *Sessions) Compared(told func()) { s.hashes.compared = told }

// FillHashes takes all places in which passwords of unknown browsers wait to be hashed.
func (s *Sessions) FillHashes() (free func()) {
	for range hashesUnknown {
		s.hashes.unknown <- struct{}{}
	}
	return func() {
		for range hashesUnknown {
			<-s.hashes.unknown
		}
	}
}

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

// HashesEach is how many passwords of unknown browsers of one address have a place.
const HashesEach = hashesEach
