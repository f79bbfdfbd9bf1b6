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

// Entry is one row of the ERP in the ledger; there is one for each job and key. The tags name the
// columns of the ledger where these have other names than the fields; "-" is not a column.
type Entry struct {
	ID    int64  // assigned by the ledger, in the order of discovery
	Job   string // the job that reads it
	Sends Kind
	Key   string // canonical text of the key: parts trimmed, joined with |
	// the key as the database wrote it, for reading the row again. If the key stands several times,
	// once for each row at least, in every spelling.
	KeyParts []Cell
	State    State
	Cause    string // why: an API message key, rule:FIELD, ref:KIND or a Cause constant
	// The record on which its acceptance rests, exactly when accepted. RemoteID is the platform's id of
	// it, or MovedID if a person gave it to the row under its new key since; "" = not known. Both are
	// stored with the record only.
	RecordID   int64
	RemoteID   string
	MovedID    string
	Flags      Flags
	Generation int // 1, and one more for each resend that a person orders
	Attempts   int // POSTs that count; those refused because of our own key or address do not

	NextAttemptAt time.Time // zero: not scheduled
	FirstSeenAt   time.Time
	UpdatedAt     time.Time

	Error      *EntryError // why it was not sent; nil if nothing is wrong
	WaitingFor []Awaited
	Warnings   []Problem // remarks of checks set to `warn`

	// the mapped columns of the newest row seen or, once an attempt may have created a record, of
	// the row that was sent
	Values Values `db:"cells"`
	Shown  Shown  // of the newest row seen
	Facts  Facts  // of the newest row seen; what the payload tells stands in [Entry.Listing]
	// the mapped columns of the newest row seen, while the flag `changed` is set or acknowledged;
	// else nil
	Now        Values `db:"now_cells"`
	SourceHash Hash   // of the newest row seen
	MappedWith string // fingerprint of the mapping and version of the references that made the payload
	// what the request's path names beside the payload: the order commitment of a traceability
	// record; "" = nothing
	Target      string
	Payload     json.RawMessage   // the request's body; nil while invalid or waiting for a reference or a parent
	PayloadHash Hash              // of Target and Payload; "" if there is none
	Content     int64             // of the payload's identifying fields, under the newest mapping; 0 = none
	Quantity    `json:"Quantity"` // of the newest row seen, for the sums
	// fingerprints of the newest row seen, of a row that was sent and differs since; not stored
	// with the entry but with its record
	Newest     Prints     `db:"-"`
	Sightings  []Sighting `db:"-"`          // of an update: which records its row may be that of; nil: as before
	Printed    Printed    `db:"-" json:"-"` // the fingerprints of the payload; not stored, see [Entry.Prints]
	GoneSweeps int        // consecutive complete sweeps that did not find it
	Version    int64      // raised by each change: compare-and-set
	// when retention removed its payload and reduced its values to marks; zero: not yet
	ReducedAt time.Time

	Acknowledged Flags // flags that a person has acknowledged and that still hold; they are not in Flags
	// the mapped columns that a person has acknowledged, with which the row is compared from then
	// on; nil if there are none
	AckValues Values `db:"ack_cells"`

	DecidedBy
	Dismissal        *Dismissal // its state before a person dismissed it; nil unless dismissed
	DeclaredDistinct Hash       `db:"another" json:"Another"` // PayloadHash that a person declared to be another record than an equal one; "" = none
}

// DecidedBy are the audit numbers of people's acts that decided about an entry; 0 = none.
type DecidedBy struct {
	RecordedBy int64 // the act that made its record, or gave it to it
	ResentBy   int64 `db:"resend_audit_id"` // the act that opened the generation
}

// NewestValues returns the mapped columns of the newest row that was read under the entry's key. It
// returns nil if they are not known: the entry was restored and its row not read since.
func (e Entry) NewestValues() Values {
	if e.Now != nil {
		return e.Now
	}
	return e.Values
}

// GoneFromERP reports whether the entry's row was last found to be missing in the ERP, or cancelled there:
// then the newest values are no longer those of the ERP. It does not matter whether a person has
// acknowledged that.
func (e Entry) GoneFromERP() bool {
	for _, flag := range []Flag{MissingInERP, Cancelled} {
		if e.Flags.Has(flag) || e.Acknowledged.Has(flag) {
			return true
		}
	}
	return e.State == Withdrawn || e.Cause == CauseVanished
}

// Dismissal is the state of an entry when a person dismissed it; the entry keeps its cause, its
// error and what it waited for.
type Dismissal struct {
	From          State     `json:"from"`
	NextAttemptAt time.Time `json:"next_attempt_at,omitzero"`
}

// Weak reports whether the platform refused the entry, but in no form of the API; then only a
// person can make it go again.
func (e Entry) Weak() bool { return e.State == Rejected && e.Error != nil && e.Error.Weak }

// WaitsForPlatform reports whether the entry waits for a record of the platform.
func (e Entry) WaitsForPlatform() bool {
	return len(e.WaitingFor) > 0 && e.WaitingFor[0].Platform != ""
}

// SendOrdered reports whether a person has ordered that the entry goes although another row with its
// key or content was sent: it was declared another record, or is sent again.
func (e Entry) SendOrdered() bool {
	return e.Generation > 1 || e.DeclaredDistinct != "" && e.DeclaredDistinct == e.PayloadHash
}

// KnownJob is a job that has entries in the ledger, configured or not.
type KnownJob struct {
	Job      string `json:"job"`
	Sends    Kind   `json:"sends"`
	Entries  int    `json:"entries"`
	Accepted int    `json:"accepted"`
	InDoubt  int    `json:"in_doubt"`        // or being sent
	Apart    bool   `json:"apart,omitempty"` // if requested: its keys are of another identity, and not compared
	Gone     int    `json:"gone,omitempty"`  // if requested: how many of both its query no longer returns
}

// ErrorKind is where an error comes from; the names are those of error.kind in --json.
type ErrorKind string

// The kinds of errors.
const (
	MappingError    ErrorKind = "mapping"    // a value could not be read or mapped
	ValidationError ErrorKind = "validation" // a rule of chapter 2 is broken
	APIError        ErrorKind = "api"        // the API refused it
	TransportError  ErrorKind = "transport"  // the request or its answer was lost
	ConflictError   ErrorKind = "conflict"   // two rows, or a row and the platform, contradict each other
)

// EntryError is why an entry was not sent.
type EntryError struct {
	Kind     ErrorKind `json:"kind"`
	Status   int       `json:"status,omitempty"`
	Messages []string  `json:"messages,omitempty"`
	Fields   []Problem `json:"fields"`
	Why      Sentence  `json:"why,omitzero"`   // without personal data; zero if the fields say it
	Weak     bool      `json:"weak,omitempty"` // refused, but in no form of the API
	// of a held row: what it was compared with; nil: nothing is known
	Counterpart *Counterpart `json:"counterpart,omitempty"`
}

// Text returns the same in English.
func (e *EntryError) Text() string {
	if e.Why.Code == "" {
		return Sentences(e.Fields, English)
	}
	return e.Why.String()
}

// Counterpart is the row with which a held one was compared, as it was then: the record of the one
// may be that of the other.
type Counterpart struct {
	Job      string `json:"job"`
	Key      string `json:"key"`
	RemoteID string `json:"remote_id,omitempty"` // "" if it was not known
	Rows     int    `json:"rows,omitempty"`      // rows of the ERP with this key, if it is the held row's own
	// the record in the ledger, if the row is held for one that has lost its own row; else 0
	Record int64 `json:"record,omitempty"`
	Gone   bool  `json:"gone,omitempty"` // its key was read in the ERP, and is not there
}

// CounterpartOf returns an entry as the counterpart of another one.
func CounterpartOf(e Entry) *Counterpart {
	return &Counterpart{Job: e.Job, Key: e.Key, RemoteID: e.RemoteID}
}

// ParentKey identifies the parent of a row.
type ParentKey struct{ Job, Key string }

// Parent is what a row needs to know of its parent.
type Parent struct {
	State    State
	Cause    string
	RemoteID string // "" until it is accepted
	Content  int64  // a number of the identifying fields of what was sent, or would be; 0 = none
	Changed  bool   // its row has changed since it was sent
}

// Known is what discovery needs of an entry to decide whether its row is new or changed: a part of
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

// Cell is one value of the ERP as the ledger stores it: the kind as one letter, and the text as the
// database wrote it.
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

// UnmarshalJSON parses the form of MarshalJSON.
func (c *Cell) UnmarshalJSON(data []byte) error {
	if n := len(data); n >= 4 && data[0] == '"' &&
		!bytes.ContainsFunc(data[1:n-1],
			func(r rune) bool { return r < ' ' || r == '\\' || r == '"' || r == utf8.RuneError }) {
		*c = Cell{Kind: data[1], Text: string(data[3 : n-1])} // a text without escapes, as most are
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

// RowQuery asks for rows, all of them or a page. Empty parts select everything.
type RowQuery struct {
	Jobs   []string // their order is that of the result when sorted by key
	States []State
	Causes []string // not the empty one
	Flags  []Flag
	Key    string // the whole key
	// a key or a part of it: its beginning, one of its parts with or without leading zeros, or any
	// substring; or words in the display columns, or the id on the platform
	Text   string
	Masked bool      // the person sees documents masked, and must not find rows by them
	From   time.Time // changed at or after
	Until  time.Time // changed before
	Facts  FactQuery
	Of     Selection // the ledger itself does not know it: internal/office turns it into IDs
	IDs    []int64   // only of these; nil = of all
	Sort   RowSort
	After  string // RowPage.Next of the previous page; "" = the first page
	Limit  int    // of a page: at least 1
}

// RowSort is an order of rows.
type RowSort string

// The orders.
const (
	NewestFirst RowSort = "newest" // by id: the order of discovery
	OldestFirst RowSort = "oldest"
	ByKey       RowSort = "key" // by job and key

	// The columns of the list. A "-" before the name reverses the order. Rows without a value in
	// the column come last.
	ByTitle    RowSort = "title" // the first display column
	ByProduct  RowSort = "product"
	ByProducer RowSort = "producer"
	ByBranch   RowSort = "branch"
	ByDay      RowSort = "day" // of the document, as sent or as it would be
	ByState    RowSort = "state"
	ByVolume   RowSort = "volume" // in kilograms
	ByValue    RowSort = "value"  // amount times price, whatever the currency
	ByChanged  RowSort = "changed"
)

// Columns are the orders of the columns of the list.
var Columns = []RowSort{ByTitle, ByProduct, ByProducer, ByBranch, ByDay, ByState, ByVolume, ByValue, ByChanged}

// Column returns the column of an order, and whether it is reversed; "" for other orders.
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
	Next string // After of the next page; "" = this is the last
}

// AuditQuery asks for one page of the audit. Empty parts select everything.
type AuditQuery struct {
	Who    string   // the whole name, in whatever case and with or without accents
	Act    string   // the whole act
	Not    []string // acts that are left out
	Target string   // a part of the target: a job, a key, a table
	From   time.Time
	Until  time.Time
	Before int64 // AuditPage.Next of the previous page; 0 = the first page
	Limit  int   // at least 1
}

// AuditPage is one page of the audit, newest first.
type AuditPage struct {
	Records []AuditRecord
	Next    int64 // Before of the next page; 0 = this is the last
}

// RunPage is one page of runs, newest first.
type RunPage struct {
	Runs []RunReport
	Next string // asks for the next page; "" = this is the last
}

// Shown are the texts that are displayed before the key of a row (`show:`). They are personal data,
// like the row itself: they must not appear in logs or error texts, and documents in them are
// masked in all output.
type Shown struct {
	Texts []ShownText
	// Mark distinguishes two versions of the texts of one row; 0: the row has none. Retention
	// removes the texts and keeps the mark.
	Mark int64
}

// ShownText is one text with its label, as the configuration names it.
type ShownText struct{ Label, Text string }

// Limits of the displayed texts of a row.
const (
	MaxShown     = 8   // texts
	MaxShownText = 200 // characters of one
)

// NewShown returns the displayed texts of the row with this key. Longer texts are cut.
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

// CutText cuts a displayed text to MaxShownText, and removes what not every ledger can store.
func CutText(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, string(utf8.RuneError)), "\x00", "")
	if utf8.RuneCountInString(text) <= MaxShownText {
		return text
	}
	cut := string([]rune(text)[:MaxShownText-1])
	// a document that is cut would not be recognised and masked any more
	return strings.TrimRight(cut, "0123456789.-/ ") + "…"
}

// Masked returns the texts with every document masked.
func (s Shown) Masked() Shown {
	out := Shown{Mark: s.Mark}
	out.Texts = Map(s.Texts, func(t ShownText) ShownText { return ShownText{t.Label, MaskColumn(t.Label, t.Text)} })
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

// Line returns the texts that are not empty, as one line; "" if there are none.
func (s Shown) Line() string {
	var parts []string
	for _, t := range s.Texts {
		if t.Text != "" {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, " · ")
}

// NamesOf returns what the ERP calls some codes, each given by the ids of a few rows that have it: the
// displayed texts that are the same in all those rows, documents masked.
func NamesOf(rows []Entry, samples [][]int64) []Shown {
	byID := make(map[int64]Entry, len(rows))
	for _, e := range rows {
		byID[e.ID] = e
	}
	out := make([]Shown, len(samples))
	for i, ids := range samples {
		var common Shown
		for j, id := range ids {
			shown := byID[id].Shown.Masked()
			if j == 0 {
				common = shown
			}
			common.Texts = slices.DeleteFunc(common.Texts,
				func(t ShownText) bool { return !slices.Contains(shown.Texts, t) })
		}
		out[i] = common
	}
	return out
}

// Labelled returns the texts that are not empty, each after its label, as one line.
func (s Shown) Labelled() string {
	var parts []string
	for _, t := range s.Texts {
		if t.Text != "" {
			parts = append(parts, t.Label+": "+t.Text)
		}
	}
	return strings.Join(parts, " · ")
}

// SampleOf adds an id to those of a sample, which keeps the first few and the last.
func SampleOf(ids []int64, id int64) []int64 {
	if len(ids) < maxSample {
		return append(ids, id)
	}
	ids[maxSample-1] = id
	return ids
}

const maxSample = 5

// Lead returns the line, or the key if the line is empty.
func (s Shown) Lead(key string) string {
	if line := s.Line(); line != "" {
		return line
	}
	return key
}

// First returns the first text, or if there is none the row's key.
func (s Shown) First(key string) string {
	if len(s.Texts) > 0 && s.Texts[0].Text != "" {
		return s.Texts[0].Text
	}
	return key
}

// MarshalJSON writes an object with the labels as names, in their order.
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

// UnmarshalJSON parses the form of MarshalJSON. It leaves Mark unchanged.
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
