package witness

import (
	"context"
	"fmt"
	"time"
)

// Line is how far a journal had come.
type Line struct {
	Key     string    `json:"key" db:"key"` // there is one line of each; begins with the ledger
	Ledger  string    `json:"ledger" db:"ledger"`
	Host    string    `json:"host" db:"host"`     // name and machine id
	Folder  string    `json:"folder" db:"folder"` // of the journal, on that host
	Journal string    `json:"journal" db:"journal"`
	Seq     int64     `json:"seq" db:"seq"`   // its last record
	Mark    string    `json:"mark" db:"mark"` // the mark of that record
	At      time.Time `json:"at" db:"at"`     // when the line was written
}

// sameHistory reports whether two lines tell the same.
func (l Line) sameHistory(o Line) bool {
	return l.Journal == o.Journal && l.Seq == o.Seq && l.Mark == o.Mark
}

// has reports whether a line tells of a record of a journal.
func (l Line) has(journal string, seq int64) bool { return l.Journal == journal && l.Seq >= seq }

// Place is where lines are kept.
type Place interface {
	// Lines returns the lines of a ledger.
	Lines(ctx context.Context, ledger string) ([]Line, error)
	// Swap puts a line in the place of another one; the zero Line stands for none. If something else
	// stands there, it returns *ConflictError.
	Swap(ctx context.Context, was, line Line) error
	// Remove removes a line, if it still stands there.
	Remove(ctx context.Context, line Line) error
	// Try returns an error if nothing can be written.
	Try(ctx context.Context) error
	Close() error
}

// ConflictError is returned if another process has written a line.
type ConflictError struct{ Found Line }

// Error returns what was found.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("the witness has record %d of another process", e.Found.Seq)
}
