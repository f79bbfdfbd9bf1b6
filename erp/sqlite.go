package erp

import (
	"context"
	"errors"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	sqlitedrv "modernc.org/sqlite" // also registers the driver "sqlite"
)

// sqlite is the dialect of a SQLite file.
type sqlite struct {
	opt  Options
	cs   charset
	path string
}

var _ dialect = (*sqlite)(nil)

func openSQLite(opt Options, cs charset) (database, *Error) {
	path, immutable, err := sqlitePath(string(opt.DSN))
	if err != nil {
		return database{}, err
	}
	info, e := os.Stat(path)
	switch {
	case errors.Is(e, os.ErrNotExist):
		return database{}, failf(CodeNoDatabase,
			"the ERP file %s does not exist; check erp.dsn (a relative path counts from the working directory)", path)
	case e != nil:
		return database{}, failf(CodePermission, "the ERP file %s cannot be looked at; check the rights of its folders",
			path)
	case info.IsDir():
		return database{}, failf(CodeNotADatabase, "%s is a folder; erp.dsn must name the SQLite file in it", path)
	}
	// mode=ro: SQLite itself opens the file for reading and creates nothing.
	// _dqs=0: a misspelt "column" is an error and not a text.
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() +
		"?mode=ro&_dqs=0&_defensive=1&_query_only=1&_busy_timeout=" + strconv.FormatInt(lockTimeout.Milliseconds(), 10)
	if immutable {
		dsn += "&immutable=1"
	}
	db, e := sqlx.Open(DriverSQLite, dsn)
	if e != nil {
		return database{}, failf(CodeOther, "the SQLite driver cannot be started")
	}
	db.SetMaxOpenConns(4)
	s := &sqlite{opt: opt, cs: cs, path: path}
	probe := func(ctx context.Context) error {
		var tables int
		return db.GetContext(ctx, &tables, "SELECT count(*) FROM sqlite_master")
	}
	return database{db: db, target: path, probe: probe, dialect: s}, nil
}

// sqlitePath takes a path or a file: URI whose parameters may only restrict.
func sqlitePath(dsn string) (path string, immutable bool, err *Error) {
	rest, isURI := strings.CutPrefix(dsn, "file:")
	if !isURI && strings.Contains(dsn, "://") {
		// Not quoted: it is probably the address of another database, with its password.
		return "", false, failf(CodeConfig,
			"erp.dsn is the address of another kind of database; set erp.driver to match, or give the path of the SQLite file")
	}
	if isURI {
		var query string
		rest, query, _ = strings.Cut(rest, "?")
		rest = strings.TrimPrefix(rest, "//")
		unescaped, e := url.PathUnescape(rest)
		values, e2 := url.ParseQuery(query)
		if e != nil || e2 != nil {
			return "", false, failf(CodeConfig,
				"erp.dsn is no valid file: address; give the plain path of the SQLite file")
		}
		rest = unescaped
		for k, v := range values {
			switch {
			case k == "mode" && v[0] == "ro", k == "cache" && v[0] == "private":
			case k == "immutable":
				immutable = v[0] == "1"
			default:
				return "", false, failf(CodeConfig,
					"erp.dsn sets %q, which is not allowed: the ERP file is opened for reading only", k)
			}
		}
	}
	if rest == "" || strings.HasPrefix(rest, ":memory:") {
		return "", false, failf(CodeConfig, "erp.dsn must be the path of a SQLite file")
	}
	return rest, immutable, nil
}

func (s *sqlite) facts(ctx context.Context, db *sqlx.DB) (f Facts, err error) {
	if err := db.GetContext(ctx, &f.Charset, "PRAGMA encoding"); err != nil {
		return Facts{}, err
	}
	return f, db.GetContext(ctx, &f.Version, "SELECT sqlite_version()")
}

const isoGlob = `'[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'`

// window compares texts. That is right only among texts of one shape, so:
// a row that separates day and time otherwise than Since does is compared by
// its day alone; where a zone is written the bound is lowered by 26 hours, the
// most by which local times of one instant differ; and whatever is no ISO text
// at all, NULL and blank included, is always in.
func (s *sqlite) window(b *binder, col Column, w Window) (string, *Error) {
	m, ok := parseMoment(w.Since)
	if !ok {
		return "", failBound(w.Since)
	}
	lookback := max(w.Lookback, 0)
	if m.sep == "" {
		lookback = max(lookback, 48*time.Hour)
	}
	if m.zoned {
		lookback += 26 * time.Hour
	}
	low := m.like(m.at.Add(-lookback))
	name := sqliteSyntax.column(col.Name)
	return "(" + name + " >= " + b.add(low) +
		" OR (" + name + " >= " + b.add(low[:10]) + " AND substr(" + name + ", 11, 1) <> " + b.add(m.sep) + ")" +
		" OR typeof(" + name + ") <> 'text' OR " + name + " NOT GLOB " + isoGlob + ")", nil
}

// keys binds each part with the storage class it was read with: in SQLite the
// number 1 and the text '1' are different keys.
func (s *sqlite) keys(b *binder, cols []Column, keys [][]Value) (string, *Error) {
	return keyCondition(cols, keys, func(col Column, v Value) (string, *Error) {
		arg, bad := s.native(col, v)
		return sqliteSyntax.column(col.Name) + " = " + b.add(arg), bad
	})
}

func (s *sqlite) native(col Column, v Value) (any, *Error) {
	switch v.Kind {
	case Int:
		if n, err := strconv.ParseInt(v.Text, 10, 64); err == nil {
			return n, nil
		}
	case Float, Number:
		if f, ok := floatBack(v.Text, 64); ok {
			return f, nil
		}
	default:
		if raw, ok := s.cs.encode(v.Text); ok {
			return string(raw), nil
		}
	}
	return nil, notBindable(col)
}

func (s *sqlite) looseKey(b *binder, cols []Column, key []string, fast bool) string {
	parts := make([]string, len(cols))
	for i, c := range cols {
		if fast {
			parts[i] = sqliteSyntax.column(c.Name) + " = " + b.add(key[i])
			continue
		}
		parts[i] = "trim(CAST(" + sqliteSyntax.column(c.Name) + " AS TEXT), char(32,9,10,11,12,13)) = " + b.add(key[i])
	}
	return strings.Join(parts, " AND ")
}

// clock: SQLite's clock is this host's. There is no horizon: a writer that stamps a row and
// commits it much later is found by the lookback, or by the sweep.
func (s *sqlite) clock(ctx context.Context, c *sqlx.Conn) (clock, error) {
	return readClock(ctx, c, `SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')`, s.opt.TimeZone)
}

// Result codes of SQLite that are told apart.
const (
	sqliteError     = 1
	sqlitePerm      = 3
	sqliteBusy      = 5
	sqliteLocked    = 6
	sqliteReadOnly  = 8
	sqliteInterrupt = 9
	sqliteIOErr     = 10
	sqliteCorrupt   = 11
	sqliteCantOpen  = 14
	sqliteAuth      = 23
	sqliteNotADB    = 26
)

func (s *sqlite) problem(err error, _ string) *Error {
	var e *sqlitedrv.Error
	if !errors.As(err, &e) {
		return failf(CodeOther, "reading the ERP file %s failed in a way the driver does not explain", s.path)
	}
	switch e.Code() & 0xff {
	case sqliteBusy, sqliteLocked:
		return failf(CodeLocked, "the ERP file %s stayed locked by another program for %s; try again later", s.path,
			lockTimeout)
	case sqliteReadOnly:
		return triesToWrite()
	case sqliteInterrupt:
		return failf(CodeTimeout, "the query was interrupted; it may take %s (erp.statement_timeout)",
			s.opt.StatementTimeout)
	case sqliteNotADB:
		return failf(CodeNotADatabase, "the file %s is no SQLite database (or an encrypted one); check erp.dsn", s.path)
	case sqliteCorrupt:
		return failf(CodeNotADatabase, "the ERP file %s is damaged; restore it, or ask the ERP's supplier", s.path)
	case sqliteCantOpen, sqliteIOErr, sqlitePerm, sqliteAuth:
		return failf(CodePermission,
			"the ERP file %s cannot be read; check its rights and those of its folder (a database in WAL mode also needs its -shm file)", s.path)
	case sqliteError:
		return sqliteQueryProblem(e.Error())
	}
	return failf(CodeOther, "SQLite reports error %d on the ERP file", e.Code())
}

// sqliteQueryProblem sorts the messages of the SQL compiler, which name parts
// of the query only; messages while running may quote data and are dropped.
func sqliteQueryProblem(msg string) *Error {
	msg = strings.TrimPrefix(msg, "SQL logic error: ")
	if i := strings.LastIndex(msg, " ("); i > 0 {
		msg = msg[:i]
	}
	switch {
	case strings.HasPrefix(msg, "no such column"):
		return missingColumn(msg)
	case strings.HasPrefix(msg, "no such table"):
		return missingTable(msg, "check the spelling and the file")
	case strings.HasPrefix(msg, "ambiguous column"):
		return ambiguousColumn(msg)
	case strings.HasPrefix(msg, "near "), strings.HasPrefix(msg, "incomplete input"),
		strings.HasPrefix(msg, "no such function"),
		strings.HasPrefix(msg, "unrecognized token"), strings.HasPrefix(msg, "wrong number of arguments"),
		strings.HasPrefix(msg, "misuse of"),
		strings.HasPrefix(msg, "SELECTs to the left"), strings.HasPrefix(msg, "sub-select returns"),
		strings.HasPrefix(msg, "row value misused"):
		return badSyntax(msg)
	}
	return failf(CodeData, "a value in the ERP makes an expression of the query fail, or the query is not valid")
}
