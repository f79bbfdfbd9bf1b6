package trade

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"
)

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
