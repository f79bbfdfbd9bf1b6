package journal

import (
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Kind is the kind of a record.
type Kind string

// The kinds of records.
const (
	Head  Kind = "head"  // begins a segment; its number is that of the record before it
	Known Kind = "known" // what the ledger knew when the journal began
	Group Kind = "group" // outcomes and intents of one commit of the ledger
	Act   Kind = "act"   // a person's decision about sending
	Moved Kind = "moved" // the ledger's place has changed, or its platform's address, or it was moved away

	Audited Kind = "audited" // nothing but the end of the audit, and what was seen of the ledger

	Snapshot Kind = "snapshot" // what the ledger in use knows; the journal begins again
	Base     Kind = "base"     // ends a snapshot: what was before it is no longer needed
)

// Record is one line of a journal. Its JSON keys are stored for years: keys may be added, but never
// changed.
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
	By       string    `json:"by,omitempty"`      // with Intents: the process that may send them
	ActName  string    `json:"act,omitempty"`     // the name of a person's act
	Who      string    `json:"who,omitempty"`     // the person
	Facts    []Fact    `json:"facts,omitempty"`   // entries after an act, or when the journal began
	Records  []Sent    `json:"records,omitempty"` // what the transaction left of the records that it wrote
	Jobs     []JobFact `json:"jobs,omitempty"`    // jobs after an act
	// jobs whose entries were moved to another job: by this act, or, in a snapshot, before it
	Moves []Move `json:"moves,omitempty"`
	// for each other journal of the ledger the last record that the ledger had
	Seen  map[string]int64 `json:"seen,omitempty"`
	Audit *AuditHead       `json:"audit,omitempty"` // the last record of the audit before this transaction
	Term  *Term            `json:"term,omitempty"`  // what the host had confirmed of the ledger's server
	// in a base: the first record that is still needed; in a head: that of the last base before it
	Base int64 `json:"base,omitempty"`
	Size int64 `json:"size,omitempty"` // with Base: the bytes of the snapshot
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

// Header identifies a journal.
type Header struct {
	Journal string    `json:"journal"` // its id, a UUID
	Ledger  string    `json:"ledger"`  // the ledger's id
	Host    string    `json:"host"`    // name and machine id of the host that writes it
	Machine string    `json:"machine"` // machine id; "" if the host has none
	Place   string    `json:"place"`   // the ledger's file, or host and database
	Created time.Time `json:"created"` // when the journal was created, not the segment
	Program string    `json:"program"` // the version that wrote the segment

	Platform string `json:"platform,omitempty"` // the base address that the ledger has sent to
	// where the ledger was moved to: what this journal follows never sends again
	MovedTo string `json:"moved_to,omitempty"`
}

// Row identifies an entry of the ledger.
type Row struct {
	Job string `json:"job"`
	Key string `json:"key"`
}

// Intent is a POST that may leave once the ledger has stored it too.
type Intent struct {
	Row
	Sends      string     `json:"sends"`
	Attempt    string     `json:"attempt"`
	Generation int        `json:"generation"`
	Payload    trade.Hash `json:"payload_hash"`
	Source     trade.Hash `json:"source_hash"` // hash of the row of the ERP that was sent
}

// Outcome is how an attempt ended, and what its entry became. Row is empty if the ledger could not
// be read: then only the attempt identifies it.
type Outcome struct {
	Row
	Attempt    string `json:"attempt"`
	Generation int    `json:"generation"`
	Outcome    string `json:"outcome"` // created, not_created, not_sent, unknown
	RemoteID   string `json:"remote_id,omitempty"`
	Counts     bool   `json:"counts,omitempty"`
	// of the entry; "" if it did not follow the answer
	State  string     `json:"state,omitempty"`
	Cause  string     `json:"cause,omitempty"`
	Status int        `json:"status,omitempty"`
	Weak   bool       `json:"weak,omitempty"`
	Next   *time.Time `json:"next,omitempty"` // when the entry is due again by time
}

// Fact is the state of an entry.
type Fact struct {
	Row
	Sends      string `json:"sends"`
	Generation int    `json:"generation"`
	State      string `json:"state"`
	Cause      string `json:"cause,omitempty"`
	// "" for an entry that a person accepted without an id
	RemoteID string `json:"remote_id,omitempty"`
	// the id that it had before its record was assigned to the row under its new key
	MovedID string     `json:"moved_id,omitempty"`
	Weak    bool       `json:"weak,omitempty"`
	Payload trade.Hash `json:"payload_hash,omitempty"`
	Source  trade.Hash `json:"source_hash,omitempty"` // of the row that was sent
	Newest  trade.Hash `json:"newest_hash,omitempty"` // of the present row, if it has changed since
	// the row that was sent is no longer under this key
	Replaced bool `json:"replaced,omitempty"`
	// the records that belong to it; only in known and snapshot
	Records []Sent `json:"records,omitempty"`
	// absences that a person has explained: missing, cancelled
	Explained trade.Flags   `json:"explained,omitempty"`
	Attempts  []FactAttempt `json:"attempts,omitempty"`
}

// Sent is a record of the platform as a transaction left it (trade.Record). Row and Generation
// identify it: under these it went.
type Sent struct {
	Row
	Generation int          `json:"generation"`
	Sends      string       `json:"sends"`
	Owner      *Row         `json:"owner,omitempty"` // the row that it belongs to now, if that is another one
	Certainty  string       `json:"certainty"`
	RemoteID   string       `json:"remote_id,omitempty"`
	Parent     string       `json:"parent,omitempty"` // the platform's id of the record under which it went
	Prints     trade.Prints `json:"prints"`           // of what was sent
	Newest     trade.Prints `json:"newest,omitzero"`  // of the newest row seen, if it differs
	Kilograms  string       `json:"kg"`
	At         time.Time    `json:"at"`
	Version    int64        `json:"version"` // of several images of one record the highest is the newest
}

// JobFact is the state in which a person left a job.
type JobFact struct {
	Job    string    `json:"job"`
	Paused bool      `json:"paused,omitempty"`
	Code   string    `json:"code,omitempty"` // of the pause
	Text   string    `json:"text,omitempty"` // who paused it, and why
	Since  time.Time `json:"since,omitzero"`
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

// FactAttempt is an attempt that created a record, may have created one, or may be creating one.
type FactAttempt struct {
	ID         string     `json:"id"`
	Generation int        `json:"generation"`
	Outcome    string     `json:"outcome"` // "" while it is open
	RemoteID   string     `json:"remote_id,omitempty"`
	Payload    trade.Hash `json:"payload_hash,omitempty"`
	Started    time.Time  `json:"started"`
}
