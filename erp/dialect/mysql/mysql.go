package mysql

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	mysqldrv "github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/erp/sqltext"
)

// engine is the dialect of MySQL and MariaDB.
type engine struct {
	opt    dialect.SourceOptions
	server dialect.Server
	db     *sqlx.DB
	maria  bool
	// session is the statement that sets up a connection; it depends on the server.
	session string
	// sees: the role has PROCESS and sees the transactions of others.
	sees bool
}

var _ dialect.Dialect = (*engine)(nil)

func open(opt dialect.SourceOptions, _ dialect.Charset) (dialect.Database, *fault.Error) {
	a, bad := dialect.ParseAddress(opt.DSN, []string{"mysql", "mariadb"}, "3306",
		"mysql://USER:PASSWORD@HOST:3306/DATABASE?tls=verify", "tls", "ca")
	if bad != nil {
		return dialect.Database{}, bad
	}
	if a.Path == "" {
		return dialect.Database{}, fault.Failf(fault.CodeConfig,
			"erp.dsn names no database; add it after the host, as in mysql://USER:PASSWORD@%s/DATABASE", a.HostPort())
	}
	cfg := mysqldrv.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.Passwd, cfg.DBName = "tcp", a.HostPort(), a.User, a.Password, a.Path
	// Every text arrives as UTF-8, whatever the charset of its column.
	cfg.Collation = "utf8mb4_general_ci"
	cfg.Logger = &mysqldrv.NopLogger{}
	cfg.DialFunc = dialect.NewGuardDialer(opt.StatementTimeout).DialContext
	cfg.TLS, bad = a.TLSConfig()
	if bad != nil {
		return dialect.Database{}, bad
	}
	connector, err := mysqldrv.NewConnector(cfg)
	if err != nil {
		return dialect.Database{}, fault.Failf(fault.CodeConfig, "erp.dsn cannot be used as a MySQL address")
	}
	m := &engine{opt: opt, db: dialect.Pool(dialect.Bounded{Connector: connector}, "mysql"), server: dialect.Server{
		Target: a.Target(), Product: "MySQL or MariaDB", Settings: "tls and ca", Timeout: opt.StatementTimeout,
	}}
	return dialect.Database{DB: m.db, Target: a.Target(), Probe: m.probe, Dialect: m}, nil
}

// probe determines which of the two databases it is, whether it knows the time zone, and what the
// role can see.
func (m *engine) probe(ctx context.Context) error {
	f, err := m.Facts(ctx, m.db)
	if err != nil {
		return err
	}
	m.maria = f.Product != ""
	zone := dialect.ZoneName(m.opt.TimeZone)
	var known *string
	if err := m.db.GetContext(ctx, &known, "SELECT CAST(CONVERT_TZ('2026-01-01 00:00:00', 'UTC', ?) AS CHAR)",
		zone); err != nil {
		return err
	}
	if known == nil || zone == "" {
		// The server has no time zone tables; Brazil has had no summer time since 2019.
		zone = time.Now().In(m.opt.TimeZone).Format("-07:00")
	}
	// sql_mode is set so that a query means the same on every server. Zero dates are allowed as
	// values, and GROUP_CONCAT does not truncate silently.
	m.session = "SET SESSION sql_mode = '', time_zone = '" + zone + "', lock_wait_timeout = " + seconds(dialect.LockTimeout) +
		", innodb_lock_wait_timeout = " + seconds(dialect.LockTimeout) +
		", net_write_timeout = 600, group_concat_max_len = 1048576, " +
		m.statementLimit(m.opt.StatementTimeout)
	var n int
	err = m.db.GetContext(ctx, &n, "SELECT count(*) FROM information_schema.innodb_trx")
	m.sees = err == nil
	if _, answered := errors.AsType[*mysqldrv.MySQLError](err); !m.sees && !answered {
		return err
	}
	return nil
}

func seconds(d time.Duration) string { return fmt.Sprint(max(1, int(d.Seconds()))) }

// statementLimit returns the setting of the server's own time-out.
func (m *engine) statementLimit(d time.Duration) string {
	if m.maria {
		return fmt.Sprintf("max_statement_time = %.3f", d.Seconds())
	}
	return fmt.Sprintf("max_execution_time = %d", d.Milliseconds())
}

func (m *engine) Facts(ctx context.Context, db *sqlx.DB) (dialect.Facts, error) {
	f := dialect.Facts{SeesTransactions: m.sees}
	err := db.QueryRowxContext(ctx, "SELECT VERSION(), @@character_set_database").Scan(&f.Version, &f.Charset)
	if strings.Contains(f.Version, "MariaDB") {
		f.Product = "MariaDB"
	}
	return f, err
}

// Begin opens a consistent read: the first SELECT makes InnoDB's snapshot.
func (m *engine) Begin(ctx context.Context, c *sqlx.Conn) (dialect.Tx, error) {
	var id int64
	if err := c.GetContext(ctx, &id, "SELECT CONNECTION_ID()"); err != nil {
		return nil, err
	}
	tx, err := c.BeginTxx(ctx, dialect.ReadOnlySnapshot)
	if err != nil {
		return nil, err
	}
	// While a caller takes rows slowly, the server counts that time too. During that the timer of
	// this side applies, and the server's limit is only for the case that this side has vanished.
	last := max(10*m.opt.StatementTimeout, time.Hour)
	// The driver only closes the connection of a cancelled call, and the server continues until it has a
	// row to send.
	stop := func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		// An error means that the connection is gone, or the server; the server's own limit remains.
		_, _ = m.db.ExecContext(ctx, fmt.Sprintf("KILL %d", id))
	}
	return (&dialect.StreamTx{
		Tx: tx, Limit: m.opt.StatementTimeout, Stop: stop, IsRowError: rowError,
		Relax:   "SET SESSION " + m.statementLimit(last),
		Tighten: "SET SESSION " + m.statementLimit(m.opt.StatementTimeout),
	}).Opened(), nil
}

// mysqlHorizon is the start of the oldest open transaction of InnoDB or of the oldest statement,
// whichever is earlier: a statement stamps its rows with its own start, which may be before its
// transaction. Rows replicated from another server have times of that server; for them only the
// lookback helps.
const mysqlHorizon = `SELECT LEAST(
  COALESCE((SELECT MIN(UNIX_TIMESTAMP(trx_started)) FROM information_schema.innodb_trx
    WHERE trx_mysql_thread_id <> CONNECTION_ID()), UNIX_TIMESTAMP()),
  COALESCE((SELECT UNIX_TIMESTAMP() - MAX(time) FROM information_schema.processlist WHERE id <> CONNECTION_ID()
    AND command IN ('Query', 'Execute') AND user <> 'system user'), UNIX_TIMESTAMP())) - 1`

func (m *engine) Clock(ctx context.Context, c *sqlx.Conn) (dialect.Clock, error) {
	if _, err := c.ExecContext(ctx, m.session); err != nil {
		return dialect.Clock{}, err
	}
	var text string
	if err := c.GetContext(ctx, &text, "SELECT CAST(UNIX_TIMESTAMP(NOW(6)) AS CHAR)"); err != nil {
		return dialect.Clock{}, err
	}
	now, ok := dialect.ParseEpoch(text)
	if !ok {
		return dialect.Clock{}, fault.Failf(fault.CodeOther, "the ERP database's clock cannot be read")
	}
	var horizon time.Time
	if m.sees {
		if err := c.GetContext(ctx, &text, "SELECT CAST(("+mysqlHorizon+") AS CHAR)"); err != nil {
			return dialect.Clock{}, err
		}
		horizon, _ = dialect.ParseEpoch(text)
	}
	return dialect.Clock{Now: now, Limits: dialect.NaiveLimits(now, horizon, m.opt.TimeZone)}, nil
}

// dated is a day. Earlier ones are "zero" dates, which are in every window.
const dated = "1000-01-01"

// Window compares in the column's own type. Rows without a value, including zero dates, are always
// included.
func (m *engine) Window(b *dialect.Binder, col dialect.Column, w dialect.Window) (string, *fault.Error) {
	low, bad := dialect.WindowStart(w, col.Type == "date", dated)
	if bad != nil {
		return "", bad
	}
	name := Syntax.Column(col.Name)
	var from string
	switch col.Type {
	case "date":
		from = "CAST(" + b.Add(low.Format("2006-01-02")) + " AS DATE)"
	case "timestamp":
		// An hour more, because the hour at the end of summer time occurs twice.
		// Before 1970 there is no such time, and FROM_UNIXTIME returns NULL.
		low = low.Add(-time.Hour)
		if low.Unix() < 0 {
			low = time.Unix(0, 0)
		}
		from = "FROM_UNIXTIME(CAST(" + b.Add(dialect.Epoch(low)) + " AS DECIMAL(20,6)))"
	default:
		from = "CAST(" + b.Add(low.Format(dialect.ISOMicro)) + " AS DATETIME(6))"
	}
	return fmt.Sprintf("(%s >= %s OR %s IS NULL OR %s < '%s')", name, from, name, name, dated), nil
}

func (m *engine) Keys(b *dialect.Binder, cols []dialect.Column, keys [][]dialect.Value) (string, *fault.Error) {
	return dialect.KeyCondition(b, cols, keys, m.term)
}

// term binds a part of a key in the type with which it was read, because MySQL compares a number
// with a text as floats.
func (m *engine) term(b *dialect.Binder, col dialect.Column, v dialect.Value) string {
	name := Syntax.Column(col.Name)
	switch v.Kind {
	case dialect.Int:
		if col.Type == "bit" {
			name += " + 0"
		}
		return name + " = CAST(" + b.Add(v.Text) + " AS DECIMAL(65,0))"
	case dialect.Number:
		return name + " = CAST(" + b.Add(v.Text) + " AS DECIMAL(65,30))"
	case dialect.Float:
		f, ok := dialect.FloatBack(v.Text, dialect.FloatBits(col, "float"))
		if !ok {
			return ""
		}
		return name + " = " + b.Add(f)
	case dialect.Date:
		return name + " = CAST(" + b.Add(v.Text) + " AS DATE)"
	case dialect.Timestamp:
		return name + " = CAST(" + b.Add(strings.Replace(v.Text, "T", " ", 1)) + " AS DATETIME(6))"
	case dialect.Instant:
		at, ok := dialect.ParseMoment(v.Text)
		if !ok {
			return ""
		}
		return "UNIX_TIMESTAMP(" + name + ") = CAST(" + b.Add(dialect.Epoch(at.At)) + " AS DECIMAL(20,6))"
	default:
		return name + " = " + b.Add(v.Text)
	}
}

func (m *engine) LoosePart(b *dialect.Binder, col dialect.Column, text string, fast bool) string {
	name := Syntax.Column(col.Name)
	switch {
	case numeric(col.Type) && !dialect.PlainNumber(text):
		return "1 = 0" // MySQL would interpret the text as 0
	case numeric(col.Type):
		return name + " = CAST(" + b.Add(text) + " AS DECIMAL(65,30))"
	case fast:
		return name + " = " + b.Add(text)
	default:
		return "TRIM(REPLACE(REPLACE(REPLACE(CAST(" + name +
			" AS CHAR), CHAR(9 USING utf8mb4), ' '), CHAR(10 USING utf8mb4), ' '), CHAR(13 USING utf8mb4), ' ')) = " + b.Add(text)
	}
}

// Engine is MySQL and MariaDB.
var Engine = &dialect.Engine{
	Name: "mysql", Syntax: Syntax,
	PlainName: regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`),
	ChangedAt: dialect.ChangedAt{
		Types:  []string{"timestamp", "datetime", "date"},
		Advice: "turn it into a DATETIME in the query, e.g. CAST(%s AS DATETIME)",
	},
	Catalogue: catalogue,
	Literals: dialect.Literals{Values: map[string]dialect.Literal{
		"decimal":  {SQL: "CAST(12345678901234.5678 AS DECIMAL(18,4))", Want: "12345678901234.5678"},
		"negative": {SQL: "CAST(-0.05 AS DECIMAL(9,2))", Want: "-0.05"},
		"float":    {SQL: "0.1e0", Want: "0.1"},
		"null":     {SQL: "CAST(NULL AS SIGNED)", Want: dialect.NullText},
		"instant":  {}, // it has no literal for an instant
		"boolean":  {}, // TRUE is the number 1
	}},
	Open: open,
	Unencrypted: func(dsn dialect.Secret) bool {
		return dialect.RemoteURL(dsn, func(q url.Values) bool { return q.Get("tls") == "disable" })
	},
	Unproved: func(dsn dialect.Secret) bool {
		return dialect.RemoteURL(dsn, func(q url.Values) bool {
			return q.Get("tls") == "require" || q.Get("tls") == "" && q.Get("ca") == ""
		})
	},
}

// Syntax is the SQL of MySQL and MariaDB.
var Syntax = &sqltext.Syntax{
	Name: "MySQL",
	Lexis: sqltext.Lexis{
		Backtick: true, HashComments: true, DashNeedsBlank: true, ExecutableComments: true, Backslash: true,
		DoubleQuoteText: true, Params: "?@",
	},
	Forbidden: [][]string{
		{"FOR", "UPDATE"},
		{"FOR", "SHARE"},
		{"LOCK", "IN"},
		{"INTO"},
		{"NEXTVAL"},
		{"SETVAL"},
		{"NEXT", "VALUE"},
		{"GET_LOCK"},
	},
	Opaque: []string{"PROCEDURE", "STRAIGHT_JOIN"},
	Quotes: [2]string{"`", "`"}, Alias: " AS q", Placeholder: sqltext.QuestionMark, NoRows: " LIMIT 0",
	First: sqltext.FirstRow{Suffix: " LIMIT 1"},
}

var catalogue = dialect.Catalogue{
	Relations: `SELECT table_schema AS schema_name, table_name AS table_name, CASE WHEN table_type = 'VIEW' THEN 1 ELSE 0 END AS is_view, table_rows AS row_estimate
FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')`,
	Columns: `SELECT table_schema AS schema_name, table_name AS table_name, column_name AS column_name, column_type AS type_name,
  CASE WHEN is_nullable = 'YES' THEN 1 ELSE 0 END AS is_nullable, ordinal_position AS ordinal
FROM information_schema.columns WHERE table_schema NOT IN ('information_schema', 'mysql', 'performance_schema',
    'sys')`,
	Indexes: `SELECT table_schema AS schema_name, table_name AS table_name, index_name AS index_name, CASE WHEN index_name = 'PRIMARY' THEN 1 ELSE 0 END AS is_primary,
  CASE WHEN non_unique = 0 THEN 1 ELSE 0 END AS is_unique, column_name AS column_name, seq_in_index AS ordinal
FROM information_schema.statistics
WHERE column_name IS NOT NULL AND table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')`,
}

func numeric(typ string) bool {
	return strings.HasSuffix(typ, "int") || typ == "year" || typ == "bit" || typ == "decimal" || typ == "float" ||
		typ == "double"
}

// Item selects a column so that the driver loses nothing of it.
func (m *engine) Item(col dialect.Column, use dialect.Use) dialect.Item {
	name := Syntax.Column(col.Name)
	if use == dialect.ForBound {
		if col.Type == "timestamp" {
			return dialect.TextItem("UNIX_TIMESTAMP("+name+")", func(s string) dialect.Value {
				at, ok := dialect.ParseEpoch(s)
				if !ok || at.Unix() == 0 {
					return dialect.Value{}
				}
				return dialect.Value{Kind: dialect.Text, Text: at.Format(dialect.ISOMicro + "+00:00")}
			})
		}
		return dialect.VerbatimItem(name, dialect.Text)
	}
	switch typ := col.Type; {
	case strings.HasSuffix(typ, "int"), typ == "year":
		return dialect.VerbatimItem(name, dialect.Int)
	case typ == "bit":
		return dialect.VerbatimItem(name+" + 0", dialect.Int)
	case typ == "decimal":
		return dialect.TextItem(name, dialect.NumberValue)
	case typ == "float":
		// Otherwise the server would print only six digits.
		return dialect.FloatItem(name+" + 0e0", 32)
	case typ == "double":
		return dialect.FloatItem(name, 64)
	case typ == "date":
		return dialect.TextItem(name, date)
	case typ == "datetime":
		return dialect.TextItem(name, timestamp)
	case typ == "timestamp":
		// For a zero TIMESTAMP MariaDB returns NULL as its number, MySQL returns 0.
		return dialect.TextItem("COALESCE(UNIX_TIMESTAMP("+name+"), CASE WHEN "+name+" IS NULL THEN NULL ELSE 0 END)",
			m.instant)
	case strings.HasSuffix(typ, "blob"), strings.HasSuffix(typ, "binary"), typ == "geometry", typ == "vector":
		return dialect.BinaryItem(name, "CONVERT("+col.Name+" USING latin1)")
	}
	if use == dialect.ForMapping {
		name = "LEFT(" + name + ", " + dialect.LongestText + ")"
	}
	return dialect.TextItem(name, dialect.PlainTextValue)
}

func date(s string) dialect.Value {
	if _, ok := dialect.ParseMoment(s); ok || strings.Contains(s, "-00") {
		// 0000-00-00 and 2026-00-00 are stored dates that a mapping may treat as empty
		return dialect.Value{Kind: dialect.Date, Text: s}
	}
	return dialect.Value{Kind: dialect.Date, Text: s, Err: dialect.OddTime(s)}
}

func timestamp(s string) dialect.Value {
	if len(s) >= 10 && strings.Contains(s[:10], "-00") {
		return dialect.Value{Kind: dialect.Date, Text: s[:10]}
	}
	return dialect.TimestampText(s)
}

func (m *engine) instant(s string) dialect.Value {
	at, ok := dialect.ParseEpoch(s)
	switch {
	case !ok:
		return dialect.Value{Kind: dialect.Instant, Err: dialect.OddTime(s)}
	case at.Unix() == 0:
		return dialect.Value{Kind: dialect.Date, Text: dialect.ZeroDate} // a TIMESTAMP begins at 1970-01-01 00:00:01
	}
	return dialect.Value{Kind: dialect.Instant, Text: dialect.InstantText(at, m.opt.TimeZone)}
}
