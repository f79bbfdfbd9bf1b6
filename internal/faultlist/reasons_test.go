package faultlist

// reasons tell why a fault has no test, or what its tests leave open.
var reasons = map[int]string{
	14:  "bound and rows come from one snapshot of the server that is read (F004), and the sweep finds what a replica showed late (F001); the tests have no replica",
	15:  "does not apply: no transaction number is kept",
	41:  "the tests have no pooler; a server that does not take the session's settings is refused with the advice to connect directly",
	70:  "the console shows the ledger as it is; a run recovers before anything is sent (F054)",
	89:  "no proxy can be configured, and those of the environment are ignored",
	162: "does not apply: a ledger is begun only by `safrasync state new`, and brakes stop what looks too much (F025)",
}
