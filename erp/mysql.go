package erp

import (
	"context"
	"fmt"
	"strings"
	"time"

	mysqldrv "github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
)

// mysql is the dialect of MySQL and MariaDB.
type mysql struct {
	opt    Options
	server server
	db     *sqlx.DB
	maria  bool
	// session sets a connection up; it depends on what the server knows.
	session string
	// sees: the role has PROCESS and sees the transactions of others.
	sees bool
}

var _ dialect = (*mysql)(nil)

func openMySQL(opt Options, _ charset) (database, *Error) {
	a, bad := parseAddress(opt.DSN, []string{"mysql", "mariadb"}, "3306",
		"mysql://USER:PASSWORD@HOST:3306/DATABASE?tls=verify", "tls", "ca")
	if bad != nil {
		return database{}, bad
	}
	if a.path == "" {
		return database{}, failf(CodeConfig,
			"erp.dsn names no database; add it after the host, as in mysql://USER:PASSWORD@%s/DATABASE", a.hostPort())
	}
	cfg := mysqldrv.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.Passwd, cfg.DBName = "tcp", a.hostPort(), a.user, a.password, a.path
	// Every text arrives as UTF-8, whatever the charset of its column.
	cfg.Collation = "utf8mb4_general_ci"
	cfg.Logger = &mysqldrv.NopLogger{}
	cfg.DialFunc = newGuardDialer(opt.StatementTimeout).DialContext
	if cfg.TLS, bad = a.tlsConfig(); bad != nil {
		return database{}, bad
	}
	connector, err := mysqldrv.NewConnector(cfg)
	if err != nil {
		return database{}, failf(CodeConfig, "erp.dsn cannot be used as a MySQL address")
	}
	m := &mysql{opt: opt, db: pool(boundedConnector{connector}, "mysql"), server: server{
		target: a.target(), product: "MySQL or MariaDB", settings: "tls and ca", timeout: opt.StatementTimeout,
	}}
	return database{db: m.db, target: a.target(), probe: m.probe, dialect: m}, nil
}

// probe finds out which of the two it is, which time zones it knows, and what
// the role sees.
func (m *mysql) probe(ctx context.Context) error {
	f, err := m.facts(ctx, m.db)
	if err != nil {
		return err
	}
	m.maria = f.Product != ""
	zone := zoneName(m.opt.TimeZone)
	var known *string
	if err := m.db.GetContext(ctx, &known, "SELECT CAST(CONVERT_TZ('2026-01-01 00:00:00', 'UTC', ?) AS CHAR)",
		zone); err != nil {
		return err
	}
	if known == nil || zone == "" {
		// The server has no time zone tables; Brazil has had no summer time since 2019.
		zone = time.Now().In(m.opt.TimeZone).Format("-07:00")
	}
	// sql_mode is set so that a query means the same on every server. Zero dates
	// are values here, and GROUP_CONCAT does not cut in silence.
	m.session = "SET SESSION sql_mode = '', time_zone = '" + zone + "', lock_wait_timeout = " + seconds(lockTimeout) +
		", innodb_lock_wait_timeout = " + seconds(lockTimeout) +
		", net_write_timeout = 600, group_concat_max_len = 1048576, " +
		m.statementLimit(m.opt.StatementTimeout)
	var n int
	err = m.db.GetContext(ctx, &n, "SELECT count(*) FROM information_schema.innodb_trx")
	if m.sees = err == nil; !m.sees && mysqlNumber(err) == 0 {
		return err
	}
	return nil
}

func seconds(d time.Duration) string { return fmt.Sprint(max(1, int(d.Seconds()))) }

// statementLimit is the server's own time-out.
func (m *mysql) statementLimit(d time.Duration) string {
	if m.maria {
		return fmt.Sprintf("max_statement_time = %.3f", d.Seconds())
	}
	return fmt.Sprintf("max_execution_time = %d", d.Milliseconds())
}

func (m *mysql) facts(ctx context.Context, db *sqlx.DB) (Facts, error) {
	f := Facts{SeesTransactions: m.sees}
	err := db.QueryRowxContext(ctx, "SELECT VERSION(), @@character_set_database").Scan(&f.Version, &f.Charset)
	if strings.Contains(f.Version, "MariaDB") {
		f.Product = "MariaDB"
	}
	return f, err
}

// begin opens a consistent read: InnoDB's snapshot is made by the first SELECT.
func (m *mysql) begin(ctx context.Context, c *sqlx.Conn) (readTx, error) {
	var id int64
	if err := c.GetContext(ctx, &id, "SELECT CONNECTION_ID()"); err != nil {
		return nil, err
	}
	tx, err := c.BeginTxx(ctx, readOnlySnapshot)
	if err != nil {
		return nil, err
	}
	// While a caller takes rows at leisure the server counts its time too. Then
	// this side watches, and the server's limit is for the case that this side
	// has vanished.
	last := max(10*m.opt.StatementTimeout, time.Hour)
	return (&streamTx{
		tx: tx, limit: m.opt.StatementTimeout, stop: func() { m.kill(id) }, isRowError: mysqlRowError,
		relax:   "SET SESSION " + m.statementLimit(last),
		tighten: "SET SESSION " + m.statementLimit(m.opt.StatementTimeout),
	}).opened(), nil
}

// kill ends what a cancelled call left running: the driver only closes the
// connection, and the server goes on until it has a row to send.
func (m *mysql) kill(id int64) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	// An error means that the connection is gone, or the server; its own limit remains.
	_, _ = m.db.ExecContext(ctx, fmt.Sprintf("KILL %d", id))
}

// mysqlHorizon is the start of the oldest open transaction of InnoDB, and of
// the oldest statement: a statement stamps its rows with the time when it began,
// which may be before its transaction. What replicates from another server
// brings times of its own; there the lookback has to do.
const mysqlHorizon = `SELECT LEAST(
  COALESCE((SELECT MIN(UNIX_TIMESTAMP(trx_started)) FROM information_schema.innodb_trx WHERE trx_mysql_thread_id <> CONNECTION_ID()), UNIX_TIMESTAMP()),
  COALESCE((SELECT UNIX_TIMESTAMP() - MAX(time) FROM information_schema.processlist WHERE id <> CONNECTION_ID()
    AND command IN ('Query', 'Execute') AND user <> 'system user'), UNIX_TIMESTAMP())) - 1`

func (m *mysql) clock(ctx context.Context, c *sqlx.Conn) (clock, error) {
	if _, err := c.ExecContext(ctx, m.session); err != nil {
		return clock{}, err
	}
	var text string
	if err := c.GetContext(ctx, &text, "SELECT CAST(UNIX_TIMESTAMP(NOW(6)) AS CHAR)"); err != nil {
		return clock{}, err
	}
	now, ok := parseEpoch(text)
	if !ok {
		return clock{}, failf(CodeOther, "the ERP database's clock cannot be read")
	}
	var horizon time.Time
	if m.sees {
		if err := c.GetContext(ctx, &text, "SELECT CAST(("+mysqlHorizon+") AS CHAR)"); err != nil {
			return clock{}, err
		}
		horizon, _ = parseEpoch(text)
	}
	return clock{now: now, limits: naiveLimits(now, horizon, m.opt.TimeZone)}, nil
}

// window compares in the column's own type. Rows without a value, zero dates
// among them, are always in.
func (m *mysql) window(b *binder, col Column, w Window) (string, *Error) {
	low, bad := windowStart(w, col.Type == "date")
	if bad != nil {
		return "", bad
	}
	name := mysqlSyntax.column(col.Name)
	var from string
	switch col.Type {
	case "date":
		from = "CAST(" + b.add(low.Format("2006-01-02")) + " AS DATE)"
	case "timestamp":
		// An hour more, because the hour at the end of a summer time is two instants.
		from = "FROM_UNIXTIME(CAST(" + b.add(epoch(low.Add(-time.Hour))) + " AS DECIMAL(20,6)))"
	default:
		from = "CAST(" + b.add(low.Format(isoMicro)) + " AS DATETIME(6))"
	}
	return fmt.Sprintf("(%s >= %s OR %s IS NULL OR %s < '1000-01-01')", name, from, name, name), nil
}

func (m *mysql) keys(b *binder, cols []Column, keys [][]Value) (string, *Error) {
	return keyCondition(cols, keys, func(col Column, v Value) (string, *Error) { return m.term(b, col, v) })
}

// term binds a part in the type it was read with: MySQL compares a number with
// a text as floats.
func (m *mysql) term(b *binder, col Column, v Value) (string, *Error) {
	name := mysqlSyntax.column(col.Name)
	switch v.Kind {
	case Int:
		if col.Type == "bit" {
			name += " + 0"
		}
		return name + " = CAST(" + b.add(v.Text) + " AS DECIMAL(65,0))", nil
	case Number:
		return name + " = CAST(" + b.add(v.Text) + " AS DECIMAL(65,30))", nil
	case Float:
		f, ok := floatBack(v.Text, floatBits(col))
		if !ok {
			return "", notBindable(col)
		}
		return name + " = " + b.add(f), nil
	case Date:
		return name + " = CAST(" + b.add(v.Text) + " AS DATE)", nil
	case Timestamp:
		return name + " = CAST(" + b.add(strings.Replace(v.Text, "T", " ", 1)) + " AS DATETIME(6))", nil
	case Instant:
		at, ok := parseMoment(v.Text)
		if !ok {
			return "", notBindable(col)
		}
		return "UNIX_TIMESTAMP(" + name + ") = CAST(" + b.add(epoch(at.at)) + " AS DECIMAL(20,6))", nil
	default:
		return name + " = " + b.add(v.Text), nil
	}
}

func floatBits(col Column) int {
	if col.Type == "float" {
		return 32
	}
	return 64
}

func (m *mysql) looseKey(b *binder, cols []Column, key []string, fast bool) string {
	parts := make([]string, len(cols))
	for i, c := range cols {
		name := mysqlSyntax.column(c.Name)
		switch {
		case mysqlNumeric(c.Type) && !plainNumber(key[i]):
			parts[i] = "1 = 0" // MySQL would take the text for 0
		case mysqlNumeric(c.Type):
			parts[i] = name + " = CAST(" + b.add(key[i]) + " AS DECIMAL(65,30))"
		case fast:
			parts[i] = name + " = " + b.add(key[i])
		default:
			parts[i] = "TRIM(REPLACE(REPLACE(REPLACE(CAST(" + name +
				" AS CHAR), CHAR(9 USING utf8mb4), ' '), CHAR(10 USING utf8mb4), ' '), CHAR(13 USING utf8mb4), ' ')) = " + b.add(key[i])
		}
	}
	return strings.Join(parts, " AND ")
}
