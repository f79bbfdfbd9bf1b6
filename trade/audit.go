package trade

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"
)

// The acts of retention in the audit: by the schedule, and by a person.
const (
	ActRetention = "retention"
	ActPurge     = "purge"
)

// AuditRecord is one act that changed what the engine will do. It is never altered or deleted, but
// retention may reduce it (Reduced).
type AuditRecord struct {
	Seq    int64     `json:"seq"`
	At     time.Time `json:"at"`
	Who    string    `json:"who"`    // a person's name, or the program's own for its acts
	From   string    `json:"from"`   // where: host and user of the process
	Act    string    `json:"act"`    // "refs import", "adopt", …
	Target string    `json:"target"` // "wallets", "contracts 01|000123"
	Reason string    `json:"reason"`
	Detail string    `json:"detail"` // JSON: before and after; of the program's own acts also why (Why)
	Prev   string    `json:"prev"`   // hash of the record before; "" for the first
	Hash   string    `json:"hash"`   // hash of Prev and of everything else in the record

	Reduced bool `json:"-"` // retention has removed who, from where, on what, why and the detail
}

// Why returns why the program did something of its own accord; of a person's act it says nothing.
func (r AuditRecord) Why() Sentence {
	var detail struct {
		Why Sentence `json:"why"`
	}
	if r.Reason != "" || json.Unmarshal([]byte(r.Detail), &detail) != nil {
		return Sentence{}
	}
	return detail.Why
}

// Because returns the person's reason, or why the program did it, in a language.
func (r AuditRecord) Because(lang Lang, zone *time.Location) string {
	return cmp.Or(r.Reason, r.Why().In(lang, zone))
}

// AuditProof is what was found when the audit was compared with its own hashes, and with the ends of
// it that the journal has.
type AuditProof struct {
	Broken   int64 // the first record that was altered, is missing or was put in; 0 = none
	Last     int64 // the last record
	Journals int   // how many journals it was compared with; without one nothing is proved
	// the last record that a journal has; what comes after it could be missing unnoticed
	Through int64
	// the first record without its words, if no journal knows the retention that may take them;
	// 0 = none
	Reduced int64
}

// Proved reports whether the audit is as it was written.
func (p AuditProof) Proved() bool { return p.Broken == 0 && p.Journals > 0 && p.Reduced == 0 }

// Closing is a report that a person has closed: it stays the same permanently, whatever happens to
// the rows.
type Closing struct {
	ID      string          `json:"id"`  // UUIDv7
	Day     Date            `json:"day"` // the report's cut-off
	At      time.Time       `json:"at"`
	Who     string          `json:"who"`
	Reason  string          `json:"reason"`
	Rows    int             `json:"rows"`
	Program string          `json:"program"` // the version that closed it
	Head    json.RawMessage `json:"-"`       // everything but the rows
	Parts   int             `json:"-"`
	Hash    string          `json:"hash"`  // of head and parts
	Audit   int64           `json:"audit"` // number of its audit record
}

// ErrClosingDamaged is returned if a closed report is not what was closed.
var ErrClosingDamaged = errors.New("the closed report is damaged: restore the backup")

// ClosingPart is the size of one part of a closing's rows in bytes; only the last part may be
// smaller.
const ClosingPart = 64 << 10

// ClosingSum computes the hash of a closing, from its head and its parts in order.
type ClosingSum struct{ of hash.Hash }

// NewClosingSum begins the hash of a closing with its head.
func NewClosingSum(head []byte) ClosingSum {
	s := ClosingSum{sha256.New()}
	_, _ = fmt.Fprintf(s.of, "%d:%s", len(head), head) // a hash never fails to write
	return s
}

// Part adds a part in the form in which the ledger stores it.
func (s ClosingSum) Part(data string) { _, _ = io.WriteString(s.of, data) }

// Hash returns the hash of what was added.
func (s ClosingSum) Hash() string { return hex.EncodeToString(s.of.Sum(nil)) }
