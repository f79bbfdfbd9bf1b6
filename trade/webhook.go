package trade

import "time"

// Webhook is a registration of ours on the platform, as the ledger knows it. Neither its path nor
// its credentials are kept: the hashes are enough to know them again.
type Webhook struct {
	ID        string // ours
	Event     string
	Address   string // where the platform calls, without the secret path
	PathHash  string // SHA-256 of the path, in hex
	LoginHash string // SHA-256 of user:password, in hex
	HMACMark  string // keyed hash of the hmac_secret that was registered; "" = none
	RemoteID  string // of the platform; "" = not known
	State     WebhookState
	AskedAt   time.Time // when it was sent to the platform
	SettledAt time.Time // when the platform was seen to have it; zero: not yet
	RetiredAt time.Time // when another took its place, or it was removed; zero: it is in use
}

// WebhookState is where a registration stands. The names are stored.
type WebhookState string

// The states of a registration. What was sent may be in use on the platform, whatever the answer
// was: its calls are taken in all of them.
const (
	WebhookAsked   WebhookState = "asked"   // it was sent, and nobody knows yet whether the platform has it
	WebhookActive  WebhookState = "active"  // the platform has it
	WebhookRetired WebhookState = "retired" // the platform had it, or may have had it, and has another or none now
)

// InboxEvent is an event as it came.
type InboxEvent struct {
	Seq         int64 // 0 until it is stored
	Event       string
	Webhook     string // the registration at whose path it came
	Hash        string // of event and body: the same again is stored once
	Body        []byte // raw, any bytes
	ContentType string
	From        string // address of the sender
	FirstAt     time.Time
	LastAt      time.Time
	Times       int
	NextAt      time.Time // when it is to be looked at; zero: nothing is left to do
	Outcome     string    // what came of it, one English sentence; "" = not looked at yet
}

// InboxFilter selects events for people; zero fields select everything.
type InboxFilter struct {
	Seqs  []int64
	Event string
	Text  string // that the body contains: an id, a word
	Since time.Time
	Open  bool // those that are still to be looked at
	Limit int  // the newest; 0 = all
}

// Heard is what an event told of a record of the platform.
type Heard struct {
	Kind  string // order_commitments, producers, farms
	ID    string // of the record
	Event string
	Seq   int64 // of the event in the inbox
	At    time.Time
	Word  string // the status that the event named; "" = none that could be read
}

// Candidate is a record of the platform of which an event told, and which no row of ours has.
type Candidate struct {
	ID      string // of the platform
	Seq     int64  // of the event that told of it first
	Event   string // the same
	Purpose CandidatePurpose
	HeardAt time.Time
	LastAt  time.Time // when an event told of it last
	Again   bool      // its event is looked at once more, by a person's order; only while it is noted
	// between when and when the platform says that it was made: a time without a zone may be
	// several; zero: it does not say
	TypedFrom time.Time
	TypedTo   time.Time
	NextAt    time.Time // when it is to be read back; zero: never again
	AskedAt   time.Time // when it was read back last; zero: never
	Tries     int
	State     CandidateState
	Status    int               // of the last reading
	Fields    map[string]string // what the platform has, by the names of the API
	Unread    []string          // fields in no known shape
	SettledBy int64             // the entry whose doubt it settled; 0 = none
}

// CandidatePurpose is what a reading is good for. The names are stored.
type CandidatePurpose string

// The purposes.
const (
	ForDoubts   CandidatePurpose = "doubt"   // it may be the record of a row in doubt
	ForDeletion CandidatePurpose = "deleted" // it is a record of ours, and an event says that it was deleted
)

// CandidateState is how far the reading is. The names are stored.
type CandidateState string

// The states of a candidate.
const (
	CandidateHeard CandidateState = "heard" // not read, or to be read again
	CandidateRead  CandidateState = "read"  // it is there
	// it could not be read for an hour; that says nothing of whether it is there
	CandidateUnreadable CandidateState = "unreadable"
	CandidateSettled    CandidateState = "settled" // it settled a doubt, or a deletion was confirmed
)

// Doubt is an attempt of which nobody knows whether it made a record, or does not know yet, with
// its entry.
type Doubt struct {
	Entry   Entry
	Attempt Attempt
}

// Hints are what is known of the platform beyond the answers of a row's own requests. They prove
// nothing; a person may find them useful.
type Hints struct {
	Events  int         // events of any kind that came since the attempt
	Own     int         // of these, events of order commitments
	Heard   []Heard     // what was told of the row's record, its producer and its farm, the newest first
	Records []Candidate // records that a doubt may be about
}

// EventSilence is what is known of the stillness of webhooks.
type EventSilence struct {
	// when the platform was first seen to have a registration for order commitments; zero: it has
	// none
	Since   time.Time
	LastAt  time.Time // of the newest event of any kind; zero: none came
	Made    int       // order commitments that the platform confirmed since both
	Waiting int       // events that are still to be looked at
}

// The events that tell of a status of a record (chapter 6).
const (
	eventWorkflow    = "UPDATE_WORKFLOW_ORDER_COMMITMENT"
	eventProducerESG = "CHANGE_PRODUCER_STATUS_ESG"
	eventFarmESG     = "CHANGE_FARM_STATUS_ESG"
)

// Status is a status that a record has on the platform, and of which only events tell.
type Status string

// The statuses.
const (
	Workflow    Status = "workflow"     // of an order commitment
	ProducerESG Status = "esg_producer" // of the producer
	FarmESG     Status = "esg_farm"     // of the farm
)

// Event is the event that tells of a status, and the kind of record that it names.
func (s Status) Event() (event, kind string) {
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

// eventLabels name the events that are noted at records.
var eventLabels = map[string][2]string{
	"CREATE_ORDER_COMMITMENT": {"contrato criado", "order commitment created"},
	"UPDATE_ORDER_COMMITMENT": {"contrato alterado", "order commitment changed"},
	"DELETE_ORDER_COMMITMENT": {"contrato excluído", "order commitment deleted"},
	eventWorkflow:             {"workflow do contrato", "workflow of the order commitment"},
	eventProducerESG:          {"ESG do produtor", "ESG of the producer"},
	eventFarmESG:              {"ESG da propriedade", "ESG of the farm"},
	"PRODUCER_PRODUCTION":     {"produção do produtor", "production of the producer"},
	"DELETE_PRODUCER":         {"produtor excluído", "producer deleted"},
	"DELETE_FARM":             {"propriedade excluída", "farm deleted"},
}

// EventLabel names an event for people; one that is not noted at records has the platform's own
// name.
func EventLabel(event string, lang Lang) string {
	words, ok := eventLabels[event]
	switch {
	case !ok:
		return event
	case lang == English:
		return words[1]
	}
	return words[0]
}
