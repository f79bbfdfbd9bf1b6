package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/lib/pq"
	"modernc.org/sqlite"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// ErrNotFound is returned if the ledger has no such entry.
var ErrNotFound = trade.ErrNotFound

// ErrNoLedger is returned if there is no ledger at the given place.
var ErrNoLedger = errors.New("it is not there")

// The codes of an Error.
const (
	CodeConfig      = "state-config"       // the configuration does not name a usable ledger
	CodeLocked      = "state-locked"       // another process keeps the write lock
	CodePermission  = "state-permission"   // the process or the role has no permission to write
	CodeFull        = "state-full"         // the disk is full: STORE-FULL of the outcome catalogue
	CodeCorrupt     = "state-corrupt"      // the file is damaged
	CodeNewer       = "state-newer"        // a newer program wrote it
	CodeOlder       = "state-older"        // it needs a migration and is opened read-only
	CodeDirectory   = "state-directory"    // the folder does not exist
	CodeNetworkFS   = "state-network-fs"   // the file is on a network file system
	CodeForeign     = "state-foreign"      // the database belongs to another program
	CodeDurability  = "state-durability"   // the database's settings do not make commits durable
	CodeUnreachable = "state-unreachable"  // PostgreSQL does not answer
	CodeAuth        = "state-auth"         // PostgreSQL refuses the user
	CodeNoDatabase  = "state-no-database"  // PostgreSQL has no such database
	CodeIO          = "state-io"           // the disk fails
	CodeTimeout     = "state-timeout"      // it took longer than its time limit
	CodeRolledBack  = "state-rolled-back"  // the ledger is an older copy: the journal has more
	CodeAbsent      = "state-absent"       // there is no ledger, and none was to be created
	CodeStands      = "state-stands"       // a ledger was to be created where one exists
	CodeEmptied     = "state-emptied"      // the ledger is new, but a journal shows an earlier one
	CodeJournalLost = "state-journal-lost" // there is no journal, or it lacks what the ledger has
	CodeCopied      = "state-copied"       // ledger and journal belong to another host or place
	CodeMoved       = "state-moved"        // the ledger was moved: `safrasync state copy`
	CodeServer      = "state-server"       // PostgreSQL is another server, or was promoted
	CodeServed      = "state-served"       // another `run` serves the ledger
	CodeCopy        = "state-copy"         // a copy cannot be made, or cannot be used
	CodeJournal     = "state-journal"      // the journal is damaged or cannot be written
	CodeJournalEnd  = "state-journal-end"  // the end of the journal is damaged
	CodeOldCopy     = "state-old-copy"     // the witness has more: ledger and journal are an older copy
	CodeUnwitnessed = "state-unwitnessed"  // the witness cannot be read
	CodeInternal    = "state-internal"     // everything else
)

// Error is an error about the ledger, for the people in IT. It contains no DSN, no password and no
// row.
type Error struct {
	Code string       // one of the Code constants
	Path string       // the file, or host and database
	Hint *phrase.Text // what to do
	Err  error        // what happened
	Op   string       // what was being done; for the log

	// With CodeRolledBack and CodeEmptied: what the journal has and the ledger lacks.
	Records, Rows int
	Since         time.Time
	// With CodeEmptied: the place of the journal's ledger, if it differs from that of this one.
	Place string
}

// Error returns what happened, where, and what to do.
func (e *Error) Error() string { return e.Phrase().Error() }

// Phrase returns the same as a sentence.
func (e *Error) Phrase() *phrase.Text {
	what := e.Err
	if e.Op != "" {
		what = phrase.Errorf("%w: %w", phrase.Fixed(e.Op), e.Err)
	}
	switch {
	case e.Path == "" && e.Hint == nil:
		return phrase.New("the ledger: %w", what)
	case e.Path == "":
		return phrase.New("the ledger: %w: %w", what, e.Hint)
	case e.Hint == nil:
		return phrase.New("the ledger %s: %w", e.Path, what)
	}
	return phrase.New("the ledger %s: %w: %w", e.Path, what, e.Hint)
}

// What returns what was being done, and what happened.
func (e *Error) What() string {
	if e.Op != "" {
		return e.Op + ": " + e.Err.Error()
	}
	return e.Err.Error()
}

// Unwrap returns what happened.
func (e *Error) Unwrap() error { return e.Err }

// Refuse returns why something is refused, and what to do about it. path is the place of the ledger.
func Refuse(code, path string, err error, hint *phrase.Text) *Error {
	return &Error{
		Code: code,
		Path: path,
		Err:  err,
		Hint: hint,
	}
}

// Refuse is [Refuse] for this ledger.
func (s *DB) Refuse(code string, err error, hint *phrase.Text) *Error {
	return Refuse(code, s.Where, err, hint)
}

// Primary result codes of SQLite: the low byte of what the driver reports.
const (
	sqlitePerm     = 3
	sqliteBusy     = 5
	sqliteLocked   = 6
	sqliteReadOnly = 8
	sqliteIOErr    = 10
	SqliteCorrupt  = 11
	sqliteFull     = 13
	SqliteCantOpen = 14
	sqliteAuth     = 23
	sqliteNotADB   = 26
	// sqliteIOErrWrite is returned at a limit of the process (RLIMIT_FSIZE); it is handled like a
	// full disk.
	sqliteIOErrWrite = 778
	// sqliteIOErrShmSize is returned if the disk is full while the shared index of a file is
	// created.
	sqliteIOErrShmSize = 4874
)

// Fault converts an error of a driver to an *Error. Our own errors are returned unchanged, and nil
// stays nil.
func (s *DB) Fault(ctx context.Context, op string, err error) error {
	return FaultOf(ctx, op, s.Where, s.D.Name, err)
}

// FaultOf converts an error of a driver to an *Error. Our own errors are returned unchanged, and
// nil stays nil.
func FaultOf(ctx context.Context, op, where, driverName string, err error) error {
	if err == nil {
		return nil
	}
	var known *Error
	var leased *trade.LeasedError
	var platform *trade.OtherPlatformError
	if errors.As(err, &known) || errors.As(err, &platform) || errors.As(err, &leased) ||
		errors.Is(err, trade.ErrLeaseLost) || errors.Is(err, ErrNotFound) {
		return err
	}
	// The context is checked first: lib/pq reports a deadline as "canceling statement due to user
	// request".
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(cause, context.DeadlineExceeded) || errors.As(cause, new(*TimeoutError)) {
			return Refuse(CodeTimeout, where,
				phrase.Errorf("%w timed out: %w", phrase.Fixed(op), cause),
				phrase.New("look for a long transaction, a slow disk or an overloaded server"))
		}
		return phrase.Errorf("%w: %w", phrase.Fixed(op), cause)
	}
	out := &Error{Code: CodeInternal, Path: where, Err: err, Op: op}
	var lite *sqlite.Error
	var server *pq.Error
	switch {
	case errors.As(err, &lite):
		DescribeSQLite(out, lite.Code())
	case errors.As(err, &server):
		code := string(server.Code)
		switch {
		case code == "28P01" || code == "28000":
			out.Code, out.Hint = CodeAuth, phrase.New("check user and password in state.dsn, and pg_hba.conf")
		case code == "3D000":
			out.Code, out.Hint = CodeNoDatabase, phrase.New("create the database, or correct its name in state.dsn")
		case code == "42501":
			out.Code, out.Hint = CodePermission, phrase.New("grant the role what it needs: it owns the ledger's tables")
		// 0A000 is what a standby answers to a transaction that is to write
		case code == "25006" || code == "0A000":
			out.Code, out.Hint = CodePermission, phrase.New(PrimaryHint)
		case code == "53100":
			out.Code, out.Hint = CodeFull, phrase.New("free space on the database server")
		case code == "53300":
			out.Code, out.Hint = CodeUnreachable, phrase.New("raise max_connections, or close other sessions")
		case code == "40P01" || code == "40001":
			out.Code, out.Hint = CodeLocked,
				phrase.New("it and another session waited for each other, and nothing was changed: run it again")
		case code == "55P03" || code == "57014":
			out.Code, out.Hint = CodeLocked,
				phrase.New("another session holds the rows: run it again, and if it stays look at pg_stat_activity for a long transaction")
		case code == "08P01" && strings.HasPrefix(server.Message, "unsupported startup parameter"):
			out.Code, out.Hint = CodeConfig, phrase.New("a connection pooler refuses a setting of state.dsn: "+
				"take it out there, or add its name to ignore_startup_parameters of PgBouncer")
		case strings.HasPrefix(code, "57P") || strings.HasPrefix(code, "08"):
			out.Code, out.Hint = CodeUnreachable, phrase.New("the server is starting, stopping or cut off: it is tried again")
		case code == "XX001" || code == "XX002":
			out.Code, out.Hint = CodeCorrupt, phrase.New("stop the program and restore the database from its backup")
		}
	case driverName == Postgres && isNetwork(err):
		out.Code, out.Hint = CodeUnreachable, phrase.New("check that PostgreSQL runs, and host, port and firewall in state.dsn")
		if errors.Is(err, errSilent) {
			out.Err = errSilent
		}
	}
	return out
}

// Uncertain returns the error of a commit that may or may not have taken effect. Its code and hint
// are those of a full disk, if the commit or the lookup reports one; otherwise those of the
// commit's error, or of the lookup's if the commit's has none.
func (s *DB) Uncertain(op string, commit, look error) error {
	stay := phrase.New("the rows concerned stay as they are until the ledger answers")
	out := s.Refuse(CodeUnreachable,
		phrase.Errorf("%w: %w (%w; looking: %w)", phrase.Fixed(op), trade.ErrUncertain, commit, look),
		phrase.New("%s", stay))
	for _, cause := range []error{look, commit} {
		var known *Error
		if errors.As(s.Fault(context.Background(), op, cause), &known) && known.Hint != nil &&
			(out.Code != CodeFull || known.Code == CodeFull) {
			out.Code, out.Hint = known.Code, phrase.New("%w; %w", known.Hint, stay)
		}
	}
	return out
}

func isNetwork(err error) bool {
	var network net.Error
	var op *net.OpError
	return errors.As(err, &network) || errors.As(err, &op) || errors.Is(err, driver.ErrBadConn) ||
		strings.Contains(err.Error(), "EOF")
}

// afterRoom describes what happens after space on a full disk was freed.
const afterRoom = "a service that runs goes on by itself then, one that could not start has to be started (systemd tries for an hour)"

// DescribeSQLite sets code and hint of an error by the result code of SQLite.
func DescribeSQLite(e *Error, code int) {
	switch {
	case code == sqliteIOErrWrite, code == sqliteIOErrShmSize:
		e.Code, e.Hint = CodeFull,
			phrase.New("free space, raise the limit of the process's file size, or check the disk and the system's log (%w); "+
				afterRoom, FreeSpace(e.Path))
		return
	case code&0xff == sqliteFull:
		e.Code, e.Hint = CodeFull, phrase.New("free space on the disk (%w); "+
			afterRoom, FreeSpace(e.Path))
		return
	}
	switch code & 0xff {
	case sqliteBusy, sqliteLocked:
		e.Code, e.Hint = CodeLocked, phrase.New("another process holds the write lock%w: wait for it, or stop it", Holders(e.Path))
	case sqliteReadOnly, sqlitePerm, sqliteAuth:
		e.Code, e.Hint = CodePermission, FilesHint(e.Path)
	case SqliteCantOpen:
		e.Code, e.Hint = CodePermission, FilesHint(e.Path)
	case sqliteIOErr:
		e.Code, e.Hint = CodeIO, phrase.New("check the disk and the system's log; what was stored before is safe")
	case SqliteCorrupt, sqliteNotADB:
		e.Code, e.Hint = CodeCorrupt,
			phrase.New("do not delete it: stop the program and restore the backup, or run `safrasync rebuild`")
	}
}

// Counted returns a number with the words that fit it.
func Counted[N int | int64](n N, one, many string) *phrase.Text {
	if n == 1 {
		many = one
	}
	return phrase.New("%d %w", n, phrase.Fixed(many))
}

// PrimaryHint states how to reach the server of a PostgreSQL cluster that can write.
const PrimaryHint = "the server is a standby or read-only: point state.dsn at the primary " +
	"(host=pg1,pg2 port=5432 target_session_attrs=read-write connect_timeout=5)"
