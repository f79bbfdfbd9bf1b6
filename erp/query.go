package erp

import "time"

// Query is a job's query with the columns that have a role.
type Query struct {
	// SQL is any single query: joins, unions, CTEs, a trailing semicolon.
	SQL string
	// Key names the columns that identify a row.
	Key []string
	// ChangedAt names the column of the last change; "" when there is none.
	ChangedAt string
	// Job is used in messages only.
	Job string
}

// Result says what a complete read has seen. After an error it is empty.
type Result struct {
	// Rows counts the rows given to the caller.
	Rows int
	// Unreadable counts those of them with a NULL or unreadable key part.
	Unreadable int
	// Bound is to be saved and passed as Window.Since next time: the newest
	// change seen in this snapshot, but never after the database's now() nor
	// after the start of the oldest visible open transaction, and never below
	// Window.Since. "" when there is no ChangedAt or nothing was ever seen.
	Bound string
	// FutureBound tells that some row claims to have changed in the future; the
	// bound was held back, and the caller should warn.
	FutureBound bool
	// Degraded tells that the database gave up on the query as a whole and the
	// rows were read key by key; the values that broke it carry Err. Such a
	// read proves presence, not absence: it is no complete sweep.
	Degraded bool
	// ServerTime is the database's clock when the read began.
	ServerTime time.Time
}
