package erp

import (
	"net/url"
	"regexp"
)

// mysqlEngine is MySQL and MariaDB.
var mysqlEngine = &dbEngine{
	name: "mysql", syntax: mysqlSyntax,
	plainName: regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`),
	changedAt: changedAt{
		types:  []string{"timestamp", "datetime", "date"},
		advice: "turn it into a DATETIME in the query, e.g. CAST(COLUMN AS DATETIME)",
	},
	catalogue: mysqlCatalogue,
	open:      openMySQL,
	unencrypted: func(dsn Secret) bool {
		return remoteURL(dsn, func(q url.Values) bool { return q.Get("tls") == "disable" })
	},
}

var mysqlSyntax = &language{
	name: "MySQL",
	lexis: lexis{
		backtick: true, hashComments: true, dashNeedsBlank: true, executableComments: true, backslash: true,
		doubleQuoteText: true, params: "?@",
	},
	forbidden: [][]string{
		{"FOR", "UPDATE"},
		{"FOR", "SHARE"},
		{"LOCK", "IN"},
		{"INTO"},
		{"NEXTVAL"},
		{"SETVAL"},
		{"NEXT", "VALUE"},
		{"GET_LOCK"},
	},
	opaque: []string{"PROCEDURE", "STRAIGHT_JOIN"},
	quotes: [2]string{"`", "`"}, alias: " AS q", placeholder: questionMark, noRows: " LIMIT 0",
	first: firstRow{suffix: " LIMIT 1"},
}

var mysqlCatalogue = catalogueSQL{
	relations: `SELECT table_schema AS schema_name, table_name AS table_name, CASE WHEN table_type = 'VIEW' THEN 1 ELSE 0 END AS is_view, table_rows AS row_estimate
FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')`,
	columns: `SELECT table_schema AS schema_name, table_name AS table_name, column_name AS column_name, column_type AS type_name,
  CASE WHEN is_nullable = 'YES' THEN 1 ELSE 0 END AS is_nullable, ordinal_position AS ordinal
FROM information_schema.columns WHERE table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')`,
	indexes: `SELECT table_schema AS schema_name, table_name AS table_name, index_name AS index_name, CASE WHEN index_name = 'PRIMARY' THEN 1 ELSE 0 END AS is_primary,
  CASE WHEN non_unique = 0 THEN 1 ELSE 0 END AS is_unique, column_name AS column_name, seq_in_index AS ordinal
FROM information_schema.statistics
WHERE column_name IS NOT NULL AND table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')`,
}
