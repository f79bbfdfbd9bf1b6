package sqlite

import (
	"regexp"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/sqltext"
)

// Engine is a SQLite file.
var Engine = &dialect.Engine{
	Name: "sqlite", Syntax: Syntax,
	PlainName: regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`),
	ChangedAt: dialect.ChangedAt{AsText: true},
	Catalogue: catalogue,
	Literals: dialect.Literals{Values: map[string]dialect.Literal{
		// SQLite stores a NUMERIC as a float
		"decimal":   {SQL: "12345678901234.5678", Want: "12345678901234.568"},
		"negative":  {SQL: "-0.05", Want: "-0.05"},
		"float":     {SQL: "0.1", Want: "0.1"},
		"date":      {SQL: "'2018-11-04'", Want: "2018-11-04"},
		"timestamp": {SQL: "'2026-08-10 23:59:59'", Want: "2026-08-10 23:59:59"},
		"instant":   {}, // SQLite has no types for times
		"boolean":   {}, // TRUE is the number 1
	}},
	Open:        open,
	Unencrypted: func(dialect.Secret) bool { return false },
}

// Syntax is the SQL of SQLite.
var Syntax = &sqltext.Syntax{
	Name: "SQLite", Lexis: sqltext.Lexis{Backtick: true, Bracket: true, Params: "?:@"},
	Quotes: [2]string{`"`, `"`}, Alias: " AS q", Placeholder: sqltext.QuestionMark, NoRows: " LIMIT 0",
	First: sqltext.FirstRow{Suffix: " LIMIT 1"},
}

var catalogue = dialect.Catalogue{
	Relations: `SELECT '' AS schema_name, name AS table_name, CASE type WHEN 'view' THEN 1 ELSE 0 END AS is_view, NULL AS row_estimate
FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`,
	Columns: `SELECT '' AS schema_name, m.name AS table_name, p.name AS column_name, p.type AS type_name,
  CASE WHEN p."notnull" = 1 OR p.pk > 0 THEN 0 ELSE 1 END AS is_nullable, p.cid AS ordinal
FROM sqlite_master m JOIN pragma_table_info(m.name) p
WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\'`,
	Indexes: `SELECT '' AS schema_name, m.name AS table_name, 'primary key' AS index_name, 1 AS is_primary, 1 AS is_unique, p.name AS column_name, p.pk AS ordinal
FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' AND p.pk > 0
UNION ALL
SELECT '', m.name, l.name, 0, l."unique", x.name, x.seqno
FROM sqlite_master m JOIN pragma_index_list(m.name) l JOIN pragma_index_info(l.name) x
WHERE m.type = 'table' AND l.origin <> 'pk' AND l.partial = 0 AND x.name IS NOT NULL`,
	// An index returns the last rowid at once. A table WITHOUT ROWID has none, and no estimate.
	Estimate: "SELECT max(rowid) AS n FROM TABLE",
}
