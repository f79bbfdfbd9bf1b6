package trade

import (
	"encoding/json"
	"slices"
	"time"
)

// Owner identifies a running process: the owner of a lease or an attempt. Host, Boot, PIDSpace, PID
// and Started together prove that a process on the same host is gone.
type Owner struct {
	Instance string `json:"instance"` // UUIDv7 of this start of the program
	Host     string `json:"host"`
	Boot     string `json:"boot"`      // id of the clock: the kernel's boot and the time namespace
	PIDSpace string `json:"pid_space"` // namespace in which PID is valid
	PID      int    `json:"pid"`
	Started  string `json:"started"`            // the process's start in kernel ticks
	Platform string `json:"platform,omitempty"` // base address to which it sends; "" if it sends nothing
}

// Lease is the right to read and send one job (I12). Epoch increases with each new owner; claims,
// intents and cursors carry it.
type Lease struct {
	Job   string
	Owner Owner
	Epoch int64
}

// Instance is a process that may send: `safrasync run`, or `safrasync sync` while it runs.
type Instance struct {
	Owner   Owner
	Version string
	Command string // run or sync
	Started time.Time
	Until   time.Time // on the ledger's clock
	Dead    bool      // expired, or its process is gone
}

// Instances is how many instances are alive.
type Instances struct {
	Living int // at least 1
}

// Holder is who holds the lease of a job.
type Holder struct {
	Job   string
	Owner Owner // who holds the lease
	Epoch int64
	Until time.Time // on the ledger's clock
	Dead  bool      // expired, or its owner no longer runs: the next run takes the job
}

// Cursor is how far a job has read the ERP (I4).
type Cursor struct {
	Bound       string     // saved bound of changed_at, the database's own text; "" = nothing read yet
	SweptAt     time.Time  // last complete sweep; zero = never
	Fingerprint string     // of the query, the key and the mapped columns at that sweep
	Sweep       *Sweep     // its result
	Brakes      BrakeState // what the brakes store
	// when rows that wait for parents were last judged: a text that changes whenever their parents
	// do
	Parents    string
	References string // the codes with several ids with which what was sent was last compared
}

// Sweep is the result of a complete comparison of the ERP with the ledger (I9).
type Sweep struct {
	InScope    int `json:"in_scope"`       // distinct keys in the ERP
	Gone       int `json:"gone"`           // entries that it did not find
	Unreadable int `json:"unreadable"`     // rows without a usable key
	Read       int `json:"read,omitempty"` // rows that the query returned
	// while later sweeps find too few rows: id of the last entry that the first of them should have
	// found
	Braked   int64 `json:"braked,omitempty"`
	Found    int   `json:"found,omitempty"`    // with Braked: how many of those entries the last such sweep found
	Released *int  `json:"released,omitempty"` // set by a release: a sweep that finds about this many counts

	Beside []Beside `json:"beside,omitempty"` // rows that are not living documents; nil if Read is 0: unknown
}

// Page is one step of discovery, recorded in one transaction.
type Page struct {
	New     []Entry
	Updates []Update
	Cursor  *Cursor // only with the last page of a reading
}

// Update changes an entry that was read at Entry.Version in state From. It stores everything but
// the entry's id, job, key and FirstSeenAt.
type Update struct {
	From  State
	Entry Entry
}

// Tally is one part of the sums of a job (I9).
type Tally struct {
	State    State    `json:"state"`
	Count    int      `json:"count"`
	Quantity Quantity `json:"quantity"`
}

// RowsIn returns how many rows some sums are of, in some states or, without any, in all.
func RowsIn(sums []Tally, states ...State) (n int) {
	for _, t := range sums {
		if len(states) == 0 || slices.Contains(states, t.State) {
			n += t.Count
		}
	}
	return n
}

// RunReport is what one run of a job did. Its JSON form is fixed: `sync --json` ends with these.
type RunReport struct {
	ID         string    `json:"id"`
	Job        string    `json:"job"`
	StartedAt  time.Time `json:"started_at"`
	EndedAt    End       `json:"ended_at"` // null: it goes on, or its process died
	Sweep      bool      `json:"sweep"`
	InScope    *int      `json:"in_scope"`   // null without a sweep
	Gone       *int      `json:"gone"`       // null without a sweep
	Unreadable int       `json:"unreadable"` // rows without a usable key
	Read       int       `json:"read"`       // rows that the query returned in this run
	New        int       `json:"new"`
	Changed    int       `json:"changed"`
	Unchanged  int       `json:"unchanged"`
	Sent       int       `json:"sent"` // POSTs begun in this run
	// rows for which these POSTs were: a row that is sent again after a 429 counts once; absent in
	// reports of older versions
	SentRows *int `json:"sent_rows,omitempty"`
	// when the run began, if it read the ERP to the end; absent: it did not, or read only the rows that
	// somebody asked for
	ReadAt    time.Time     `json:"read_at,omitzero"`
	States    map[State]int `json:"states"`
	Flags     map[Flag]int  `json:"flags"`
	Late      *Late         `json:"late,omitempty"`       // what a sweep found that the window had missed
	Alarms    []Alarm       `json:"alarms,omitempty"`     // late answers of which people must know
	Notes     Notes         `json:"notes,omitempty"`      // remarks for IT, English
	WouldSend *WouldSend    `json:"would_send,omitempty"` // of a dry run
	Twins     LikeRows      `json:"twins,omitzero"`       // of a dry run: rows like another one, and that one
	// if due rows wait for the hours of the job: when those begin
	SendsAgain *time.Time `json:"sends_again,omitempty"`
	Stopped    *Stop      `json:"stopped"`
}

// RunResult is what a run did with a row.
type RunResult string

// Some results of rows that were sent; "open" is that of one without an answer yet.
const (
	RunExists  RunResult = "exists" // the platform answered that it has the record already
	RunRefused RunResult = "not_created"
	RunCreated RunResult = "created"
)

// RunResults are all results, by what a person asks first.
var RunResults = []RunResult{
	"unknown", "in_doubt", RunExists, RunRefused, "rejected", "held", "invalid", "waiting", "not_sent", "open",
	RunCreated, "changed",
}

// WouldSend is what the run that a dry run rehearses would send.
type WouldSend struct {
	Rows       int        `json:"rows"`
	Follow     int        `json:"follow"`     // further rows that wait only for those and would follow
	Quantities []Quantity `json:"quantities"` // of Rows, by unit
}

// LikeRow is a row that a run would send, or hold, because of an equal or a similar one.
type LikeRow struct {
	Key        string `json:"key"`
	Job        string `json:"other_job"` // of the other row
	Other      string `json:"other_key"`
	RemoteID   string `json:"other_id,omitempty"` // if the other row was sent
	Near       bool   `json:"near"`               // their price or another optional field differs
	Held       bool   `json:"held"`
	Lost       bool   `json:"retyped,omitempty"` // the other row has lost its key to this one
	Shown      Shown  `json:"-"`
	OtherShown Shown  `json:"-"`
	OtherID    int64  `json:"-"` // of the other row in the ledger
}

// LikeRows are the rows that are like another one: all that would be held, and the first of those that
// would be sent with a remark.
type LikeRows struct {
	Rows []LikeRow `json:"rows"`
	More int       `json:"more"` // further rows that would be sent with a remark
}

// twinsNamed is how many rows with a remark are named.
const twinsNamed = 50

// Add adds a row; held ones stand first.
func (t *LikeRows) Add(row LikeRow) {
	held := 0
	for held < len(t.Rows) && t.Rows[held].Held {
		held++
	}
	switch {
	case row.Held:
		t.Rows = slices.Insert(t.Rows, held, row)
	case len(t.Rows)-held < twinsNamed:
		t.Rows = append(t.Rows, row)
	default:
		t.More++
	}
}

// RowsSent returns how many rows were sent, which is what people are told. For a report of an older
// version it is the number of requests.
func (r RunReport) RowsSent() int {
	if r.SentRows == nil {
		return r.Sent
	}
	return *r.SentRows
}

// NeedsPerson reports whether `sync --strict` exits with 3: a row is invalid, rejected, in doubt or
// held, an accepted one differs in the ERP, or a late answer contradicts a person's decision.
func (r RunReport) NeedsPerson() bool {
	for state, n := range r.States {
		if n > 0 && state.NeedsPerson() {
			return true
		}
	}
	return r.Flags[Changed]+r.Flags[MissingInERP]+r.Flags[Cancelled]+r.Flags[Contradicted]+
		r.Flags[DoubleAfterDecision] > 0
}

// Notes are remarks for IT.
type Notes []Sentence

// MarshalJSON writes them in English.
func (n Notes) MarshalJSON() ([]byte, error) {
	return json.Marshal(Map(n, Sentence.String))
}

// UnmarshalJSON reads them as the ledger has them, or as they were written for others: texts.
func (n *Notes) UnmarshalJSON(data []byte) error {
	var texts []string
	if json.Unmarshal(data, &texts) != nil {
		return json.Unmarshal(data, (*[]Sentence)(n))
	}
	*n = nil
	for _, text := range texts {
		*n = append(*n, Say("cause.said", "text", text))
	}
	return nil
}

// Stop is why a job ended before its work was done.
type Stop struct {
	Code  string
	Why   Sentence // what happened and what to do; zero if Brake says it
	All   bool     // every other job would meet it too, and does not start
	Sends Kind     // jobs that send this kind would meet it too; "" = none
	// Until is when the engine may try again; zero: when a person has done what the sentence states.
	Until time.Time
	Brake *Brake // what made a brake act; nil for every other stop
}

// Quiet reports whether nobody is told of it: a signal, a lease that moved, a pause by a person, who
// already knows.
func (s Stop) Quiet() bool {
	return slices.Contains([]string{"interrupted", "lease", "paused"}, s.Code)
}

// Sentence returns what happened and what to do.
func (s Stop) Sentence() Sentence {
	if s.Brake != nil && s.Why.Code == "" {
		return s.Brake.sentence(s.Code)
	}
	return s.Why
}

// Text returns the same in English.
func (s Stop) Text() string { return s.Sentence().String() }

// stopJSON is the JSON form of a stop; args and sentence are what the text is made of.
type stopJSON struct {
	Code     string    `json:"code"`
	Text     *string   `json:"text,omitempty"` // absent where it is stored
	Sentence string    `json:"sentence,omitempty"`
	Args     Args      `json:"args,omitempty"`
	Until    time.Time `json:"until,omitzero"`
	Brake    *Brake    `json:"brake,omitempty"`
	// which other jobs it concerns: only where it is stored
	All   bool `json:"all,omitempty"`
	Sends Kind `json:"sends,omitempty"`
}

// MarshalJSON implements [json.Marshaler].
func (s Stop) MarshalJSON() ([]byte, error) {
	why, text := s.Sentence(), s.Text()
	return json.Marshal(stopJSON{s.Code, &text, why.Code, why.Args, s.Until, s.Brake, false, ""})
}

// StoredStop is a stop as it is stored: JSON without the sentence, which is made where it is read.
type StoredStop Stop

// MarshalJSON implements [json.Marshaler].
func (s StoredStop) MarshalJSON() ([]byte, error) {
	return json.Marshal(stopJSON{s.Code, nil, s.Why.Code, s.Why.Args, s.Until, s.Brake, s.All, s.Sends})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *Stop) UnmarshalJSON(data []byte) error {
	var j stopJSON
	err := json.Unmarshal(data, &j)
	*s = Stop{j.Code, Sentence{j.Sentence, j.Args}, j.All, j.Sends, j.Until, j.Brake}
	return err
}

// JobState is the state of a job, which is independent of the states of its entries.
type JobState string

// The states of a job.
const (
	Idle       JobState = "idle"
	Running    JobState = "running"
	BackingOff JobState = "backing_off" // 429, or the API is not reached
	Stopped    JobState = "stopped"     // by the engine, with a reason
	Paused     JobState = "paused"      // by a person or a brake; needs resume
)

// JobStatus is a job's state with its reason.
type JobStatus struct {
	Job   string    `json:"job"`
	State JobState  `json:"state"`
	Stop  *Stop     `json:"stop"`
	Since time.Time `json:"since"`
}

// Resting returns until when a stop that ends by itself keeps the job from running; now if none
// does.
func (s JobStatus) Resting(now time.Time) time.Time {
	if (s.State == BackingOff || s.State == Stopped) && s.Stop != nil && s.Stop.Until.After(now) {
		return s.Stop.Until
	}
	return now
}

// Reference is one line of a de-para table: the ERP's code and the platform's id. An id that is not
// a UUID is stored as it is and makes the rows that use it invalid.
type Reference struct {
	Kind string `json:"kind"`
	Code string `json:"code"`
	ID   string `json:"id"`
	// displayed beside the code; "" = nothing
	Label string `json:"label,omitempty"`
}

// Shown returns the code, with its label if it has one, documents masked: C07 · "Carteira Soja
// Maracaju".
func (r Reference) Shown() string {
	if r.Label == "" {
		return r.Code
	}
	return r.Code + " · \"" + MaskDocuments(r.Label) + "\""
}

// ReferenceChange is what a person's act changed in one line of a de-para table.
type ReferenceChange struct {
	Code string  `json:"code"`
	From *string `json:"from"` // null: it did not exist
	To   *string `json:"to"`   // null: it does not exist any more
}

// ReferenceKinds are the de-para tables.
var ReferenceKinds = []string{"producers", "users", "wallets", "delivery_places", "farms"}

// ChangesOf returns what an import of codes would change of a kind, by code. It is used for the
// plan before the import and for the audit after it.
func ChangesOf(have, codes map[string]string) []ReferenceChange {
	var out []ReferenceChange
	for code, id := range codes {
		old, known := have[code]
		switch {
		case !known:
			out = append(out, ReferenceChange{Code: code, To: &id})
		case old != id:
			out = append(out, ReferenceChange{Code: code, From: &old, To: &id})
		}
	}
	slices.SortFunc(out, func(a, b ReferenceChange) int { return CompareCodes(a.Code, b.Code) })
	return out
}
