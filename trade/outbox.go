package trade

import "time"

// EventKind is a kind of change that other programs are told.
type EventKind string

// The kinds.
const (
	RowAccepted  EventKind = "row.accepted"
	RowRefused   EventKind = "row.refused"
	DoubtRaised  EventKind = "doubt.raised"
	DoubtSettled EventKind = "doubt.settled" // the state says how
	JobStopped   EventKind = "job.stopped"
)

// EventKinds are all kinds.
var EventKinds = []EventKind{RowAccepted, RowRefused, DoubtRaised, DoubtSettled, JobStopped}

// EventTarget is a program that is told of changes.
type EventTarget struct {
	Name  string
	Kinds []string // nil = all
	Jobs  []string // nil = all
}

// OutEvent is a change that a program is told, once for each target.
type OutEvent struct {
	Seq        int64 // of the ledger; of two events of a row the later one has the higher number
	Target     string
	Kind       EventKind
	EntryID    int64 // 0: it is about a job
	Job, Key   string
	Sends      Kind
	State      string
	Cause      string // of a job the code of the stop
	RemoteID   string
	Generation int
	Version    int64 // of the row; of a job the time of the change
	At         time.Time
	Tries      int
	NextAt     time.Time
	DoneAt     time.Time // zero: it is to be delivered
	Outcome    string    // delivered, given_up; "" while it is to be delivered
	Fault      string    // of the last try: a short code, never a text from outside
}

// The outcomes of an OutEvent; they are stored.
const (
	EventDelivered = "delivered"
	EventGivenUp   = "given_up"
)

// OutEventFilter selects events. Empty parts select everything.
type OutEventFilter struct {
	Target string
	Open   bool // those that are not delivered: to be delivered, and given up
	Since  time.Time
	Seqs   []int64
	Limit  int // the newest; 0 = all
}

// OutboxState is what a target has not been told yet.
type OutboxState struct {
	Target   string
	Open     int       // events to be delivered
	Oldest   time.Time // when the oldest of them happened; zero: there is none
	GivenUp  int       // events that nobody tries to deliver any more
	Failures int       // tries in a row of which none delivered anything
	NextAt   time.Time // the next try while they fail
}

// OutboxLast is what became of the newest tries to tell a target.
type OutboxLast struct {
	DeliveredAt time.Time // zero: nothing was delivered that the ledger still knows
	Fault       string    // the code of the last one among events that have not arrived; "": there is none
}

// FeedPlace is a place in the order of all changes.
type FeedPlace struct {
	Feed string // which order; another one after a restored or rebuilt ledger
	Seq  int64
}
