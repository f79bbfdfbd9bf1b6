package firebird

import (
	"net/url"
	"regexp"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/sqltext"
)

// Engine is Firebird 3 and later.
var Engine = &dialect.Engine{
	Name: "firebird", Syntax: Syntax,
	PlainName: regexp.MustCompile(`^[A-Z][A-Z0-9_$]*$`),
	ChangedAt: dialect.ChangedAt{
		Types:  []string{"timestamp", "date", "timestamp with timezone"},
		Advice: "turn it into a TIMESTAMP in the query, e.g. CAST(%s AS TIMESTAMP)",
	},
	Catalogue: catalogue,
	Literals: dialect.Literals{
		Dual: " FROM RDB$DATABASE",
		Values: map[string]dialect.Literal{
			"instant": {}, // only in Firebird 4 and later
		},
		Session: dialect.Literal{SQL: "RDB$GET_CONTEXT('SYSTEM', 'ISOLATION_LEVEL')", Want: "SNAPSHOT"},
	},
	Open: open,
	Unencrypted: func(dsn dialect.Secret) bool {
		return dialect.RemoteURL(dsn, func(q url.Values) bool { return q.Get("wire_crypt") == "disabled" })
	},
}

// Syntax is the SQL of Firebird.
var Syntax = &sqltext.Syntax{
	Name: "Firebird", Lexis: sqltext.Lexis{Params: "?:", OracleStrings: true},
	Forbidden: [][]string{{"FOR", "UPDATE"}, {"WITH", "LOCK"}, {"GEN_ID"}, {"NEXT", "VALUE"}, {"RDB$SET_CONTEXT"}},
	Opaque:    []string{"FIRST", "SKIP", "ROWS", "PLAN"},
	Quotes:    [2]string{`"`, `"`}, Alias: " AS q", Placeholder: sqltext.QuestionMark, NoRows: " WHERE 1 = 0",
	First: sqltext.FirstRow{Suffix: " ROWS 1"},
}

var catalogue = dialect.Catalogue{
	Relations: `SELECT '' AS schema_name, TRIM(r.RDB$RELATION_NAME) AS table_name, CASE WHEN r.RDB$VIEW_BLR IS NULL THEN 0 ELSE 1 END AS is_view,
  CAST(NULL AS INTEGER) AS row_estimate
FROM RDB$RELATIONS r WHERE COALESCE(r.RDB$SYSTEM_FLAG, 0) = 0`,
	Columns: `SELECT '' AS schema_name, TRIM(f.RDB$RELATION_NAME) AS table_name, TRIM(f.RDB$FIELD_NAME) AS column_name,
  CASE t.RDB$FIELD_TYPE WHEN 7 THEN 'smallint' WHEN 8 THEN 'integer' WHEN 10 THEN 'float' WHEN 12 THEN 'date'
    WHEN 13 THEN 'time' WHEN 14 THEN 'char'
    WHEN 16 THEN 'bigint' WHEN 23 THEN 'boolean' WHEN 27 THEN 'double precision' WHEN 35 THEN 'timestamp'
    WHEN 37 THEN 'varchar' WHEN 261 THEN 'blob'
    ELSE 'other' END AS type_name,
  CASE WHEN COALESCE(f.RDB$NULL_FLAG, t.RDB$NULL_FLAG, 0) = 1 THEN 0 ELSE 1 END AS is_nullable,
    f.RDB$FIELD_POSITION AS ordinal
FROM RDB$RELATION_FIELDS f JOIN RDB$RELATIONS r ON r.RDB$RELATION_NAME = f.RDB$RELATION_NAME
    JOIN RDB$FIELDS t ON t.RDB$FIELD_NAME = f.RDB$FIELD_SOURCE
WHERE COALESCE(r.RDB$SYSTEM_FLAG, 0) = 0`,
	Indexes: `SELECT '' AS schema_name, TRIM(i.RDB$RELATION_NAME) AS table_name, TRIM(i.RDB$INDEX_NAME) AS index_name,
  CASE WHEN c.RDB$CONSTRAINT_TYPE = 'PRIMARY KEY' THEN 1 ELSE 0 END AS is_primary, COALESCE(i.RDB$UNIQUE_FLAG,
    0) AS is_unique,
  TRIM(s.RDB$FIELD_NAME) AS column_name, s.RDB$FIELD_POSITION AS ordinal
FROM RDB$INDICES i JOIN RDB$INDEX_SEGMENTS s ON s.RDB$INDEX_NAME = i.RDB$INDEX_NAME
  LEFT JOIN RDB$RELATION_CONSTRAINTS c ON c.RDB$INDEX_NAME = i.RDB$INDEX_NAME
WHERE COALESCE(i.RDB$SYSTEM_FLAG, 0) = 0 AND COALESCE(i.RDB$INDEX_INACTIVE, 0) = 0`,
}
