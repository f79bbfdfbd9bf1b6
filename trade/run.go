package trade

import "time"

// Owner names a running process to the others: who holds a lease or an attempt. Host, Boot,
// PIDSpace, PID and Started together prove that a process on the same host is gone.
type Owner struct {
	Instance string `json:"instance"` // UUIDv7 of this start of the program
	Host     string `json:"host"`
	Boot     string `json:"boot"`      // id of the clock: the kernel's boot and the time namespace
	PIDSpace string `json:"pid_space"` // namespace in which PID counts
	PID      int    `json:"pid"`
	Started  string `json:"started"`            // the process's start in kernel ticks
	Platform string `json:"platform,omitempty"` // base address that it sends to; "" where nothing is sent
}

// Lease is the right to read and send one job (I12). Epoch rises with each new owner; claims,
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
	Dead    bool      // its time is over, or its process is gone
	Part    int64     // of the sums that it writes
}

// Crew says how many instances live.
type Crew struct {
	Living int // at least 1
}

// Holder says who holds the lease of a job.
type Holder struct {
	Job   string
	Owner Owner // who holds the lease
	Epoch int64
	Until time.Time // on the ledger's clock
	Dead  bool      // its time is over, or its owner no longer runs: the next run takes the job
}

// Cursor is how far a job's reading has come (I4).
type Cursor struct {
	Bound       string    // saved bound of changed_at, the database's own text; "" = nothing read yet
	SweptAt     time.Time // last complete sweep; zero = never
	Fingerprint string    // of the query, the key and the mapped columns at that sweep
	Sweep       *Sweep    // its result
	Brakes      Memory    // what the brakes remember
	// how many parents were accepted when the rows that wait for parents were last looked at, in a
	// text that differs with each
	Parents string
}

// Sweep is the result of a complete comparison of the ERP with the ledger (I9).
type Sweep struct {
	InScope    int `json:"in_scope"`       // distinct keys in the ERP
	Gone       int `json:"gone"`           // entries that it did not find
	Unreadable int `json:"unreadable"`     // rows without a usable key
	Read       int `json:"read,omitempty"` // rows that the query gave
	// while later sweeps found too little: the number of the last entry that the first of them had
	// to find
	Braked   int64 `json:"braked,omitempty"`
	Found    int   `json:"found,omitempty"`    // with Braked: how many of those entries the last such sweep found
	Released *int  `json:"released,omitempty"` // a person believes a sweep that finds about so many of them

	Beside []Beside `json:"beside,omitempty"` // rows that are no living documents; nil with 0 Read: not known
}

// Page is one step of discovery, recorded in one transaction.
type Page struct {
	New     []Entry
	Updates []Update
	Cursor  *Cursor // only with the last page of a reading
}

// Update changes an entry that was read at Entry.Version in state From; everything of the entry is
// written but its id, job, key and first time.
type Update struct {
	From  State
	Entry Entry
}

// Tally is one bucket of the sums that are kept in the transaction that moves an entry (I9).
type Tally struct {
	State    State    `json:"state"`
	Count    int      `json:"count"`
	Quantity Quantity `json:"quantity"`
}

// RunReport is what one pass of one job did. Its JSON form is fixed: `sync --json` ends with these.
type RunReport struct {
	ID         string    `json:"id"`
	Job        string    `json:"job"`
	StartedAt  time.Time `json:"started_at"`
	EndedAt    time.Time `json:"ended_at"`
	Sweep      bool      `json:"sweep"`
	InScope    *int      `json:"in_scope"`   // null without a sweep
	Gone       *int      `json:"gone"`       // null without a sweep
	Unreadable int       `json:"unreadable"` // rows without a usable key
	Read       int       `json:"read"`       // rows that the query returned in this run
	New        int       `json:"new"`
	Changed    int       `json:"changed"`
	Unchanged  int       `json:"unchanged"`
	Sent       int       `json:"sent"` // POSTs begun in this run
	// rows that they were for: one that was asked for patience for goes again; absent in reports of
	// older versions
	SentRows  *int          `json:"sent_rows,omitempty"`
	States    map[State]int `json:"states"`
	Flags     map[Flag]int  `json:"flags"`
	Late      *Late         `json:"late,omitempty"`       // what a sweep found that the window had missed
	Alarms    []Alarm       `json:"alarms,omitempty"`     // late answers of which people must know
	Notes     []string      `json:"notes,omitempty"`      // remarks for IT, English
	WouldSend *WouldSend    `json:"would_send,omitempty"` // of a dry run
	// rows are due that wait for the hours of the job; when those begin
	SendsAgain *time.Time `json:"sends_again,omitempty"`
	Stopped    *Stop      `json:"stopped"`
}

// WouldSend is what a run would send that a dry run stands for.
type WouldSend struct {
	Rows       int        `json:"rows"`
	Follow     int        `json:"follow"`     // rows more that wait for those alone, and would go in the same run
	Quantities []Quantity `json:"quantities"` // of the rows, by unit
}

// RowsSent is how many rows were sent, which is what people are told. A report of an older version
// counts requests.
func (r RunReport) RowsSent() int {
	if r.SentRows == nil {
		return r.Sent
	}
	return *r.SentRows
}

// NeedsPerson reports whether `sync --strict` exits with 3: a row is invalid, rejected, in doubt or
// held, an accepted one differs in the ERP, or a late answer contradicts what a person decided.
func (r RunReport) NeedsPerson() bool {
	for state, n := range r.States {
		if n > 0 && state.NeedsPerson() {
			return true
		}
	}
	return r.Flags[Changed]+r.Flags[MissingInERP]+r.Flags[Cancelled]+r.Flags[Contradicted]+
		r.Flags[DoubleAfterDecision] > 0
}

// Stop says why a job ended before its work was done.
type Stop struct {
	Code  string `json:"code"`
	Text  string `json:"text"` // what happened and what to do, English
	All   bool   `json:"-"`    // every other job would meet the same and does not start
	Sends Kind   `json:"-"`    // every other job that sends this kind would meet the same; "" = none
	// Until is when the engine may try again; zero: when somebody has done what Text says.
	Until time.Time `json:"until,omitzero"`
	Brake *Brake    `json:"brake,omitempty"` // what made a brake act; nil for every other stop
}

// JobState is where a job stands, beside the states of its entries.
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

// Reference is one line of a de-para table: the ERP's code and the platform's id. An id that is no
// UUID is kept as it is and makes the rows that use it invalid.
type Reference struct {
	Kind string `json:"kind"`
	Code string `json:"code"`
	ID   string `json:"id"`
	// what people are shown beside the code; "" = nothing
	Label string `json:"label,omitempty"`
}

// Shown returns the code, with its label, documents masked, where it has one: C07 · "Carteira Soja Maracaju".
func (r Reference) Shown() string {
	if r.Label == "" {
		return r.Code
	}
	return r.Code + " · \"" + MaskDocuments(r.Label) + "\""
}

// ReferenceChange is what a person's act did to one line of a de-para table.
type ReferenceChange struct {
	Code string  `json:"code"`
	From *string `json:"from"` // null: it was not there
	To   *string `json:"to"`   // null: it is not there any more
}

// ReferenceKinds are the de-para tables.
var ReferenceKinds = []string{"producers", "users", "wallets", "delivery_places", "farms"}
