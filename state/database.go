package state

import (
	"database/sql"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
)

// q turns the ? of a query into the database's own placeholders. Our queries have no ? in text.
func (s *Store) q(query string) string { return s.write.Rebind(query) }

// newID makes a UUIDv7. The random source of the system cannot fail on the systems that Go supports.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// millis is a time as the ledger keeps it; the zero time is NULL.
func millis(t time.Time) sql.NullInt64 {
	if t.IsZero() {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: true}
}

// atOr is a time that must be there.
func atOr(t, otherwise time.Time) int64 {
	if t.IsZero() {
		t = otherwise
	}
	if t.IsZero() {
		t = time.Now()
	}
	return t.UnixMilli()
}

func instant(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64).UTC()
}

func newStore(d dialect, tune tuning, where string) *Store {
	s := &Store{d: d, tune: tune, where: where, markedBy: newID(), slots: make(chan int, postgresConns)}
	for i := range postgresConns {
		s.slots <- i
	}
	return s
}

// cleanText makes text of a foreign server storable: PostgreSQL refuses NUL and invalid UTF-8, and an answer must never be lost for that.
func cleanText(text string) string {
	if utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 { // nearly all: told much faster than made anew
		return text
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// closePools closes the connections.
func (s *Store) closePools() error {
	var err error
	if s.read != nil && s.read != s.write {
		err = s.read.Close()
	}
	if s.write != nil {
		err = errors.Join(err, s.write.Close())
	}
	return err
}
