package erp

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	mssql "github.com/microsoft/go-mssqldb"
	"github.com/sijms/go-ora/v2/network"
)

var update = flag.Bool("update", false, "write the golden files of the SQL that is sent")

// sample is what the statements of one dialect are written for.
type sample struct {
	d       dialect
	engine  *dbEngine
	columns []Column
	queries []string
	since   map[string]string // by type of changed_at
	key     []Value           // by column
}

const cte = "WITH x AS (\n  SELECT filial, num FROM c WHERE del = ' '\n)\nSELECT filial, num FROM x ORDER BY num; -- fim"

func samples(t *testing.T) map[string]sample {
	t.Helper()
	zone, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{TimeZone: zone}.withDefaults()
	queries := []string{"SELECT filial, num FROM c WHERE del = ' ' ORDER BY num", cte}
	local, utc := "2026-05-01T10:00:00.302674", "2026-05-01T13:00:00.302674+00:00"
	return map[string]sample{
		"sqlserver": {
			d: &sqlserver{opt: opt}, engine: sqlserverEngine, queries: append(queries, "SELECT TOP 5 num FROM c ORDER BY num",
				"SELECT num FROM c ORDER BY num OFFSET 5 ROWS"),
			columns: []Column{
				{"filial", "char"},
				{"num", "varchar"},
				{"nome", "nvarchar"},
				{"i", "int"},
				{"n", "decimal"},
				{"m", "money"},
				{"r", "real"},
				{"f", "float"},
				{"b", "bit"},
				{"d", "date"},
				{"dt", "datetime"},
				{"dt2", "datetime2"},
				{"sd", "smalldatetime"},
				{"dto", "datetimeoffset"},
				{"h", "time"},
				{"u", "uniqueidentifier"},
				{"bin", "varbinary"},
				{"a]b", "xml"},
			},
			since: map[string]string{
				"date": "2026-05-10", "datetime": local, "datetime2": local,
				"smalldatetime": local, "datetimeoffset": utc,
			},
			key: []Value{
				{Text, "01", ""},
				{Text, "São", ""},
				{Text, "São", ""},
				{Int, "7", ""},
				{Number, "1.50", ""},
				{Number, "1.5000", ""},
				{Float, "0.1", ""},
				{Float, "0.1", ""},
				{Bool, "true", ""},
				{Date, "2026-05-01", ""},
				{Timestamp, "2026-05-01T10:00:00.303", ""},
				{Timestamp, local, ""},
				{Timestamp, "2026-05-01T10:00:00", ""},
				{Instant, "2026-05-01T10:00:00.302674-03:00", ""},
				{Text, "10:20:00", ""},
				{Text, "db5b5fab-8f4d-4e27-9da1-494c73cf256d", ""},
				{Text, "x", ""},
				{Text, "x", ""},
			},
		},
		"oracle": {
			d: &oracle{opt: opt}, engine: oracleEngine, queries: queries,
			columns: []Column{
				{"FILIAL", "char"},
				{"NUM", "varchar2"},
				{"N", "number"},
				{"BF", "binary_float"},
				{"BD", "binary_double"},
				{"D", "date"},
				{"TS", "timestamp"},
				{"TZ", "timestamp with time zone"},
				{"LTZ", "timestamp with local time zone"},
				{"R", "raw"},
				{"OBS", "clob"},
				{`A"B`, "varchar2"},
			},
			since: map[string]string{
				"date": "2026-05-10 10:00:00", "timestamp": local, "timestamp with time zone": utc,
				"timestamp with local time zone": utc,
			},
			key: []Value{
				{Text, "01  ", ""},
				{Text, "São", ""},
				{Number, "-1234.50", ""},
				{Float, "0.1", ""},
				{Float, "0.1", ""},
				{Timestamp, "2026-05-01T10:00:00", ""},
				{Timestamp, local, ""},
				{Instant, "2026-05-01T10:00:00.302674-03:00", ""},
				{Instant, "2026-05-01T10:00:00.302674-03:00", ""},
				{Text, "x", ""},
				{Text, "x", ""},
				{Text, "x", ""},
			},
		},
	}
}

// TestTheSQLThatIsSent keeps the statements for databases that the tests have no server of.
func TestTheSQLThatIsSent(t *testing.T) {
	t.Parallel()
	for name, s := range samples(t) {
		got := statements(t, s)
		file := filepath.Join("testdata", "sql", name+".golden")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got; go test ./erp -run TestTheSQLThatIsSent -update writes it):\n%s", file, diff)
		}
	}
}

func statements(t *testing.T, s sample) string {
	t.Helper()
	var out strings.Builder
	show := func(title, sql string, args ...any) {
		fmt.Fprintf(&out, "== %s\n%s\n", title, sql)
		for _, a := range args {
			fmt.Fprintf(&out, "   %T %v\n", a, a)
		}
		out.WriteString("\n")
	}
	for _, sql := range s.queries {
		st, bad := parseStatement(sql, s.engine.syntax)
		if bad != nil {
			t.Fatal(bad)
		}
		show("describe", st.describe())
		show("first row of a key", st.firstRow([]string{"*"}, "q.x = 1"))
	}
	for i, c := range s.columns {
		item := s.d.item(c, forMapping)
		show("column "+c.Name+" "+c.Type, item.sql)
		if since, ok := s.since[c.Type]; ok {
			if bad := s.engine.changedAt.check(c); bad != nil {
				t.Error(bad)
			}
			b := newBinder(s.engine.syntax)
			cond, bad := s.d.window(b, c, Window{Since: since, Lookback: time.Hour})
			if bad != nil {
				t.Fatal(bad)
			}
			show("window on "+c.Name+", its bound is "+s.d.item(c, forBound).sql, cond, b.args...)
		}
		b := newBinder(s.engine.syntax)
		cond, bad := s.d.keys(b, s.columns[i:i+1], [][]Value{{s.key[i]}})
		if bad != nil {
			t.Fatal(bad)
		}
		show("key "+c.Name, cond, b.args...)
		for _, fast := range []bool{true, false} {
			b := newBinder(s.engine.syntax)
			show(fmt.Sprintf("explain by %s, fast %v", c.Name, fast),
				s.d.looseKey(b, s.columns[i:i+1], []string{s.key[i].Trimmed()}, fast), b.args...)
		}
	}
	b := newBinder(s.engine.syntax)
	cond, bad := s.d.keys(b, s.columns[:2], [][]Value{s.key[:2], s.key[:2]})
	if bad != nil {
		t.Fatal(bad)
	}
	show("two keys of two columns", cond, b.args...)
	return out.String()
}

func TestValuesOfSQLServerAndOracle(t *testing.T) {
	t.Parallel()
	all := samples(t)
	for _, c := range []struct {
		db, typ string
		raw     any
		want    Value
	}{
		{"sqlserver", "int", int64(-7), Value{Kind: Int, Text: "-7"}},
		{
			"sqlserver", "decimal", []byte("12345678901234567890.1200"),
			Value{Kind: Number, Text: "12345678901234567890.1200"},
		},
		{"sqlserver", "money", "12.3400", Value{Kind: Number, Text: "12.3400"}},
		{"sqlserver", "real", float64(float32(0.1)), Value{Kind: Float, Text: "0.1"}},
		{"sqlserver", "float", 1e21, Value{Kind: Float, Text: "1000000000000000000000"}},
		{"sqlserver", "bit", true, Value{Kind: Bool, Text: "true"}},
		{"sqlserver", "date", "1900-01-01", Value{Kind: Date, Text: "1900-01-01"}},
		{"sqlserver", "datetime", "2026-08-10T23:59:59.303", Value{Kind: Timestamp, Text: "2026-08-10T23:59:59.303"}},
		{
			"sqlserver", "datetime2", "2026-08-10T23:59:59.3026740",
			Value{Kind: Timestamp, Text: "2026-08-10T23:59:59.302674"},
		},
		{"sqlserver", "datetimeoffset", "2026-08-10T02:30:00", Value{Kind: Instant, Text: "2026-08-09T23:30:00-03:00"}},
		{
			"sqlserver", "uniqueidentifier", "DB5B5FAB-8F4D-4E27-9DA1-494C73CF256D",
			Value{Kind: Text, Text: "db5b5fab-8f4d-4e27-9da1-494c73cf256d"},
		},
		{"sqlserver", "char", "0001    ", Value{Kind: Text, Text: "0001    "}},
		{"sqlserver", "varbinary", "", Value{
			Kind: Bytes,
			Err:  "binary column; convert it in the query, e.g. CAST(x AS VARCHAR(100))",
		}},
		{"oracle", "number", "-.5", Value{Kind: Number, Text: "-0.5"}},
		{"oracle", "number", ".25", Value{Kind: Number, Text: "0.25"}},
		{
			"oracle", "number", "12345678901234567890123456789012345678",
			Value{Kind: Number, Text: "12345678901234567890123456789012345678"},
		},
		{"oracle", "number", "~", Value{Kind: Number, Err: "unreadable number"}},
		{"oracle", "binary_float", float32(0.1), Value{Kind: Float, Text: "0.1"}},
		{"oracle", "date", "1900-12-31 00:00:00", Value{Kind: Timestamp, Text: "1900-12-31T00:00:00"}},
		{
			"oracle", "timestamp", "2026-08-10 23:59:59.302674",
			Value{Kind: Timestamp, Text: "2026-08-10T23:59:59.302674"},
		},
		{
			"oracle", "timestamp with time zone", "2026-08-10 02:30:00.000000",
			Value{Kind: Instant, Text: "2026-08-09T23:30:00-03:00"},
		},
		{"oracle", "char", "01  ", Value{Kind: Text, Text: "01  "}},
		{"oracle", "clob", "nota", Value{Kind: Text, Text: "nota"}},
		{"oracle", "raw", "x", Value{
			Kind: Bytes,
			Err:  "binary column; convert it in the query, e.g. UTL_RAW.CAST_TO_VARCHAR2(x) or RAWTOHEX(x)",
		}},
	} {
		if got := all[c.db].d.item(Column{Name: "x", Type: c.typ}, forMapping).convert(c.raw); got != c.want {
			t.Errorf("%s %s %v = %+v, want %+v", c.db, c.typ, c.raw, got, c.want)
		}
	}
	for driver, want := range map[string]string{
		"NCHAR": "varchar2", "NUMBER": "number", "DATE": "date",
		"TimeStampDTY": "timestamp", "TimeStampTZ_DTY": "timestamp with time zone", "OCIClobLocator": "clob",
		"IBDouble": "binary_double", "RAW": "raw",
	} {
		if got := oracleTypeName(driver); got != want {
			t.Errorf("the driver's %s is %s, want %s", driver, got, want)
		}
	}
}

func TestErrorsOfSQLServerAndOracle(t *testing.T) {
	t.Parallel()
	all := samples(t)
	for _, c := range []struct {
		db   string
		err  error
		code Code
		word string
	}{
		{"sqlserver", mssql.Error{Number: 18456, Message: "Login failed for user 'segredo'."}, CodeAuth, "erp.dsn"},
		{
			"sqlserver",
			mssql.Error{Number: 4060, Message: "Cannot open database \"x\""},
			CodeNoDatabase,
			"does not exist",
		},
		{"sqlserver", mssql.Error{Number: 207, Message: "Invalid column name 'prco'."}, CodeMissingColumn, "prco"},
		{
			"sqlserver",
			mssql.Error{Number: 208, Message: "Invalid object name 'contratos'."},
			CodeMissingTable,
			"contratos",
		},
		{
			"sqlserver",
			mssql.Error{Number: 8156, Message: "The column 'k' was specified multiple times for 'q'."},
			CodeDuplicateColumn, `two columns named "k"`,
		},
		{
			"sqlserver",
			mssql.Error{Number: 229, Message: "The SELECT permission was denied on the object 'c'"},
			CodePermission, "grant it SELECT",
		},
		{"sqlserver", mssql.Error{Number: 1222}, CodeLocked, "locked"},
		{
			"sqlserver",
			mssql.Error{
				Number:  245,
				Message: "Conversion failed when converting the varchar value 'segredo' to data type int.",
			},
			CodeData,
			"TRY_CAST",
		},
		{"sqlserver", mssql.Error{Number: 102, Message: "Incorrect syntax near 'FRM'."}, CodeSyntax, "FRM"},
		{
			"oracle", &network.OracleError{ErrCode: 1017, ErrMsg: "ORA-01017: invalid username/password"}, CodeAuth,
			"erp.dsn",
		},
		{"oracle", &network.OracleError{ErrCode: 12514}, CodeNoDatabase, "service"},
		{
			"oracle", &network.OracleError{ErrCode: 904, ErrMsg: `ORA-00904: "Q"."PRCO": invalid identifier`},
			CodeMissingColumn, `"Q"."PRCO"`,
		},
		{"oracle", &network.OracleError{ErrCode: 942}, CodeMissingTable, "owner"},
		{"oracle", &network.OracleError{ErrCode: 1456}, CodeReadOnly, "only read"},
		{
			"oracle", &network.OracleError{ErrCode: 1722, ErrMsg: "ORA-01722: invalid number segredo"}, CodeData,
			"CONVERSION ERROR",
		},
		{"oracle", &network.OracleError{ErrCode: 3113}, CodeUnreachable, "next run"},
		{"oracle", &network.OracleError{ErrCode: 933}, CodeSyntax, "ORA-00933"},
	} {
		err := all[c.db].d.problem(fmt.Errorf("driver: %w", c.err), "")
		if CodeOf(err) != c.code || !strings.Contains(err.Error(), c.word) || strings.Contains(err.Error(), "segredo") {
			t.Errorf("%v is called %s: %v, want %s with %q", c.err, CodeOf(err), err, c.code, c.word)
		}
	}
}

func TestWhatAQueryMayNotContain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		l   *language
		sql string
		bad bool
	}{
		{sqlserverSyntax, "SELECT * FROM c WITH (NOLOCK)", false},
		{sqlserverSyntax, "SELECT [update], c.[into] FROM c", false},
		{sqlserverSyntax, "SELECT 1 AS k DELETE FROM c", true},
		{sqlserverSyntax, "SELECT * INTO x FROM c", true},
		{sqlserverSyntax, "SELECT * FROM c WITH (UPDLOCK)", true},
		{sqlserverSyntax, "SELECT * FROM OPENQUERY(l, 'DELETE FROM x')", true},
		{oracleSyntax, "SELECT s.NEXTVAL FROM DUAL", true},
		{oracleSyntax, "SELECT * FROM c FOR UPDATE", true},
		{mysqlSyntax, "SELECT 'for update' AS a, `into` FROM c", false},
		{mysqlSyntax, "SELECT * FROM c WHERE a IN (SELECT k FROM d FOR SHARE)", true},
		{firebirdSyntax, "SELECT FIRST 5 a FROM c", false},
		{firebirdSyntax, "SELECT * FROM c WITH LOCK", true},
	} {
		_, err := parseStatement(c.sql, c.l)
		if (err != nil) != c.bad || c.bad && err.Code != CodeReadOnly {
			t.Errorf("%s: %s: %v", c.l.name, c.sql, err)
		}
	}
	for _, c := range []struct {
		l   *language
		sql string
	}{
		{sqlserverSyntax, "SELECT TOP 5 k FROM c WHERE a = 1"},
		{oracleSyntax, "SELECT k FROM c, d WHERE c.a = d.a(+) AND c.b = 1"},
		{oracleSyntax, "SELECT k FROM c WHERE a = 1 MINUS SELECT k FROM d"},
		{oracleSyntax, "SELECT k FROM c WHERE ROWNUM < 5"},
		{firebirdSyntax, "SELECT FIRST 5 k FROM c WHERE a = 1"},
		{firebirdSyntax, "SELECT k FROM c WHERE a = 1 ROWS 5"},
	} {
		st, err := parseStatement(c.sql, c.l)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := splitSelect(st); ok {
			t.Errorf("%s: %s is taken apart, and its meaning would change", c.l.name, c.sql)
		}
	}
}

func TestAddressesOfSQLServerAndOracle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ driver, dsn, target string }{
		{"sqlserver", "sqlserver://le:se%23gredo@erp/ERP?tls=disable", "erp:1433/ERP"},
		{"sqlserver", "sqlserver://le:segredo@erp/ERP?instance=TOTVS", "erp:1433/ERP"},
		{"sqlserver", "sqlserver://le:segredo@[::1]:1500/ERP?tls=require", "[::1]:1500/ERP"},
		{"oracle", "oracle://le:se%23gredo@erp/ORCL", "erp:1521/ORCL"},
		{"oracle", "oracle://le:segredo@erp:1600?sid=XE&tls=require", "erp:1600/XE"},
	} {
		opened, err := engineNamed(c.driver).open(Options{DSN: Secret(c.dsn)}.withDefaults(), charset{})
		if err != nil {
			t.Errorf("%s: %v", c.dsn, err)
			continue
		}
		if opened.target != c.target {
			t.Errorf("%s is %s, want %s", c.dsn, opened.target, c.target)
		}
		if err := opened.db.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct{ driver, dsn, word string }{
		{"sqlserver", "sqlserver://le:segredo@erp", "names no database"},
		{"sqlserver", "Server=erp;Password=segredo", "sqlserver://USER"},
		{"sqlserver", "sqlserver://le:segredo@erp/ERP?log=255", "instance"},
		{"oracle", "oracle://le:segredo@erp", "a service or a SID"},
		{"oracle", "oracle://le:segredo@erp/ORCL?sid=XE", "a service or a SID"},
		{"oracle", "le/segredo@erp/ORCL", "oracle://USER"},
		{"oracle", "oracle://le:segredo@erp/ORCL?ca=/nao/existe.pem", "certificate"},
	} {
		_, err := engineNamed(c.driver).open(Options{DSN: Secret(c.dsn)}.withDefaults(), charset{})
		if err == nil || !strings.Contains(err.Error(), c.word) || strings.Contains(err.Error(), "segredo") {
			t.Errorf("%s: %v, want %q", c.dsn, err, c.word)
		}
	}
}
