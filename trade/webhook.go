package trade

import (
	"cmp"
	"time"
)

// Webhook is a registration of ours on the platform, as the ledger knows it. Its path and its
// credentials are not stored, only hashes to recognise them.
type Webhook struct {
	ID        string // assigned here
	Event     string
	Address   string // where the platform calls, without the secret path
	PathHash  string // SHA-256 of the path, in hex
	LoginHash string // SHA-256 of user:password, in hex
	HMACMark  string // keyed hash of the hmac_secret that was registered; "" = none
	RemoteID  string // the platform's; "" = unknown
	State     WebhookState
	AskedAt   time.Time // when it was sent to the platform
	SettledAt time.Time // when it was seen on the platform; zero: not yet
	RetiredAt time.Time // when it was replaced or removed; zero: it is in use
}

// WebhookState is the state of a registration. The names are stored.
type WebhookState string

// The states of a registration. Once it was sent, the platform may use it, whatever the answer was:
// calls to it are accepted in every state.
const (
	WebhookAsked   WebhookState = "asked"   // it was sent; unknown whether the platform has it
	WebhookActive  WebhookState = "active"  // the platform has it
	WebhookRetired WebhookState = "retired" // the platform had or may have had it, but now has another or none
)

// InboxEvent is an event as it was received.
type InboxEvent struct {
	Seq         int64 // 0 until it is stored
	Event       string
	Webhook     string // the registration to whose path it was sent
	Hash        string // of event and body: an identical one is stored only once
	Body        []byte // raw, any bytes
	ContentType string
	From        string // address of the sender
	FirstAt     time.Time
	LastAt      time.Time
	Times       int
	NextAt      time.Time // when it is to be classified; zero: nothing is left to do
	Outcome     Sentence  // result; zero: not classified yet
}

// InboxFilter selects events; zero fields select everything.
type InboxFilter struct {
	Seqs  []int64
	Event string
	Text  string // a text in the body: an id, a word
	Since time.Time
	Open  bool // only those that are not classified yet
	Limit int  // the newest ones; 0 = all
	// the event after which the page begins; 0 = the newest
	Before int64
}

// EventNote is what an event reported about a record of the platform.
type EventNote struct {
	Event string    `json:"event"`
	Kind  string    `json:"kind"` // order_commitments, producers, farms
	ID    string    `json:"id"`   // of the record
	At    time.Time `json:"at"`
	Word  string    `json:"status"` // the status in the event; "" = none could be read
	Seq   int64     `json:"seq"`    // of the event in the inbox
}

// Candidate is a record of the platform that an event named and that belongs to none of our rows.
type Candidate struct {
	ID      string // the platform's
	Seq     int64  // of the event that named it first
	Event   string // the same
	Purpose CandidatePurpose
	HeardAt time.Time
	LastAt  time.Time // when an event named it last
	Again   bool      // its event is processed again, by a person's order; only while it is stored
	// earliest and latest time at which it was created, according to the platform: a time without a
	// zone may mean several; zero: unknown
	TypedFrom time.Time
	TypedTo   time.Time
	NextAt    time.Time // when it is to be read back; zero: never again
	AskedAt   time.Time // when it was read back last; zero: never
	Tries     int
	State     CandidateState
	Status    int               // of the last reading
	Fields    map[string]string // what the platform has, by the API's field names
	Unread    []string          // fields of unknown form
	SettledBy int64             // the entry whose doubt it settled; 0 = none
}

// CandidatePurpose is why a candidate is read back. The names are stored.
type CandidatePurpose string

// The purposes.
const (
	ForDoubts   CandidatePurpose = "doubt"   // it may be the record of a row in doubt
	ForDeletion CandidatePurpose = "deleted" // an event reported that this record of ours was deleted
)

// CandidateState is the progress of the reading. The names are stored.
type CandidateState string

// The states of a candidate.
const (
	CandidateHeard CandidateState = "heard" // not read, or to be read again
	CandidateRead  CandidateState = "read"  // the platform has it
	// it could not be read for an hour; that does not mean that it does not exist
	CandidateUnreadable CandidateState = "unreadable"
	CandidateSettled    CandidateState = "settled" // it settled a doubt, or a deletion was confirmed
)

// Doubt is an attempt that may have created a record, or is still in flight, with its entry.
type Doubt struct {
	Entry   Entry
	Attempt Attempt
}

// Hints are what is known from the platform beyond the answers to a row's own requests. They prove
// nothing, but may help a person.
type Hints struct {
	Events int         `json:"events"`                  // of any kind, since the attempt
	Own    int         `json:"order_commitment_events"` // of these
	Heard  []EventNote `json:"heard"`                   // about the row's record, producer and farm, newest first
}

// EventSilence is what is known about how long no events have come.
type EventSilence struct {
	// when the platform was first seen to have a registration for order commitments; zero: it has
	// none
	Since   time.Time
	LastAt  time.Time // when the newest event of any kind came; zero: none did
	Made    int       // order commitments confirmed since the later of the two
	Waiting int       // events that are not classified yet
	Total   int       // events that are kept
}

// The events that report a status of a record (chapter 6).
const (
	eventWorkflow    = "UPDATE_WORKFLOW_ORDER_COMMITMENT"
	eventProducerESG = "CHANGE_PRODUCER_STATUS_ESG"
	eventFarmESG     = "CHANGE_FARM_STATUS_ESG"
)

// ReportedStatus is a status of a record on the platform that only events report.
type ReportedStatus string

// The statuses.
const (
	Workflow    ReportedStatus = "workflow"     // of an order commitment
	ProducerESG ReportedStatus = "esg_producer" // of the producer
	FarmESG     ReportedStatus = "esg_farm"     // of the farm
)

// Event returns the event that reports a status, and the kind of record that it names.
func (s ReportedStatus) Event() (event, kind string) {
	switch s {
	case Workflow:
		return eventWorkflow, string(OrderCommitments)
	case ProducerESG:
		return eventProducerESG, "producers"
	case FarmESG:
		return eventFarmESG, "farms"
	}
	return "", ""
}

// EventLabel returns the name of an event for people; the platform's own if it has none here.
func EventLabel(event string, lang Lang) string {
	return cmp.Or(find(lang, "events."+event), event)
}
