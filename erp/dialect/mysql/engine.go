package mysql

import (
	"net/url"
	"regexp"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/sqltext"
)

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
