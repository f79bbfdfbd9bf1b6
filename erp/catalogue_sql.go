package erp

// catalogueSQL asks a database for its tables, their columns and their indexes. Every query names
// its result alike, so that one reader serves all:
//
//	relations  schema_name, table_name, is_view (0 or 1), row_estimate (NULL: none)
//	columns    schema_name, table_name, column_name, type_name, is_nullable (0 or 1), ordinal
//	indexes    schema_name, table_name, index_name, is_primary, is_unique (0 or 1), column_name, ordinal
//
// They have no ORDER BY, because they are read as subqueries.
type catalogueSQL struct{ relations, columns, indexes string }

// catalogueQueries are the queries by driver. Those of postgres and sqlite are tested against the
// real thing; the others are as their vendors document these views.
var catalogueQueries = map[string]catalogueSQL{
	DriverSQLite: {
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
	},
	DriverPostgres: {
		relations: `SELECT CAST(n.nspname AS text) AS schema_name, CAST(c.relname AS text) AS table_name, CASE WHEN c.relkind IN ('v', 'm') THEN 1 ELSE 0 END AS is_view,
  CASE WHEN c.relkind = 'v' OR c.reltuples < 0 THEN NULL ELSE CAST(c.reltuples AS bigint) END AS row_estimate
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')`,
		columns: `SELECT CAST(n.nspname AS text) AS schema_name, CAST(c.relname AS text) AS table_name, CAST(a.attname AS text) AS column_name,
  format_type(a.atttypid, a.atttypmod) AS type_name, CASE WHEN a.attnotnull THEN 0 ELSE 1 END AS is_nullable, CAST(a.attnum AS integer) AS ordinal
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'`,
		indexes: `SELECT CAST(n.nspname AS text) AS schema_name, CAST(c.relname AS text) AS table_name, CAST(i.relname AS text) AS index_name,
  CASE WHEN x.indisprimary THEN 1 ELSE 0 END AS is_primary, CASE WHEN x.indisunique THEN 1 ELSE 0 END AS is_unique,
  CAST(a.attname AS text) AS column_name, k.place AS ordinal
FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class c ON c.oid = x.indrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid CROSS JOIN LATERAL unnest(x.indkey) WITH ORDINALITY AS k(number, place)
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
WHERE x.indpred IS NULL AND x.indexprs IS NULL AND k.place <= x.indnkeyatts AND n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'`,
	},
	"mysql": {
		relations: `SELECT table_schema AS schema_name, table_name AS table_name, CASE WHEN table_type = 'VIEW' THEN 1 ELSE 0 END AS is_view, table_rows AS row_estimate
FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')`,
		columns: `SELECT table_schema AS schema_name, table_name AS table_name, column_name AS column_name, column_type AS type_name,
  CASE WHEN is_nullable = 'YES' THEN 1 ELSE 0 END AS is_nullable, ordinal_position AS ordinal
FROM information_schema.columns WHERE table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')`,
		indexes: `SELECT table_schema AS schema_name, table_name AS table_name, index_name AS index_name, CASE WHEN index_name = 'PRIMARY' THEN 1 ELSE 0 END AS is_primary,
  CASE WHEN non_unique = 0 THEN 1 ELSE 0 END AS is_unique, column_name AS column_name, seq_in_index AS ordinal
FROM information_schema.statistics
WHERE column_name IS NOT NULL AND table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')`,
	},
	"sqlserver": {
		relations: `SELECT s.name AS schema_name, o.name AS table_name, CASE WHEN o.type = 'V' THEN 1 ELSE 0 END AS is_view,
  (SELECT SUM(p.rows) FROM sys.partitions p WHERE p.object_id = o.object_id AND p.index_id IN (0, 1)) AS row_estimate
FROM sys.objects o JOIN sys.schemas s ON s.schema_id = o.schema_id WHERE o.type IN ('U', 'V') AND o.is_ms_shipped = 0`,
		columns: `SELECT s.name AS schema_name, o.name AS table_name, c.name AS column_name, t.name AS type_name,
  CASE WHEN c.is_nullable = 1 THEN 1 ELSE 0 END AS is_nullable, c.column_id AS ordinal
FROM sys.columns c JOIN sys.objects o ON o.object_id = c.object_id JOIN sys.schemas s ON s.schema_id = o.schema_id
  JOIN sys.types t ON t.user_type_id = c.user_type_id
WHERE o.type IN ('U', 'V') AND o.is_ms_shipped = 0`,
		indexes: `SELECT s.name AS schema_name, o.name AS table_name, i.name AS index_name, CASE WHEN i.is_primary_key = 1 THEN 1 ELSE 0 END AS is_primary,
  CASE WHEN i.is_unique = 1 THEN 1 ELSE 0 END AS is_unique, c.name AS column_name, x.key_ordinal AS ordinal
FROM sys.indexes i JOIN sys.objects o ON o.object_id = i.object_id JOIN sys.schemas s ON s.schema_id = o.schema_id
  JOIN sys.index_columns x ON x.object_id = i.object_id AND x.index_id = i.index_id
  JOIN sys.columns c ON c.object_id = x.object_id AND c.column_id = x.column_id
WHERE o.type = 'U' AND o.is_ms_shipped = 0 AND i.has_filter = 0 AND x.is_included_column = 0`,
	},
	"firebird": {
		relations: `SELECT '' AS schema_name, TRIM(r.RDB$RELATION_NAME) AS table_name, CASE WHEN r.RDB$VIEW_BLR IS NULL THEN 0 ELSE 1 END AS is_view,
  CAST(NULL AS BIGINT) AS row_estimate
FROM RDB$RELATIONS r WHERE COALESCE(r.RDB$SYSTEM_FLAG, 0) = 0`,
		columns: `SELECT '' AS schema_name, TRIM(f.RDB$RELATION_NAME) AS table_name, TRIM(f.RDB$FIELD_NAME) AS column_name,
  CASE t.RDB$FIELD_TYPE WHEN 7 THEN 'smallint' WHEN 8 THEN 'integer' WHEN 10 THEN 'float' WHEN 12 THEN 'date' WHEN 13 THEN 'time' WHEN 14 THEN 'char'
    WHEN 16 THEN 'bigint' WHEN 23 THEN 'boolean' WHEN 27 THEN 'double precision' WHEN 35 THEN 'timestamp' WHEN 37 THEN 'varchar' WHEN 261 THEN 'blob'
    ELSE 'other' END AS type_name,
  CASE WHEN COALESCE(f.RDB$NULL_FLAG, t.RDB$NULL_FLAG, 0) = 1 THEN 0 ELSE 1 END AS is_nullable, f.RDB$FIELD_POSITION AS ordinal
FROM RDB$RELATION_FIELDS f JOIN RDB$RELATIONS r ON r.RDB$RELATION_NAME = f.RDB$RELATION_NAME JOIN RDB$FIELDS t ON t.RDB$FIELD_NAME = f.RDB$FIELD_SOURCE
WHERE COALESCE(r.RDB$SYSTEM_FLAG, 0) = 0`,
		indexes: `SELECT '' AS schema_name, TRIM(i.RDB$RELATION_NAME) AS table_name, TRIM(i.RDB$INDEX_NAME) AS index_name,
  CASE WHEN c.RDB$CONSTRAINT_TYPE = 'PRIMARY KEY' THEN 1 ELSE 0 END AS is_primary, COALESCE(i.RDB$UNIQUE_FLAG, 0) AS is_unique,
  TRIM(s.RDB$FIELD_NAME) AS column_name, s.RDB$FIELD_POSITION AS ordinal
FROM RDB$INDICES i JOIN RDB$INDEX_SEGMENTS s ON s.RDB$INDEX_NAME = i.RDB$INDEX_NAME
  LEFT JOIN RDB$RELATION_CONSTRAINTS c ON c.RDB$INDEX_NAME = i.RDB$INDEX_NAME
WHERE COALESCE(i.RDB$SYSTEM_FLAG, 0) = 0 AND COALESCE(i.RDB$INDEX_INACTIVE, 0) = 0`,
	},
	"oracle": {
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
	},
}
