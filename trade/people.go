package trade

import (
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

// May tells whether the role is at least another one. A role that is not known may nothing, and nobody may what needs no known role.
func (r Role) May(needs Role) bool {
	have, want := slices.Index(Roles, r), slices.Index(Roles, needs)
	return have >= 0 && want >= 0 && have >= want
}

// User is a person who may log in to the console. Users are never deleted, so that a name in the audit stays that person's.
type User struct {
	ID         int64
	Name       string // for logging in and for the audit; lower case, never another's
	Role       Role
	Password   string // as the console hashes it; never shown; "" for those who come by an issuer
	Disabled   bool
	CreatedAt  time.Time
	PasswordAt time.Time // when the password was set
	Version    int64     // raised by each change: compare-and-set

	// Issuer is the OpenID Connect provider by which the person comes, and Subject who it is there; both are "" for people with a password of this ledger. The provider says what role
	// the person has, at each login.
	Issuer, Subject string
}

// Login is a person who has logged in with one browser, until it ends. What the browser holds is not stored, only its hash.
type Login struct {
	Hash     string // of the secret in the browser
	User     User   // as it is now; Password is empty
	BeganAt  time.Time
	SeenAt   time.Time // of the last request, to the minute
	ProvedAt time.Time // when the person proved last who it is: by the password, or at the issuer as far as that says when
	From     string    // address of the browser
}

// Tries is how often a login was tried in vain under one name, from one address, or with one browser.
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
