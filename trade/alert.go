package trade

import (
	"encoding/json"
	"time"
)

// Alert is a condition that people are told of once when it begins and once when it is over. The
// ledger stores it while it lasts, so that a restart or a second instance repeats nothing.
type Alert struct {
	ID    string // UUIDv7; "" before it is stored
	Topic string // kind of condition
	// what is concerned: a job, a stop that several jobs share, a folder; for each topic and
	// subject at most one alert is open
	Subject string
	Detail  json.RawMessage
	Since   time.Time // when it began, as far as is known
	SeenAt  time.Time // when it was first noticed
	// RaisedAt is when people were told; zero: not yet, because it has not lasted long enough.
	RaisedAt time.Time
	// GoneAt is when it ended; zero: it lasts. If it returns soon, it is the same alert.
	GoneAt   time.Time
	ClosedAt time.Time // when its end was taken as final; zero: it is open
	Version  int64     // raised by each change: compare-and-set; 0 before it is stored
}

// AlertMessage is one message to one address, stored until it is delivered or given up.
type AlertMessage struct {
	ID        string // UUIDv7; the same for all tries, so that a receiver can detect a repetition
	AlertID   string // "" for a digest
	Kind      string // what it reports: raised, over, digest
	Target    string // the channel, and the address in it
	Content   json.RawMessage
	CreatedAt time.Time
	Attempts  int // deliveries that were begun
	NextAt    time.Time
	DoneAt    time.Time // zero: not done yet
	Outcome   string    // delivered, superseded or given_up; "" while not done
	Fault     string    // what failed at the last try: a short code, never a text from outside
}

// Backlog is the alert messages that are not delivered yet.
type Backlog struct {
	Messages int       // not delivered yet
	Oldest   time.Time // when the oldest of them was created; zero if there is none
	Failing  int       // messages with at least one failed try
}

// Ages are the ages of a job's rows; a time is zero if there is no such row.
type Ages struct {
	Unsent   time.Time // when the oldest pending or waiting row was first seen
	Pending  time.Time // when the oldest pending row was first seen
	Waiting  time.Time // when the oldest waiting row was first seen
	InDoubt  time.Time // when the oldest attempt of a row in doubt began
	Newest   time.Time // when the newest row was first seen
	FirstRun time.Time // start of the first run on record
}

// Sent is one record that the platform confirmed.
type Sent struct {
	Job     string
	Sends   Kind
	Target  string          // the order commitment of a traceability record; "" for others
	Payload json.RawMessage // what was sent; nil if retention has removed it
	At      time.Time       // when the confirmation was stored
}

// Space is the free space in one of the ledger's folders.
type Space struct {
	Folder string
	Free   uint64 // bytes
	Low    bool   // so little that the ledger may soon be unable to store
}

// CauseOwner is that a person takes care of what keeps rows from going.
type CauseOwner struct {
	Key   string         // of the cause, as the list of causes has it
	Cause string         // the `cause` of its rows
	Owner string         // who takes care of it
	Note  string         // what was done: a ticket, a phone call
	Until time.Time      // nobody is reminded before; zero: people are reminded all the time
	Rows  map[string]int // how many rows of each job had the cause then
	Who   string         // who said so
	At    time.Time
}

// Quiet reports whether nobody need be reminded of the cause: its day has not come, and it has not
// grown in any job since then. rows is how many rows of each job have it now.
func (o CauseOwner) Quiet(now time.Time, rows map[string]int) bool {
	if !now.Before(o.Until) {
		return false
	}
	for job, n := range rows {
		if n > o.Rows[job] {
			return false
		}
	}
	return true
}
