package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/state/journal"
)

// DB is the database of a ledger: its connections, and what every transaction needs. Its methods
// may be called by several goroutines at once; its fields are set while the ledger is opened, and
// only read after that.
type DB struct {
	D        Dialect
	Tune     Tuning
	Write    *sqlx.DB // SQLite: exactly one connection; PostgreSQL: the pool
	Read     *sqlx.DB // SQLite: a pool that cannot write; PostgreSQL and in memory: the same as Write
	ID       string   // the ledger's id
	MarkedBy string   // this DB's id in tx_mark: two in one process must not share a row
	Slots    chan int // rows of tx_mark that no transaction uses
	ReadOnly bool
	Memory   bool
	Where    string // the file, or host and database; for people, without secrets
	Begun    bool   // the ledger was created by this DB
	Identity string // the id of a ledger that is rebuilt from its journal; else ""

	Journal     *journal.Journal // nil if none is open
	JournalPath string           // its folder
	Journals    string           // the configured folder of journals, also when none is open
	Served      bool             // the ledger has a journal, so nothing may be sent without it
	// Noted is told of each record of the journal that the ledger has; posts: requests are about to
	// leave. nil: nobody wants to know.
	Noted func(seq int64, mark string, posts bool)
	// SettleCrash settles what a process left that ended between journal and ledger.
	SettleCrash func(ctx context.Context, op string, slot int) error
	// Sign confirms the term of the ledger, and reports to the other hosts: see cluster.go.
	Sign func(ctx context.Context, op string, slot int) error

	// connections without a time limit for statements; nil if no connection has one
	unhurried func() *sqlx.DB
	server    Cluster // the identity of the PostgreSQL server

	moment *sqlx.Tx        // the transaction in which everything is read; nil: none. See [DB.Moment]
	during context.Context // of that transaction
	end    func()          // ends it

	hot, hotRead hot
}

// All reads all rows of a query into dest, a slice that it replaces, outside a transaction. op
// names the operation in an error.
func (s *DB) All(ctx context.Context, op string, dest any, query string, args ...any) error {
	return s.read(ctx, op, readAll, dest, query, args)
}

// Get reads one row into dest, like [DB.All].
func (s *DB) Get(ctx context.Context, op string, dest any, query string, args ...any) error {
	return s.read(ctx, op, readOne, dest, query, args)
}

// GetOr is [DB.Get], but returns missing if there is no row.
func (s *DB) GetOr(ctx context.Context, op string, missing error, dest any, query string, args ...any) error {
	err := s.Get(ctx, op, dest, query, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return missing
	}
	return err
}

// read reads in the transaction of a [DB.Moment], if s is one, which may be over.
func (s *DB) read(ctx context.Context, op string, into reader, dest any, query string, args []any) error {
	from := sqlx.QueryerContext(s.Read)
	if s.moment != nil {
		from = s.moment
	}
	rows, err := from.QueryxContext(ctx, s.Q(query), args...)
	err = into(dest, rows, err)
	if s.moment != nil && s.during.Err() != nil {
		ctx = s.during
	}
	return s.Fault(ctx, op, err)
}

// Select reads all rows of a query into dest, a slice, inside a transaction or outside.
type Select func(dest any, query string, args ...any) error

// Reading returns [DB.All] as a Select, for functions that also read within a transaction.
func (s *DB) Reading(ctx context.Context, op string) Select {
	return func(dest any, query string, args ...any) error { return s.All(ctx, op, dest, query, args...) }
}

// Counts runs a query with the columns name and n, and returns n by name.
func (s *DB) Counts(ctx context.Context, op, query string, args ...any) (map[string]int, error) {
	var rows []struct {
		Name string
		N    int
	}
	err := s.All(ctx, op, &rows, query, args...)
	out := make(map[string]int, len(rows))
	for _, r := range rows {
		out[r.Name] = r.N
	}
	return out, err
}

// List reads all rows of a query.
func List[T any](ctx context.Context, s *DB, op, query string, args ...any) ([]T, error) {
	out := []T{}
	err := s.All(ctx, op, &out, query, args...)
	return out, err
}

// Rows reads all rows of a query and converts each with of.
func Rows[R, T any](ctx context.Context, s *DB, op string, of func(*R) (T, error), query string,
	args ...any,
) ([]T, error) {
	return RowsOf(s.Reading(ctx, op), func(row *R) (T, error) {
		out, err := of(row)
		return out, s.Fault(ctx, op, err)
	}, query, args...)
}

// RowsOf is like [Rows], inside a transaction or outside.
func RowsOf[R, T any](all Select, of func(*R) (T, error), query string, args ...any) ([]T, error) {
	var rows []R
	if err := all(&rows, query, args...); err != nil {
		return nil, err
	}
	out := make([]T, len(rows))
	for i := range rows {
		var err error
		out[i], err = of(&rows[i])
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

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
