package trade

import (
	"encoding/json"
	"time"
)

// Outcome is the known result of an attempt. It may change from Open to any other, and from Unknown
// to a certain one when a definite late answer of the same attempt arrives, or the proof that none
// of its bytes left; it never changes otherwise.
type Outcome string

// The outcomes.
const (
	OutcomeOpen       Outcome = ""            // the intent is durable, the result is not
	OutcomeCreated    Outcome = "created"     // one record was created, and its id is known
	OutcomeNotCreated Outcome = "not_created" // refused, as documented
	OutcomeNotSent    Outcome = "not_sent"    // proof that no byte left
	OutcomeUnknown    Outcome = "unknown"     // it is unknown whether a record was created
)

// Attempt is one POST of one entry, from its intent on.
type Attempt struct {
	ID          string // UUIDv7, assigned here
	EntryID     int64
	Generation  int
	No          int    // 1, 2, … within the entry
	RunID       string // the run that made it
	Owner       string // the instance that made it
	Epoch       int64  // of the job's lease at that time
	Target      string // see Entry.Target
	Payload     json.RawMessage
	PayloadHash Hash
	StartedAt   time.Time // of the intent
	FinishedAt  time.Time // zero while open
	Outcome     Outcome
	Status      int      // HTTP status; 0 when none arrived
	Messages    []string // message keys of the answer
	RemoteID    string
	Reason      Sentence // why this outcome
	Evidence    json.RawMessage
	RequestHead json.RawMessage // redacted headers
	AnswerHead  json.RawMessage // redacted headers
	AnswerBody  string          // sanitised excerpt, at most 2 KiB
}

// Undecided reports whether the attempt may have created a record, or may do so yet.
func (a Attempt) Undecided() bool { return a.Outcome == OutcomeOpen || a.Outcome == OutcomeUnknown }

// Intent asks the ledger to make an attempt durable: its entry changes from pending to sending. If
// the entry has changed meanwhile, the intent is refused, which is not an error.
type Intent struct {
	Entry   Entry // as read; its Version is compared
	Attempt Attempt
}

// Settlement is how an attempt ended and what its entry becomes. It applies while the attempt is
// open or unknown, whoever holds the lease (I12).
type Settlement struct {
	Attempt Attempt // with Outcome and everything that is known
	// The entry as it was in the intent, and the number of the sending that the ledger then gave
	// ([GroupResult]); zero if they are not known. With them the ledger need not read its rows.
	Entry         Entry
	RecordID      int64
	State         State // of the entry; "" if only its flags change
	Cause         string
	Kind          ErrorKind // of the entry's error; "" if it has none
	Weak          bool      // refused, but in no form of the API
	NextAttemptAt time.Time
	Flags         Flags // added to the entry's
	Counts        bool  // the attempt counts in Entry.Attempts
}

// Block is a record that the platform does not know, or a link that it does not have. Rows that
// need it wait, and one of them asks again at NextAt.
type Block struct {
	Kind    string // de-para kind: producers, wallets, …; wallet_links for a pair
	ID      string // the platform id; "wallet producer" for a pair
	Message string // the API's message key
	FirstAt time.Time
	NextAt  time.Time // zero: not tried again by time, a person decides
	Tries   int
}
