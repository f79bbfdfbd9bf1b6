package trade

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Entry is one row of the ERP as the ledger knows it: one per job and key.
type Entry struct {
	ID       int64  // the ledger's own number, in the order of discovery
	Job      string // the job that reads it
	Sends    Kind
	Key      string // canonical text of the key: parts trimmed, joined with |
	KeyParts []Cell // the key as the database wrote it, for reading the row again
	State    State
	Cause    string // why it is in this state: an API message key, rule:FIELD, ref:KIND or a Cause constant
	RemoteID string // the platform's id; only and always when accepted
	// the id that it had, after a person gave its record to the row under its new key; RemoteID is
	// then empty. "" = never
	MovedID    string
	Flags      Flags
	Generation int // 1; each order of a person to send again opens the next
	Attempts   int // POSTs that count: those refused because of our own key or address do not

	NextAttemptAt time.Time // zero: none is due by time
	FirstSeenAt   time.Time
	UpdatedAt     time.Time

	Error      *EntryError // why it did not go; nil when nothing is wrong
	WaitingFor []Awaited
	Warnings   []Problem // remarks of checks set to `warn`

	// the mapped columns: of the newest row seen; once an attempt may have created it, of the row
	// that was sent
	Values Values
	Shown  Shown // of the newest row seen
	// the mapped columns of the newest row seen, while a flag `changed` stands or was acknowledged;
	// nil otherwise
	Now        Values
	SourceHash Hash   // of the newest row seen
	MappedWith string // fingerprint of the mapping and version of the references that made the payload
	// what the request's path names beside the payload: the order commitment of a traceability
	// record; "" = nothing
	Target      string
	Payload     json.RawMessage // the request's body, nil while invalid or waiting for a reference or a parent
	PayloadHash Hash            // of Target and Payload; "" when there is none
	Content     int64           // [ContentNumber] of the payload, under the newest mapping; 0 when there is none
	Quantity    Quantity        // of the newest row seen, for the sums
	GoneSweeps  int             // complete sweeps in a row that did not find it
	Version     int64           // raised by each change: compare-and-set
	// when the retention left only marks of its values and took the payload; zero: it holds
	// something
	ReducedAt time.Time

	Acknowledged Flags // flags that a person has dealt with and that still hold: they are not in Flags
	// the mapped columns that a person has dealt with: what the row is compared with from then on;
	// nil when there are none
	AckValues Values

	DecidedBy
	Dismissal *Dismissal // where it stood before a person took it out; nil unless dismissed
	Another   Hash       // PayloadHash that a person declared to be another record than the one like it; "" = none
}

// DecidedBy are the numbers in the audit of the acts of people that an entry rests on; 0 = none.
type DecidedBy struct {
	ClosedBy int64 // accepted it without an id
	ResentBy int64 // opened the generation
}

// SentContent is an entry that has, or may have, a record on the platform, with the content numbers
// of all that was sent of it. One that gave its record to another entry has none.
type SentContent struct {
	Entry    Entry
	Contents []int64
}

// Dismissal is where an entry stood when a person took it out; its cause, error and what it waited
// for stay with it.
type Dismissal struct {
	From          State     `json:"from"`
	NextAttemptAt time.Time `json:"next_attempt_at,omitzero"`
}

// Weak reports whether the platform refused it in no form of the API, after which only a person
// moves it.
func (e Entry) Weak() bool { return e.State == Rejected && e.Error != nil && e.Error.Weak }

// Ordered reports whether a person has said that it goes although another row with its key or its
// content was sent: it is another record, or it is sent again.
func (e Entry) Ordered() bool {
	return e.Generation > 1 || e.Another != "" && e.Another == e.PayloadHash
}

// Elsewhere is a row of another job that was sent, or may have been.
type Elsewhere struct {
	Job      string
	Key      string
	State    State
	RemoteID string // also one that it has given to another row; "" = none is known
}

// KnownJob is a job that has entries in the ledger, whether or not it is configured.
type KnownJob struct {
	Job      string `json:"job"`
	Sends    Kind   `json:"sends"`
	Entries  int    `json:"entries"`
	Accepted int    `json:"accepted"`
	InDoubt  int    `json:"in_doubt"`        // or being sent
	Apart    bool   `json:"apart,omitempty"` // where it was asked: its keys are of another identity, and not compared
	Gone     int    `json:"gone,omitempty"`  // of both, where it was asked: its query returns them no more
}

// ErrorKind groups errors by where they come from; the names are those of error.kind in --json.
type ErrorKind string

// The kinds of errors.
const (
	MappingError    ErrorKind = "mapping"    // a value could not be read or mapped
	ValidationError ErrorKind = "validation" // a rule of chapter 2 is broken
	APIError        ErrorKind = "api"        // the API refused it
	TransportError  ErrorKind = "transport"  // the request or its answer was lost
	ConflictError   ErrorKind = "conflict"   // two rows, or a row and the platform, contradict each other
)

// EntryError says why an entry did not go.
type EntryError struct {
	Kind     ErrorKind `json:"kind"`
	Status   int       `json:"status,omitempty"`
	Messages []string  `json:"messages,omitempty"`
	Fields   []Problem `json:"fields"`
	Text     string    `json:"text"`           // one English sentence without personal data
	Weak     bool      `json:"weak,omitempty"` // refused in no form of the API: only a person moves it
}

// ParentKey names a row that another row hangs on.
type ParentKey struct{ Job, Key string }

// Parent is what a row must know of the row that it hangs on.
type Parent struct {
	State    State
	Cause    string
	RemoteID string // "" until it is accepted
	Content  int64  // [ContentNumber] of what was sent, or would be; 0 = there is none
	Changed  bool   // its row has changed since it was sent
}

// Known is what discovery must know of an entry to tell whether its row is news: a narrow view of
// [Entry].
type Known struct {
	ID         int64
	Key        string
	State      State
	SourceHash Hash
	MappedWith string
	Flags      Flags
	GoneSweeps int
	Cause      string
	Version    int64
	ShownMark  int64 // of [Entry.Shown]

	Acknowledged Flags
}

// Values are the mapped columns of one row by column name.
type Values map[string]Cell

// Cell is one value of the ERP as the ledger keeps it: the reader's kind in one letter, and the
// text as the database wrote it.
type Cell struct {
	Kind byte   // 0 for NULL; otherwise a letter of the reader
	Text string // untrimmed
}

// MarshalJSON writes null for NULL and "<kind>:<text>" for a value.
func (c Cell) MarshalJSON() ([]byte, error) {
	if c.Kind == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(string(c.Kind) + ":" + c.Text)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Cell) UnmarshalJSON(data []byte) error {
	if n := len(data); n >= 4 && data[0] == '"' &&
		!bytes.ContainsFunc(data[1:n-1],
			func(r rune) bool { return r < ' ' || r == '\\' || r == '"' || r == utf8.RuneError }) {
		*c = Cell{Kind: data[1], Text: string(data[3 : n-1])} // a text as most are
		return nil
	}
	var text *string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	*c = Cell{}
	if text != nil && len(*text) >= 2 {
		*c = Cell{Kind: (*text)[0], Text: (*text)[2:]}
	}
	return nil
}

// RowQuery asks for one page of rows, as people look for them. Empty parts select everything.
type RowQuery struct {
	Jobs   []string // in the order in which they are looked through when sorted by key
	States []State
	Causes []string
	Flags  []Flag
	// a key, or a part of one: its beginning, one of its parts with or without leading zeros, or
	// anything in it; or words that are shown of the row, or its id on the platform
	Text   string
	Masked bool      // whoever asks sees documents masked, and does not find rows by them
	From   time.Time // changed at or after
	Until  time.Time // changed before
	Sort   RowSort
	After  string // RowPage.Next of the page before; "" = the first
	Limit  int    // at least 1
}

// RowSort is an order of rows.
type RowSort string

// The orders.
const (
	NewestFirst RowSort = "newest" // by number: as they came from the ERP
	OldestFirst RowSort = "oldest"
	ByKey       RowSort = "key" // by job and key

	// No index has these: only so many rows as SortedMost are sorted by them. With "-" before it an
	// order is backwards.
	ByTitle   RowSort = "title" // what people are shown first
	ByDay     RowSort = "day"   // of the document, as it was sent or would be
	ByState   RowSort = "state"
	ByVolume  RowSort = "volume" // in kilograms
	ByValue   RowSort = "value"  // amount times price, whatever the currency
	ByChanged RowSort = "changed"
)

// SortedMost is how many rows are sorted in an order that no index has.
const SortedMost = 10_000

// Columns are the orders that no index has.
var Columns = []RowSort{ByTitle, ByDay, ByState, ByVolume, ByValue, ByChanged}

// Column returns the column of an order that no index has, and whether it is backwards; "" for
// another order.
func (s RowSort) Column() (column RowSort, down bool) {
	text, down := strings.CutPrefix(string(s), "-")
	if !slices.Contains(Columns, RowSort(text)) {
		return "", false
	}
	return RowSort(text), down
}

// RowPage is one page of rows.
type RowPage struct {
	Rows []Entry
	Next string // asks for the page after; "" = this is the last
	Many bool   // they are more than SortedMost, and come newest first instead of sorted
}

// AuditQuery asks for one page of the audit. Empty parts select everything.
type AuditQuery struct {
	Who    string // the name, whole
	Act    string // the act, whole
	Target string // a part of what it was done to: a job, a key, a table
	From   time.Time
	Until  time.Time
	Before int64 // AuditPage.Next of the page before; 0 = the first
	Limit  int   // at least 1
}

// AuditPage is one page of the audit, the newest first.
type AuditPage struct {
	Records []AuditRecord
	Next    int64 // asks for the page after; 0 = this is the last
}

// RunPage is one page of passes, the newest first.
type RunPage struct {
	Runs []RunReport
	Next string // asks for the page after; "" = this is the last
}

// Shown is what people are shown of a row before its key: texts that the configuration chose
// (`show:`). They are personal as the row itself is: they stand in no log and in no error text, and
// every way out masks the documents in them.
type Shown struct {
	Texts []ShownText
	// Mark tells two versions of the texts of one row apart; 0: the row has none. The retention
	// takes the texts and leaves the mark.
	Mark int64
}

// ShownText is one text with its label, as the configuration names it.
type ShownText struct{ Label, Text string }

// The bounds of what is shown of a row.
const (
	MaxShown     = 8   // texts
	MaxShownText = 200 // characters of one
)

// NewShown returns what is shown of the row with this key. A longer text is cut.
func NewShown(key string, texts []ShownText) Shown {
	if len(texts) == 0 {
		return Shown{}
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s", len(key), key)
	for i := range texts {
		texts[i].Text = CutText(strings.TrimSpace(texts[i].Text))
		for _, part := range []string{texts[i].Label, texts[i].Text} {
			fmt.Fprintf(h, "%d:%s", len(part), part)
		}
	}
	return Shown{Texts: texts, Mark: int64(binary.BigEndian.Uint64(h.Sum(nil))) | 1}
}

// CutText bounds a text that people are shown, and makes it one that every ledger can keep.
func CutText(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, string(utf8.RuneError)), "\x00", "")
	if utf8.RuneCountInString(text) <= MaxShownText {
		return text
	}
	cut := string([]rune(text)[:MaxShownText-1])
	// a document that the cut goes through would not be known, and masked, any more
	return strings.TrimRight(cut, "0123456789.-/ ") + "…"
}

// Masked returns the texts with every document masked.
func (s Shown) Masked() Shown {
	out := Shown{Mark: s.Mark, Texts: make([]ShownText, len(s.Texts))}
	for i, t := range s.Texts {
		out.Texts[i] = ShownText{t.Label, MaskDocuments(t.Text)}
	}
	return out
}

// Get returns the text under a label.
func (s Shown) Get(label string) string {
	for _, t := range s.Texts {
		if t.Label == label {
			return t.Text
		}
	}
	return ""
}

// Line returns the texts that are not empty, in one line. It is "" when there are none.
func (s Shown) Line() string {
	var parts []string
	for _, t := range s.Texts {
		if t.Text != "" {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, " · ")
}

// Lead returns the line, and the key where there is none.
func (s Shown) Lead(key string) string {
	if line := s.Line(); line != "" {
		return line
	}
	return key
}

// MarshalJSON writes an object of the labels, in their order.
func (s Shown) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, t := range s.Texts {
		if i > 0 {
			b.WriteByte(',')
		}
		for j, part := range []string{t.Label, t.Text} {
			text, err := json.Marshal(part)
			if err != nil {
				return nil, err
			}
			if j > 0 {
				b.WriteByte(':')
			}
			b.Write(text)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON writes. It does not know the mark.
func (s *Shown) UnmarshalJSON(data []byte) error {
	s.Texts = nil
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(errors.New("what is shown of a row is no object"), err)
	}
	for d.More() {
		var pair [2]string
		for i := range pair {
			t, err := d.Token()
			text, ok := t.(string)
			if err != nil || !ok {
				return errors.Join(errors.New("what is shown of a row is no text"), err)
			}
			pair[i] = text
		}
		s.Texts = append(s.Texts, ShownText{pair[0], pair[1]})
	}
	return nil
}
