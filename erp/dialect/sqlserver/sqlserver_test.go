package sqlserver_test

import (
	"testing"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/dialect/sqlserver"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/internal/phrase"
)

const (
	dsn = "sqlserver://le:segredo@erp/ERP"
	cte = "WITH x AS (\n  SELECT filial, num FROM c WHERE del = ' '\n)\nSELECT filial, num FROM x ORDER BY num; -- fim"
)

func TestTheSQLThatIsSent(t *testing.T) {
	t.Parallel()
	local, utc := "2026-05-01T10:00:00.302674", "2026-05-01T13:00:00.302674+00:00"
	erptest.Golden(t, "sql.golden", sqlserver.Engine, erptest.Unopened(t, sqlserver.Engine, dsn), erptest.Sample{
		Queries: []string{
			"SELECT filial, num FROM c WHERE del = ' ' ORDER BY num", cte, "SELECT TOP 5 num FROM c ORDER BY num",
			"SELECT num FROM c ORDER BY num OFFSET 5 ROWS",
		},
		Columns: []dialect.Column{
			{Name: "filial", Type: "char"},
			{Name: "num", Type: "varchar"},
			{Name: "nome", Type: "nvarchar"},
			{Name: "i", Type: "int"},
			{Name: "n", Type: "decimal"},
			{Name: "m", Type: "money"},
			{Name: "r", Type: "real"},
			{Name: "f", Type: "float"},
			{Name: "b", Type: "bit"},
			{Name: "d", Type: "date"},
			{Name: "dt", Type: "datetime"},
			{Name: "dt2", Type: "datetime2"},
			{Name: "sd", Type: "smalldatetime"},
			{Name: "dto", Type: "datetimeoffset"},
			{Name: "h", Type: "time"},
			{Name: "u", Type: "uniqueidentifier"},
			{Name: "bin", Type: "varbinary"},
			{Name: "a]b", Type: "xml"},
		},
		Since: map[string]string{
			"date": "2026-05-10", "datetime": local, "datetime2": local,
			"smalldatetime": local, "datetimeoffset": utc,
		},
		Key: []dialect.Value{
			{Kind: dialect.Text, Text: "01"},
			{Kind: dialect.Text, Text: "São"},
			{Kind: dialect.Text, Text: "São"},
			{Kind: dialect.Int, Text: "7"},
			{Kind: dialect.Number, Text: "1.50"},
			{Kind: dialect.Number, Text: "1.5000"},
			{Kind: dialect.Float, Text: "0.1"},
			{Kind: dialect.Float, Text: "0.1"},
			{Kind: dialect.Bool, Text: "true"},
			{Kind: dialect.Date, Text: "2026-05-01"},
			{Kind: dialect.Timestamp, Text: "2026-05-01T10:00:00.303"},
			{Kind: dialect.Timestamp, Text: local},
			{Kind: dialect.Timestamp, Text: "2026-05-01T10:00:00"},
			{Kind: dialect.Instant, Text: "2026-05-01T10:00:00.302674-03:00"},
			{Kind: dialect.Text, Text: "10:20:00"},
			{Kind: dialect.Text, Text: "db5b5fab-8f4d-4e27-9da1-494c73cf256d"},
			{Kind: dialect.Text, Text: "x"},
			{Kind: dialect.Text, Text: "x"},
		},
	})
}

func TestValuesAreExactText(t *testing.T) {
	t.Parallel()
	erptest.Converts(t, erptest.Unopened(t, sqlserver.Engine, dsn), []erptest.Conversion{
		{"int", int64(-7), dialect.Value{Kind: dialect.Int, Text: "-7"}},
		{
			"decimal", []byte("12345678901234567890.1200"),
			dialect.Value{Kind: dialect.Number, Text: "12345678901234567890.1200"},
		},
		{"money", "12.3400", dialect.Value{Kind: dialect.Number, Text: "12.3400"}},
		{"real", float64(float32(0.1)), dialect.Value{Kind: dialect.Float, Text: "0.1"}},
		{"float", 1e21, dialect.Value{Kind: dialect.Float, Text: "1000000000000000000000"}},
		{"bit", true, dialect.Value{Kind: dialect.Bool, Text: "true"}},
		{"date", "1900-01-01", dialect.Value{Kind: dialect.Date, Text: "1900-01-01"}},
		{"datetime", "2026-08-10T23:59:59.303", dialect.Value{Kind: dialect.Timestamp, Text: "2026-08-10T23:59:59.303"}},
		{
			"datetime2", "2026-08-10T23:59:59.3026740",
			dialect.Value{Kind: dialect.Timestamp, Text: "2026-08-10T23:59:59.302674"},
		},
		{"datetimeoffset", "2026-08-10T02:30:00", dialect.Value{Kind: dialect.Instant, Text: "2026-08-09T23:30:00-03:00"}},
		{
			"uniqueidentifier", "DB5B5FAB-8F4D-4E27-9DA1-494C73CF256D",
			dialect.Value{Kind: dialect.Text, Text: "db5b5fab-8f4d-4e27-9da1-494c73cf256d"},
		},
		{"char", "0001    ", dialect.Value{Kind: dialect.Text, Text: "0001    "}},
		{"varbinary", "", dialect.Value{
			Kind: dialect.Bytes,
			Err:  phrase.Pack("binary column; convert it in the query, e.g. %s", "CAST(x AS VARCHAR(100))"),
		}},
	})
}

func TestErrorsAreNamed(t *testing.T) {
	t.Parallel()
	erptest.Names(t, erptest.Unopened(t, sqlserver.Engine, dsn), []erptest.Naming{
		{mssql.Error{Number: 18456, Message: "Login failed for user 'segredo'."}, fault.CodeAuth, "erp.dsn"},
		{
			mssql.Error{Number: 4060, Message: "Cannot open database \"x\""},
			fault.CodeNoDatabase,
			"does not exist",
		},
		{mssql.Error{Number: 207, Message: "Invalid column name 'prco'."}, fault.CodeMissingColumn, "prco"},
		{
			mssql.Error{Number: 208, Message: "Invalid object name 'contratos'."},
			fault.CodeMissingTable,
			"contratos",
		},
		{
			mssql.Error{Number: 8156, Message: "The column 'k' was specified multiple times for 'q'."},
			fault.CodeDuplicateColumn, `two columns named "k"`,
		},
		{
			mssql.Error{Number: 229, Message: "The SELECT permission was denied on the object 'c'"},
			fault.CodePermission, "grant it SELECT",
		},
		{mssql.Error{Number: 1222}, fault.CodeLocked, "locked"},
		{
			mssql.Error{
				Number:  245,
				Message: "Conversion failed when converting the varchar value 'segredo' to data type int.",
			},
			fault.CodeData,
			"TRY_CAST",
		},
		{mssql.Error{Number: 102, Message: "Incorrect syntax near 'FRM'."}, fault.CodeSyntax, "FRM"},
		{mssql.Error{Number: 468, Message: "Cannot resolve the conflict"}, fault.CodeSyntax, "DATABASE_DEFAULT"},
		{mssql.Error{Number: 205, Message: "All queries combined using a UNION"}, fault.CodeSyntax, "UNION"},
		{mssql.Error{Number: 8169, Message: "Conversion failed when converting 'segredo'"}, fault.CodeData, "TRY_CAST"},
		{mssql.Error{Number: 530}, fault.CodeData, "recursion"},
		{mssql.Error{Number: 3961}, fault.CodeLocked, "altered"},
		{mssql.Error{Number: 601}, fault.CodeLocked, "NOLOCK"},
		{mssql.Error{Number: 3967}, fault.CodeTimeout, "tempdb"},
		{mssql.Error{Number: 596}, fault.CodeUnreachable, "ended the connection"},
		{mssql.Error{Number: 0, Class: 20}, fault.CodeUnreachable, "ended the connection"},
		{mssql.Error{Number: 978}, fault.CodeUnreachable, "listener"},
		{mssql.Error{Number: 927}, fault.CodeUnreachable, "restored"},
		{mssql.Error{Number: 18401}, fault.CodeUnreachable, "starting"},
		{mssql.Error{Number: 4064}, fault.CodeNoDatabase, "does not exist"},
		{mssql.Error{Number: 1105}, fault.CodeUnreachable, "disk space"},
		{mssql.Error{Number: 50000, Message: "segredo"}, fault.CodeOther, "error 50000"},
	})
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	erptest.Addresses(t, sqlserver.Engine, map[string]string{
		"sqlserver://le:se%23gredo@erp/ERP?tls=disable":      "erp:1433/ERP",
		"sqlserver://le:segredo@erp/ERP?instance=TOTVS":      `erp\TOTVS/ERP`,
		"sqlserver://le:segredo@erp:1500/ERP?instance=TOTVS": "erp:1500/ERP",
		"sqlserver://le:segredo@[::1]:1500/ERP?tls=require":  "[::1]:1500/ERP",
	}, map[string]string{
		"sqlserver://le:segredo@erp":             "names no database",
		"Server=erp;Password=segredo":            "sqlserver://USER",
		"sqlserver://le:segredo@erp/ERP?log=255": "instance",
	})
}
