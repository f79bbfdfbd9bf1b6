package trade

import "time"

// RowQuery asks for one page of rows, as people look for them. Empty parts select everything.
type RowQuery struct {
	Jobs   []string // in the order in which they are looked through when sorted by key
	States []State
	Causes []string
	Flags  []Flag
	Text   string    // a key, or a part of one: its beginning, one of its parts with or without leading zeros, or anything in it
	From   time.Time // changed at or after
	Until  time.Time // changed before
	Sort   RowSort
	After  string // RowPage.Next of the page before; "" = the first
	Limit  int    // at least 1
}

// RowSort is an order of rows.
type RowSort string

// The orders.
const (
	NewestFirst RowSort = "newest" // by number: as they came from the ERP
	OldestFirst RowSort = "oldest"
	ByKey       RowSort = "key" // by job and key
)

// RowPage is one page of rows.
type RowPage struct {
	Rows []Entry
	Next string // asks for the page after; "" = this is the last
}

// AuditQuery asks for one page of the audit. Empty parts select everything.
type AuditQuery struct {
	Who    string // the name, whole
	Act    string // the act, whole
	Target string // a part of what it was done to: a job, a key, a table
	From   time.Time
	Until  time.Time
	Before int64 // AuditPage.Next of the page before; 0 = the first
	Limit  int   // at least 1
}

// AuditPage is one page of the audit, the newest first.
type AuditPage struct {
	Records []AuditRecord
	Next    int64 // asks for the page after; 0 = this is the last
}

// RunPage is one page of passes, the newest first.
type RunPage struct {
	Runs []RunReport
	Next string // asks for the page after; "" = this is the last
}
