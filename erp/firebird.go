package erp

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	_ "github.com/nakagami/firebirdsql" // the driver "firebirdsql"
)

// firebird is the dialect of Firebird 3 and later.
type firebird struct {
	opt       Options
	cs        charset
	server    server
	db        *sqlx.DB
	connector *firebirdConnector
	// bytesMode: texts come as the bytes that are stored, and are decoded here.
	bytesMode bool
}

var _ dialect = (*firebird)(nil)

const firebirdExample = "firebird://USER:PASSWORD@HOST:3050/ALIAS, or the server's path of the file in place of ALIAS, as in /dados/erp.fdb or C:/Dados/ERP.FDB"

func openFirebird(opt Options, cs charset) (database, *Error) {
	a, bad := parseAddress(opt.DSN, []string{"firebird"}, "3050", firebirdExample, "role", "wire_crypt",
		"auth_plugin_name")
	if bad != nil {
		return database{}, bad
	}
	if a.path == "" {
		return database{}, failf(CodeConfig, "erp.dsn names no database; write %s", firebirdExample)
	}
	for setting, allowed := range map[string][]string{
		"wire_crypt":       {"disabled", "enabled", "required"},
		"auth_plugin_name": {"Srp256", "Srp", "Legacy_Auth"},
	} {
		if v, ok := a.settings[setting]; ok && !slices.Contains(allowed, v) {
			return database{}, failf(CodeConfig, "%s in erp.dsn must be one of %s", setting, strings.Join(allowed, ", "))
		}
	}
	f := &firebird{opt: opt, cs: cs, connector: &firebirdConnector{}, server: server{
		target: a.target(), product: "Firebird", settings: "wire_crypt", timeout: opt.StatementTimeout,
	}}
	for i, charset := range []string{"NONE", "UTF8"} {
		c, err := firebirdConnection(a, charset, zoneName(opt.TimeZone))
		if err != nil {
			return database{}, failf(CodeConfig, "erp.dsn cannot be used as a Firebird address; write %s",
				firebirdExample)
		}
		f.connector.each[i] = c
	}
	f.db = pool(boundedConnector{f.connector}, "firebirdsql")
	return database{db: f.db, target: a.target(), probe: f.probe, dialect: f}, nil
}

func firebirdConnection(a address, charset, zone string) (driver.Connector, error) {
	q := url.Values{"charset": {charset}, "timezone": {zone}}
	// Where the server does not react to a cancel, the connection is cut.
	q.Set("cancel_hard_drop", "true")
	for k, v := range a.settings {
		q.Set(k, v)
	}
	u := url.URL{
		Scheme: "firebird", User: url.UserPassword(a.user, a.password), Host: a.hostPort(), Path: "/" + a.path,
		RawQuery: q.Encode(),
	}
	c, err := firebirdDriver.OpenConnector(u.String())
	if err != nil {
		return nil, err
	}
	return c, nil
}

// firebirdDriver is the driver as it registered itself; its type has no name outside.
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

// firebirdConnector connects with the charset NONE until it is told that the
// database knows its own.
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

// probe learns the charset. A database with NONE never converts: it stores what
// the programs sent. With erp.charset set, nothing is converted either.
func (f *firebird) probe(ctx context.Context) error {
	facts, err := f.facts(ctx, f.db)
	if err != nil {
		return err
	}
	f.bytesMode = UnknownCharset(facts.Charset) || f.cs.table != nil
	if !f.bytesMode {
		f.connector.converted.Store(true)
		f.db.SetMaxIdleConns(0) // the connection of this probe is of the other kind
		f.db.SetMaxIdleConns(maxIdle)
	}
	return nil
}

func (f *firebird) facts(ctx context.Context, db *sqlx.DB) (facts Facts, err error) {
	err = db.QueryRowxContext(ctx, `SELECT RDB$GET_CONTEXT('SYSTEM', 'ENGINE_VERSION'), TRIM(RDB$CHARACTER_SET_NAME)
FROM RDB$DATABASE`).Scan(&facts.Version, &facts.Charset)
	facts.Charset = strings.TrimSpace(facts.Charset)
	return facts, err // an ordinary user sees only the transactions of its own
}

// begin opens a snapshot. The driver knows read-only transactions only without
// one, and rows and bound must be of one moment. So the transaction could
// write, in a procedure that a query calls; it is always rolled back, and
// unchanged reports what it did. Sequences are the exception that Firebird
// makes: the words that move one are refused, and the reading user has no right to.
func (f *firebird) begin(ctx context.Context, c *sqlx.Conn) (readTx, error) {
	tx, err := c.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		return nil, err
	}
	return (&streamTx{
		tx: tx, limit: f.opt.StatementTimeout, typeOf: firebirdType, verify: unchanged,
		isRowError: firebirdRowError,
	}).opened(), nil
}

const firebirdChanges = `SELECT SUM(s.MON$RECORD_INSERTS + s.MON$RECORD_UPDATES + s.MON$RECORD_DELETES)
FROM MON$TRANSACTIONS t JOIN MON$RECORD_STATS s ON s.MON$STAT_ID = t.MON$STAT_ID AND s.MON$STAT_GROUP = 2
WHERE t.MON$TRANSACTION_ID = CURRENT_TRANSACTION`

func unchanged(ctx context.Context, tx *sqlx.Tx) error {
	var n sql.NullInt64
	if err := tx.GetContext(ctx, &n, firebirdChanges); err != nil {
		return err
	}
	if n.Int64 > 0 {
		return failf(CodeReadOnly,
			"the query writes (%d records), and the ERP is only read; it was undone. Remove the procedure that writes from the query", n.Int64)
	}
	return nil
}

// clock: Firebird 3 has no time zones. Its clock is taken for local time or for
// UTC, whichever is nearer to this host's.
func (f *firebird) clock(ctx context.Context, c *sqlx.Conn) (clock, error) {
	read, err := readClock(ctx, c, "SELECT CAST(CAST('NOW' AS TIMESTAMP) AS VARCHAR(24)) FROM RDB$DATABASE",
		f.opt.TimeZone)
	if err != nil {
		return clock{}, err
	}
	here := time.Now()
	_, offset := here.In(f.opt.TimeZone).Zone()
	now, local := read.now, read.now.Add(-time.Duration(offset)*time.Second)
	if local.Sub(here).Abs() < now.Sub(here).Abs() {
		now = local
	}
	return clock{now: now, limits: naiveLimits(now, time.Time{}, f.opt.TimeZone)}, nil
}

// window: rows without a value are always in, and so are those with a date that
// a program writes for none.
func (f *firebird) window(b *binder, col Column, w Window) (string, *Error) {
	low, bad := windowStart(w, col.Type == "date")
	if bad != nil {
		return "", bad
	}
	name := firebirdSyntax.column(col.Name)
	var from string
	switch col.Type {
	case "date":
		from = "CAST(" + b.add(low.Format("2006-01-02")) + " AS DATE)"
	case "timestamp":
		from = "CAST(" + b.add(low.Format(firebirdTime)) + " AS TIMESTAMP)"
	default:
		from = "CAST(" + b.add(low.Format(firebirdTime+" +00:00")) + " AS TIMESTAMP WITH TIME ZONE)"
	}
	return fmt.Sprintf("(%s >= %s OR %s IS NULL OR %s < CAST('%s' AS DATE))", name, from, name, name, noDateBefore), nil
}

// firebirdTime: Firebird counts ten-thousandths of a second.
const firebirdTime = "2006-01-02 15:04:05.0000"

func (f *firebird) keys(b *binder, cols []Column, keys [][]Value) (string, *Error) {
	return keyCondition(cols, keys, func(col Column, v Value) (string, *Error) { return f.term(b, col, v) })
}

func (f *firebird) term(b *binder, col Column, v Value) (string, *Error) {
	name := firebirdSyntax.column(col.Name)
	switch v.Kind {
	case Int, Number:
		return name + " = " + firebirdNumber(b, v.Text), nil
	case Float:
		x, ok := floatBack(v.Text, floatBits(col))
		if !ok {
			return "", notBindable(col)
		}
		return name + " = " + b.add(x), nil
	case Date:
		return name + " = CAST(" + b.add(v.Text) + " AS DATE)", nil
	case Timestamp:
		return name + " = CAST(" + b.add(strings.Replace(v.Text, "T", " ", 1)) + " AS TIMESTAMP)", nil
	case Instant:
		at, ok := parseMoment(v.Text)
		if !ok {
			return "", notBindable(col)
		}
		return name + " = CAST(" + b.add(at.at.Format(firebirdTime+" +00:00")) + " AS TIMESTAMP WITH TIME ZONE)", nil
	case Bool:
		return name + " = CAST(" + b.add(v.Text) + " AS BOOLEAN)", nil
	default:
		text, ok := f.encoded(v.Text)
		if !ok {
			return "", notBindable(col)
		}
		return name + " = " + b.add(text), nil
	}
}

// encoded gives a text as this connection takes it.
func (f *firebird) encoded(text string) (string, bool) {
	if !f.bytesMode {
		return text, true
	}
	raw, ok := f.cs.encode(text)
	return string(raw), ok
}

// firebirdNumber binds a decimal with its own scale: NUMERIC has 18 digits.
func firebirdNumber(b *binder, text string) string {
	_, fraction, exact := strings.Cut(text, ".")
	if !exact {
		return "CAST(" + b.add(text) + " AS BIGINT)"
	}
	if len(strings.TrimPrefix(text, "-")) > 18 {
		return "CAST(" + b.add(text) + " AS DOUBLE PRECISION)"
	}
	return fmt.Sprintf("CAST(%s AS NUMERIC(18,%d))", b.add(text), len(fraction))
}

func firebirdNumeric(typ string) bool {
	switch typ {
	case "short", "long", "int64", "int128", "numeric", "float", "double", "decfloat(16)", "decfloat(34)":
		return true
	}
	return false
}

func (f *firebird) looseKey(b *binder, cols []Column, key []string, fast bool) string {
	parts := make([]string, len(cols))
	for i, c := range cols {
		name := firebirdSyntax.column(c.Name)
		text, ok := f.encoded(key[i])
		switch {
		case !ok, firebirdNumeric(c.Type) && !plainNumber(key[i]):
			parts[i] = "1 = 0"
		case firebirdNumeric(c.Type):
			parts[i] = name + " = " + firebirdNumber(b, key[i])
		case fast, c.Type != "text" && c.Type != "varying":
			parts[i] = name + " = " + b.add(text)
		default:
			parts[i] = "TRIM(" + name + ") = " + b.add(text)
		}
	}
	return strings.Join(parts, " AND ")
}
