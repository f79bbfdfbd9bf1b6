package trade

import "time"

// CauseOwner is that a person takes care of what keeps rows from going.
type CauseOwner struct {
	Key   string         // of the cause, as the list of causes has it
	Cause string         // the `cause` of its rows
	Owner string         // who takes care of it
	Note  string         // what was done: a ticket, a phone call
	Until time.Time      // nobody is reminded before; zero: people are reminded all the time
	Rows  map[string]int // how many rows of each job had the cause then
	Who   string         // who said so
	At    time.Time
}

// Quiet reports whether nobody need be reminded of the cause: its day has not come, and it has not
// grown in any job since then. rows is how many rows of each job have it now.
func (o CauseOwner) Quiet(now time.Time, rows map[string]int) bool {
	if !now.Before(o.Until) {
		return false
	}
	for job, n := range rows {
		if n > o.Rows[job] {
			return false
		}
	}
	return true
}
