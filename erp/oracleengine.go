package erp

import (
	"net/url"
	"regexp"
)

// oracleEngine is Oracle Database, not yet tried on a live server.
var oracleEngine = &dbEngine{
	name: "oracle", syntax: oracleSyntax,
	plainName: regexp.MustCompile(`^[A-Z][A-Z0-9_$]*$`),
	changedAt: changedAt{
		types:  []string{"date", "timestamp", "timestamp with time zone", "timestamp with local time zone"},
		advice: "turn it into a TIMESTAMP in the query, e.g. TO_TIMESTAMP(COLUMN, 'YYYYMMDDHH24MISS')",
	},
	catalogue: oracleCatalogue,
	open:      openOracle,
	unencrypted: func(dsn Secret) bool {
		return remoteURL(dsn, func(q url.Values) bool {
			return q.Get("tls") == "disable" || !q.Has("tls") && !q.Has("ca")
		})
	},
}

var oracleSyntax = &language{
	name: "Oracle", lexis: lexis{params: ":", wordMore: "#", oracleStrings: true},
	forbidden: [][]string{{"FOR", "UPDATE"}, {"NEXTVAL"}},
	opaque:    []string{"MINUS", "CONNECT", "START", "ROWNUM", "MODEL", "PIVOT", "UNPIVOT", "SAMPLE"},
	quotes:    [2]string{`"`, `"`}, alias: " q", placeholder: numbered(":"), noRows: " WHERE 1 = 0",
	first: firstRow{cond: " AND ROWNUM = 1"},
}

var oracleCatalogue = catalogueSQL{
	relations: `SELECT t.owner AS schema_name, t.table_name AS table_name, 0 AS is_view, t.num_rows AS row_estimate
FROM all_tables t WHERE t.owner IN (SELECT u.username FROM all_users u WHERE u.oracle_maintained = 'N')
UNION ALL
SELECT v.owner, v.view_name, 1, NULL FROM all_views v WHERE v.owner IN (SELECT u.username FROM all_users u WHERE u.oracle_maintained = 'N')`,
	columns: `SELECT c.owner AS schema_name, c.table_name AS table_name, c.column_name AS column_name, c.data_type AS type_name,
  CASE WHEN c.nullable = 'Y' THEN 1 ELSE 0 END AS is_nullable, c.column_id AS ordinal
FROM all_tab_columns c WHERE c.owner IN (SELECT u.username FROM all_users u WHERE u.oracle_maintained = 'N')`,
	indexes: `SELECT i.table_owner AS schema_name, i.table_name AS table_name, i.index_name AS index_name,
  CASE WHEN EXISTS (SELECT 1 FROM all_constraints k WHERE k.owner = i.table_owner AND k.table_name = i.table_name AND k.constraint_type = 'P'
    AND k.index_name = i.index_name) THEN 1 ELSE 0 END AS is_primary,
  CASE WHEN i.uniqueness = 'UNIQUE' THEN 1 ELSE 0 END AS is_unique, c.column_name AS column_name, c.column_position AS ordinal
FROM all_indexes i JOIN all_ind_columns c ON c.index_owner = i.owner AND c.index_name = i.index_name
WHERE i.index_type = 'NORMAL' AND i.table_owner IN (SELECT u.username FROM all_users u WHERE u.oracle_maintained = 'N')`,
}
