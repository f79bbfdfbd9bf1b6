package trade

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"
)

// Group is what one commit of the ledger does while a job sends: settle what came back, and make
// the next intents durable, in one flush.
type Group struct {
	At      time.Time // wall clock of the commit, for the times that it writes
	Settle  []Settlement
	Updates []Update // of the last look: changed, gone, doubled or blocked rows
	Intents []Intent
	Like    map[int64]bool // entries of other jobs, sent with the content of an intent, of which the last look knew
	Block   []Block        // set or replaced, by Kind and ID
	Unblock []Block        // removed, by Kind and ID
}

// GroupResult says what of a group took effect.
type GroupResult struct {
	Claimed map[string]bool // attempt ids of the intents that are durable and ours
	Settled map[string]bool // attempt ids of the settlements that applied
	// attempt id → "job key" of the entry that already has the id which the API gave; not applied
	Conflicts map[string]string
	Paused    bool // the job is paused: no intent was stored; everything else was
	LeaseLost bool // another process has the job: no intent, update or block was stored; settlements were
	// attempt ids of intents that were not claimed because another job has sent their key or
	// content meanwhile, or may have
	Elsewhere map[string]bool
	Stop      *Stop   // the ledger stands on another server now: no intent was stored; everything else was
	Alarms    []Alarm // late answers of which people must know; each is in the audit too
}

// Alarm is a late answer that says otherwise than what a person decided, or that ends what a person
// decided.
type Alarm struct {
	Kind     AlarmKind `json:"kind"`
	Job      string    `json:"job"`
	Key      string    `json:"key"`
	Attempt  string    `json:"attempt"`
	RemoteID string    `json:"remote_id"` // that the late answer gave; "" when it says that nothing was created
	Other    string    `json:"other"`     // that the entry has besides; "" = none is known
	Text     string    `json:"text"`      // one English sentence
}

// AlarmKind says what a late answer means.
type AlarmKind string

// The kinds of alarms.
const (
	LateAfterDismissal AlarmKind = "late_after_dismissal" // it was created: a dismissal, or a hold, has ended
	LateBeforeResend   AlarmKind = "late_before_resend"   // it was created: what a person had sent again will not be
	// it was created, and was sent again: the platform may have two
	LateDouble        AlarmKind = "double_after_decision"
	LateContradiction AlarmKind = "contradicted" // it says otherwise than the id that a person gave
)

// ErrNotFound says that the ledger has no such row.
var ErrNotFound = errors.New("the ledger has no such row")

// ErrLeaseLost says that another process has taken over the job.
var ErrLeaseLost = errors.New("the job's lease was lost to another process")

// ErrUncertain says that nobody knows whether a commit of the ledger took effect, not even after
// reading back.
var ErrUncertain = errors.New("the ledger did not say whether it stored the last commit")

// LeasedError says who runs the job.
type LeasedError struct {
	Job   string
	Owner Owner
	Until time.Time // on the ledger's clock
}

// Error names the holder, so that IT finds it.
func (e *LeasedError) Error() string {
	return fmt.Sprintf("job %s is run by another process (pid %d on %s, lease until %s): wait for it, or stop it",
		e.Job, e.Owner.PID, e.Owner.Host, e.Until.Format(time.RFC3339))
}

// ErrOtherServer says that the ledger is on another database server, or on a replica that was
// promoted, and that nobody has confirmed it.
var ErrOtherServer = errors.New("the ledger is on another server")

// OtherPlatformError says that a ledger has sent to another base address than the one that is
// configured now.
type OtherPlatformError struct {
	Ledger   string // where it has sent
	Now      string // where it would send now
	Accepted int    // rows that the platform at Ledger has
	Doubts   int    // rows that it may have
}

// Error says what it means, and the two ways out.
func (e *OtherPlatformError) Error() string {
	return fmt.Sprintf(
		"this ledger has sent to %s (%d rows accepted, %d in doubt), and api.base_url is %s: those rows would never reach %[4]s, and deliveries would carry the contract ids of %[1]s. "+
			"Nothing was sent. For another platform (test, then production): set state.dsn to a new path and run `safrasync state new`. For the same platform at a new address: "+
			"`safrasync state rebind --reason TEXT`", e.Ledger, e.Accepted, e.Doubts, e.Now)
}

// RowFilter selects entries for people; zero fields select everything.
type RowFilter struct {
	Job    string
	States []State
	Causes []string
	Flags  []Flag
	Key    string    // the whole key
	Since  time.Time // changed at or after
	Limit  int       // 0 = all
}

// AuditRecord is one act that changed what the engine will do, never altered or deleted.
type AuditRecord struct {
	Seq    int64     `json:"seq"`
	At     time.Time `json:"at"`
	Who    string    `json:"who"`    // a person's name, or the program's own for its acts
	From   string    `json:"from"`   // where: host and user of the process
	Act    string    `json:"act"`    // "refs import", "adopt", …
	Target string    `json:"target"` // "wallets", "contracts 01|000123"
	Reason string    `json:"reason"`
	Detail string    `json:"detail"` // JSON: before and after
	Prev   string    `json:"prev"`   // hash of the record before; "" for the first
	Hash   string    `json:"hash"`   // of Prev and of everything else in the record

	Reduced bool `json:"-"` // who, from where, on what, why and the detail are no longer kept
}

// Stand is a row by its number, as it stood at a version.
type Stand struct {
	ID      int64
	Version int64
}

// JobMove says what it means that the entries of a job go to another one, which is the same job
// under its new name.
type JobMove struct {
	From    string        `json:"from"`
	To      string        `json:"to"`
	Sends   Kind          `json:"sends"`   // "" = the ledger has no entries of From
	Entries int           `json:"entries"` // that go
	States  map[State]int `json:"states"`  // where they stand
	// Keys that both jobs have. Of two rows that were never sent, and one that was, the one that
	// was not gives way: it stays in the ledger, under From, as withdrawn.
	Replaced int `json:"replaced"` // rows of To that give way
	Left     int `json:"left"`     // rows of From that give way
	// Collisions are keys that both have sent, may have sent, or of which a person has decided;
	// while there are any, nothing goes.
	Collisions int      `json:"collisions"`
	Samples    []string `json:"samples"` // a few of those
	Paused     bool     `json:"paused"`  // To is paused afterwards
}

// Closing is a report that a person has closed: it says the same for good, whatever happens to the
// rows.
type Closing struct {
	ID      string          `json:"id"`  // UUIDv7
	Day     Date            `json:"day"` // the report's cut-off
	At      time.Time       `json:"at"`
	Who     string          `json:"who"`
	Reason  string          `json:"reason"`
	Program string          `json:"program"` // the version that closed it
	Head    json.RawMessage `json:"-"`       // what is not a row
	Rows    int             `json:"rows"`
	Parts   int             `json:"-"`
	Hash    string          `json:"hash"`  // of head and parts
	Audit   int64           `json:"audit"` // number of its record in the audit
}

// ClosingPart is how many bytes of its rows one part of a closing holds; only the last has fewer.
const ClosingPart = 64 << 10

// ClosingSum is the hash of a closing, of its head and of its parts in their order.
type ClosingSum struct{ of hash.Hash }

// NewClosingSum begins the hash of a closing.
func NewClosingSum(head []byte) ClosingSum {
	s := ClosingSum{sha256.New()}
	_, _ = fmt.Fprintf(s.of, "%d:%s", len(head), head) // a hash never fails to write
	return s
}

// Part adds a part, as the ledger stores it.
func (s ClosingSum) Part(data string) { _, _ = io.WriteString(s.of, data) }

// Rows adds rows as they were given to the ledger, part by part.
func (s ClosingSum) Rows(rows io.Reader) error {
	buf := make([]byte, ClosingPart)
	for {
		n, err := io.ReadFull(rows, buf)
		if n > 0 {
			s.Part(base64.StdEncoding.EncodeToString(buf[:n]))
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the rows of a closing: %w", err)
		}
	}
}

// Hash is that of what was added.
func (s ClosingSum) Hash() string { return hex.EncodeToString(s.of.Sum(nil)) }
