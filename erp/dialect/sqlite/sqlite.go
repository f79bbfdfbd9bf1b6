package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	sqlitedrv "modernc.org/sqlite" // also registers the driver "sqlite"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/erp/sqltext"
	"github.com/safrasync/safrasync/internal/phrase"
)

// engine is the dialect of a SQLite file.
type engine struct {
	opt  dialect.SourceOptions
	cs   dialect.Charset
	path string
}

var _ dialect.Dialect = (*engine)(nil)

func open(opt dialect.SourceOptions, cs dialect.Charset) (dialect.Database, *fault.Error) {
	path, immutable, err := sqlitePath(string(opt.DSN))
	if err != nil {
		return dialect.Database{}, err
	}
	info, e := os.Stat(path)
	switch {
	case errors.Is(e, os.ErrNotExist):
		return dialect.Database{}, fault.Failf(fault.CodeNoDatabase,
			"the ERP file %s does not exist; check erp.dsn (a relative path counts from the working directory)", path)
	case e != nil:
		return dialect.Database{}, fault.Failf(fault.CodePermission, "the ERP file %s cannot be accessed; check the permissions of its folders",
			path)
	case info.IsDir():
		return dialect.Database{}, fault.Failf(fault.CodeNotADatabase, "%s is a folder; erp.dsn must name the SQLite file in it", path)
	}
	// mode=ro: SQLite itself opens the file read-only and creates nothing. _dqs=0: a misspelt
	// "column" is an error and not a string.
	uri := filepath.ToSlash(path) // with slashes, and a drive of Windows after one
	if filepath.VolumeName(path) != "" {
		uri = "/" + uri
	}
	dsn := "file:" + (&url.URL{Path: uri}).EscapedPath() +
		"?mode=ro&_dqs=0&_defensive=1&_query_only=1&_busy_timeout=" + strconv.FormatInt(dialect.LockTimeout.Milliseconds(), 10)
	if immutable {
		dsn += "&immutable=1"
	}
	db, e := sqlx.Open("sqlite", dsn)
	if e != nil {
		return dialect.Database{}, fault.Failf(fault.CodeOther, "the SQLite driver cannot be started")
	}
	db.SetMaxOpenConns(4)
	// A connection belongs to the file that it has opened, and keeps pages of it: the file may be
	// replaced or overwritten between two readings.
	db.SetMaxIdleConns(-1)
	s := &engine{opt: opt, cs: cs, path: path}
	probe := func(ctx context.Context) error {
		var tables int
		return db.GetContext(ctx, &tables, "SELECT count(*) FROM sqlite_master")
	}
	return dialect.Database{DB: db, Target: path, Probe: probe, Dialect: s}, nil
}

// sqlitePath accepts a path, or a file: URI whose parameters may only restrict access.
func sqlitePath(dsn string) (path string, immutable bool, err *fault.Error) {
	rest, isURI := strings.CutPrefix(dsn, "file:")
	if !isURI && strings.Contains(dsn, "://") {
		// It is not quoted, because it is probably the address of another database, with its
		// password.
		return "", false, fault.Failf(fault.CodeConfig,
			"erp.dsn is the address of another kind of database; set erp.driver to match, or give the path of the SQLite file")
	}
	if isURI {
		var query string
		rest, query, _ = strings.Cut(rest, "?")
		rest = strings.TrimPrefix(rest, "//")
		unescaped, e := url.PathUnescape(rest)
		values, e2 := url.ParseQuery(query)
		if e != nil || e2 != nil {
			return "", false, fault.Failf(fault.CodeConfig,
				"erp.dsn is no valid file: address; give the plain path of the SQLite file")
		}
		rest = unescaped
		for k, v := range values {
			switch {
			case k == "mode" && v[0] == "ro", k == "cache" && v[0] == "private":
			case k == "immutable":
				immutable = v[0] == "1"
			default:
				return "", false, fault.Failf(fault.CodeConfig,
					"erp.dsn sets %q, which is not allowed: the ERP file is opened for reading only", k)
			}
		}
	}
	if rest == "" || strings.HasPrefix(rest, ":memory:") {
		return "", false, fault.Failf(fault.CodeConfig, "erp.dsn must be the path of a SQLite file")
	}
	return rest, immutable, nil
}

func (s *engine) Facts(ctx context.Context, db *sqlx.DB) (f dialect.Facts, err error) {
	if err := db.GetContext(ctx, &f.Charset, "PRAGMA encoding"); err != nil {
		return dialect.Facts{}, err
	}
	return f, db.GetContext(ctx, &f.Version, "SELECT sqlite_version()")
}

const isoGlob = `'[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'`

// Window compares texts, which is right only among texts of one format. Therefore: a row with
// another separator between day and time than Since is compared only by its day; if times have a
// zone, the bound is lowered by 26 hours, the maximum difference between local times of one
// instant; and a value that is not ISO text, including NULL and blank, is always included.
func (s *engine) Window(b *dialect.Binder, col dialect.Column, w dialect.Window) (string, *fault.Error) {
	m, ok := dialect.ParseMoment(w.Since)
	if !ok {
		return "", dialect.FailBound(w.Since)
	}
	lookback := max(w.Lookback, 0)
	if m.Sep == "" {
		lookback = max(lookback, 48*time.Hour)
	}
	if m.Zoned {
		lookback += 26 * time.Hour
	}
	low := m.Like(m.At.Add(-lookback))
	name := Syntax.Column(col.Name)
	return "(" + name + " >= " + b.Add(low) +
		" OR (" + name + " >= " + b.Add(low[:10]) + " AND substr(" + name + ", 11, 1) <> " + b.Add(m.Sep) + ")" +
		" OR typeof(" + name + ") <> 'text' OR " + name + " NOT GLOB " + isoGlob + ")", nil
}

// Keys binds each part with the storage class with which it was read: in SQLite the number 1 and
// the text '1' are different keys.
func (s *engine) Keys(b *dialect.Binder, cols []dialect.Column, keys [][]dialect.Value) (string, *fault.Error) {
	return dialect.KeyCondition(b, cols, keys, s.term)
}

func (s *engine) term(b *dialect.Binder, col dialect.Column, v dialect.Value) string {
	equals := Syntax.Column(col.Name) + " = "
	switch v.Kind {
	case dialect.Int:
		if n, err := strconv.ParseInt(v.Text, 10, 64); err == nil {
			return equals + b.Add(n)
		}
	case dialect.Float, dialect.Number:
		if f, ok := dialect.FloatBack(v.Text, 64); ok {
			return equals + b.Add(f)
		}
	default:
		if raw, ok := s.cs.Encode(v.Text); ok {
			return equals + b.Add(string(raw))
		}
	}
	return ""
}

func (s *engine) LoosePart(b *dialect.Binder, col dialect.Column, text string, fast bool) string {
	if fast {
		return Syntax.Column(col.Name) + " = " + b.Add(text)
	}
	return "trim(CAST(" + Syntax.Column(col.Name) + " AS TEXT), char(32,9,10,11,12,13)) = " + b.Add(text)
}

// Clock reads this host's clock, which SQLite uses. There is no horizon: a row that is stamped and
// committed much later is found by the lookback, or by the sweep.
func (s *engine) Clock(ctx context.Context, c *sqlx.Conn) (dialect.Clock, error) {
	return dialect.ReadClock(ctx, c, `SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')`, s.opt.TimeZone)
}

// Result codes of SQLite that are distinguished.
const (
	sqliteError = 1
	perm        = 3
	busy        = 5
	locked      = 6
	readOnly    = 8
	interrupt   = 9
	sqliteIOErr = 10
	corrupt     = 11
	cantOpen    = 14
	auth        = 23
	notADB      = 26
)

func (s *engine) Problem(err error, _ string) *fault.Error {
	var e *sqlitedrv.Error
	if !errors.As(err, &e) {
		return fault.Failf(fault.CodeOther, "reading the ERP file %s failed in a way the driver does not explain", s.path)
	}
	base := e.Code() & 0xff
	if (base == readOnly && e.Code() != readOnly || base == cantOpen) && s.needsToWrite() {
		return fault.Failf(fault.CodePermission, "the ERP file %s is in WAL mode, and to read it SQLite must write its -wal and -shm files"+
			" beside it: allow the user of safrasync to write in that folder (for the service also ReadWritePaths), or, for a file that"+
			" no program changes while it is read, write erp.dsn as file:%s?immutable=1", s.path, s.path)
	}
	switch base {
	case busy, locked:
		return fault.Failf(fault.CodeLocked, "the ERP file %s stayed locked by another program for %s; try again later", s.path,
			dialect.LockTimeout)
	case readOnly:
		if e.Code() != readOnly { // the file, not the query
			return fault.Failf(fault.CodePermission, "the ERP file %s needs a repair that only a program may do that writes to it"+
				" (the last one ended in the middle of a change); open it once in the ERP", s.path)
		}
		return dialect.TriesToWrite()
	case interrupt:
		return fault.Failf(fault.CodeTimeout, "the query was interrupted; it may take %s (erp.statement_timeout)",
			s.opt.StatementTimeout)
	case notADB:
		return fault.Failf(fault.CodeNotADatabase, "the file %s is not a SQLite database (or is encrypted); check erp.dsn", s.path)
	case corrupt:
		return fault.Failf(fault.CodeNotADatabase, "the ERP file %s is damaged; restore it, or ask the ERP's supplier", s.path)
	case cantOpen, sqliteIOErr, perm, auth:
		return fault.Failf(fault.CodePermission,
			"the ERP file %s cannot be read; check its rights and those of its folder (a database in WAL mode also needs its -shm file)", s.path)
	case sqliteError:
		// The messages of the SQL compiler contain only parts of the query. Those from running a query may
		// quote data and are dropped.
		msg := e.Error()
		msg = strings.TrimPrefix(msg, "SQL logic error: ")
		if i := strings.LastIndex(msg, " ("); i > 0 {
			msg = msg[:i]
		}
		switch {
		case strings.HasPrefix(msg, "no such column"):
			return dialect.MissingColumn(phrase.Fixed(msg))
		case strings.HasPrefix(msg, "no such table"):
			return dialect.MissingTable(phrase.Fixed(msg), "check the spelling and the file")
		case strings.HasPrefix(msg, "ambiguous column"):
			return dialect.AmbiguousColumn(phrase.Fixed(msg))
		case strings.HasPrefix(msg, "near "), strings.HasPrefix(msg, "incomplete input"),
			strings.HasPrefix(msg, "no such function"),
			strings.HasPrefix(msg, "unrecognized token"), strings.HasPrefix(msg, "wrong number of arguments"),
			strings.HasPrefix(msg, "misuse of"),
			strings.HasPrefix(msg, "SELECTs to the left"), strings.HasPrefix(msg, "sub-select returns"),
			strings.HasPrefix(msg, "row value misused"):
			return dialect.BadSyntax(phrase.Fixed(msg))
		}
		return fault.Failf(fault.CodeData, "a value in the ERP makes an expression of the query fail, or the query is not valid")
	}
	return fault.Failf(fault.CodeOther, "SQLite reports error %d on the ERP file", e.Code())
}

// needsToWrite reports whether the file is in WAL mode, in which even a reader writes a -shm file
// unless a program has the file open. Bytes 18 and 19 of the header say so.
func (s *engine) needsToWrite() bool {
	f, err := os.Open(s.path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	header := make([]byte, 20)
	_, err = io.ReadFull(f, header)
	return err == nil && (header[18] == 2 || header[19] == 2)
}

// Engine is a SQLite file.
var Engine = &dialect.Engine{
	Name: "sqlite", Syntax: Syntax,
	PlainName: regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`),
	ChangedAt: dialect.ChangedAt{AsText: true},
	Catalogue: catalogue,
	Literals: dialect.Literals{Values: map[string]dialect.Literal{
		// SQLite stores a NUMERIC as a float
		"decimal":   {SQL: "12345678901234.5678", Want: "12345678901234.568"},
		"negative":  {SQL: "-0.05", Want: "-0.05"},
		"float":     {SQL: "0.1", Want: "0.1"},
		"date":      {SQL: "'2018-11-04'", Want: "2018-11-04"},
		"timestamp": {SQL: "'2026-08-10 23:59:59'", Want: "2026-08-10 23:59:59"},
		"instant":   {}, // SQLite has no types for times
		"boolean":   {}, // TRUE is the number 1
	}},
	Open:        open,
	Unencrypted: func(dialect.Secret) bool { return false },
}

// Syntax is the SQL of SQLite.
var Syntax = &sqltext.Syntax{
	Name: "SQLite", Lexis: sqltext.Lexis{Backtick: true, Bracket: true, Params: "?:@"},
	Quotes: [2]string{`"`, `"`}, Alias: " AS q", Placeholder: sqltext.QuestionMark, NoRows: " LIMIT 0",
	First: sqltext.FirstRow{Suffix: " LIMIT 1"},
}

var catalogue = dialect.Catalogue{
	Relations: `SELECT '' AS schema_name, name AS table_name, CASE type WHEN 'view' THEN 1 ELSE 0 END AS is_view, NULL AS row_estimate
FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`,
	Columns: `SELECT '' AS schema_name, m.name AS table_name, p.name AS column_name, p.type AS type_name,
  CASE WHEN p."notnull" = 1 OR p.pk > 0 THEN 0 ELSE 1 END AS is_nullable, p.cid AS ordinal
FROM sqlite_master m JOIN pragma_table_info(m.name) p
WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\'`,
	Indexes: `SELECT '' AS schema_name, m.name AS table_name, 'primary key' AS index_name, 1 AS is_primary, 1 AS is_unique, p.name AS column_name, p.pk AS ordinal
FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' AND p.pk > 0
UNION ALL
SELECT '', m.name, l.name, 0, l."unique", x.name, x.seqno
FROM sqlite_master m JOIN pragma_index_list(m.name) l JOIN pragma_index_info(l.name) x
WHERE m.type = 'table' AND l.origin <> 'pk' AND l.partial = 0 AND x.name IS NOT NULL`,
	// An index returns the last rowid at once. A table WITHOUT ROWID has none, and no estimate.
	Estimate: "SELECT max(rowid) AS n FROM TABLE",
}

func (s *engine) Begin(ctx context.Context, c *sqlx.Conn) (dialect.Tx, error) {
	tx, err := c.BeginTxx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	if _, err := sqlitedrv.Limit(c.Conn, limitLength, longest); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return (&dialect.StreamTx{
		Tx: tx, Limit: s.opt.StatementTimeout, Whole: true, Names: originalNames,
		IsRowError: tooBig,
	}).Opened(), nil
}

// SQLite works in this process, whose memory a value that a query computes would take: beyond this
// length the statement fails, and its rows are read one by one.
const (
	limitLength = 0 // SQLITE_LIMIT_LENGTH
	longest     = 16 << 20
	errTooBig   = 18
)

func tooBig(err error) bool {
	var e *sqlitedrv.Error
	return errors.As(err, &e) && e.Code()&0xff == errTooBig
}

// renamed matches the names with which SQLite makes a second column of one name unique in a
// subquery.
var renamed = regexp.MustCompile(`^(.*):[0-9]+$`)

// originalNames restores the original name, so that checkColumns reports the double name.
func originalNames(cols []dialect.Column) []dialect.Column {
	seen := map[string]bool{}
	for i, c := range cols {
		if m := renamed.FindStringSubmatch(c.Name); m != nil && seen[strings.ToLower(m[1])] {
			cols[i].Name = m[1]
		}
		seen[strings.ToLower(c.Name)] = true
	}
	return cols
}

// Item selects +column. The plus does not change the value, but without a declared type the driver
// returns dates as the stored text instead of converting them to time.Time.
func (s *engine) Item(col dialect.Column, use dialect.Use) dialect.Item {
	name := "+" + Syntax.Column(col.Name)
	if use == dialect.ForBound {
		return dialect.Item{SQL: name, Convert: bound}
	}
	declared := col.Type
	if use == dialect.ForKey {
		declared = "" // a key is bound again as it was stored, so it is never converted
	}
	if use == dialect.ForMapping { // of a long one only the length is read
		plain := Syntax.Column(col.Name)
		name = "CASE WHEN octet_length(" + plain + ") >= " + dialect.LongestText +
			" THEN zeroblob(" + dialect.LongestText + ") ELSE " + plain + " END"
	}
	return dialect.Item{SQL: name, Convert: func(v any) dialect.Value {
		switch x := v.(type) {
		case nil:
			return dialect.Value{}
		case int64:
			return dialect.Value{Kind: dialect.Int, Text: strconv.FormatInt(x, 10)}
		case float64: //nolint:forbidigo // the driver's type of a stored float
			return dialect.FloatValue(x, 64)
		case bool:
			return dialect.Value{Kind: dialect.Bool, Text: strconv.FormatBool(x)}
		case []byte:
			return dialect.Value{Kind: dialect.Bytes, Err: phrase.Pack("binary value; convert it in the query, e.g. %s", "CAST(column AS TEXT)")}
		case string:
			text := dialect.TextValue(x, s.cs)
			if text.Err != "" {
				return text
			}
			switch declared {
			case "date", "datetime", "timestamp":
				// What is not ISO text stays plain text for the mapping's own date format. In a column
				// declared DATE a midnight is a date, in whatever zone the program has written it.
				m, ok := dialect.ParseMoment(text.Text)
				day, midnight := text.Midnight()
				switch {
				case !ok:
					return text
				case declared == "date" && midnight:
					return dialect.Value{Kind: dialect.Date, Text: day.Format(time.DateOnly)}
				case m.Sep == "":
					return dialect.Value{Kind: dialect.Date, Text: text.Text}
				case !m.Zoned:
					return dialect.Value{Kind: dialect.Timestamp, Text: text.Text}
				default:
					return dialect.Value{Kind: dialect.Instant, Text: dialect.InstantText(m.At, s.opt.TimeZone)}
				}
			}
			return text
		default:
			return dialect.Value{Kind: dialect.Text, Err: phrase.Pack("a type the driver does not explain")}
		}
	}}
}

func bound(v any) dialect.Value {
	switch x := v.(type) {
	case string:
		return dialect.Value{Kind: dialect.Text, Text: x}
	case int64, float64: //nolint:forbidigo // told apart, not used
		return dialect.Value{Kind: dialect.Number, Err: phrase.Pack("a number, and no time")}
	}
	return dialect.Value{}
}
