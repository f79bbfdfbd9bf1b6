package trade

import (
	"encoding/json"
	"time"
)

// Alert is something that people are told of once when it begins, and once when it is over. The
// ledger keeps it while it lasts, so that a restart or a second instance repeats nothing.
type Alert struct {
	ID    string // UUIDv7; "" before it is stored
	Topic string // what kind of thing it is
	// which of them: a job, a stop that several jobs share, a folder; one topic and subject is open
	// at most once
	Subject string
	Detail  json.RawMessage
	Since   time.Time // since when it is so, as far as is known
	SeenAt  time.Time // when it was first noticed
	// RaisedAt is when people were told; zero: not yet, because it has not lasted long enough.
	RaisedAt time.Time
	// GoneAt is since when it is no more; zero: it is there. What comes back soon is the same
	// alert.
	GoneAt   time.Time
	ClosedAt time.Time // when that was believed; zero: it is open
	Version  int64     // raised by each change: compare-and-set; 0 before it is stored
}

// AlertMessage is one message to one address, kept until it has been delivered or given up.
type AlertMessage struct {
	ID        string // UUIDv7; the same whenever delivery is tried again, so that a receiver can tell a repetition
	AlertID   string // "" for a digest
	Kind      string // what it is about: raised, over, digest
	Target    string // the channel, and the address in it
	Content   json.RawMessage
	CreatedAt time.Time
	Attempts  int // deliveries begun
	NextAt    time.Time
	DoneAt    time.Time // zero: it is still to be delivered
	Outcome   string    // delivered, superseded or given_up; "" while it is to be delivered
	Fault     string    // what went wrong at the last try: a short code, never a text of somebody else
}

// Backlog is what alerts are still to be delivered.
type Backlog struct {
	Messages int       // not delivered yet
	Oldest   time.Time // when the oldest of them was made; zero without any
	Failing  int       // those of them of which at least one try failed
}

// Ages tells how old a job's rows are; a time is zero where there is no such row.
type Ages struct {
	Unsent   time.Time // first sight of the oldest row that is pending or waiting
	Pending  time.Time // of the oldest that is pending
	Waiting  time.Time // of the oldest that is waiting
	InDoubt  time.Time // when the oldest attempt of a row in doubt began
	Newest   time.Time // first sight of the newest row
	FirstRun time.Time // start of the first run on record
}

// Sent is one record that the platform confirmed.
type Sent struct {
	Job     string
	Sends   Kind
	Target  string          // the order commitment of a traceability record; "" for others
	Payload json.RawMessage // what was sent; nil when it has been removed since
	At      time.Time       // when the confirmation was stored
}

// Space is the room in one of the ledger's folders.
type Space struct {
	Folder string
	Free   uint64 // bytes
	Low    bool   // so little that the ledger may soon be unable to store
}
