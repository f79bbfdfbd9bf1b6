// The table of acts.

package acts

import (
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// Scope is what an act is done to.
type Scope int

// The scopes. Only what can double or hide nothing is done to all rows that a filter selects.
const (
	OneRow   Scope = iota // one row, by its key
	SomeRows              // any number of rows, by their keys
	AllRows               // the same, or all rows that a filter selects
	OneJob                // a job
	Other                 // planned and done outside this package: see OtherAct
)

// Act is one act of people, for all who offer it: command line, manual, completion, console, HTTP
// API, and the rules of consent.
type Act struct {
	Name string
	On   Scope
	// In are the states of the rows for which it is offered, those that a filter may select first. Its
	// plan decides, and may allow more.
	In   []trade.State
	Bulk int // how many of In a filter may select
	// Role is the lowest role that may order it, or agree to it
	Role trade.Role
	// Checked means that a person may have to declare to have looked at the platform
	Checked bool
	// Gives means that a person gives an id of the platform, or says that it is not known
	Gives bool
	// ERP means that its plan reads the ERP; Writes that it may begin a quarantine in the ledger
	ERP, Writes bool
	// Sure means that it is done without a question, because it sends nothing that was not seen
	Sure bool
}

// The names of the acts.
const (
	ActRetry       = "retry"       // send now what was certainly not created
	ActResend      = "resend"      // send a row in doubt again; it may be doubled
	ActAdopt       = "adopt"       // store its id on the platform
	ActDismiss     = "dismiss"     // leave it out
	ActReopen      = "reopen"      // undo that
	ActAcknowledge = "acknowledge" // changes in the ERP after sending have been dealt with
	ActRun         = "run"         // a run of a job now
	ActPause       = "pause"       // nothing more of a job is sent
	ActResume      = "resume"      // undo that
	ActRelease     = "release"     // a job goes on although a brake holds it
	ActMove        = "job move"    // the rows of a job go to another name
	ActResync      = "resync"      // rows are read and evaluated again
	ActClose       = "close"       // a month is closed
	ActSetCode     = "refs set"    // a code of a de-para gets an id
)

// Table has all acts, in the order in which they are offered.
var Table = []Act{
	{
		Name: ActRetry, On: AllRows, Role: trade.Accountant, Checked: true, Bulk: 3,
		In: []trade.State{trade.Pending, trade.Waiting, trade.Rejected, trade.Held},
	},
	{
		Name: ActResend, On: OneRow, Role: trade.Accountant, Checked: true, ERP: true, Writes: true,
		In: []trade.State{trade.InDoubt},
	},
	{
		Name: ActAdopt, On: OneRow, Role: trade.Accountant, Gives: true, ERP: true, In: trade.Decidable,
	},
	{
		Name: ActDismiss, On: AllRows, Role: trade.Accountant, Bulk: 5,
		In: []trade.State{trade.Pending, trade.Waiting, trade.Invalid, trade.Rejected, trade.Held},
	},
	{Name: ActReopen, On: AllRows, Role: trade.Accountant, Bulk: 1, In: []trade.State{trade.Dismissed}},
	{Name: ActAcknowledge, On: SomeRows, Role: trade.Accountant, In: []trade.State{trade.Accepted}},
	{Name: ActRun, On: OneJob, Role: trade.Accountant, Sure: true},
	{Name: ActPause, On: OneJob, Role: trade.Administrator, Sure: true},
	{Name: ActResume, On: OneJob, Role: trade.Administrator, Sure: true},
	{Name: ActRelease, On: OneJob, Role: trade.Administrator, Checked: true},
	{Name: ActMove, On: Other, Role: trade.Administrator},
	{Name: ActResync, On: Other, Role: trade.Accountant}, // of a whole job: see Order.Role
	{Name: ActClose, On: Other, Role: trade.Accountant},
	{Name: ActSetCode, On: Other, Role: trade.Administrator},
}

// ActNamed returns the act of a name; ok is false if there is none.
func ActNamed(name string) (k Act, ok bool) {
	i := slices.IndexFunc(Table, func(k Act) bool { return k.Name == name })
	if i < 0 {
		return Act{Name: name, Role: trade.Administrator}, false
	}
	return Table[i], true
}

// Named returns the names of the acts on what one of these scopes has.
func Named(on ...Scope) []string {
	var out []string
	for _, k := range Table {
		if slices.Contains(on, k.On) {
			out = append(out, k.Name)
		}
	}
	return out
}

// OnRow returns the names of the acts that are for a row in a state and may be done to many.
func OnRow(state trade.State) []string {
	var out []string
	for _, k := range Table {
		if k.On == AllRows && slices.Contains(k.In, state) {
			out = append(out, k.Name)
		}
	}
	return out
}

// BulkStates returns the states whose rows a filter may select for an act: there nothing can be
// doubled or hidden. It returns none for an act that is for one row at a time.
func BulkStates(act string) []trade.State {
	k, _ := ActNamed(act)
	return slices.Clone(k.In[:k.Bulk])
}

// RoleOf returns the lowest role that may order an act, or agree to it.
func RoleOf(act string) trade.Role {
	k, _ := ActNamed(act)
	return k.Role
}
