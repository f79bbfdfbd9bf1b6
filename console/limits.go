package console

import "time"

// What the console takes from browsers, and from the machine, at most (C11).
const (
	atOnce       = 16               // requests that are worked on at once; the others wait
	waitAtMost   = 5 * time.Second  // for one of these places
	answerWithin = 20 * time.Second // a page
	bodyMost     = 64 << 10         // of a form
	headerMost   = 32 << 10
	connsMost    = 2048
	eachMost     = 512 // connections of one address, or requests of one address behind the proxy
	pageRows     = 50

	seenStep   = time.Minute          // how exactly the last use of a login is known
	proofHolds = 10 * time.Minute     // since the password was given, for what may double a record (C9)
	triesKept  = 24 * time.Hour       // a try in vain counts so long
	deviceKept = 180 * 24 * time.Hour // a browser is known so long

	hashesAtOnce  = 2 // passwords that are hashed at once: each takes 19 MiB and a core
	hashesWaiting = 6 // and so many wait: half of the places stay for those who are logged in
)
