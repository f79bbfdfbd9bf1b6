package erp

import (
	"regexp"
)

// sqliteEngine is a SQLite file.
var sqliteEngine = &dbEngine{
	name: "sqlite", syntax: sqliteSyntax,
	plainName: regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`),
	changedAt: changedAt{
		asText: true,
	},
	catalogue:   sqliteCatalogue,
	open:        openSQLite,
	unencrypted: func(Secret) bool { return false },
}

var sqliteSyntax = &language{
	name: "SQLite", lexis: lexis{backtick: true, bracket: true, params: "?:@"},
	quotes: [2]string{`"`, `"`}, alias: " AS q", placeholder: questionMark, noRows: " LIMIT 0",
	first: firstRow{suffix: " LIMIT 1"},
}

var sqliteCatalogue = catalogueSQL{
	relations: `SELECT '' AS schema_name, name AS table_name, CASE type WHEN 'view' THEN 1 ELSE 0 END AS is_view, NULL AS row_estimate
FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`,
	columns: `SELECT '' AS schema_name, m.name AS table_name, p.name AS column_name, p.type AS type_name,
  CASE WHEN p."notnull" = 1 OR p.pk > 0 THEN 0 ELSE 1 END AS is_nullable, p.cid AS ordinal
FROM sqlite_master m JOIN pragma_table_info(m.name) p
WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\'`,
	indexes: `SELECT '' AS schema_name, m.name AS table_name, 'primary key' AS index_name, 1 AS is_primary, 1 AS is_unique, p.name AS column_name, p.pk AS ordinal
FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' AND p.pk > 0
UNION ALL
SELECT '', m.name, l.name, 0, l."unique", x.name, x.seqno
FROM sqlite_master m JOIN pragma_index_list(m.name) l JOIN pragma_index_info(l.name) x
WHERE m.type = 'table' AND l.origin <> 'pk' AND l.partial = 0 AND x.name IS NOT NULL`,
	// An index gives the last row number at once; a table WITHOUT ROWID has none, and no estimate.
	estimate: "SELECT max(rowid) AS n FROM TABLE",
}
