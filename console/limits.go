package console

import "time"

// What the console takes from browsers, and from the machine, at most (C11).
const (
	atOnce     = 16              // requests that are worked on at once; the others wait
	waitAtMost = 5 * time.Second // for one of these places
	bodyMost   = 64 << 10        // of a form
	headerMost = 32 << 10
	connsMost  = 2048
	eachMost   = 512 // connections of one address, or requests of one address behind the proxy
)
