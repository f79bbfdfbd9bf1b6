package oracle

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	goora "github.com/sijms/go-ora/v2"
	"github.com/sijms/go-ora/v2/configurations"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/erp/sqltext"
	"github.com/safrasync/safrasync/internal/phrase"
)

// engine is the dialect of Oracle Database. It has not yet been tried on a
// live server: its SQL is tested as text, its values on the driver's types.
type engine struct {
	opt     dialect.SourceOptions
	server  dialect.Server
	session string
}

var (
	_ dialect.Dialect              = (*engine)(nil)
	_ configurations.DialerContext = dialect.GuardDialer{}
)

func open(opt dialect.SourceOptions, _ dialect.Charset) (dialect.Database, *fault.Error) {
	const example = "oracle://USER:PASSWORD@HOST:1521/SERVICE (or ?sid=SID in place of the service; tls=verify and ca=FILE for TCPS)"
	a, bad := dialect.ParseAddress(opt.DSN, []string{"oracle"}, "1521", example, "tls", "ca", "sid")
	if bad != nil {
		return dialect.Database{}, bad
	}
	if (a.Path == "") == (a.Settings["sid"] == "") {
		return dialect.Database{}, fault.Failf(fault.CodeConfig, "erp.dsn must name a service or a SID; write %s", example)
	}
	q := url.Values{
		"PROGRAM":            {dialect.ApplicationName},
		"CONNECTION TIMEOUT": {strconv.Itoa(int(dialect.ConnectTimeout.Seconds()))},
	}
	if sid := a.Settings["sid"]; sid != "" {
		q.Set("SID", sid)
	}
	if a.Settings["tls"] == "" && a.Settings["ca"] == "" {
		a.Settings["tls"] = "disable" // Oracle listens for TLS on a separate port
	}
	tlsConfig, bad := a.TLSConfig()
	if bad != nil {
		return dialect.Database{}, bad
	}
	if tlsConfig != nil {
		q.Set("SSL", "true")
		q.Set("SSL VERIFY", strconv.FormatBool(!tlsConfig.InsecureSkipVerify))
	}
	u := url.URL{
		Scheme: "oracle", User: url.UserPassword(a.User, a.Password), Host: a.HostPort(), Path: "/" + a.Path,
		RawQuery: q.Encode(),
	}
	connector, ok := goora.NewConnector(u.String()).(*goora.OracleConnector)
	if !ok {
		return dialect.Database{}, fault.Failf(fault.CodeOther, "the Oracle driver cannot be started")
	}
	connector.Dialer(dialect.NewGuardDialer(opt.StatementTimeout))
	if tlsConfig != nil {
		connector.WithTLSConfig(tlsConfig)
	}
	zone := cmp.Or(dialect.ZoneName(opt.TimeZone), "UTC")
	o := &engine{opt: opt, server: dialect.Server{
		Target: a.HostPort() + "/" + a.Path + a.Settings["sid"], Product: "the Oracle listener",
		Settings: "tls and ca", Timeout: opt.StatementTimeout,
	}}
	o.session = "ALTER SESSION SET NLS_DATE_FORMAT = 'YYYY-MM-DD HH24:MI:SS' NLS_TIMESTAMP_FORMAT = 'YYYY-MM-DD HH24:MI:SS.FF6' NLS_NUMERIC_CHARACTERS = '.,' NLS_COMP = BINARY NLS_SORT = BINARY TIME_ZONE = '" + zone + "'"
	db := dialect.Pool(dialect.Bounded{Connector: connector}, "oracle")
	probe := func(ctx context.Context) error {
		var one string
		return db.GetContext(ctx, &one, "SELECT '1' FROM DUAL")
	}
	return dialect.Database{DB: db, Target: o.server.Target, Probe: probe, Dialect: o}, nil
}

func (o *engine) Facts(ctx context.Context, db *sqlx.DB) (f dialect.Facts, err error) {
	err = db.QueryRowxContext(ctx, `SELECT
  (SELECT MAX(version) FROM product_component_version WHERE LOWER(product) LIKE 'oracle%'),
  (SELECT value FROM nls_database_parameters WHERE parameter = 'NLS_CHARACTERSET') FROM DUAL`).Scan(&f.Version, &f.Charset)
	return f, err
}

func (o *engine) Clock(ctx context.Context, c *sqlx.Conn) (dialect.Clock, error) {
	if _, err := c.ExecContext(ctx, o.session); err != nil {
		return dialect.Clock{}, err
	}
	return dialect.ReadClock(ctx, c, "SELECT TO_CHAR(SYS_EXTRACT_UTC(SYSTIMESTAMP), "+micro+") FROM DUAL", o.opt.TimeZone)
}

// Begin sends SET TRANSACTION READ ONLY, because the driver has no read-only transactions, but
// Oracle has. It must be the first statement of the transaction, and makes one snapshot for all
// that follow.
func (o *engine) Begin(ctx context.Context, c *sqlx.Conn) (dialect.Tx, error) {
	tx, err := c.BeginTxx(ctx, nil)
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, "SET TRANSACTION READ ONLY"); err != nil {
		_ = tx.Rollback() // the first error is the one to report
		return nil, err
	}
	typeOf := func(ct *sql.ColumnType) string { return typeName(ct.DatabaseTypeName()) }
	return (&dialect.StreamTx{Tx: tx, Limit: o.opt.StatementTimeout, TypeOf: typeOf}).Opened(), nil
}

// oracleTypes maps the driver's names of types to the usual ones.
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

func typeName(driver string) string {
	low := strings.ToLower(driver)
	return cmp.Or(oracleTypes[low], low)
}

const (
	seconds = "'YYYY-MM-DD HH24:MI:SS'"
	micro   = "'YYYY-MM-DD HH24:MI:SS.FF6'"
)

// oracleTime binds a time in the column's own type. A DATE of Oracle has a time.
func oracleTime(b *dialect.Binder, col dialect.Column, at time.Time) string {
	switch col.Type {
	case "date":
		return "TO_DATE(" + b.Add(at.Format("2006-01-02 15:04:05")) + ", " + seconds + ")"
	case "timestamp":
		return "TO_TIMESTAMP(" + b.Add(at.Format(dialect.ISOMicro)) + ", " + micro + ")"
	}
	return "TO_TIMESTAMP_TZ(" + b.Add(at.Format(dialect.ISOMicro+" +00:00")) + ", 'YYYY-MM-DD HH24:MI:SS.FF6 TZH:TZM')"
}

func (o *engine) Window(b *dialect.Binder, col dialect.Column, w dialect.Window) (string, *fault.Error) {
	low, bad := dialect.WindowStart(w, false, dialect.NoDateBefore)
	if bad != nil {
		return "", bad
	}
	name := Syntax.Column(col.Name)
	return fmt.Sprintf("(%s >= %s OR %s IS NULL OR %s < DATE '%s')", name, oracleTime(b, col, low), name, name,
		dialect.NoDateBefore), nil
}

func (o *engine) Keys(b *dialect.Binder, cols []dialect.Column, keys [][]dialect.Value) (string, *fault.Error) {
	return dialect.KeyCondition(b, cols, keys, o.term)
}

func (o *engine) term(b *dialect.Binder, col dialect.Column, v dialect.Value) string {
	equals := Syntax.Column(col.Name) + " = "
	switch v.Kind {
	case dialect.Int, dialect.Number:
		return equals + number(b, v.Text)
	case dialect.Float:
		if col.Type == "binary_float" {
			return equals + "TO_BINARY_FLOAT(" + b.Add(v.Text) + ")"
		}
		return equals + "TO_BINARY_DOUBLE(" + b.Add(v.Text) + ")"
	case dialect.Timestamp, dialect.Instant:
		m, ok := dialect.ParseMoment(v.Text)
		if !ok {
			return ""
		}
		return equals + oracleTime(b, col, m.At)
	default:
		return equals + b.Add(v.Text)
	}
}

// number binds a decimal with a format for its own digits, whatever the session's decimal separator
// is.
func number(b *dialect.Binder, text string) string {
	whole, fraction, exact := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	format := strings.Repeat("9", max(1, len(whole)))
	if exact {
		format += "D" + strings.Repeat("9", len(fraction))
	}
	return "TO_NUMBER(" + b.Add(text) + ", '" + format + "', 'NLS_NUMERIC_CHARACTERS=''.,''')"
}

func numeric(typ string) bool {
	return typ == "number" || typ == "binary_float" || typ == "binary_double"
}

func (o *engine) LoosePart(b *dialect.Binder, col dialect.Column, text string, fast bool) string {
	name := Syntax.Column(col.Name)
	switch {
	case numeric(col.Type) && !dialect.PlainNumber(text):
		return "1 = 0"
	case numeric(col.Type):
		return name + " = " + number(b, text)
	case col.Type == "date":
		return "TO_CHAR(" + name + ", 'YYYY-MM-DD\"T\"HH24:MI:SS') LIKE " + b.Add(text+"%")
	case col.Type == "timestamp":
		return "TO_CHAR(" + name + ", 'YYYY-MM-DD\"T\"HH24:MI:SS.FF6') LIKE " + b.Add(text+"%")
	case strings.HasSuffix(col.Type, "time zone"):
		m, ok := dialect.ParseMoment(text)
		if !ok {
			return "1 = 0"
		}
		return name + " = " + oracleTime(b, col, m.At)
	case text == "": // to Oracle an empty text is NULL, and nothing equals NULL
		return "TRIM(" + oneLine(name) + ") IS NULL AND " + name + " IS NOT NULL"
	case fast && col.Type != "char":
		return name + " = " + b.Add(text)
	default: // a CHAR and an argument of another length are never equal
		return "TRIM(" + oneLine(name) + ") = " + b.Add(text)
	}
}

// oneLine turns tabs and line breaks into blanks.
func oneLine(expr string) string {
	return "TRANSLATE(" + expr + ", CHR(9) || CHR(10) || CHR(13), '   ')"
}

func (o *engine) Item(col dialect.Column, use dialect.Use) dialect.Item {
	item := o.value(col)
	if use == dialect.ForBound {
		item.Convert = dialect.BoundText(strings.HasSuffix(col.Type, "time zone"))
	}
	return item
}

// value selects numbers and times as text. Oracle stores an empty string as NULL, and it arrives as
// NULL.
func (o *engine) value(col dialect.Column) dialect.Item {
	name := Syntax.Column(col.Name)
	switch col.Type {
	case "number":
		return dialect.TextItem("TO_CHAR("+name+", 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,''')", oracleNumberValue)
	case "binary_float":
		return dialect.FloatItem(name, 32)
	case "binary_double":
		return dialect.FloatItem(name, 64)
	case "date":
		return dialect.TextItem("TO_CHAR("+name+", "+seconds+")", dialect.TimestampText)
	case "timestamp":
		return dialect.TextItem("TO_CHAR("+name+", "+micro+")", dialect.TimestampText)
	case "timestamp with time zone", "timestamp with local time zone":
		return dialect.TextItem("TO_CHAR(SYS_EXTRACT_UTC(CAST("+name+" AS TIMESTAMP WITH TIME ZONE)), "+micro+")",
			func(s string) dialect.Value { return dialect.UTCInstant(s, o.opt.TimeZone) })
	case "raw", "long raw", "blob", "bfile":
		return dialect.Item{
			SQL:     "CASE WHEN " + name + " IS NULL THEN NULL ELSE 'x' END",
			Convert: dialect.BinaryColumn("UTL_RAW.CAST_TO_VARCHAR2(" + col.Name + ") or RAWTOHEX(" + col.Name + ")"),
		}
	default:
		return dialect.TextItem(name, dialect.PlainTextValue)
	}
}

// oracleNumberValue adds the leading zero that TM9 omits before the separator.
func oracleNumberValue(s string) dialect.Value {
	if digits := strings.TrimPrefix(s, "-"); strings.HasPrefix(digits, ".") {
		s = strings.TrimSuffix(s, digits) + "0" + digits
	}
	if !dialect.PlainNumber(s) && len(strings.Trim(s, "-.0123456789")) > 0 {
		// ~ means infinity; E is used for more than 64 digits
		return dialect.Value{Kind: dialect.Number, Err: phrase.Pack("unreadable number")}
	}
	return dialect.NumberValue(s)
}

// Engine is Oracle Database, not yet tried on a live server.
var Engine = &dialect.Engine{
	Name: "oracle", Syntax: Syntax,
	PlainName: regexp.MustCompile(`^[A-Z][A-Z0-9_$]*$`),
	ChangedAt: dialect.ChangedAt{
		Types:  []string{"date", "timestamp", "timestamp with time zone", "timestamp with local time zone"},
		Advice: "turn it into a TIMESTAMP in the query, e.g. TO_TIMESTAMP(%s, 'YYYYMMDDHH24MISS')",
	},
	Catalogue: catalogue,
	Literals: dialect.Literals{
		Dual: " FROM DUAL",
		Values: map[string]dialect.Literal{
			"integer":  {SQL: "CAST(9007199254740993 AS NUMBER(19))", Want: "9007199254740993"},
			"decimal":  {SQL: "CAST(12345678901234.5678 AS NUMBER(18,4))", Want: "12345678901234.5678"},
			"negative": {SQL: "CAST(-0.05 AS NUMBER(9,2))", Want: "-0.05"},
			"float":    {SQL: "CAST(0.1 AS BINARY_DOUBLE)", Want: "0.1"},
			"empty":    {SQL: "''", Want: dialect.NullText}, // an empty text is NULL
			"null":     {SQL: "CAST(NULL AS NUMBER(9))", Want: dialect.NullText},
			"date":     {SQL: "DATE '2018-11-04'", Want: "2018-11-04T00:00:00"}, // a DATE has a time
			"instant":  {SQL: "TIMESTAMP '2026-08-10 23:59:59 -03:00'", Want: "2026-08-10T23:59:59-03:00"},
			"boolean":  {}, // SQL has none before Oracle 23
		},
	},
	Open: open,
	Unencrypted: func(dsn dialect.Secret) bool {
		return dialect.RemoteURL(dsn, func(q url.Values) bool {
			return q.Get("tls") == "disable" || !q.Has("tls") && !q.Has("ca")
		})
	},
}

// Syntax is the SQL of Oracle Database.
var Syntax = &sqltext.Syntax{
	Name: "Oracle", Lexis: sqltext.Lexis{Params: ":", WordMore: "#", OracleStrings: true},
	Forbidden: [][]string{{"FOR", "UPDATE"}, {"NEXTVAL"}},
	Opaque:    []string{"MINUS", "CONNECT", "START", "ROWNUM", "MODEL", "PIVOT", "UNPIVOT", "SAMPLE"},
	Quotes:    [2]string{`"`, `"`}, Alias: " q", Placeholder: sqltext.Numbered(":"), NoRows: " WHERE 1 = 0",
	First: sqltext.FirstRow{Cond: " AND ROWNUM = 1"},
}

// ofTheERP follows the owner of a table. Since 12.1 the database knows which owners are its own
// (ORACLE_MAINTAINED); 11.2 does not.
const ofTheERP = ` NOT IN (
  'ANONYMOUS', 'APPQOSSYS', 'AUDSYS', 'CTXSYS', 'DBSFWUSER', 'DBSNMP', 'DIP', 'DVF', 'DVSYS',
  'EXFSYS', 'GGSYS', 'GSMADMIN_INTERNAL', 'GSMCATUSER', 'GSMUSER', 'LBACSYS', 'MDDATA', 'MDSYS',
  'MGMT_VIEW', 'OJVMSYS', 'OLAPSYS', 'ORACLE_OCM', 'ORDDATA', 'ORDPLUGINS', 'ORDSYS', 'ORDS_METADATA',
  'OUTLN', 'OWBSYS', 'OWBSYS_AUDIT', 'SI_INFORMTN_SCHEMA', 'SPATIAL_CSW_ADMIN_USR',
  'SPATIAL_WFS_ADMIN_USR', 'SYS', 'SYSBACKUP', 'SYSDG', 'SYSKM', 'SYSMAN', 'SYSRAC', 'SYSTEM',
  'WMSYS', 'XDB', 'XS$NULL', 'FLOWS_FILES', 'APEX_PUBLIC_USER')`

var catalogue = dialect.Catalogue{
	Relations: `SELECT t.owner AS schema_name, t.table_name AS table_name, 0 AS is_view, t.num_rows AS row_estimate
FROM all_tables t WHERE t.owner` + ofTheERP + `
UNION ALL
SELECT v.owner, v.view_name, 1, NULL FROM all_views v WHERE v.owner` + ofTheERP,
	Columns: `SELECT c.owner AS schema_name, c.table_name AS table_name, c.column_name AS column_name, c.data_type AS type_name,
  CASE WHEN c.nullable = 'Y' THEN 1 ELSE 0 END AS is_nullable, c.column_id AS ordinal
FROM all_tab_columns c WHERE c.owner` + ofTheERP,
	Indexes: `SELECT i.table_owner AS schema_name, i.table_name AS table_name, i.index_name AS index_name,
  CASE WHEN EXISTS (SELECT 1 FROM all_constraints k WHERE k.owner = i.table_owner AND k.table_name = i.table_name
    AND k.constraint_type = 'P'
    AND k.index_name = i.index_name) THEN 1 ELSE 0 END AS is_primary,
  CASE WHEN i.uniqueness = 'UNIQUE' THEN 1 ELSE 0 END AS is_unique, c.column_name AS column_name,
    c.column_position AS ordinal
FROM all_indexes i JOIN all_ind_columns c ON c.index_owner = i.owner AND c.index_name = i.index_name
WHERE i.index_type = 'NORMAL' AND i.table_owner` + ofTheERP,
}
