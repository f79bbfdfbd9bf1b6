package dialect

import (
	"fmt"
	"io"
	"log/slog"
	"time"
)

const (
	defaultStatementTimeout = 60 * time.Second
	// LockTimeout is how long to wait for a lock.
	LockTimeout = 5 * time.Second
	// ConnectTimeout is how long opening a connection may take.
	ConnectTimeout = 15 * time.Second
)

// SourceOptions state which database is read and how.
type SourceOptions struct {
	// Driver is one of the values that Drivers returns.
	Driver string
	// DSN is a lib/pq address (URL or key=value), the path of a SQLite file, or a URL as shown in
	// docs/erp.md. It may hold a password and is therefore a Secret.
	DSN Secret
	// TimeZone is the zone in which an instant becomes a calendar day, and the time zone of the
	// PostgreSQL session unless the DSN names one. Default UTC.
	TimeZone *time.Location
	// StatementTimeout limits each statement in the database. Default 60 s. Waiting for a lock is
	// limited to 5 s.
	StatementTimeout time.Duration
	// Charset names the encoding of text in a database that does not know it itself: PostgreSQL
	// with SQL_ASCII, Firebird with NONE, or a SQLite file with text that is not UTF-8. "" is
	// UTF-8; "WIN1252", "LATIN1", "LATIN9", "CP850" and "CP437" are known. A database with a known
	// encoding converts text itself; then Charset is not used.
	Charset string
}

// WithDefaults returns the options with defaults for what is not set.
func (o SourceOptions) WithDefaults() SourceOptions {
	if o.TimeZone == nil {
		o.TimeZone = time.UTC
	}
	if o.StatementTimeout <= 0 {
		o.StatementTimeout = defaultStatementTimeout
	}
	return o
}

// Secret is a text that no formatting verb, encoder or logger prints. Convert it with string(s)
// where it is used.
type Secret string

const redacted = "[secret]"

// String returns "[secret]".
func (Secret) String() string { return redacted }

// GoString returns "[secret]".
func (Secret) GoString() string { return redacted }

// Format writes "[secret]" for every verb.
func (Secret) Format(f fmt.State, _ rune) {
	// A formatter cannot report a failed write.
	_, _ = io.WriteString(f, redacted)
}

// MarshalText returns "[secret]".
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON returns "[secret]" as a JSON string.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// LogValue returns "[secret]".
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }
