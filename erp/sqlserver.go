package erp

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"
)

// sqlserver is the dialect of Microsoft SQL Server. It has not yet been tried
// on a live server: its SQL is tested as text, its values on the driver's types.
type sqlserver struct {
	opt    Options
	db     *sqlx.DB
	server server
	// isolation is SNAPSHOT where the database allows it.
	isolation sql.IsolationLevel
}

var _ dialect = (*sqlserver)(nil)

func openSQLServer(opt Options, _ charset) (database, *Error) {
	const example = "sqlserver://USER:PASSWORD@HOST:1433/DATABASE?tls=verify (and instance=NAME for a named instance)"
	a, bad := parseAddress(opt.DSN, []string{"sqlserver"}, "", example, "tls", "ca", "instance")
	if bad != nil {
		return database{}, bad
	}
	if a.path == "" {
		return database{}, failf(CodeConfig, "erp.dsn names no database; write %s", example)
	}
	tlsConfig, bad := a.tlsConfig()
	if bad != nil {
		return database{}, bad
	}
	host := a.host
	if a.port != "" {
		host = a.hostPort()
	} else if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	q := url.Values{
		"database": {a.path}, "encrypt": {"disable"}, "ApplicationIntent": {"ReadOnly"},
		"app name": {applicationName}, "dial timeout": {"15"},
	}
	if tlsConfig != nil {
		q.Set("encrypt", "true")
	}
	u := url.URL{
		Scheme: "sqlserver", User: url.UserPassword(a.user, a.password), Host: host,
		Path: a.settings["instance"], RawQuery: q.Encode(),
	}
	cfg, err := msdsn.Parse(u.String())
	if err != nil {
		return database{}, failf(CodeConfig, "erp.dsn cannot be used as a SQL Server address; write %s", example)
	}
	cfg.TLSConfig = tlsConfig
	connector := mssql.NewConnectorConfig(cfg)
	connector.Dialer = newGuardDialer(opt.StatementTimeout)
	if a.port == "" {
		a.port = "1433"
	}
	s := &sqlserver{opt: opt, db: pool(boundedConnector{connector}, "sqlserver"), isolation: sql.LevelReadCommitted, server: server{
		target: a.target(), product: "SQL Server", settings: "tls and ca", timeout: opt.StatementTimeout,
	}}
	return database{db: s.db, target: a.target(), probe: s.probe, dialect: s}, nil
}

func (s *sqlserver) probe(ctx context.Context) error {
	var allowed bool
	err := s.db.GetContext(ctx, &allowed,
		"SELECT CAST(CASE WHEN snapshot_isolation_state = 1 THEN 1 ELSE 0 END AS BIT) FROM sys.databases WHERE database_id = DB_ID()")
	if err == nil && allowed {
		s.isolation = sql.LevelSnapshot
	}
	return err
}

func (s *sqlserver) facts(ctx context.Context, db *sqlx.DB) (f Facts, err error) {
	err = db.QueryRowxContext(ctx, "SELECT CAST(SERVERPROPERTY('ProductVersion') AS NVARCHAR(128)), "+
		"CAST(DATABASEPROPERTYEX(DB_NAME(), 'Collation') AS NVARCHAR(128))").Scan(&f.Version, &f.Charset)
	return f, err
}

// sqlserverSession: a lock is not waited for longer than elsewhere, the ERP is
// never the victim of a deadlock with us, and dates are read in ISO order.
const sqlserverSession = "SET LOCK_TIMEOUT %d; SET DEADLOCK_PRIORITY LOW; SET DATEFORMAT ymd; SET XACT_ABORT OFF"

func (s *sqlserver) clock(ctx context.Context, c *sqlx.Conn) (clock, error) {
	if _, err := c.ExecContext(ctx, fmt.Sprintf(sqlserverSession, lockTimeout.Milliseconds())); err != nil {
		return clock{}, err
	}
	return readClock(ctx, c, "SELECT CONVERT(VARCHAR(33), SYSUTCDATETIME(), 126)", s.opt.TimeZone)
}

// begin: SQL Server has no read-only transaction, but no SELECT can write there
// either; the words for what could (OPENQUERY, NEXT VALUE, INTO …) are refused.
func (s *sqlserver) begin(ctx context.Context, c *sqlx.Conn) (readTx, error) {
	tx, err := c.BeginTxx(ctx, &sql.TxOptions{Isolation: s.isolation})
	if err != nil {
		return nil, err
	}
	return (&streamTx{tx: tx, limit: s.opt.StatementTimeout}).opened(), nil
}

// sqlserverTime binds a time in the column's own type, so that an index serves.
func sqlserverTime(b *binder, col Column, at time.Time) string {
	layout := isoMicro
	switch col.Type {
	case "date":
		layout = "2006-01-02"
	case "datetime":
		layout = "2006-01-02T15:04:05.000"
	case "smalldatetime":
		layout = "2006-01-02T15:04:05"
	case "datetimeoffset":
		layout = isoMicro + " +00:00"
	}
	return "CAST(" + b.add(at.Format(layout)) + " AS " + strings.ToUpper(col.Type) + ")"
}

func (s *sqlserver) window(b *binder, col Column, w Window) (string, *Error) {
	low, bad := windowStart(w, col.Type == "date")
	if bad != nil {
		return "", bad
	}
	name := sqlserverSyntax.column(col.Name)
	return fmt.Sprintf("(%s >= %s OR %s IS NULL OR %s < '%s')", name, sqlserverTime(b, col, low), name, name,
		strings.ReplaceAll(noDateBefore, "-", "")), nil
}

func (s *sqlserver) keys(b *binder, cols []Column, keys [][]Value) (string, *Error) {
	return keyCondition(cols, keys, func(col Column, v Value) (string, *Error) { return s.term(b, col, v) })
}

func (s *sqlserver) term(b *binder, col Column, v Value) (string, *Error) {
	equals := sqlserverSyntax.column(col.Name) + " = "
	switch v.Kind {
	case Int, Number:
		return equals + sqlserverNumber(b, v.Text), nil
	case Float:
		f, ok := floatBack(v.Text, sqlserverBits(col))
		if !ok {
			return "", notBindable(col)
		}
		return equals + b.add(f), nil
	case Date, Timestamp, Instant:
		if typ := strings.ToUpper(col.Type); typ == "DATETIME2" || typ == "DATETIMEOFFSET" {
			return equals + "CAST(" + b.add(v.Text) + " AS " + typ + "(7))", nil
		}
		return equals + "CAST(" + b.add(v.Text) + " AS " + strings.ToUpper(col.Type) + ")", nil
	case Bool:
		return equals + "CAST(" + b.add(v.Text) + " AS BIT)", nil
	default:
		return equals + sqlserverText(b, col, v.Text), nil
	}
}

func sqlserverBits(col Column) int {
	if col.Type == "real" {
		return 32
	}
	return 64
}

// sqlserverNumber binds a decimal with its own scale, a whole number as one.
func sqlserverNumber(b *binder, text string) string {
	_, fraction, exact := strings.Cut(text, ".")
	if !exact && len(text) < 19 {
		return "CAST(" + b.add(text) + " AS BIGINT)"
	}
	return fmt.Sprintf("CAST(%s AS DECIMAL(38,%d))", b.add(text), len(fraction))
}

// sqlserverText: the driver sends NVARCHAR, and comparing VARCHAR with it would
// convert the whole column instead of the argument.
func sqlserverText(b *binder, col Column, text string) string {
	switch col.Type {
	case "varchar", "char":
		return "CAST(" + b.add(text) + " AS VARCHAR(8000))"
	case "uniqueidentifier":
		return "CAST(" + b.add(text) + " AS UNIQUEIDENTIFIER)"
	}
	return b.add(text)
}

func sqlserverNumeric(typ string) bool {
	switch typ {
	case "tinyint", "smallint", "int", "bigint", "decimal", "money", "smallmoney", "real", "float":
		return true
	}
	return false
}

func (s *sqlserver) looseKey(b *binder, cols []Column, key []string, fast bool) string {
	parts := make([]string, len(cols))
	for i, c := range cols {
		name := sqlserverSyntax.column(c.Name)
		switch {
		case sqlserverNumeric(c.Type) && !plainNumber(key[i]):
			parts[i] = "1 = 0"
		case sqlserverNumeric(c.Type):
			parts[i] = name + " = " + sqlserverNumber(b, key[i])
		case strings.Contains(c.Type, "char") && !fast:
			parts[i] = "LTRIM(RTRIM(REPLACE(REPLACE(REPLACE(" + name +
				", CHAR(9), ' '), CHAR(10), ' '), CHAR(13), ' '))) = " + b.add(key[i])
		case strings.HasPrefix(c.Type, "date"), c.Type == "smalldatetime":
			parts[i] = name + " = TRY_CAST(" + b.add(key[i]) + " AS " + strings.ToUpper(c.Type) + ")"
		default:
			parts[i] = name + " = " + sqlserverText(b, c, key[i])
		}
	}
	return strings.Join(parts, " AND ")
}

func (s *sqlserver) item(col Column, use use) selectItem {
	item := s.value(col)
	if use == forBound {
		item.convert = boundText(col.Type == "datetimeoffset")
	}
	return item
}

func (s *sqlserver) value(col Column) selectItem {
	name := sqlserverSyntax.column(col.Name)
	iso := func(expr string) string { return "CONVERT(VARCHAR(33), " + expr + ", 126)" }
	switch col.Type {
	case "tinyint", "smallint", "int", "bigint":
		return selectItem{sql: name, convert: keep(Int)}
	case "decimal":
		return selectItem{sql: name, convert: asText(numberValue)}
	case "money", "smallmoney":
		return selectItem{sql: "CONVERT(VARCHAR(30), " + name + ", 2)", convert: asText(numberValue)}
	case "real":
		return selectItem{sql: name, convert: func(v any) Value { return anyFloat(v, 32) }}
	case "float":
		return selectItem{sql: name, convert: func(v any) Value { return anyFloat(v, 64) }}
	case "bit":
		return selectItem{sql: name, convert: boolValue}
	case "date":
		return selectItem{sql: iso(name), convert: asText(dateText)}
	case "datetime", "datetime2", "smalldatetime":
		return selectItem{sql: iso(name), convert: asText(timestampText)}
	case "datetimeoffset":
		return selectItem{
			sql:     iso("CAST(SWITCHOFFSET(" + name + ", '+00:00') AS DATETIME2(7))"),
			convert: asText(s.instant),
		}
	case "time":
		return selectItem{sql: "CAST(" + name + " AS VARCHAR(16))", convert: asText(plainTextValue)}
	case "uniqueidentifier":
		return selectItem{
			sql:     "CAST(" + name + " AS VARCHAR(36))",
			convert: asText(func(s string) Value { return Value{Kind: Text, Text: strings.ToLower(s)} }),
		}
	case "binary", "varbinary", "image", "geography", "geometry", "hierarchyid":
		return selectItem{
			sql: "CASE WHEN " + name + " IS NULL THEN NULL ELSE '' END",
			convert: binaryColumn("CAST(" + col.Name +
				" AS VARCHAR(100))"),
		}
	case "sql_variant", "xml":
		return selectItem{sql: "CAST(" + name + " AS NVARCHAR(MAX))", convert: asText(plainTextValue)}
	default:
		return selectItem{sql: name, convert: asText(plainTextValue)}
	}
}

func (s *sqlserver) instant(text string) Value { return utcInstant(text, s.opt.TimeZone) }
