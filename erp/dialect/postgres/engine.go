package postgres

import (
	"regexp"

	"github.com/lib/pq"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/sqltext"
)

// Engine is PostgreSQL through lib/pq.
var Engine = &dialect.Engine{
	Name: "postgres", Syntax: Syntax,
	PlainName: regexp.MustCompile(`^[a-z_][a-z0-9_]*$`),
	ChangedAt: dialect.ChangedAt{
		Types:  []string{"timestamptz", "timestamp", "date"},
		Advice: "cast it to timestamp in the query, as in %s::timestamp",
	},
	Catalogue: catalogue,
	Literals: dialect.Literals{
		Session: dialect.Literal{
			SQL: "current_setting('transaction_isolation') || ' ' || current_setting('transaction_read_only')", Want: "repeatable read on",
		},
	},
	Open: open,
	Unencrypted: func(dsn dialect.Secret) bool {
		return remoteWith(dsn, pq.SSLModeDisable, pq.SSLModeAllow, pq.SSLModePrefer)
	},
	Unproved: func(dsn dialect.Secret) bool { return remoteWith(dsn, pq.SSLModeRequire, "") },
}

// Syntax is the SQL of PostgreSQL.
var Syntax = &sqltext.Syntax{
	Name: "PostgreSQL", Lexis: sqltext.Lexis{NestedComments: true, PostgresStrings: true},
	Quotes: [2]string{`"`, `"`}, Alias: " AS q", Placeholder: sqltext.Numbered("$"), NoRows: " LIMIT 0",
	First: sqltext.FirstRow{Suffix: " LIMIT 1"},
}

var catalogue = dialect.Catalogue{
	Relations: `SELECT CAST(n.nspname AS text) AS schema_name, CAST(c.relname AS text) AS table_name, CASE WHEN c.relkind IN ('v', 'm') THEN 1 ELSE 0 END AS is_view,
  CASE WHEN c.relkind = 'v' OR c.reltuples < 0 THEN NULL ELSE CAST(c.reltuples AS bigint) END AS row_estimate
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND n.nspname NOT LIKE 'pg\_%'
    AND n.nspname <> 'information_schema'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')`,
	Columns: `SELECT CAST(n.nspname AS text) AS schema_name, CAST(c.relname AS text) AS table_name, CAST(a.attname AS text) AS column_name,
  format_type(a.atttypid, a.atttypmod) AS type_name, CASE WHEN a.attnotnull THEN 0 ELSE 1 END AS is_nullable,
    CAST(a.attnum AS integer) AS ordinal
FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT LIKE 'pg\_%'
    AND n.nspname <> 'information_schema'`,
	Indexes: `SELECT CAST(n.nspname AS text) AS schema_name, CAST(c.relname AS text) AS table_name, CAST(i.relname AS text) AS index_name,
  CASE WHEN x.indisprimary THEN 1 ELSE 0 END AS is_primary, CASE WHEN x.indisunique THEN 1 ELSE 0 END AS is_unique,
  CAST(a.attname AS text) AS column_name, k.place AS ordinal
FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class c ON c.oid = x.indrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid CROSS JOIN LATERAL unnest(x.indkey) WITH ORDINALITY AS k(number,
    place)
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
WHERE x.indpred IS NULL AND x.indexprs IS NULL AND k.place <= x.indnkeyatts AND n.nspname NOT LIKE 'pg\_%'
    AND n.nspname <> 'information_schema'`,
}
