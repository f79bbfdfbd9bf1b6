package oracle

import (
	"net/url"
	"regexp"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/sqltext"
)

// Engine is Oracle Database, not yet tried on a live server.
var Engine = &dialect.Engine{
	Name: "oracle", Syntax: Syntax,
	PlainName: regexp.MustCompile(`^[A-Z][A-Z0-9_$]*$`),
	ChangedAt: dialect.ChangedAt{
		Types:  []string{"date", "timestamp", "timestamp with time zone", "timestamp with local time zone"},
		Advice: "turn it into a TIMESTAMP in the query, e.g. TO_TIMESTAMP(%s, 'YYYYMMDDHH24MISS')",
	},
	Catalogue: catalogue,
	Literals: dialect.Literals{
		Dual: " FROM DUAL",
		Values: map[string]dialect.Literal{
			"integer":  {SQL: "CAST(9007199254740993 AS NUMBER(19))", Want: "9007199254740993"},
			"decimal":  {SQL: "CAST(12345678901234.5678 AS NUMBER(18,4))", Want: "12345678901234.5678"},
			"negative": {SQL: "CAST(-0.05 AS NUMBER(9,2))", Want: "-0.05"},
			"float":    {SQL: "CAST(0.1 AS BINARY_DOUBLE)", Want: "0.1"},
			"empty":    {SQL: "''", Want: dialect.NullText}, // an empty text is NULL
			"null":     {SQL: "CAST(NULL AS NUMBER(9))", Want: dialect.NullText},
			"date":     {SQL: "DATE '2018-11-04'", Want: "2018-11-04T00:00:00"}, // a DATE has a time
			"instant":  {SQL: "TIMESTAMP '2026-08-10 23:59:59 -03:00'", Want: "2026-08-10T23:59:59-03:00"},
			"boolean":  {}, // SQL has none before Oracle 23
		},
	},
	Open: open,
	Unencrypted: func(dsn dialect.Secret) bool {
		return dialect.RemoteURL(dsn, func(q url.Values) bool {
			return q.Get("tls") == "disable" || !q.Has("tls") && !q.Has("ca")
		})
	},
}

// Syntax is the SQL of Oracle Database.
var Syntax = &sqltext.Syntax{
	Name: "Oracle", Lexis: sqltext.Lexis{Params: ":", WordMore: "#", OracleStrings: true},
	Forbidden: [][]string{{"FOR", "UPDATE"}, {"NEXTVAL"}},
	Opaque:    []string{"MINUS", "CONNECT", "START", "ROWNUM", "MODEL", "PIVOT", "UNPIVOT", "SAMPLE"},
	Quotes:    [2]string{`"`, `"`}, Alias: " q", Placeholder: sqltext.Numbered(":"), NoRows: " WHERE 1 = 0",
	First: sqltext.FirstRow{Cond: " AND ROWNUM = 1"},
}

// ofTheERP follows the owner of a table. Since 12.1 the database knows which owners are its own
// (ORACLE_MAINTAINED); 11.2 does not.
const ofTheERP = ` NOT IN (
  'ANONYMOUS', 'APPQOSSYS', 'AUDSYS', 'CTXSYS', 'DBSFWUSER', 'DBSNMP', 'DIP', 'DVF', 'DVSYS',
  'EXFSYS', 'GGSYS', 'GSMADMIN_INTERNAL', 'GSMCATUSER', 'GSMUSER', 'LBACSYS', 'MDDATA', 'MDSYS',
  'MGMT_VIEW', 'OJVMSYS', 'OLAPSYS', 'ORACLE_OCM', 'ORDDATA', 'ORDPLUGINS', 'ORDSYS', 'ORDS_METADATA',
  'OUTLN', 'OWBSYS', 'OWBSYS_AUDIT', 'SI_INFORMTN_SCHEMA', 'SPATIAL_CSW_ADMIN_USR',
  'SPATIAL_WFS_ADMIN_USR', 'SYS', 'SYSBACKUP', 'SYSDG', 'SYSKM', 'SYSMAN', 'SYSRAC', 'SYSTEM',
  'WMSYS', 'XDB', 'XS$NULL', 'FLOWS_FILES', 'APEX_PUBLIC_USER')`

var catalogue = dialect.Catalogue{
	Relations: `SELECT t.owner AS schema_name, t.table_name AS table_name, 0 AS is_view, t.num_rows AS row_estimate
FROM all_tables t WHERE t.owner` + ofTheERP + `
UNION ALL
SELECT v.owner, v.view_name, 1, NULL FROM all_views v WHERE v.owner` + ofTheERP,
	Columns: `SELECT c.owner AS schema_name, c.table_name AS table_name, c.column_name AS column_name, c.data_type AS type_name,
  CASE WHEN c.nullable = 'Y' THEN 1 ELSE 0 END AS is_nullable, c.column_id AS ordinal
FROM all_tab_columns c WHERE c.owner` + ofTheERP,
	Indexes: `SELECT i.table_owner AS schema_name, i.table_name AS table_name, i.index_name AS index_name,
  CASE WHEN EXISTS (SELECT 1 FROM all_constraints k WHERE k.owner = i.table_owner AND k.table_name = i.table_name
    AND k.constraint_type = 'P'
    AND k.index_name = i.index_name) THEN 1 ELSE 0 END AS is_primary,
  CASE WHEN i.uniqueness = 'UNIQUE' THEN 1 ELSE 0 END AS is_unique, c.column_name AS column_name,
    c.column_position AS ordinal
FROM all_indexes i JOIN all_ind_columns c ON c.index_owner = i.owner AND c.index_name = i.index_name
WHERE i.index_type = 'NORMAL' AND i.table_owner` + ofTheERP,
}
