package trade

import (
	"encoding/json"
	"time"
)

// Approval is an act that one person ordered, and that others have to agree to before it is done.
type Approval struct {
	ID     int64
	Act    string
	Target string // the job, and the key of a single row; the month; the kind of a de-para
	// Mark is that of the plan: it is the same as long as nothing moves that the plan shows.
	Mark    string
	Plan    json.RawMessage // what was ordered and what was planned
	People  []Consent       // who ordered it comes first
	Needs   int             // so many people in all
	Version int64           // raised by each change: compare-and-set
	Until   time.Time       // then it lapses
}

// Consent is a person who ordered an act, or agrees to it.
type Consent struct {
	Name    string    `json:"name"`
	Account string    `json:"account,omitempty"` // by which the program knows the person, if not by the name
	From    string    `json:"from"`
	Reason  string    `json:"reason"`
	At      time.Time `json:"at"`
}

// ApprovalsMost is how many acts may wait for somebody's consent.
const ApprovalsMost = 500

// Together joins the names of those who ordered an act and agreed to it, in the audit.
const Together = " + "
