package erp

import "time"

// Query is a job's query with the columns that have a role.
type Query struct {
	// SQL is any single query: joins, unions, CTEs, a trailing semicolon.
	SQL string
	// Key names the columns that identify a row.
	Key []string
	// ChangedAt names the column of the last change; "" if there is none.
	ChangedAt string
	// Columns names those that are read; none: all. What nothing uses may be megabytes long.
	Columns []string
	// Job is used in messages only.
	Job string
}

// Result describes a complete read. After an error it is empty.
type Result struct {
	// Rows counts the rows passed to the caller.
	Rows int
	// Unreadable counts those of them with a NULL or unreadable key part.
	Unreadable int
	// Bound must be saved and passed as Window.Since next time. It is the newest change in this
	// snapshot, but never after the database's now() nor after the start of the oldest visible open
	// transaction, and never below Window.Since. It is "" if there is no ChangedAt or nothing was
	// ever read.
	Bound string
	// FutureBound reports that some row has a time of change in the future. The bound was limited,
	// and the caller should warn.
	FutureBound bool
	// Degraded reports that the database failed the query as a whole, and the rows were read key by
	// key; the values that caused it carry Err. Such a read proves presence, not absence: it is not
	// a complete sweep.
	Degraded bool
	// ServerTime is the database's clock when the read began.
	ServerTime time.Time
}
