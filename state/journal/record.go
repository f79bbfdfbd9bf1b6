package journal

import (
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Kind says what a record is.
type Kind string

// The kinds of records.
const (
	Head  Kind = "head"  // begins a segment; has the number of the record before it
	Known Kind = "known" // what the ledger knew when the journal began
	Group Kind = "group" // outcomes and intents of one commit of the ledger
	Act   Kind = "act"   // a person decided about sending
	Moved Kind = "moved" // the ledger stands elsewhere now, or belongs to a platform at another address

	Snapshot Kind = "snapshot" // what the ledger knows, while it is in use: the journal begins again
	Base     Kind = "base"     // ends a snapshot: what stands before it is not needed any more
)

// Record is one line of a journal. Its JSON keys are stored for years: they are only added to.
type Record struct {
	Seq  int64     `json:"seq"`  // 1, 2, … within the journal
	Prev string    `json:"prev"` // CRC of the line before; 00000000 in the first line
	Kind Kind      `json:"kind"`
	At   time.Time `json:"at"`

	Head *Header `json:"head,omitempty"`
	// earlier records whose commit the ledger refused: their intents never left
	Void     []int64   `json:"void,omitempty"`
	Outcomes []Outcome `json:"outcomes,omitempty"`
	Intents  []Intent  `json:"intents,omitempty"`
	By       string    `json:"by,omitempty"`    // with Intents: the process that may send them
	ActName  string    `json:"act,omitempty"`   // the name of a person's act
	Who      string    `json:"who,omitempty"`   // who did it
	Facts    []Fact    `json:"facts,omitempty"` // entries as they are after an act, or when the journal began
	Jobs     []JobFact `json:"jobs,omitempty"`  // jobs as they are after an act
	// jobs whose entries went to another job: by this act, or, in a snapshot, before it
	Moves []Move           `json:"moves,omitempty"`
	Seen  map[string]int64 `json:"seen,omitempty"`  // of other journals of the ledger: the last record that it had
	Audit *AuditHead       `json:"audit,omitempty"` // with an act: the last record of the audit before it
	// of a base: the first record that is needed still; of a head: that of the last base before it
	Base int64 `json:"base,omitempty"`
	Size int64 `json:"size,omitempty"` // with Base: the bytes of the snapshot
}

// AuditHead is the end of the ledger's audit at some time. What comes before it cannot be written
// anew without being noticed.
type AuditHead struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

// Header names a journal.
type Header struct {
	Journal string    `json:"journal"` // its id, a UUID
	Ledger  string    `json:"ledger"`  // the ledger's id
	Host    string    `json:"host"`    // name and machine id of the host that writes it
	Machine string    `json:"machine"` // machine id; "" when the host has none
	Place   string    `json:"place"`   // the ledger's file, or host and database
	Created time.Time `json:"created"` // the journal, not the segment
	Program string    `json:"program"` // the version that wrote the segment

	Platform string `json:"platform,omitempty"` // base address that the ledger has sent to
}

// Row names an entry of the ledger.
type Row struct {
	Job string `json:"job"`
	Key string `json:"key"`
}

// Intent is a POST that may leave once the ledger has it too.
type Intent struct {
	Row
	Sends      string     `json:"sends"`
	Attempt    string     `json:"attempt"`
	Generation int        `json:"generation"`
	Payload    trade.Hash `json:"payload_hash"`
	Content    int64      `json:"content,omitempty"` // number of the business that the payload asks for; 0 = not known
	Source     trade.Hash `json:"source_hash"`       // of the ERP's row that was sent
}

// Outcome is how an attempt ended, and what its entry became. Row is empty where the ledger could
// not be asked for it: the attempt names it.
type Outcome struct {
	Row
	Attempt    string     `json:"attempt"`
	Generation int        `json:"generation"`
	Outcome    string     `json:"outcome"` // created, not_created, not_sent, unknown
	RemoteID   string     `json:"remote_id,omitempty"`
	Counts     bool       `json:"counts,omitempty"`
	State      string     `json:"state,omitempty"` // of the entry; "" when it did not follow
	Cause      string     `json:"cause,omitempty"`
	Status     int        `json:"status,omitempty"`
	Weak       bool       `json:"weak,omitempty"`
	Next       *time.Time `json:"next,omitempty"` // when the entry is due again by time
}

// Fact is an entry as it stands.
type Fact struct {
	Row
	Sends      string `json:"sends"`
	Generation int    `json:"generation"`
	State      string `json:"state"`
	Cause      string `json:"cause,omitempty"`
	RemoteID   string `json:"remote_id,omitempty"` // "" for an entry that a person accepted without one
	// the id that it had before its record went to the row under its new key
	MovedID string     `json:"moved_id,omitempty"`
	Weak    bool       `json:"weak,omitempty"`
	Payload trade.Hash `json:"payload_hash,omitempty"`
	Content int64      `json:"content,omitempty"`     // as of an intent
	Source  trade.Hash `json:"source_hash,omitempty"` // of the row that was sent
	Newest  trade.Hash `json:"newest_hash,omitempty"` // of the row as it is now, where it has changed since
	// the row that was sent does not stand under the key any more
	Replaced bool          `json:"replaced,omitempty"`
	Attempts []FactAttempt `json:"attempts,omitempty"`
}

// JobFact is a job as a person left it.
type JobFact struct {
	Job    string    `json:"job"`
	Paused bool      `json:"paused,omitempty"`
	Code   string    `json:"code,omitempty"` // of the pause
	Text   string    `json:"text,omitempty"` // who paused it, and why
	Since  time.Time `json:"since,omitzero"`
}

// Move is a job whose entries another one has.
type Move struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Sends string `json:"sends"`
	After int64  `json:"after"` // the record of this journal before it
}

// FactAttempt is an attempt that created a record, may have created one, or may be creating one.
type FactAttempt struct {
	ID         string     `json:"id"`
	Generation int        `json:"generation"`
	Outcome    string     `json:"outcome"` // "" while it is open
	RemoteID   string     `json:"remote_id,omitempty"`
	Payload    trade.Hash `json:"payload_hash,omitempty"`
	Content    int64      `json:"content,omitempty"` // as of an intent
	Started    time.Time  `json:"started"`
}
