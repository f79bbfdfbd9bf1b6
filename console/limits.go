package console

import "time"

// What the console accepts at once. A request beyond one of the first three numbers waits, at most for
// placeTimeout, and is answered with 503 then; what is beyond the others is refused immediately.
const (
	maxRequests          = 16 // requests that are processed at once
	maxAnonymousRequests = 12 // of these, from one address without a login
	maxPersonRequests    = 4  // of these, of one person
	placeTimeout         = 5 * time.Second

	maxConns = 2048
	// connections from one address, and requests of one address behind the reverse proxy
	maxPerAddress  = 512
	maxFormBytes   = 64 << 10
	maxHeaderBytes = 32 << 10
)
