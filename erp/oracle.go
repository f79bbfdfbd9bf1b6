package erp

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	goora "github.com/sijms/go-ora/v2"
	"github.com/sijms/go-ora/v2/configurations"
)

// oracle is the dialect of Oracle Database. It has not yet been tried on a
// live server: its SQL is tested as text, its values on the driver's types.
type oracle struct {
	opt     Options
	server  server
	session string
}

var (
	_ dialect                      = (*oracle)(nil)
	_ configurations.DialerContext = guardDialer{}
)

func openOracle(opt Options, _ charset) (database, *Error) {
	const example = "oracle://USER:PASSWORD@HOST:1521/SERVICE (or ?sid=SID in place of the service; tls=verify and ca=FILE for TCPS)"
	a, bad := parseAddress(opt.DSN, []string{"oracle"}, "1521", example, "tls", "ca", "sid")
	if bad != nil {
		return database{}, bad
	}
	if (a.path == "") == (a.settings["sid"] == "") {
		return database{}, failf(CodeConfig, "erp.dsn must name a service or a SID; write %s", example)
	}
	q := url.Values{"PROGRAM": {applicationName}, "CONNECTION TIMEOUT": {strconv.Itoa(int(connectTimeout.Seconds()))}}
	if sid := a.settings["sid"]; sid != "" {
		q.Set("SID", sid)
	}
	if a.settings["tls"] == "" && a.settings["ca"] == "" {
		a.settings["tls"] = "disable" // Oracle listens for TLS on a port of its own
	}
	tlsConfig, bad := a.tlsConfig()
	if bad != nil {
		return database{}, bad
	}
	if tlsConfig != nil {
		q.Set("SSL", "true")
		q.Set("SSL VERIFY", strconv.FormatBool(!tlsConfig.InsecureSkipVerify))
	}
	u := url.URL{
		Scheme: "oracle", User: url.UserPassword(a.user, a.password), Host: a.hostPort(), Path: "/" + a.path,
		RawQuery: q.Encode(),
	}
	connector, ok := goora.NewConnector(u.String()).(*goora.OracleConnector)
	if !ok {
		return database{}, failf(CodeOther, "the Oracle driver cannot be started")
	}
	connector.Dialer(newGuardDialer(opt.StatementTimeout))
	if tlsConfig != nil {
		connector.WithTLSConfig(tlsConfig)
	}
	zone := zoneName(opt.TimeZone)
	if zone == "" {
		zone = "UTC"
	}
	o := &oracle{opt: opt, server: server{
		target: a.hostPort() + "/" + a.path + a.settings["sid"], product: "the Oracle listener", settings: "tls and ca", timeout: opt.StatementTimeout,
	}}
	o.session = "ALTER SESSION SET NLS_DATE_FORMAT = 'YYYY-MM-DD HH24:MI:SS' NLS_TIMESTAMP_FORMAT = 'YYYY-MM-DD HH24:MI:SS.FF6' NLS_NUMERIC_CHARACTERS = '.,' NLS_COMP = BINARY NLS_SORT = BINARY TIME_ZONE = '" + zone + "'"
	db := pool(boundedConnector{connector}, "oracle")
	probe := func(ctx context.Context) error {
		var one string
		return db.GetContext(ctx, &one, "SELECT '1' FROM DUAL")
	}
	return database{db: db, target: o.server.target, probe: probe, dialect: o}, nil
}

func (o *oracle) facts(ctx context.Context, db *sqlx.DB) (f Facts, err error) {
	err = db.QueryRowxContext(ctx, `SELECT
  (SELECT MAX(version) FROM product_component_version WHERE LOWER(product) LIKE 'oracle%'),
  (SELECT value FROM nls_database_parameters WHERE parameter = 'NLS_CHARACTERSET') FROM DUAL`).Scan(&f.Version, &f.Charset)
	return f, err
}

func (o *oracle) clock(ctx context.Context, c *sqlx.Conn) (clock, error) {
	if _, err := c.ExecContext(ctx, o.session); err != nil {
		return clock{}, err
	}
	return readClock(ctx, c, "SELECT TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), "+oracleMicro+") FROM DUAL", o.opt.TimeZone)
}

// begin: the driver knows no read-only transactions, Oracle does. SET
// TRANSACTION must be its first statement, and makes one snapshot of all that
// follows.
func (o *oracle) begin(ctx context.Context, c *sqlx.Conn) (readTx, error) {
	tx, err := c.BeginTxx(ctx, nil)
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, "SET TRANSACTION READ ONLY"); err != nil {
		_ = tx.Rollback() // the first error is the one to report
		return nil, err
	}
	return (&streamTx{tx: tx, limit: o.opt.StatementTimeout, typeOf: oracleType}).opened(), nil
}

// oracleTypes are the names that people know, by those of the driver.
var oracleTypes = map[string]string{
	"nchar": "varchar2", "varchar": "varchar2", "timestampdty": "timestamp",
	"timestamptz_dty": "timestamp with time zone", "timestamptz": "timestamp with time zone",
	"timestampltz_dty": "timestamp with local time zone", "timestampeltz": "timestamp with local time zone",
	"ocicloblocator": "clob",
	"ibfloat":        "binary_float", "bfloat": "binary_float", "ibdouble": "binary_double", "bdouble": "binary_double",
	"float":          "number",
	"ocibloblocator": "blob", "ocifilelocator": "bfile", "longraw": "long raw", "longvarchar": "long",
	"ocixmltype": "xmltype",
}

func oracleType(ct *sql.ColumnType) string { return oracleTypeName(ct.DatabaseTypeName()) }

func oracleTypeName(driver string) string {
	low := strings.ToLower(driver)
	if name, ok := oracleTypes[low]; ok {
		return name
	}
	return low
}

const (
	oracleSeconds = "'YYYY-MM-DD HH24:MI:SS'"
	oracleMicro   = "'YYYY-MM-DD HH24:MI:SS.FF6'"
)

// oracleTime binds a time in the column's own type. A DATE of Oracle has a time.
func oracleTime(b *binder, col Column, at time.Time) string {
	switch col.Type {
	case "date":
		return "TO_DATE(" + b.add(at.Format("2006-01-02 15:04:05")) + ", " + oracleSeconds + ")"
	case "timestamp":
		return "TO_TIMESTAMP(" + b.add(at.Format(isoMicro)) + ", " + oracleMicro + ")"
	}
	return "TO_TIMESTAMP_TZ(" + b.add(at.Format(isoMicro+" +00:00")) + ", 'YYYY-MM-DD HH24:MI:SS.FF6 TZH:TZM')"
}

func (o *oracle) window(b *binder, col Column, w Window) (string, *Error) {
	low, bad := windowStart(w, false)
	if bad != nil {
		return "", bad
	}
	name := oracleSyntax.column(col.Name)
	return fmt.Sprintf("(%s >= %s OR %s IS NULL OR %s < DATE '%s')", name, oracleTime(b, col, low), name, name,
		noDateBefore), nil
}

func (o *oracle) keys(b *binder, cols []Column, keys [][]Value) (string, *Error) {
	return keyCondition(cols, keys, func(col Column, v Value) (string, *Error) { return o.term(b, col, v) })
}

func (o *oracle) term(b *binder, col Column, v Value) (string, *Error) {
	equals := oracleSyntax.column(col.Name) + " = "
	switch v.Kind {
	case Int, Number:
		return equals + oracleNumber(b, v.Text), nil
	case Float:
		if col.Type == "binary_float" {
			return equals + "TO_BINARY_FLOAT(" + b.add(v.Text) + ")", nil
		}
		return equals + "TO_BINARY_DOUBLE(" + b.add(v.Text) + ")", nil
	case Timestamp, Instant:
		m, ok := parseMoment(v.Text)
		if !ok {
			return "", notBindable(col)
		}
		return equals + oracleTime(b, col, m.at), nil
	default:
		return equals + b.add(v.Text), nil
	}
}

// oracleNumber binds a decimal by a format of its own digits, whatever the
// session's decimal separator is.
func oracleNumber(b *binder, text string) string {
	whole, fraction, exact := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	format := strings.Repeat("9", max(1, len(whole)))
	if exact {
		format += "D" + strings.Repeat("9", len(fraction))
	}
	return "TO_NUMBER(" + b.add(text) + ", '" + format + "', 'NLS_NUMERIC_CHARACTERS=''.,''')"
}

func oracleNumeric(typ string) bool {
	return typ == "number" || typ == "binary_float" || typ == "binary_double"
}

func (o *oracle) looseKey(b *binder, cols []Column, key []string, fast bool) string {
	parts := make([]string, len(cols))
	for i, c := range cols {
		name := oracleSyntax.column(c.Name)
		switch {
		case oracleNumeric(c.Type) && !plainNumber(key[i]):
			parts[i] = "1 = 0"
		case oracleNumeric(c.Type):
			parts[i] = name + " = " + oracleNumber(b, key[i])
		case c.Type == "date", c.Type == "timestamp":
			parts[i] = "TO_CHAR(" + name + ", 'YYYY-MM-DD\"T\"HH24:MI:SS') LIKE " + b.add(key[i]+"%")
		case fast && c.Type != "char":
			parts[i] = name + " = " + b.add(key[i])
		default: // a CHAR and an argument of another length are never equal
			parts[i] = "TRIM(TRANSLATE(" + name + ", CHR(9) || CHR(10) || CHR(13), '   ')) = " + b.add(key[i])
		}
	}
	return strings.Join(parts, " AND ")
}

func (o *oracle) item(col Column, use use) selectItem {
	item := o.value(col)
	if use == forBound {
		item.convert = boundText(strings.HasSuffix(col.Type, "time zone"))
	}
	return item
}

// value selects numbers and times as text. What Oracle stores as an empty
// string is NULL, and arrives so.
func (o *oracle) value(col Column) selectItem {
	name := oracleSyntax.column(col.Name)
	switch col.Type {
	case "number":
		return selectItem{
			sql:     "TO_CHAR(" + name + ", 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,''')",
			convert: asText(oracleNumberValue),
		}
	case "binary_float":
		return selectItem{sql: name, convert: func(v any) Value { return anyFloat(v, 32) }}
	case "binary_double":
		return selectItem{sql: name, convert: func(v any) Value { return anyFloat(v, 64) }}
	case "date":
		return selectItem{sql: "TO_CHAR(" + name + ", " + oracleSeconds + ")", convert: asText(timestampText)}
	case "timestamp":
		return selectItem{sql: "TO_CHAR(" + name + ", " + oracleMicro + ")", convert: asText(timestampText)}
	case "timestamp with time zone", "timestamp with local time zone":
		return selectItem{sql: "TO_CHAR(SYS_EXTRACT_UTC(CAST(" + name + " AS TIMESTAMP WITH TIME ZONE)), " +
			oracleMicro + ")", convert: asText(func(s string) Value { return utcInstant(s, o.opt.TimeZone) })}
	case "raw", "long raw", "blob", "bfile":
		return selectItem{
			sql: "CASE WHEN " + name + " IS NULL THEN NULL ELSE 'x' END",
			convert: binaryColumn("UTL_RAW.CAST_TO_VARCHAR2(" +
				col.Name + ") or RAWTOHEX(" + col.Name + ")"),
		}
	default:
		return selectItem{sql: name, convert: asText(plainTextValue)}
	}
}

// oracleNumberValue adds the zero that TM9 leaves out before the separator.
func oracleNumberValue(s string) Value {
	if digits := strings.TrimPrefix(s, "-"); strings.HasPrefix(digits, ".") {
		s = strings.TrimSuffix(s, digits) + "0" + digits
	}
	if !plainNumber(s) && len(strings.Trim(s, "-.0123456789")) > 0 {
		return Value{Kind: Number, Err: "unreadable number"} // ~ stands for infinity, E for more than 64 digits
	}
	return numberValue(s)
}
