package faultlist

const (
	receiver = "the receiver of webhooks is not built; until then a person decides (F158, F159)"
)

// reasons tell why a fault has no test, or what its tests leave open.
var reasons = map[int]string{
	14:  "bound and rows come from one snapshot of the server that is read (F004), and the sweep finds what a replica showed late (F001); the tests have no replica",
	15:  "does not apply: no transaction number is kept",
	41:  "the tests have no pooler; a server that does not take the session's settings is refused with the advice to connect directly",
	70:  "the console is not built; a run recovers before anything is sent (F054)",
	89:  "no proxy can be configured, and those of the environment are ignored",
	141: receiver, 142: receiver, 143: receiver, 144: receiver, 145: receiver, 146: receiver, 147: receiver, 148: receiver, 149: receiver, 150: receiver,
	151: receiver, 152: receiver, 153: receiver, 154: receiver,
	162: "does not apply: a ledger without file, journal and mark is new, and brakes stop what looks too much (F025)",
	167: "`report` is not built",
}
