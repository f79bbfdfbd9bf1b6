package oracle_test

import (
	"testing"

	"github.com/sijms/go-ora/v2/network"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/dialect/oracle"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/internal/phrase"
)

const (
	dsn = "oracle://le:segredo@erp/ORCL"
	cte = "WITH x AS (\n  SELECT filial, num FROM c WHERE del = ' '\n)\nSELECT filial, num FROM x ORDER BY num; -- fim"
)

func TestTheSQLThatIsSent(t *testing.T) {
	t.Parallel()
	local, utc := "2026-05-01T10:00:00.302674", "2026-05-01T13:00:00.302674+00:00"
	erptest.Golden(t, "sql.golden", oracle.Engine, erptest.Unopened(t, oracle.Engine, dsn), erptest.Sample{
		Queries: []string{"SELECT filial, num FROM c WHERE del = ' ' ORDER BY num", cte},
		Columns: []dialect.Column{
			{Name: "FILIAL", Type: "char"},
			{Name: "NUM", Type: "varchar2"},
			{Name: "N", Type: "number"},
			{Name: "BF", Type: "binary_float"},
			{Name: "BD", Type: "binary_double"},
			{Name: "D", Type: "date"},
			{Name: "TS", Type: "timestamp"},
			{Name: "TZ", Type: "timestamp with time zone"},
			{Name: "LTZ", Type: "timestamp with local time zone"},
			{Name: "R", Type: "raw"},
			{Name: "OBS", Type: "clob"},
			{Name: `A"B`, Type: "varchar2"},
		},
		Since: map[string]string{
			"date": "2026-05-10 10:00:00", "timestamp": local, "timestamp with time zone": utc,
			"timestamp with local time zone": utc,
		},
		Key: []dialect.Value{
			{Kind: dialect.Text, Text: "    "},
			{Kind: dialect.Text, Text: "São"},
			{Kind: dialect.Number, Text: "-1234.50"},
			{Kind: dialect.Float, Text: "0.1"},
			{Kind: dialect.Float, Text: "0.1"},
			{Kind: dialect.Timestamp, Text: "2026-05-01T10:00:00"},
			{Kind: dialect.Timestamp, Text: local},
			{Kind: dialect.Instant, Text: "2026-05-01T10:00:00.302674-03:00"},
			{Kind: dialect.Instant, Text: "2026-05-01T10:00:00.302674-03:00"},
			{Kind: dialect.Text, Text: "x"},
			{Kind: dialect.Text, Text: "x"},
			{Kind: dialect.Text, Text: "x"},
		},
	})
}

func TestValuesAreExactText(t *testing.T) {
	t.Parallel()
	erptest.Converts(t, erptest.Unopened(t, oracle.Engine, dsn), []erptest.Conversion{
		{"number", "-.5", dialect.Value{Kind: dialect.Number, Text: "-0.5"}},
		{"number", ".25", dialect.Value{Kind: dialect.Number, Text: "0.25"}},
		{
			"number", "12345678901234567890123456789012345678",
			dialect.Value{Kind: dialect.Number, Text: "12345678901234567890123456789012345678"},
		},
		{"number", "~", dialect.Value{Kind: dialect.Number, Err: "unreadable number"}},
		{"binary_float", float32(0.1), dialect.Value{Kind: dialect.Float, Text: "0.1"}},
		{"date", "1900-12-31 00:00:00", dialect.Value{Kind: dialect.Timestamp, Text: "1900-12-31T00:00:00"}},
		{
			"timestamp", "2026-08-10 23:59:59.302674",
			dialect.Value{Kind: dialect.Timestamp, Text: "2026-08-10T23:59:59.302674"},
		},
		{
			"timestamp with time zone", "2026-08-10 02:30:00.000000",
			dialect.Value{Kind: dialect.Instant, Text: "2026-08-09T23:30:00-03:00"},
		},
		{"char", "01  ", dialect.Value{Kind: dialect.Text, Text: "01  "}},
		{"clob", "nota", dialect.Value{Kind: dialect.Text, Text: "nota"}},
		{"raw", "x", dialect.Value{
			Kind: dialect.Bytes,
			Err:  phrase.Pack("binary column; convert it in the query, e.g. %s", "UTL_RAW.CAST_TO_VARCHAR2(x) or RAWTOHEX(x)"),
		}},
	})
}

func TestErrorsAreNamed(t *testing.T) {
	t.Parallel()
	erptest.Names(t, erptest.Unopened(t, oracle.Engine, dsn), []erptest.Naming{
		{
			&network.OracleError{ErrCode: 1017, ErrMsg: "ORA-01017: invalid username/password"}, fault.CodeAuth,
			"erp.dsn",
		},
		{&network.OracleError{ErrCode: 12514}, fault.CodeNoDatabase, "service"},
		{
			&network.OracleError{ErrCode: 904, ErrMsg: `ORA-00904: "Q"."PRCO": invalid identifier`},
			fault.CodeMissingColumn, `"Q"."PRCO"`,
		},
		{&network.OracleError{ErrCode: 942}, fault.CodeMissingTable, "owner"},
		{&network.OracleError{ErrCode: 1456}, fault.CodeReadOnly, "only read"},
		{
			&network.OracleError{ErrCode: 1722, ErrMsg: "ORA-01722: invalid number segredo"}, fault.CodeData,
			"CONVERSION ERROR",
		},
		{&network.OracleError{ErrCode: 3113}, fault.CodeUnreachable, "next run"},
		{&network.OracleError{ErrCode: 933}, fault.CodeSyntax, "ORA-00933"},
		{&network.OracleError{ErrCode: 1790}, fault.CodeSyntax, "UNION"},
		{&network.OracleError{ErrCode: 1466}, fault.CodeLocked, "altered"},
		{&network.OracleError{ErrCode: 8103}, fault.CodeLocked, "altered"},
		{&network.OracleError{ErrCode: 1652}, fault.CodeUnreachable, "ORA-01652"},
		{&network.OracleError{ErrCode: 12609}, fault.CodeUnreachable, "next run"},
		{&network.OracleError{ErrCode: 12899}, fault.CodeData, "expression"},
		{&network.OracleError{ErrCode: 28040}, fault.CodeAuth, "SQLNET"},
		{&network.OracleError{ErrCode: 28009}, fault.CodeAuth, "SYS"},
		{&network.OracleError{ErrCode: 1882}, fault.CodeConfig, "erp.time_zone"},
	})
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	erptest.Addresses(t, oracle.Engine, map[string]string{
		"oracle://le:se%23gredo@erp/ORCL":                 "erp:1521/ORCL",
		"oracle://le:segredo@erp:1600?sid=XE&tls=require": "erp:1600/XE",
	}, map[string]string{
		"oracle://le:segredo@erp":                         "a service or a SID",
		"oracle://le:segredo@erp/ORCL?sid=XE":             "a service or a SID",
		"le/segredo@erp/ORCL":                             "oracle://USER",
		"oracle://le:segredo@erp/ORCL?ca=/nao/existe.pem": "certificate",
	})
}
