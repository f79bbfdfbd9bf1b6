package sqlserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jmoiron/sqlx"
	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/erp/sqltext"
)

// engine is the dialect of Microsoft SQL Server. It was tried against a live server of its protocol
// (Babelfish), not yet against Microsoft's own. Its tests check its SQL as text, its values on the
// driver's types, and its faults with the driver.
type engine struct {
	opt    dialect.SourceOptions
	db     *sqlx.DB
	server dialect.Server
	// plain: erp.dsn wants no TLS.
	plain bool
	// isolation is SNAPSHOT if the database allows it.
	isolation sql.IsolationLevel
	reading   dialect.Reading
}

var (
	_ dialect.Dialect       = (*engine)(nil)
	_ dialect.RightsChecker = (*engine)(nil)
)

func open(opt dialect.SourceOptions, _ dialect.Charset) (dialect.Database, *fault.Error) {
	const example = "sqlserver://USER:PASSWORD@HOST:1433/DATABASE?tls=verify (and instance=NAME for a named instance)"
	a, bad := dialect.ParseAddress(opt.DSN, []string{"sqlserver"}, "", example, "tls", "ca", "instance")
	if bad != nil {
		return dialect.Database{}, bad
	}
	if a.Path == "" {
		return dialect.Database{}, fault.Failf(fault.CodeConfig, "erp.dsn names no database; write %s", example)
	}
	tlsConfig, bad := a.TLSConfig()
	if bad != nil {
		return dialect.Database{}, bad
	}
	host := a.Host
	if a.Port != "" {
		host = a.HostPort()
	} else if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	q := url.Values{
		"database": {a.Path}, "encrypt": {"disable"},
		"app name": {dialect.ApplicationName}, "dial timeout": {"15"},
	}
	if tlsConfig != nil {
		q.Set("encrypt", "true")
	}
	u := url.URL{
		Scheme: "sqlserver", User: url.UserPassword(a.User, a.Password), Host: host,
		Path: a.Settings["instance"], RawQuery: q.Encode(),
	}
	cfg, err := msdsn.Parse(u.String())
	if err != nil {
		return dialect.Database{}, fault.Failf(fault.CodeConfig, "erp.dsn cannot be used as a SQL Server address; write %s", example)
	}
	cfg.TLSConfig = tlsConfig
	connector := mssql.NewConnectorConfig(cfg)
	connector.Dialer = dialect.NewGuardDialer(opt.StatementTimeout)
	s := &engine{
		opt: opt, db: dialect.Pool(dialect.Bounded{Connector: connector}, "sqlserver"), plain: tlsConfig == nil,
		isolation: sql.LevelReadCommitted, server: dialect.Server{
			Target: target(a), Product: "SQL Server", Settings: "tls and ca", Timeout: opt.StatementTimeout,
		},
	}
	return dialect.Database{DB: s.db, Target: s.server.Target, Probe: s.probe, Dialect: s}, nil
}

// target returns the database for display. Without a port, SQL Server Browser is asked for that of a
// named instance.
func target(a dialect.Address) string {
	if a.Port == "" {
		if instance := a.Settings["instance"]; instance != "" {
			return a.Host + `\` + instance + "/" + a.Path
		}
		a.Port = "1433"
	}
	return a.Target()
}

func (s *engine) probe(ctx context.Context) error {
	var snapshot, versions bool
	err := s.db.QueryRowxContext(ctx, "SELECT CAST(CASE WHEN snapshot_isolation_state = 1 THEN 1 ELSE 0 END AS BIT), "+
		"is_read_committed_snapshot_on FROM sys.databases WHERE database_id = DB_ID()").Scan(&snapshot, &versions)
	switch {
	case snapshot:
		s.isolation, s.reading = sql.LevelSnapshot, dialect.ReadsSnapshot
	case versions:
		s.reading = dialect.ReadsVersions
	default:
		s.reading = dialect.ReadsLocked
	}
	return err
}

func (s *engine) Facts(ctx context.Context, db *sqlx.DB) (f dialect.Facts, err error) {
	f.Reading = s.reading
	err = db.QueryRowxContext(ctx, "SELECT CAST(SERVERPROPERTY('ProductVersion') AS NVARCHAR(128)), "+
		"CAST(DATABASEPROPERTYEX(DB_NAME(), 'Collation') AS NVARCHAR(128))").Scan(&f.Version, &f.Charset)
	return f, err
}

// MayWrite looks at the tables only.
func (s *engine) MayWrite(ctx context.Context, db *sqlx.DB) (table string, err error) {
	const right = "HAS_PERMS_BY_NAME(QUOTENAME(s.name) + '.' + QUOTENAME(o.name), 'OBJECT', '"
	err = db.GetContext(ctx, &table, "SELECT TOP 1 s.name + '.' + o.name FROM sys.objects o "+
		"JOIN sys.schemas s ON s.schema_id = o.schema_id WHERE o.type = 'U' AND o.is_ms_shipped = 0 AND 1 IN ("+
		right+"INSERT'), "+right+"UPDATE'), "+right+"DELETE')) ORDER BY 1")
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return table, err
}

// session limits the wait for a lock, makes this session the victim of a deadlock with the ERP, and
// sets ISO order for dates.
const session = "SET LOCK_TIMEOUT %d; SET DEADLOCK_PRIORITY LOW; SET DATEFORMAT ymd; SET XACT_ABORT OFF"

func (s *engine) Clock(ctx context.Context, c *sqlx.Conn) (dialect.Clock, error) {
	if _, err := c.ExecContext(ctx, fmt.Sprintf(session, dialect.LockTimeout.Milliseconds())); err != nil {
		return dialect.Clock{}, err
	}
	return dialect.ReadClock(ctx, c, "SELECT CONVERT(VARCHAR(33), SYSUTCDATETIME(), 126)", s.opt.TimeZone)
}

// Begin opens an ordinary transaction, because SQL Server has no read-only one. A SELECT cannot
// write there; the words with which it could (OPENQUERY, NEXT VALUE, INTO …) are refused.
func (s *engine) Begin(ctx context.Context, c *sqlx.Conn) (dialect.Tx, error) {
	tx, err := c.BeginTxx(ctx, &sql.TxOptions{Isolation: s.isolation})
	if err != nil {
		return nil, err
	}
	return (&dialect.StreamTx{Tx: tx, Limit: s.opt.StatementTimeout}).Opened(), nil
}

// sqlserverTime binds a time in the column's own type, so that an index can serve.
func sqlserverTime(b *dialect.Binder, col dialect.Column, at time.Time) string {
	layout := dialect.ISOMicro
	switch col.Type {
	case "date":
		layout = "2006-01-02"
	case "datetime":
		layout = "2006-01-02T15:04:05.000"
	case "smalldatetime":
		layout = "2006-01-02T15:04:05"
	case "datetimeoffset":
		layout = dialect.ISOMicro + " +00:00"
	}
	return "CAST(" + b.Add(at.Format(layout)) + " AS " + strings.ToUpper(col.Type) + ")"
}

func (s *engine) Window(b *dialect.Binder, col dialect.Column, w dialect.Window) (string, *fault.Error) {
	low, bad := dialect.WindowStart(w, col.Type == "date", dialect.NoDateBefore)
	if bad != nil {
		return "", bad
	}
	name := Syntax.Column(col.Name)
	return fmt.Sprintf("(%s >= %s OR %s IS NULL OR %s < '%s')", name, sqlserverTime(b, col, low), name, name,
		strings.ReplaceAll(dialect.NoDateBefore, "-", "")), nil
}

func (s *engine) Keys(b *dialect.Binder, cols []dialect.Column, keys [][]dialect.Value) (string, *fault.Error) {
	return dialect.KeyCondition(b, cols, keys, s.term)
}

func (s *engine) term(b *dialect.Binder, col dialect.Column, v dialect.Value) string {
	equals := Syntax.Column(col.Name) + " = "
	switch v.Kind {
	case dialect.Int, dialect.Number:
		return equals + number(b, v.Text)
	case dialect.Float:
		f, ok := dialect.FloatBack(v.Text, dialect.FloatBits(col, "real"))
		if !ok {
			return ""
		}
		return equals + b.Add(f)
	case dialect.Instant:
		m, ok := dialect.ParseMoment(v.Text)
		if !ok {
			return ""
		}
		return equals + sqlserverTime(b, col, m.At)
	case dialect.Date, dialect.Timestamp:
		if col.Type == "datetime2" {
			return equals + "CAST(" + b.Add(v.Text) + " AS DATETIME2(7))"
		}
		return equals + "CAST(" + b.Add(v.Text) + " AS " + strings.ToUpper(col.Type) + ")"
	case dialect.Bool:
		return equals + "CAST(" + b.Add(v.Text) + " AS BIT)"
	default:
		return equals + sqlserverText(b, col, v.Text)
	}
}

// number binds a decimal with its own scale; a short integer is bound as BIGINT.
func number(b *dialect.Binder, text string) string {
	_, fraction, exact := strings.Cut(text, ".")
	if !exact && len(text) < 19 {
		return "CAST(" + b.Add(text) + " AS BIGINT)"
	}
	return fmt.Sprintf("CAST(%s AS DECIMAL(38,%d))", b.Add(text), len(fraction))
}

// sqlserverText casts a text to the column's type. The driver sends NVARCHAR, and comparing a
// VARCHAR column with it would convert the whole column instead of the argument. A cast to VARCHAR
// has the code page of the database, not of the column: what is not ASCII could be lost in it.
func sqlserverText(b *dialect.Binder, col dialect.Column, text string) string {
	switch {
	case col.Type == "uniqueidentifier":
		return "CAST(" + b.Add(text) + " AS UNIQUEIDENTIFIER)"
	case strings.Contains(col.Type, "char") && col.Type[0] != 'n' &&
		strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0:
		return "CAST(" + b.Add(text) + " AS VARCHAR(8000))"
	}
	return b.Add(text)
}

func numeric(typ string) bool {
	return slices.Contains([]string{
		"tinyint", "smallint", "int", "bigint", "decimal", "money", "smallmoney", "real", "float",
	}, typ)
}

func (s *engine) LoosePart(b *dialect.Binder, col dialect.Column, text string, fast bool) string {
	name := Syntax.Column(col.Name)
	switch {
	case numeric(col.Type) && !dialect.PlainNumber(text):
		return "1 = 0"
	case numeric(col.Type):
		return name + " = " + number(b, text)
	case strings.Contains(col.Type, "char") && !fast:
		return "LTRIM(RTRIM(REPLACE(REPLACE(REPLACE(" + name +
			", CHAR(9), ' '), CHAR(10), ' '), CHAR(13), ' '))) = " + b.Add(text)
	case col.Type == "datetimeoffset":
		m, ok := dialect.ParseMoment(text)
		if !ok {
			return "1 = 0"
		}
		return name + " = " + sqlserverTime(b, col, m.At)
	case strings.HasPrefix(col.Type, "date"), col.Type == "smalldatetime":
		return name + " = TRY_CAST(" + b.Add(text) + " AS " + strings.ToUpper(col.Type) + ")"
	default:
		return name + " = " + sqlserverText(b, col, text)
	}
}

func (s *engine) Item(col dialect.Column, use dialect.Use) dialect.Item {
	item := s.value(col)
	if use == dialect.ForBound {
		item.Convert = dialect.BoundText(col.Type == "datetimeoffset")
	}
	return item
}

func (s *engine) value(col dialect.Column) dialect.Item {
	name := Syntax.Column(col.Name)
	iso := func(expr string) string { return "CONVERT(VARCHAR(33), " + expr + ", 126)" }
	switch col.Type {
	case "tinyint", "smallint", "int", "bigint":
		return dialect.VerbatimItem(name, dialect.Int)
	case "decimal":
		return dialect.TextItem(name, dialect.NumberValue)
	case "money", "smallmoney":
		return dialect.TextItem("CONVERT(VARCHAR(30), "+name+", 2)", dialect.NumberValue)
	case "real":
		return dialect.FloatItem(name, 32)
	case "float":
		return dialect.FloatItem(name, 64)
	case "bit":
		return dialect.Item{SQL: name, Convert: dialect.BoolValue}
	case "date":
		return dialect.TextItem(iso(name), dialect.DateText)
	case "datetime", "datetime2", "smalldatetime":
		return dialect.TextItem(iso(name), dialect.TimestampText)
	case "datetimeoffset":
		return dialect.TextItem(iso("CAST(SWITCHOFFSET("+name+", '+00:00') AS DATETIME2(7))"),
			func(text string) dialect.Value { return dialect.UTCInstant(text, s.opt.TimeZone) })
	case "time":
		return dialect.TextItem("CAST("+name+" AS VARCHAR(16))", dialect.PlainTextValue)
	case "uniqueidentifier":
		return dialect.TextItem("CAST("+name+" AS VARCHAR(36))", func(s string) dialect.Value {
			return dialect.Value{Kind: dialect.Text, Text: strings.ToLower(s)}
		})
	case "binary", "varbinary", "image", "geography", "geometry", "hierarchyid":
		return dialect.BinaryItem(name, "CAST("+col.Name+" AS VARCHAR(100))")
	case "sql_variant", "xml":
		return dialect.TextItem("CAST("+name+" AS NVARCHAR(MAX))", dialect.PlainTextValue)
	default:
		return dialect.TextItem(name, dialect.PlainTextValue)
	}
}

// Engine is Microsoft SQL Server, tried against a server of its protocol (Babelfish).
var Engine = &dialect.Engine{
	Name: "sqlserver", Syntax: Syntax,
	PlainName: regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`),
	ChangedAt: dialect.ChangedAt{
		Types:  []string{"date", "datetime", "datetime2", "smalldatetime", "datetimeoffset"},
		Advice: "turn it into a DATETIME2 in the query, e.g. CAST(%s AS DATETIME2)",
	},
	Catalogue: catalogue,
	Literals: dialect.Literals{Values: map[string]dialect.Literal{
		"integer":   {SQL: "CAST(9007199254740993 AS BIGINT)", Want: "9007199254740993"},
		"float":     {SQL: "CAST(0.1 AS FLOAT)", Want: "0.1"},
		"accents":   {SQL: "N'Conceição do Araguaia'", Want: "Conceição do Araguaia"},
		"date":      {SQL: "CAST('2018-11-04' AS DATE)", Want: "2018-11-04"},
		"timestamp": {SQL: "CAST('2026-08-10T23:59:59' AS DATETIME2(0))", Want: "2026-08-10T23:59:59"},
		"instant":   {SQL: "CAST('2026-08-10T23:59:59-03:00' AS DATETIMEOFFSET(0))", Want: "2026-08-10T23:59:59-03:00"},
		"boolean":   {SQL: "CAST(1 AS BIT)", Want: "true"},
	}},
	Open: open,
	Unencrypted: func(dsn dialect.Secret) bool {
		return dialect.RemoteURL(dsn, func(q url.Values) bool { return q.Get("tls") == "disable" })
	},
}

// What is wrong with a hint. Microsoft's page "Hints (Transact-SQL) - Table" says what each does.
const (
	uncommitted = "it reads rows that are not yet committed and may never be, so a record could be sent for a row that is taken back; " +
		"remove it (with ALLOW_SNAPSHOT_ISOLATION nobody waits for anybody without it, either)"
	unlike  = "it takes the table out of the snapshot in which all rows are read; remove it"
	locking = "it keeps locks until the whole reading is over, and the ERP's users would wait for them; remove it"
)

// Syntax is the SQL of SQL Server.
var Syntax = &sqltext.Syntax{
	Name:  "SQL Server",
	Lexis: sqltext.Lexis{Bracket: true, BracketDoubled: true, NestedComments: true, Params: "@", WordMore: "#"},
	Forbidden: [][]string{
		{"INTO"},
		{"NEXT", "VALUE"},
		{"OPENROWSET"},
		{"OPENQUERY"},
		{"OPENDATASOURCE"},
		// Statements may follow each other without a semicolon.
		{"INSERT"},
		{"UPDATE"},
		{"DELETE"},
		{"MERGE"},
		{"EXEC"},
		{"EXECUTE"},
		{"DROP"},
		{"TRUNCATE"},
		{"ALTER"},
		{"CREATE"},
		{"GRANT"},
		{"DECLARE"},
		{"OPTION"},
	},
	Hints: map[string]string{
		"NOLOCK":            uncommitted,
		"READUNCOMMITTED":   uncommitted,
		"READPAST":          "it leaves out the rows that others hold, and a sweep would call them missing; remove it",
		"READCOMMITTED":     unlike,
		"READCOMMITTEDLOCK": unlike,
		"REPEATABLEREAD":    locking,
		"HOLDLOCK":          locking,
		"SERIALIZABLE":      locking,
		"UPDLOCK":           locking,
		"XLOCK":             locking,
		"TABLOCK":           locking,
		"TABLOCKX":          locking,
	},
	Opaque: []string{"APPLY", "TOP", "FOR", "PIVOT", "UNPIVOT"},
	Quotes: [2]string{"[", "]"}, Alias: " AS q", Placeholder: sqltext.Numbered("@p"), NoRows: " WHERE 1 = 0",
	First: sqltext.FirstRow{Prefix: "TOP 1 "}, FlatCTE: true,
}

var catalogue = dialect.Catalogue{
	Relations: `SELECT s.name AS schema_name, o.name AS table_name, CASE WHEN o.type = 'V' THEN 1 ELSE 0 END AS is_view,
  (SELECT SUM(p.rows) FROM sys.partitions p WHERE p.object_id = o.object_id AND p.index_id IN (0, 1)) AS row_estimate
FROM sys.objects o JOIN sys.schemas s ON s.schema_id = o.schema_id WHERE o.type IN ('U', 'V') AND o.is_ms_shipped = 0`,
	Columns: `SELECT s.name AS schema_name, o.name AS table_name, c.name AS column_name, t.name AS type_name,
  CASE WHEN c.is_nullable = 1 THEN 1 ELSE 0 END AS is_nullable, c.column_id AS ordinal
FROM sys.columns c JOIN sys.objects o ON o.object_id = c.object_id JOIN sys.schemas s ON s.schema_id = o.schema_id
  JOIN sys.types t ON t.user_type_id = c.user_type_id
WHERE o.type IN ('U', 'V') AND o.is_ms_shipped = 0`,
	Indexes: `SELECT s.name AS schema_name, o.name AS table_name, i.name AS index_name, CASE WHEN i.is_primary_key = 1 THEN 1 ELSE 0 END AS is_primary,
  CASE WHEN i.is_unique = 1 THEN 1 ELSE 0 END AS is_unique, c.name AS column_name, x.key_ordinal AS ordinal
FROM sys.indexes i JOIN sys.objects o ON o.object_id = i.object_id JOIN sys.schemas s ON s.schema_id = o.schema_id
  JOIN sys.index_columns x ON x.object_id = i.object_id AND x.index_id = i.index_id
  JOIN sys.columns c ON c.object_id = x.object_id AND c.column_id = x.column_id
WHERE o.type = 'U' AND o.is_ms_shipped = 0 AND i.has_filter = 0 AND i.is_hypothetical = 0 AND i.is_disabled = 0
  AND x.key_ordinal > 0`,
}
