package trade

import (
	"encoding/json"
	"time"
)

// Outcome is what an attempt is known to have done. It may change from Open to any other, and from
// Unknown to a certain one when a definite answer of the same attempt, or the proof that no byte of
// it left, arrives late; never otherwise.
type Outcome string

// The outcomes.
const (
	OutcomeOpen       Outcome = ""            // the intent is durable, the result is not
	OutcomeCreated    Outcome = "created"     // one record, its id known
	OutcomeNotCreated Outcome = "not_created" // refused, as documented
	OutcomeNotSent    Outcome = "not_sent"    // proof that no byte left
	OutcomeUnknown    Outcome = "unknown"     // nobody knows
)

// Attempt is one POST of one entry, from its intent on.
type Attempt struct {
	ID          string // UUIDv7, ours
	EntryID     int64
	Generation  int
	No          int    // 1, 2, … within the entry
	RunID       string // the run that made it
	Owner       string // the instance that made it
	Epoch       int64  // of the job's lease at the time
	Target      string // see Entry.Target
	Payload     json.RawMessage
	PayloadHash Hash
	Content     int64     // see Entry.Content
	StartedAt   time.Time // of the intent
	FinishedAt  time.Time // zero while open
	Outcome     Outcome
	Status      int      // HTTP status; 0 when none arrived
	Messages    []string // message keys of the answer
	RemoteID    string
	Reason      string // why this outcome, one sentence
	Evidence    json.RawMessage
	RequestHead json.RawMessage // redacted headers
	AnswerHead  json.RawMessage // redacted headers
	AnswerBody  string          // sanitised excerpt, at most 2 KiB
}

// Intent asks the ledger to make an attempt durable: its entry moves from pending to sending. It is
// refused, not failed, when the entry has moved meanwhile.
type Intent struct {
	Entry   Entry // as it was read; Version is compared
	Attempt Attempt
}

// Settlement tells the ledger how an attempt ended and what its entry becomes. It applies while the
// attempt is open or unknown, whoever owns the lease (I12).
type Settlement struct {
	Attempt       Attempt // with Outcome and everything that is known
	State         State   // of the entry
	Cause         string
	Error         *EntryError
	NextAttemptAt time.Time
	Flags         Flags // added to the entry's
	Counts        bool  // the attempt is one of Entry.Attempts
}

// Block is a record that the platform said it does not know, or does not find linked: rows that
// need it wait, and one of them asks again at NextAt.
type Block struct {
	Kind    string // de-para kind: producers, wallets, …; wallet_links for a pair
	ID      string // the platform id; "wallet producer" for a pair
	Message string // the API's message key
	FirstAt time.Time
	NextAt  time.Time // zero: no further try by time, a person decides
	Tries   int
}
