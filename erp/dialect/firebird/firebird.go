package firebird

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	_ "github.com/nakagami/firebirdsql" // the driver "firebirdsql"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/erp/sqltext"
	"github.com/safrasync/safrasync/internal/phrase"
)

// engine is the dialect of Firebird 3 and later.
type engine struct {
	opt       dialect.SourceOptions
	cs        dialect.Charset
	server    dialect.Server
	db        *sqlx.DB
	connector *firebirdConnector
	// bytesMode: texts arrive as the stored bytes, and are decoded here.
	bytesMode bool
	// old: the database is of SQL dialect 1, which has neither BIGINT nor a DATE without a time.
	old bool
}

var _ dialect.Dialect = (*engine)(nil)

const example = "firebird://USER:PASSWORD@HOST:3050/ALIAS, or the server's path of the file in place of ALIAS, as in /dados/erp.fdb or C:/Dados/ERP.FDB"

func open(opt dialect.SourceOptions, cs dialect.Charset) (dialect.Database, *fault.Error) {
	a, bad := dialect.ParseAddress(opt.DSN, []string{"firebird"}, "3050", example, "role", "wire_crypt",
		"auth_plugin_name")
	if bad != nil {
		return dialect.Database{}, bad
	}
	if a.Path == "" {
		return dialect.Database{}, fault.Failf(fault.CodeConfig, "erp.dsn names no database; write %s", example)
	}
	for setting, allowed := range map[string][]string{
		"wire_crypt":       {"disabled", "enabled", "required"},
		"auth_plugin_name": {"Srp256", "Srp", "Legacy_Auth"},
	} {
		if v, ok := a.Settings[setting]; ok && !slices.Contains(allowed, v) {
			return dialect.Database{}, fault.Failf(fault.CodeConfig, "%s in erp.dsn must be one of %s", setting,
				strings.Join(allowed, ", "))
		}
	}
	f := &engine{opt: opt, cs: cs, connector: &firebirdConnector{}, server: dialect.Server{
		Target: a.Target(), Product: "Firebird", Settings: "wire_crypt", Timeout: opt.StatementTimeout,
	}}
	for i, charset := range []string{"NONE", "UTF8"} {
		q := url.Values{"charset": {charset}, "timezone": {dialect.ZoneName(opt.TimeZone)}}
		// If the server does not react to a cancel, the connection is cut.
		q.Set("cancel_hard_drop", "true")
		for k, v := range a.Settings {
			q.Set(k, v)
		}
		u := url.URL{
			Scheme: "firebird", User: url.UserPassword(a.User, a.Password), Host: a.HostPort(), Path: "/" + a.Path,
			RawQuery: q.Encode(),
		}
		c, err := firebirdDriver.OpenConnector(u.String())
		if err != nil {
			return dialect.Database{}, fault.Failf(fault.CodeConfig, "erp.dsn cannot be used as a Firebird address; write %s",
				example)
		}
		f.connector.each[i] = c
	}
	f.db = dialect.Pool(dialect.Bounded{Connector: f.connector}, "firebirdsql")
	return dialect.Database{DB: f.db, Target: a.Target(), Probe: f.probe, Dialect: f}, nil
}

// firebirdDriver is the driver as it registered itself; its type is not exported.
var firebirdDriver = func() driver.DriverContext {
	db, err := sql.Open("firebirdsql", "")
	if err != nil {
		panic("erp: the Firebird driver is not registered")
	}
	d, ok := db.Driver().(driver.DriverContext)
	if err := db.Close(); err != nil || !ok {
		panic("erp: the Firebird driver has no connectors")
	}
	return d
}()

// firebirdConnector connects with the charset NONE, until it is known that the database has a
// charset of its own.
type firebirdConnector struct {
	each      [2]driver.Connector
	converted atomic.Bool
}

// Connect implements driver.Connector.
func (c *firebirdConnector) Connect(ctx context.Context) (driver.Conn, error) {
	if c.converted.Load() {
		return c.each[1].Connect(ctx)
	}
	return c.each[0].Connect(ctx)
}

// Driver implements driver.Connector.
func (c *firebirdConnector) Driver() driver.Driver { return c.each[0].Driver() }

// probe determines the charset. A database with NONE never converts: it stores what programs sent.
// If erp.charset is set, nothing is converted either.
func (f *engine) probe(ctx context.Context) error {
	facts, err := f.Facts(ctx, f.db)
	if err != nil {
		return err
	}
	var sqlDialect int
	if err := f.db.GetContext(ctx, &sqlDialect, "SELECT MON$SQL_DIALECT FROM MON$DATABASE"); err != nil {
		return err
	}
	f.old = sqlDialect == 1
	f.bytesMode = dialect.UnknownCharset(facts.Charset) || f.cs.Table != nil
	if !f.bytesMode {
		f.connector.converted.Store(true)
		f.db.SetMaxIdleConns(0) // the connection of this probe has the other charset
		f.db.SetMaxIdleConns(dialect.MaxIdle)
	}
	return nil
}

func (f *engine) Facts(ctx context.Context, db *sqlx.DB) (facts dialect.Facts, err error) {
	err = db.QueryRowxContext(ctx, `SELECT RDB$GET_CONTEXT('SYSTEM', 'ENGINE_VERSION'), TRIM(RDB$CHARACTER_SET_NAME)
FROM RDB$DATABASE`).Scan(&facts.Version, &facts.Charset)
	facts.Charset = strings.TrimSpace(facts.Charset)
	return facts, err // an ordinary user sees only its own transactions
}

// Begin opens a snapshot. The driver has read-only transactions only without a snapshot, but rows
// and bound must be from the same moment. So the transaction could write, in a procedure that a
// query calls. It is always rolled back, and unchanged reports what it did. Sequences are the
// exception, which Firebird does not roll back: the words that advance one are refused, and the
// reading user has no right to.
func (f *engine) Begin(ctx context.Context, c *sqlx.Conn) (dialect.Tx, error) {
	tx, err := c.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		return nil, err
	}
	return (&dialect.StreamTx{
		Tx: tx, Limit: f.opt.StatementTimeout, TypeOf: firebirdType, Verify: unchanged,
		IsRowError: rowError,
	}).Opened(), nil
}

const changes = `SELECT SUM(s.MON$RECORD_INSERTS + s.MON$RECORD_UPDATES + s.MON$RECORD_DELETES)
FROM MON$TRANSACTIONS t JOIN MON$RECORD_STATS s ON s.MON$STAT_ID = t.MON$STAT_ID AND s.MON$STAT_GROUP = 2
WHERE t.MON$TRANSACTION_ID = CURRENT_TRANSACTION`

func unchanged(ctx context.Context, tx *sqlx.Tx) error {
	var n sql.NullInt64
	if err := tx.GetContext(ctx, &n, changes); err != nil {
		return err
	}
	if n.Int64 > 0 {
		return fault.Failf(fault.CodeReadOnly,
			"the query writes (%d records), and the ERP is only read; it was undone. Remove the procedure that writes from the query", n.Int64)
	}
	return nil
}

// Clock reads the server's clock. Firebird 3 has no time zones, so the time is interpreted as local
// time or as UTC, whichever is nearer to this host's clock.
func (f *engine) Clock(ctx context.Context, c *sqlx.Conn) (dialect.Clock, error) {
	read, err := dialect.ReadClock(ctx, c, "SELECT CAST(CAST('NOW' AS TIMESTAMP) AS VARCHAR(24)) FROM RDB$DATABASE",
		f.opt.TimeZone)
	if err != nil {
		return dialect.Clock{}, err
	}
	here := time.Now()
	_, offset := here.In(f.opt.TimeZone).Zone()
	now, local := read.Now, read.Now.Add(-time.Duration(offset)*time.Second)
	if local.Sub(here).Abs() < now.Sub(here).Abs() {
		now = local
	}
	return dialect.Clock{Now: now, Limits: dialect.NaiveLimits(now, time.Time{}, f.opt.TimeZone)}, nil
}

// Window always includes rows without a value, and those with a date that programs write for none.
func (f *engine) Window(b *dialect.Binder, col dialect.Column, w dialect.Window) (string, *fault.Error) {
	low, bad := dialect.WindowStart(w, col.Type == "date", dialect.NoDateBefore)
	if bad != nil {
		return "", bad
	}
	name := Syntax.Column(col.Name)
	var from string
	switch col.Type {
	case "date":
		from = "CAST(" + b.Add(low.Format("2006-01-02")) + " AS DATE)"
	case "timestamp":
		from = "CAST(" + b.Add(low.Format(firebirdTime)) + " AS TIMESTAMP)"
	default:
		from = "CAST(" + b.Add(low.Format(firebirdTime+" +00:00")) + " AS TIMESTAMP WITH TIME ZONE)"
	}
	return fmt.Sprintf("(%s >= %s OR %s IS NULL OR %s < CAST('%s' AS TIMESTAMP))", name, from, name, name,
		dialect.NoDateBefore), nil
}

// firebirdTime has ten-thousandths of a second, as Firebird does.
const firebirdTime = "2006-01-02 15:04:05.0000"

func (f *engine) Keys(b *dialect.Binder, cols []dialect.Column, keys [][]dialect.Value) (string, *fault.Error) {
	return dialect.KeyCondition(b, cols, keys, f.term)
}

func (f *engine) term(b *dialect.Binder, col dialect.Column, v dialect.Value) string {
	name := Syntax.Column(col.Name)
	switch v.Kind {
	case dialect.Int, dialect.Number:
		return name + " = " + f.number(b, v.Text)
	case dialect.Float:
		x, ok := dialect.FloatBack(v.Text, dialect.FloatBits(col, "float"))
		if !ok {
			return ""
		}
		return name + " = " + b.Add(x)
	case dialect.Date:
		return name + " = CAST(" + b.Add(v.Text) + " AS DATE)"
	case dialect.Timestamp:
		return name + " = CAST(" + b.Add(strings.Replace(v.Text, "T", " ", 1)) + " AS TIMESTAMP)"
	case dialect.Instant:
		at, ok := dialect.ParseMoment(v.Text)
		if !ok {
			return ""
		}
		return name + " = CAST(" + b.Add(at.At.Format(firebirdTime+" +00:00")) + " AS TIMESTAMP WITH TIME ZONE)"
	case dialect.Bool:
		return name + " = CAST(" + b.Add(v.Text) + " AS BOOLEAN)"
	default:
		text, ok := f.encoded(v.Text)
		if !ok {
			return ""
		}
		return name + " = " + b.Add(text)
	}
}

// encoded returns a text in the form that this connection needs.
func (f *engine) encoded(text string) (string, bool) {
	if !f.bytesMode {
		return text, true
	}
	raw, ok := f.cs.Encode(text)
	return string(raw), ok
}

// number binds a decimal with its own scale: NUMERIC has 18 digits, and BIGINT at least as many. In
// dialect 1 both have nine; longer numbers are floats there.
func (f *engine) number(b *dialect.Binder, text string) string {
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	digits := len(whole) + len(fraction)
	switch {
	case f.old && digits > 9, fraction != "" && digits > 18:
		return "CAST(" + b.Add(text) + " AS DOUBLE PRECISION)"
	case f.old:
		return fmt.Sprintf("CAST(%s AS NUMERIC(9,%d))", b.Add(text), len(fraction))
	case fraction == "":
		return "CAST(" + b.Add(text) + " AS BIGINT)"
	}
	return fmt.Sprintf("CAST(%s AS NUMERIC(18,%d))", b.Add(text), len(fraction))
}

func numeric(typ string) bool {
	return slices.Contains([]string{
		"short", "long", "int64", "int128", "numeric", "float", "double", "decfloat(16)", "decfloat(34)",
	}, typ)
}

func (f *engine) LoosePart(b *dialect.Binder, col dialect.Column, text string, fast bool) string {
	name := Syntax.Column(col.Name)
	raw, ok := f.encoded(text)
	switch {
	case !ok, numeric(col.Type) && !dialect.PlainNumber(text):
		return "1 = 0"
	case numeric(col.Type):
		return name + " = " + f.number(b, text)
	case fast, col.Type != "text" && col.Type != "varying":
		return name + " = " + b.Add(raw)
	default:
		return "TRIM(" + name + ") = " + b.Add(raw)
	}
}

// Engine is Firebird 3 and later.
var Engine = &dialect.Engine{
	Name: "firebird", Syntax: Syntax,
	PlainName: regexp.MustCompile(`^[A-Z][A-Z0-9_$]*$`),
	ChangedAt: dialect.ChangedAt{
		Types:  []string{"timestamp", "date", "timestamp with timezone"},
		Advice: "turn it into a TIMESTAMP in the query, e.g. CAST(%s AS TIMESTAMP)",
	},
	Catalogue: catalogue,
	Literals: dialect.Literals{
		Dual: " FROM RDB$DATABASE",
		Values: map[string]dialect.Literal{
			"instant": {}, // only in Firebird 4 and later
		},
		Session: dialect.Literal{SQL: "RDB$GET_CONTEXT('SYSTEM', 'ISOLATION_LEVEL')", Want: "SNAPSHOT"},
	},
	Open: open,
	Unencrypted: func(dsn dialect.Secret) bool {
		return dialect.RemoteURL(dsn, func(q url.Values) bool { return q.Get("wire_crypt") == "disabled" })
	},
}

// Syntax is the SQL of Firebird.
var Syntax = &sqltext.Syntax{
	Name: "Firebird", Lexis: sqltext.Lexis{Params: "?:", OracleStrings: true},
	Forbidden: [][]string{{"FOR", "UPDATE"}, {"WITH", "LOCK"}, {"GEN_ID"}, {"NEXT", "VALUE"}, {"RDB$SET_CONTEXT"}},
	Opaque:    []string{"FIRST", "SKIP", "ROWS", "PLAN"},
	Quotes:    [2]string{`"`, `"`}, Alias: " AS q", Placeholder: sqltext.QuestionMark, NoRows: " WHERE 1 = 0",
	First: sqltext.FirstRow{Suffix: " ROWS 1"},
}

var catalogue = dialect.Catalogue{
	Relations: `SELECT '' AS schema_name, TRIM(r.RDB$RELATION_NAME) AS table_name, CASE WHEN r.RDB$VIEW_BLR IS NULL THEN 0 ELSE 1 END AS is_view,
  CAST(NULL AS INTEGER) AS row_estimate
FROM RDB$RELATIONS r WHERE COALESCE(r.RDB$SYSTEM_FLAG, 0) = 0`,
	Columns: `SELECT '' AS schema_name, TRIM(f.RDB$RELATION_NAME) AS table_name, TRIM(f.RDB$FIELD_NAME) AS column_name,
  CASE t.RDB$FIELD_TYPE WHEN 7 THEN 'smallint' WHEN 8 THEN 'integer' WHEN 10 THEN 'float' WHEN 12 THEN 'date'
    WHEN 13 THEN 'time' WHEN 14 THEN 'char'
    WHEN 16 THEN 'bigint' WHEN 23 THEN 'boolean' WHEN 27 THEN 'double precision' WHEN 35 THEN 'timestamp'
    WHEN 37 THEN 'varchar' WHEN 261 THEN 'blob'
    ELSE 'other' END AS type_name,
  CASE WHEN COALESCE(f.RDB$NULL_FLAG, t.RDB$NULL_FLAG, 0) = 1 THEN 0 ELSE 1 END AS is_nullable,
    f.RDB$FIELD_POSITION AS ordinal
FROM RDB$RELATION_FIELDS f JOIN RDB$RELATIONS r ON r.RDB$RELATION_NAME = f.RDB$RELATION_NAME
    JOIN RDB$FIELDS t ON t.RDB$FIELD_NAME = f.RDB$FIELD_SOURCE
WHERE COALESCE(r.RDB$SYSTEM_FLAG, 0) = 0`,
	Indexes: `SELECT '' AS schema_name, TRIM(i.RDB$RELATION_NAME) AS table_name, TRIM(i.RDB$INDEX_NAME) AS index_name,
  CASE WHEN c.RDB$CONSTRAINT_TYPE = 'PRIMARY KEY' THEN 1 ELSE 0 END AS is_primary, COALESCE(i.RDB$UNIQUE_FLAG,
    0) AS is_unique,
  TRIM(s.RDB$FIELD_NAME) AS column_name, s.RDB$FIELD_POSITION AS ordinal
FROM RDB$INDICES i JOIN RDB$INDEX_SEGMENTS s ON s.RDB$INDEX_NAME = i.RDB$INDEX_NAME
  LEFT JOIN RDB$RELATION_CONSTRAINTS c ON c.RDB$INDEX_NAME = i.RDB$INDEX_NAME
WHERE COALESCE(i.RDB$SYSTEM_FLAG, 0) = 0 AND COALESCE(i.RDB$INDEX_INACTIVE, 0) = 0`,
}

// firebirdType returns the type of a column; an integer with a scale is "numeric".
func firebirdType(ct *sql.ColumnType) string {
	typ := strings.ToLower(ct.DatabaseTypeName())
	if _, scale, ok := ct.DecimalSize(); ok && scale != 0 && !strings.HasPrefix(typ, "dec") {
		return "numeric"
	}
	return typ
}

// Item selects numbers and times as the text that Firebird itself writes: the driver would put
// dates into a time zone and write small decimals in E notation.
func (f *engine) Item(col dialect.Column, use dialect.Use) dialect.Item {
	name := Syntax.Column(col.Name)
	if use == dialect.ForBound {
		if col.Type == "timestamp with timezone" {
			return dialect.Item{SQL: name, Convert: func(v any) dialect.Value {
				if at, ok := v.(time.Time); ok {
					return dialect.Value{Kind: dialect.Text, Text: at.UTC().Format(firebirdTime + "+00:00")}
				}
				return dialect.Value{}
			}}
		}
		return dialect.VerbatimItem("CAST("+name+" AS VARCHAR(24))", dialect.Text)
	}
	binary := dialect.BinaryItem(name, "CAST("+col.Name+" AS VARCHAR(100) CHARACTER SET WIN1252)")
	cast := func(size string) string { return "CAST(" + name + " AS VARCHAR(" + size + "))" }
	padded := func(s string) dialect.Value { return dialect.NumberValue(strings.TrimSpace(s)) }
	switch col.Type {
	case "short", "long", "int64", "int128":
		return dialect.VerbatimItem(name, dialect.Int)
	case "numeric":
		return dialect.TextItem(cast("50"), padded)
	case "decfloat(16)", "decfloat(34)":
		return dialect.TextItem("CAST(CAST("+name+" AS NUMERIC(38,10)) AS VARCHAR(60))", padded)
	case "float":
		return dialect.FloatItem(name, 32)
	case "double":
		return dialect.FloatItem(name, 64)
	case "date":
		return dialect.TextItem(cast("10"), dialect.DateText)
	case "timestamp":
		return dialect.TextItem(cast("24"), dialect.TimestampText)
	case "timestamp with timezone":
		return dialect.Item{SQL: name, Convert: func(v any) dialect.Value {
			if at, ok := v.(time.Time); ok {
				return dialect.Value{Kind: dialect.Instant, Text: dialect.InstantText(at, f.opt.TimeZone)}
			}
			return dialect.Value{Kind: dialect.Instant, Err: phrase.Pack("unreadable date")}
		}}
	case "time":
		return dialect.VerbatimItem(cast("13"), dialect.Text)
	case "boolean":
		return dialect.Item{SQL: name, Convert: dialect.BoolValue}
	case "text", "varying":
		return dialect.Item{SQL: name, Convert: f.text}
	case "blob":
		return dialect.Item{SQL: name, Convert: func(v any) dialect.Value {
			if _, ok := v.([]byte); ok {
				return binary.Convert(v)
			}
			return f.text(v)
		}}
	default:
		return binary
	}
}

// text decodes the driver's value of CHAR and VARCHAR: a string that the server has converted, or
// the stored bytes.
func (f *engine) text(v any) dialect.Value {
	cs := dialect.Charset{}
	if f.bytesMode {
		cs = f.cs
	}
	switch x := v.(type) {
	case string:
		return dialect.TextValue(x, cs)
	case []byte:
		if f.bytesMode {
			return dialect.TextValue(string(x), cs)
		}
		return dialect.Value{Kind: dialect.Bytes, Err: phrase.Pack("binary column (OCTETS); convert it in the query")}
	}
	return dialect.Value{Kind: dialect.Text, Err: phrase.Pack("a type the driver does not explain")}
}
