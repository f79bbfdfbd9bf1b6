package sqlserver

import (
	"net/url"
	"regexp"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/sqltext"
)

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
