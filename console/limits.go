package console

import "time"

// The limits for what the console takes from browsers and from the machine.
const (
	maxRequests            = 16              // requests processed at once; others wait
	maxAnonymousPerAddress = 12              // of these, for one address without a login
	maxPerPerson           = 4               // and for one person
	waitAtMost             = 5 * time.Second // for one of these places
	bodyMost               = 64 << 10        // bytes of a form
	headerMost             = 32 << 10
	connsMost              = 2048
	maxPerAddress          = 512 // connections from one address, or requests of one address behind the proxy
)
