package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"

	"github.com/safrasync/safrasync/internal/phrase"
)

// OldestSQLite is the first version without a bug that loses data in WAL mode.
const OldestSQLite = "3.51.3"

// readers limits the connections that only read.
const readers = 4

// SqliteDSN returns the driver's data source name for a file. The path is escaped. The settings are
// run as SQL, so they must not contain any user input.
func SqliteDSN(path string, settings ...string) string {
	// with slashes, and a drive of Windows after one
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		path = "/" + path
	}
	u := url.URL{Scheme: "file", Path: path}
	return u.String() + "?" + strings.Join(settings, "&")
}

// durable returns the settings of a connection that writes. They apply to a connection, not to the
// file, so each new connection needs them.
func durable(tune Tuning) []string {
	return []string{
		// a deferred transaction that reads first and then writes would fail at once, without
		// waiting
		"_txlock=immediate",
		Busy(tune), "_journal_mode=WAL", "_synchronous=FULL", "_foreign_keys=on", "_defensive=1", "_dqs=0",
		"_error_rc=1",
		"_pragma=fullfsync(1)", "_pragma=checkpoint_fullfsync(1)", "_pragma=trusted_schema(0)",
		// what is removed or replaced is overwritten: a person who was purged is not in the file
		"_pragma=secure_delete(1)",
		"_pragma=cell_size_check(1)",
		"_pragma=journal_size_limit(67108864)", "_pragma=temp_store(2)", "_pragma=cache_size(-4096)",
		"_pragma=wal_autocheckpoint(4000)",
	}
}

// Busy returns the setting for how long a connection waits for another writer.
func Busy(tune Tuning) string {
	return "_busy_timeout=" + strconv.FormatInt(tune.Busy.Milliseconds(), 10)
}

// OpenSQLite opens the file of a SQLite ledger, creates it if the options allow that, and verifies
// its durability (I1).
func OpenSQLite(ctx context.Context, o OpenOptions, tune Tuning) (*DB, error) {
	path, exists, err := SqlitePath(o, tune)
	if err != nil {
		return nil, err
	}
	if !o.ReadOnly {
		if err := rightUser(path); err != nil {
			return nil, err
		}
	}
	if !exists {
		if err := o.MayBegin(path, "the file does not exist, or is empty"); err != nil {
			return nil, err
		}
		if err := CreateFile(path); err != nil {
			return nil, err
		}
	}
	if !o.ReadOnly {
		// SQLite itself would fall back to read-only, and fail only at the first write.
		if err := mayWrite(path); err != nil {
			return nil, Permission(path, err)
		}
	}
	if err := inspect(ctx, path, tune); err != nil {
		return nil, err
	}
	s := newStore(sqliteDialect, tune, path)
	s.ReadOnly, s.Identity = o.ReadOnly, o.Identity
	s.Read = ConnectSQLite(tune, SqliteDSN(path, "mode=rw", Busy(tune), "_query_only=1", "_foreign_keys=on", "_dqs=0",
		"_error_rc=1", "_pragma=cache_size(-1024)"), readers)
	if o.ReadOnly {
		s.Write = s.Read
		return s, nil
	}
	s.Write = ConnectSQLite(tune, SqliteDSN(path, append([]string{"mode=rw"}, durable(tune)...)...), 1)
	if err := s.firstConnection(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// firstConnection opens the writing connection and verifies its durability (I1, F055). Switching a
// new file to WAL needs a moment of exclusive access, for which SQLite does not wait. If several
// programs start at once, some must try again.
func (s *DB) firstConnection(ctx context.Context) error {
	const op = "opening the ledger"
	ctx, cancel := context.WithTimeoutCause(ctx, s.Tune.Write, TookLonger(op, s.Tune.Write))
	defer cancel()
	for tries := 0; ; tries++ {
		err := s.Fault(ctx, op, s.Write.PingContext(ctx))
		if err == nil {
			var version, journal string
			var synchronous, foreignKeys int
			for query, dest := range map[string]any{
				"SELECT sqlite_version()": &version,
				"PRAGMA journal_mode":     &journal,
				"PRAGMA synchronous":      &synchronous,
				"PRAGMA foreign_keys":     &foreignKeys,
			} {
				if err := s.Write.GetContext(ctx, dest, query); err != nil {
					return s.Fault(ctx, "opening the ledger", err)
				}
			}
			return JudgeSQLite(s.Where, version, journal, synchronous, foreignKeys)
		}
		var known *Error
		if !errors.As(err, &known) || known.Code != CodeLocked || tries == 20 || !s.pause(ctx, s.Tune.Busy/50) {
			return err
		}
	}
}

// SqlitePath returns the absolute path and checks what is there, without opening the file: closing
// a second handle of a file that SQLite has open would drop SQLite's locks.
func SqlitePath(o OpenOptions, tune Tuning) (path string, exists bool, err error) {
	if o.DSN == "" || strings.HasPrefix(o.DSN, "file:") || strings.HasPrefix(o.DSN, ":") ||
		strings.ContainsRune(o.DSN, 0) {
		return "", false, &Error{
			Code: CodeConfig,
			Hint: phrase.New("state.dsn of a SQLite ledger is the path of a file, like /var/lib/safrasync/state.db"),
			Err:  errors.New("state.dsn is not a path"),
		}
	}
	path, err = filepath.Abs(o.DSN)
	if err != nil {
		return "", false, &Error{Code: CodeConfig, Hint: phrase.New("give an absolute path in state.dsn"), Err: err}
	}
	dir := filepath.Dir(path)
	about := dir
	switch info, statErr := os.Stat(path); {
	case statErr == nil && info.IsDir():
		return "", false, Refuse(CodeConfig, path, errors.New("it is a folder"),
			phrase.New("name a file in it in state.dsn"))
	case statErr == nil:
		exists, about = info.Size() > 0, path // an empty file is a ledger that was never begun
	case errors.Is(statErr, fs.ErrPermission):
		return "", false, Permission(path, statErr)
	// a file that cannot be inspected may still exist
	case !errors.Is(statErr, fs.ErrNotExist) && !errors.Is(statErr, syscall.ENOTDIR):
		return "", false, Refuse(CodeIO, path, statErr, phrase.New("check the disk"))
	default:
		if info, dirErr := os.Stat(dir); dirErr != nil || !info.IsDir() {
			if errors.Is(dirErr, fs.ErrPermission) {
				return "", false, Permission(path, dirErr)
			}
			hint := phrase.New("create %s for the user %s", dir, userName())
			if !o.Begin {
				hint = phrase.New("nothing is sent; mount its disk if that is not mounted, or correct state.dsn; "+
					"only at the first set-up %w, and begin the ledger with `safrasync state new`", hint)
			}
			return "", false, Refuse(CodeDirectory, path, errors.New("its folder does not exist"),
				hint)
		}
	}
	if magic, ok := tune.FsMagic(about); ok {
		if name := NetworkFileSystem(magic); name != "" {
			return "", false, Refuse(CodeNetworkFS, path,
				phrase.Errorf("it is on a network file system (%s), where locks and flushes cannot be trusted", name),
				phrase.New("put it on a local disk, or use PostgreSQL for it"))
		}
	}
	return path, exists, nil
}

// CreateFile creates the empty file that SQLite then fills. Only the owner may access it, because
// it will contain rows of the ERP.
func CreateFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return Permission(path, err)
	}
	if err := f.Close(); err != nil {
		return Permission(path, err)
	}
	return nil
}

// Permission returns the error for a file that may not be read or written.
func Permission(path string, err error) error {
	return Refuse(CodePermission, path, err, FilesHint(path))
}

// inspect checks the file before anything can change it: a file of another program is left exactly
// as it is.
func inspect(ctx context.Context, path string, tune Tuning) (err error) {
	db := ConnectSQLite(tune, SqliteDSN(path, "mode=rw", Busy(tune), "_query_only=1", "_error_rc=1"), 1)
	defer phrase.Join(&err, db.Close)
	var names []string
	if err := db.SelectContext(ctx, &names, sqliteDialect.Tables); err != nil {
		return FaultOf(ctx, "opening the ledger", path, SQLite, err)
	}
	return foreign(names, path, true)
}

// JudgeSQLite returns an error if the settings of a connection do not make commits durable (I1).
func JudgeSQLite(where, version, journal string, synchronous, foreignKeys int) error {
	refuse := func(format string, args ...any) error {
		return Refuse(CodeDurability, where, fmt.Errorf(format, args...),
			phrase.New("report this as a fault of the program, with its version and the file system"))
	}
	switch {
	case OlderVersion(version, OldestSQLite):
		return refuse("SQLite is %s, need %s", version, OldestSQLite)
	case journal != "wal":
		return refuse("the journal mode is %q, need wal", journal)
	case synchronous != 2:
		return refuse("synchronous is %d, need 2 (FULL)", synchronous)
	case foreignKeys != 1:
		return refuse("foreign keys are not checked")
	}
	return nil
}

// OlderVersion reports whether a version is older than another. It compares them number by number.
func OlderVersion(version, than string) bool {
	a, b := strings.Split(version, "."), strings.Split(than, ".")
	for i := range b {
		if i >= len(a) {
			return true
		}
		x, errX := strconv.Atoi(a[i])
		y, errY := strconv.Atoi(b[i])
		if errX != nil || errY != nil {
			return true
		}
		if x != y {
			return x < y
		}
	}
	return false
}

// MemoryDB returns an empty database in memory.
func MemoryDB(tune Tuning) *DB {
	s := newStore(sqliteDialect, tune, "in memory")
	s.Memory = true
	// One connection for all: each further connection would have an empty database of its own.
	dsn := "file::memory:?_txlock=immediate&_foreign_keys=on&_dqs=0&_error_rc=1&_pragma=trusted_schema(0)"
	s.Write = ConnectSQLite(tune, dsn, 1)
	s.Read = s.Write
	return s
}

// EmptyLog copies SQLite's write-ahead log into the file and empties it, so that it neither stays as
// large as the work made it, nor keeps what was removed. While somebody reads, it is left for the next
// time, and no writer waits.
func (s *DB) EmptyLog(ctx context.Context) error {
	if s.D.Name != SQLite || s.Memory {
		return nil
	}
	for tries := 0; ; tries++ {
		empty, err := s.emptyLog(ctx)
		if err != nil || empty || tries == 20 || !s.pause(ctx, 50*time.Millisecond) {
			return s.Fault(ctx, "emptying the write-ahead log", err)
		}
	}
}

// emptyLog empties the log if nobody reads.
func (s *DB) emptyLog(ctx context.Context) (empty bool, err error) {
	conn, err := s.Write.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer func() {
		if err != nil { // it is not used again, as it would not wait for other writers
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		}
		_ = conn.Close() // it goes back to the pool
	}()
	var busy, pages, copied int
	copyLog := func(mode string) error {
		return conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(`+mode+`)`).Scan(&busy, &pages, &copied)
	}
	if err := copyLog("PASSIVE"); err != nil || pages != copied { // writers go on meanwhile
		return false, err
	}
	var waits int64
	if err := conn.QueryRowContext(ctx, `PRAGMA busy_timeout = 0`).Scan(&waits); err != nil {
		return false, err
	}
	if err := copyLog("TRUNCATE"); err != nil {
		return false, err
	}
	err = conn.QueryRowContext(ctx, fmt.Sprintf(`PRAGMA busy_timeout = %d`, s.Tune.Busy.Milliseconds())).Scan(&waits)
	return busy == 0, err
}

// sqliteFile is a data source name of SQLite; it connects to the file.
type sqliteFile string

// Connect opens one connection.
func (f sqliteFile) Connect(context.Context) (driver.Conn, error) { return f.Driver().Open(string(f)) }

// Driver returns the driver without additional functions.
func (f sqliteFile) Driver() driver.Driver { return &sqlite.Driver{} }

// ConnectSQLite returns a pool of at most conns connections to a file.
func ConnectSQLite(tune Tuning, dsn string, conns int) *sqlx.DB {
	db := openDB(sqliteFile(dsn), tune)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	db.SetConnMaxLifetime(0)
	// sqlx knows the placeholders of "sqlite3", but not those of our driver's name.
	return mapped(db, "sqlite3")
}

func mapped(db *sql.DB, placeholders string) *sqlx.DB {
	out := sqlx.NewDb(db, placeholders)
	out.Mapper = byColumn
	return out
}

func openDB(c driver.Connector, tune Tuning) *sql.DB {
	if tune.Through != nil {
		c = tune.Through(c)
	}
	return sql.OpenDB(c)
}
