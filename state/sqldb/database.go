package sqldb

import (
	"database/sql"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// Q replaces each ? of a query by a placeholder of the database. The queries must have no ? in
// strings.
func (s *DB) Q(query string) string { return s.Write.Rebind(query) }

// NewID returns a new UUIDv7. The random source cannot fail on the systems that Go supports.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Millis converts a time to the form that the ledger stores; the zero time becomes NULL.
func Millis(t time.Time) sql.NullInt64 {
	if t.IsZero() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: true}
}

// AtOr returns a required time in milliseconds: t, or otherwise if t is zero, or now if both are
// zero.
func AtOr(t, otherwise time.Time) int64 {
	if t.IsZero() {
		t = otherwise
	}
	if t.IsZero() {
		t = time.Now()
	}
	return t.UnixMilli()
}

// Instant converts a time from the form that the ledger stores; NULL becomes the zero time.
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

// CleanText makes text of another server storable: PostgreSQL refuses NUL and invalid UTF-8, and an
// answer must never be lost because of that.
func CleanText(text string) string {
	// nearly all texts: the check is much faster than a copy
	if utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 {
		return text
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// Close closes the connections. It ends a [DB.Moment], whose connections are another's.
func (s *DB) Close() error {
	if s.end != nil {
		s.end()
		return nil
	}
	var err error
	if s.Read != nil && s.Read != s.Write {
		err = s.Read.Close()
	}
	if s.Write != nil {
		err = errors.Join(err, s.Write.Close())
	}
	if err != nil && isNetwork(err) { // what is gone need not be closed
		return nil
	}
	return err
}
