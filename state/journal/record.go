package journal

import (
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Kind is the kind of a record.
type Kind string

// The kinds of records.
const (
	Head Kind = "head" // begins a segment; its number is that of the record before it
	Tx   Kind = "tx"   // what one transaction of the ledger left
	Base Kind = "base" // a page of what the ledger knew when the journal began, also when it began again
)

// Record is one line of a journal. Its JSON keys are stored for years: keys may be added, but never
// changed.
type Record struct {
	Seq  int64     `json:"seq"`  // 1, 2, … within the journal
	Prev string    `json:"prev"` // CRC of the line before; 00000000 in the first line
	Kind Kind      `json:"kind"`
	At   time.Time `json:"at"`

	// of a segment; in a transaction: the place of the ledger, or its platform's address, has
	// changed, or it was moved away
	Head *Header `json:"head,omitempty"`
	// earlier records whose commit the ledger refused: their intents never left
	Void    []int64 `json:"void,omitempty"`
	ActName string  `json:"act,omitempty"`  // the name of a person's act
	Who     string  `json:"who,omitempty"`  // the person
	Rows    []Image `json:"rows,omitempty"` // the rows that decide about sending, as they are after it
	Sent    []Sent  `json:"sent,omitempty"` // what is, or may be, on the platform, likewise
	// answers that the ledger could not store
	Answers []Answer `json:"answers,omitempty"`
	// which records rows may be that of, as it leaves them
	Sightings []Sighting `json:"sightings,omitempty"`
	Jobs      []JobFact  `json:"jobs,omitempty"` // the jobs that a person paused, or let go on
	// jobs whose rows were moved to another job: by this act, or, in a base, before it
	Moves []Move `json:"moves,omitempty"`
	// for each other journal of the ledger the last record that the ledger had
	Seen  map[string]int64 `json:"seen,omitempty"`
	Audit *AuditHead       `json:"audit,omitempty"` // the last record of the audit before this transaction
	Term  *Term            `json:"term,omitempty"`  // what the host had confirmed of the ledger's server
	// in the last page of a base: the first record that is still needed; in a head: that of the last
	// base before it
	Base int64 `json:"base,omitempty"`
	Size int64 `json:"size,omitempty"` // with Base: the bytes of the pages
	// in the last page of a base: the hash of its rows, what was sent, and sightings
	Sum string `json:"sum,omitempty"`

	On string `json:"-"` // the server on which the ledger stores it; "" if there is only one
}

// Quiet reports whether a record tells nothing of rows, records or jobs.
func (r Record) Quiet() bool {
	return len(r.Rows)+len(r.Sent)+len(r.Answers)+len(r.Sightings)+len(r.Jobs)+len(r.Moves) == 0 && r.ActName == ""
}

// Open returns how many requests may leave after the record.
func (r Record) Open() (n int) {
	for _, s := range r.Sent {
		if s.Attempted && s.Outcome == OutcomeOpen {
			n++
		}
	}
	return n
}

// AuditHead is the end of the ledger's audit at some time. What comes before it cannot be rewritten
// without being detected.
type AuditHead struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

// Term is what a host has confirmed of a ledger on PostgreSQL and of the server that has it. A ledger
// that has less was rolled back, or is on a server that was given up.
type Term struct {
	Number int64  `json:"number,omitempty"` // raised each time that the ledger goes on after a change of its server
	Value  string `json:"value,omitempty"`  // random: two copies that draw the same number differ
	Server string `json:"server,omitempty"` // system identifier and timeline
	WAL    int64  `json:"wal,omitempty"`    // how far the server's write-ahead log was on its disk; 0 = not readable
}

// NewestForm is the form of the journals that this version writes. One of another form is not read.
const NewestForm = 2

// Header identifies a journal.
type Header struct {
	Journal string    `json:"journal"` // its id, a UUID
	Ledger  string    `json:"ledger"`  // the ledger's id
	Host    string    `json:"host"`    // name and machine id of the host that writes it
	Machine string    `json:"machine"` // machine id; "" if the host has none
	Place   string    `json:"place"`   // the ledger's file, or host and database
	Created time.Time `json:"created"` // when the journal was created, not the segment
	Program string    `json:"program"` // the version that wrote the segment
	Form    int       `json:"form"`    // of the records, the fingerprints among them; see NewestForm

	Platform string `json:"platform,omitempty"` // the base address that the ledger has sent to
	// where the ledger was moved to: what this journal follows never sends again
	MovedTo string `json:"moved_to,omitempty"`
	Witness string `json:"witness,omitempty"` // where its witness is
	// up to this number a retention may have taken the words of acts in the audit
	Reduced int64 `json:"reduced,omitempty"`
}

// RowRef identifies a row of the ledger.
type RowRef struct {
	Job string `json:"job,omitempty"`
	Key string `json:"key,omitempty"`
}

// Image is a row of the table entry as a transaction left it.
type Image struct {
	RowRef
	Sends string `json:"sends,omitempty"`
	// raised by each change of the row: of several images the highest is the newest
	Version    int64       `json:"version,omitempty"`
	Generation int         `json:"generation,omitempty"`
	State      string      `json:"state"`
	Cause      string      `json:"cause,omitempty"`
	Weak       bool        `json:"weak,omitempty"`         // refused in no form of the API
	Flags      trade.Flags `json:"flags,omitempty"`        // that readings of the ERP do not renew
	Explained  trade.Flags `json:"explained,omitempty"`    // absences that a person has explained
	Payload    trade.Hash  `json:"payload_hash,omitempty"` // of what was sent, or would be
	Source     trade.Hash  `json:"source_hash,omitempty"`  // of the newest row of the ERP
	Next       *time.Time  `json:"next,omitempty"`         // when it is due again by time
	// the record by which it is accepted, if that is not the one of its own generation
	On *Origin `json:"on,omitempty"`
	// where it stood before a person took it out
	Dismissal *trade.Dismissal `json:"dismissal,omitempty"`
}

// Origin identifies a record of the platform, with its kind: the row under which it went, and the
// generation.
type Origin struct {
	RowRef
	Generation int `json:"generation"`
}

// Sent is a row of the table sent as a transaction left it. Its row, kind and generation identify it:
// under these it went.
type Sent struct {
	SentImage
	AttemptImage
	Owner *RowRef `json:"owner,omitempty"` // the row that it belongs to now, if that is another one
	// the transaction began or ended its attempt
	Attempted bool `json:"attempted,omitempty"`
}

// SentImage has the columns of the table sent that are the same in every ledger, without its attempt.
type SentImage struct {
	Kind      string `json:"kind"`
	Job       string `json:"job"`
	Key       string `json:"key"`
	Certainty string `json:"certainty"`
	RemoteID  string `json:"remote_id,omitempty"`
	Parent    string `json:"parent,omitempty"`
	Kg        string `json:"kg"`
	// what was sent (trade.Prints)
	SentCells   trade.Hash `json:"sent_cells,omitempty"`
	SentPayload trade.Hash `json:"sent_payload,omitempty"`
	SentFields  trade.Hash `json:"sent_fields,omitempty"`
	// the newest row seen; empty where it is as it was sent
	NewCells   trade.Hash `json:"new_cells,omitempty"`
	NewPayload trade.Hash `json:"new_payload,omitempty"`
	NewFields  trade.Hash `json:"new_fields,omitempty"`
	SentAt     int64      `json:"sent_at"`
	Version    int64      `json:"version"` // of several images of one row the highest is the newest
}

// AttemptImage has the columns of an attempt that are the same in every ledger.
type AttemptImage struct {
	Attempt     string     `json:"attempt,omitempty"` // its id
	Generation  int        `json:"generation"`
	Outcome     string     `json:"outcome"` // none, open, or as [trade.Outcome] has it
	PayloadHash trade.Hash `json:"payload_hash,omitempty"`
	StartedAt   int64      `json:"started_at,omitempty"`
	Status      int        `json:"status,omitempty"`
	Counts      int        `json:"counts,omitempty"`
	AnswerID    string     `json:"answer_id,omitempty"`
}

// Answer is an answer that the ledger could not store: how an attempt ended, and what its row would be.
type Answer struct {
	AttemptImage
	State string      `json:"state"`
	Cause string      `json:"cause,omitempty"`
	Weak  bool        `json:"weak,omitempty"`
	Flags trade.Flags `json:"flags,omitempty"`
	Next  *time.Time  `json:"next,omitempty"`
}

// OutcomeOpen is the outcome of an attempt without an answer.
const OutcomeOpen = "open"

// Sighting is what a row holds, or held last, that may be the row of records of its kind; with no record
// it is decided (trade.Sighting).
type Sighting struct {
	RowRef
	Sends string   `json:"sends"`
	Of    []SeenAs `json:"of,omitempty"`
}

// SeenAs is a record, and what the row holds of it.
type SeenAs struct {
	Origin
	Prints trade.Prints `json:"prints"`
}

// JobFact is the state in which a person left a job.
type JobFact struct {
	Job    string `json:"job"`
	Paused bool   `json:"paused,omitempty"`
	Code   string `json:"code,omitempty"` // of the pause
	// who paused it, and why
	Why   trade.Sentence `json:"why,omitzero"`
	Since time.Time      `json:"since,omitzero"`
	// what the brake that paused it has found; nil for a person's pause
	Brake *trade.Brake `json:"brake,omitempty"`
}

// Move is a job whose entries were moved to another job.
type Move struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Sends string `json:"sends"`
	After int64  `json:"after"` // the last record of this journal before the move
}

// OwnerRow returns the row to which something that was sent belongs.
func (s Sent) OwnerRow() RowRef {
	if s.Owner != nil {
		return *s.Owner
	}
	return s.Row()
}

// Row returns the row under which it was sent.
func (s *SentImage) Row() RowRef { return RowRef{s.Job, s.Key} }

// Free reports whether another attempt may take the place of this one: nothing was created by it.
func (a *AttemptImage) Free() bool {
	return !a.Changeable() && a.Outcome != string(trade.OutcomeCreated)
}

// Changeable reports whether the outcome may still change.
func (a *AttemptImage) Changeable() bool {
	return a.Outcome == OutcomeOpen || a.Outcome == string(trade.OutcomeUnknown)
}

// Certain reports whether it is known how an attempt ended.
func (a *AttemptImage) Certain() bool { return a.Attempt != "" && !a.Changeable() }
