package trade

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
)

// Role is what a person may do in the console. Each role may do what the previous ones may.
type Role string

// The roles, the lowest first.
const (
	Reader        Role = "reader"        // reads only
	Accountant    Role = "accountant"    // decides about rows
	Administrator Role = "administrator" // manages people, jobs and references too
)

// Roles lists the roles, the lowest first.
var Roles = []Role{Reader, Accountant, Administrator}

// May reports whether the role is at least needs. An unknown role may do nothing, and an unknown
// needs is never met.
func (r Role) May(needs Role) bool {
	have, want := slices.Index(Roles, r), slices.Index(Roles, needs)
	return have >= 0 && want >= 0 && have >= want
}

// ErrRole means that the role of whoever orders an act does not allow it.
var ErrRole = errors.New("the role does not allow this")

// Person is the person who orders an act, with the reason.
type Person struct {
	Name   string // of the person
	From   string // host and user of the process, or the address of a browser
	Reason string
	// Account is how the program knows the person, if Name is only what was typed.
	Account string
	Role    Role     // what the person may order is checked by internal/office
	Agreed  []string // the other people who agreed
}

// Record returns the audit record of an act.
func (p Person) Record(at time.Time, act, target string, detail any) (AuditRecord, error) {
	text, err := json.Marshal(detail)
	if err != nil {
		return AuditRecord{}, phrase.Errorf("%s: %w", act, err)
	}
	return AuditRecord{
		At: at, Who: p.Name, From: p.From, Act: act, Target: target, Reason: p.Reason,
		Detail: string(text),
	}, nil
}

// User is a person who may log in to the console. Users are never deleted, so that a name in the
// audit always means the same person.
type User struct {
	ID         int64     `json:"-"`
	Name       string    `json:"name"` // for login and audit; lower case, never reused
	Role       Role      `json:"role"`
	Password   string    `json:"-"` // hashed by the console; never shown; "" for logins through an issuer
	Disabled   bool      `json:"disabled"`
	CreatedAt  time.Time `json:"created_at"`
	PasswordAt time.Time `json:"password_at"` // when the password was set
	// FirstPassword means that somebody else chose the password in the console: the person must change
	// it before anything else
	FirstPassword bool      `json:"-"`
	LastLogin     time.Time `json:"-"` // only in a list of all users; zero: never, or the audit has it no more
	Version       int64     `json:"-"` // raised by each change: compare-and-set

	// Issuer is the OpenID Connect provider through which the person logs in, and Subject the
	// person's id there. Both are "" for people with a password in this ledger. The provider
	// determines the person's role at each login.
	Issuer  string `json:"issuer"`
	Subject string `json:"subject"`
}

// Login is a person's session in one browser, until it ends. Only the hash of the browser's secret
// is stored.
type Login struct {
	Hash    string // of the secret in the browser
	User    User   // as it is now, but without Password
	BeganAt time.Time
	SeenAt  time.Time // of the last request, to the minute
	// when the person last authenticated: by the password, or at the issuer if it reports when
	ProvedAt time.Time
	From     string // address of the browser
}

// Tries is how often a login failed under one name, from one address, or with one browser.
type Tries struct {
	Bucket   string
	Failures int
	At       time.Time // of the last one
	Until    time.Time // no further try before
}

// ErrTooMany means that too many approvals wait.
var ErrTooMany = errors.New("too many acts wait for approval")

// ErrNobody means that there is no such user, or that nobody is logged in.
var ErrNobody = errors.New("there is no such user")

// ErrNameTaken means that another user has the name, or is the person whom an issuer names.
var ErrNameTaken = errors.New("the name is taken")

// ErrLastAdministrator means that no administrator would be left.
var ErrLastAdministrator = errors.New("it is the last administrator")

// Act is one act of a person as the ledger stores it: the change and its audit record, both or
// neither.
type Act struct {
	// the new entry; stored only if the entry has not changed since it was read. nil for an act on
	// a job
	Update *Update
	// the entry that gives up its id to this one, in the same transaction and only if it has not
	// changed either; nil for other acts
	Gives  *Update
	Job    *JobAct // nil for an act on an entry
	Resend *Resend // what must hold for an act that opens a generation; nil for other acts
	Ask    []Block // records about which the platform is asked again at once, as if for the first time
	Audit  AuditRecord
}

// Resend is what must hold when a person orders a second sending (I14): every attempt of the entry
// is closed, and the unknown ones have been known as such for Least, on the clock of this boot.
type Resend struct {
	Boot  string        // id of the clock, see Owner.Boot
	Ticks time.Duration // that clock now: it goes on while the machine is suspended, and cannot be set
	Least time.Duration
}

// JobAct changes the status of a job, and what its brakes store.
type JobAct struct {
	Job    string
	Saw    *JobStatus // the status must still be this; nil = any status but paused
	Status JobStatus
	Cursor *Cursor // also stored; refused with *LeasedError while a process runs the job. nil = unchanged
}

// Difference is one field in which the ERP's row differs from what the platform has. Values are in
// the API's form, null if the field is absent.
type Difference struct {
	Field        string   `json:"field"`        // of the API; "" if only the column is known
	Columns      []string `json:"columns"`      // of the query
	Sent         *string  `json:"sent"`         // what was sent
	Acknowledged *string  `json:"acknowledged"` // what a person has acknowledged, or null
	Now          *string  `json:"now"`          // what would be sent; null if none
	ERPSent      string   `json:"erp_sent"`     // what the ERP had when the row was sent
	ERPNow       string   `json:"erp_now"`      // what the ERP has now
	// WaitsFor is the parent that the row names now, if that has no id to send
	WaitsFor *Awaited `json:"waits_for,omitempty"`
}

// AcknowledgedByAct are the flags that a person can acknowledge.
var AcknowledgedByAct = []Flag{
	Changed, MissingInERP, Cancelled, DeletedRemote, Contradicted, DoubleAfterDecision, Recoded,
}

// AcknowledgedIn are the states in which it is certain what the platform has of an entry. ChangedIn are
// those in which it may have it, or a person left it out: what changed of it is listed.
var (
	AcknowledgedIn = []State{Accepted, Dismissed}
	ChangedIn      = []State{Accepted, Dismissed, InDoubt}
)

// Approval is an act that one person has ordered, and to which others must agree before it is done.
type Approval struct {
	ID     int64
	Act    string
	Target string // job, and the key of a single row; the month; the kind of a de-para
	// Mark is a hash of the plan: it stays the same as long as nothing changes that the plan shows.
	Mark    string
	Plan    json.RawMessage // the order and its plan
	People  []Consent       // the person who ordered it comes first, who declined it last
	Needs   int             // how many people in all
	Version int64           // raised by each change: compare-and-set
	Until   time.Time       // when it lapses
	Outcome string          // "" = it waits; [ApprovalGiven] and so on
}

// What became of an approval.
const (
	ApprovalGiven    = "given"
	ApprovalDeclined = "declined"
	ApprovalLapsed   = "lapsed"
	ApprovalUndone   = "undone" // given, but not done: something had changed just then
)

// Consent is the consent of one person: the one who ordered an act, or one who agrees.
type Consent struct {
	Name    string    `json:"name"`
	Account string    `json:"account,omitempty"` // how the program knows the person; "" = by the name
	From    string    `json:"from"`
	Reason  string    `json:"reason"`
	At      time.Time `json:"at"`
}

// AccountsSettle is how long before an order the accounts of its people must have been left alone by
// each other, to count as those of several people.
const AccountsSettle = 24 * time.Hour

// ApprovalsMost is how many acts may wait for consent.
const ApprovalsMost = 500

// Together joins, in the audit, the names of those who ordered an act and agreed to it.
const Together = " + "

// JobMove is what giving a job another name would change or has changed.
type JobMove struct {
	From    string        `json:"from"`
	To      string        `json:"to"`
	Sends   Kind          `json:"sends"`   // "" = the ledger has no entries of From
	Entries int           `json:"entries"` // that are moved
	States  map[State]int `json:"states"`  // their states
	Paused  bool          `json:"paused"`  // To is paused afterwards
	Taken   bool          `json:"-"`       // the ledger has entries or records of To: nothing is moved
}
