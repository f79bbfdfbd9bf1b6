package sqldb

import (
	"database/sql"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// Q turns the ? of a query into the database's own placeholders. Our queries have no ? in text.
func (s *DB) Q(query string) string { return s.Write.Rebind(query) }

// NewID makes a UUIDv7. The random source of the system cannot fail on the systems that Go
// supports.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Millis is a time as the ledger keeps it; the zero time is NULL.
func Millis(t time.Time) sql.NullInt64 {
	if t.IsZero() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: true}
}

// AtOr is a time that must be there.
func AtOr(t, otherwise time.Time) int64 {
	if t.IsZero() {
		t = otherwise
	}
	if t.IsZero() {
		t = time.Now()
	}
	return t.UnixMilli()
}

// Instant is a time as the ledger keeps it; NULL is the zero time.
func Instant(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64).UTC()
}

func newStore(d Dialect, tune Tuning, where string) *DB {
	s := &DB{D: d, Tune: tune, Where: where, MarkedBy: NewID(), Slots: make(chan int, postgresConns)}
	for i := range postgresConns {
		s.Slots <- i
	}
	return s
}

// CleanText makes text of a foreign server storable: PostgreSQL refuses NUL and invalid UTF-8, and
// an answer must never be lost for that.
func CleanText(text string) string {
	if utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 { // nearly all: told much faster than made anew
		return text
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// Close closes the connections.
func (s *DB) Close() error {
	var err error
	if s.Read != nil && s.Read != s.Write {
		err = s.Read.Close()
	}
	if s.Write != nil {
		err = errors.Join(err, s.Write.Close())
	}
	return err
}
