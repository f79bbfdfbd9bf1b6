package trade

import (
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// Role says what a person may do in the console. Each may do what the ones before it may.
type Role string

// The roles, the least first.
const (
	Reader        Role = "reader"        // looks
	Accountant    Role = "accountant"    // decides about rows
	Administrator Role = "administrator" // looks after people, jobs and references too
)

// Roles lists the roles, the least first.
var Roles = []Role{Reader, Accountant, Administrator}

// May reports whether the role is at least another one. A role that is not known may nothing, and
// nobody may what needs no known role.
func (r Role) May(needs Role) bool {
	have, want := slices.Index(Roles, r), slices.Index(Roles, needs)
	return have >= 0 && want >= 0 && have >= want
}

// User is a person who may log in to the console. Users are never deleted, so that a name in the
// audit stays that person's.
type User struct {
	ID         int64
	Name       string // for logging in and for the audit; lower case, never another's
	Role       Role
	Password   string // as the console hashes it; never shown; "" for those who come by an issuer
	Disabled   bool
	CreatedAt  time.Time
	PasswordAt time.Time // when the password was set
	Version    int64     // raised by each change: compare-and-set

	// Issuer is the OpenID Connect provider by which the person comes, and Subject who it is there;
	// both are "" for people with a password of this ledger. The provider says what role the person
	// has, at each login.
	Issuer, Subject string
}

// Login is a person who has logged in with one browser, until it ends. What the browser holds is
// not stored, only its hash.
type Login struct {
	Hash    string // of the secret in the browser
	User    User   // as it is now; Password is empty
	BeganAt time.Time
	SeenAt  time.Time // of the last request, to the minute
	// when the person proved last who it is: by the password, or at the issuer as far as that says
	// when
	ProvedAt time.Time
	From     string // address of the browser
}

// Tries is how often a login was tried in vain under one name, from one address, or with one
// browser.
type Tries struct {
	Bucket   string
	Failures int
	At       time.Time // of the last one
	Until    time.Time // no further one before
}

// SavedFilter is a search that a person keeps.
type SavedFilter struct {
	User  int64
	Name  string
	Query string // as the console's address has it
}

// SavedFiltersMost is how many searches one person may keep.
const SavedFiltersMost = 50

// ErrTooMany says that a person keeps as many searches as one may.
var ErrTooMany = errors.New("no more searches are kept for one person")

// ErrNobody says that there is no such user, or nobody is logged in.
var ErrNobody = errors.New("there is no such user")

// ErrTaken says that somebody has the name already, or is the person whom an issuer names.
var ErrTaken = errors.New("the name is taken")

// ErrLastAdministrator says that nobody would be left who can look after people.
var ErrLastAdministrator = errors.New("it is the last administrator")

// Act is one act of a person as the ledger stores it: the change and its record in the audit, both
// or neither.
type Act struct {
	Update *Update // the entry as it becomes; done only while it stands as it was read. nil for an act on a job
	// the entry that gives its id up to this one, in the same transaction and only if it too stands
	// as it was read; nil for every other act
	Gives  *Update
	Job    *JobAct // nil for an act on an entry
	Resend *Resend // of an act that opens a generation: what must hold then. nil for every other act
	Ask    []Block // records of the platform that are asked about again at once, as if for the first time
	Audit  AuditRecord
}

// Resend is what must be true when a person orders a second sending (I14): every attempt of the
// entry is closed, and those that are unknown have been so for Least, on the clock of the boot that
// asks.
type Resend struct {
	Boot  string        // id of the clock, see Owner.Boot
	Ticks time.Duration // its clock now: it goes on while the machine is suspended, and nobody can set it
	Least time.Duration
}

// JobAct changes where a job stands, and what its brakes remember.
type JobAct struct {
	Job    string
	Saw    *JobStatus // done only while the job stands so; nil = wherever it stands, unless it is paused
	Status JobStatus
	Cursor *Cursor // also set; done only while no process runs the job (*LeasedError). nil = left alone
}

// Difference is one field in which the ERP's row is no longer what the platform has. Values are in
// the API's form, null where the field is absent.
type Difference struct {
	Field        string   `json:"field"`        // of the API; "" when only the column can be told
	Columns      []string `json:"columns"`      // of the query
	Sent         *string  `json:"sent"`         // what left
	Acknowledged *string  `json:"acknowledged"` // what a person has dealt with; null when nobody has
	Now          *string  `json:"now"`          // what would leave; null also where the ERP's value cannot be mapped
	ERPSent      string   `json:"erp_sent"`     // what the ERP had when the row left
	ERPNow       string   `json:"erp_now"`      // what it has
}

// AcknowledgedByAct are the flags that a person can deal with by an acknowledgement.
var AcknowledgedByAct = []Flag{Changed, MissingInERP, Cancelled, DeletedRemote, Contradicted, DoubleAfterDecision}

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
