package erp

import (
	"strings"
)

func mysqlNumeric(typ string) bool {
	return strings.HasSuffix(typ, "int") || typ == "year" || typ == "bit" || typ == "decimal" || typ == "float" ||
		typ == "double"
}

// item selects a column so that the driver cannot lose anything of it.
func (m *mysql) item(col Column, use use) selectItem {
	if use == forBound {
		return mysqlBound(col)
	}
	name := mysqlSyntax.column(col.Name)
	switch typ := col.Type; {
	case strings.HasSuffix(typ, "int"), typ == "year":
		return selectItem{sql: name, convert: keep(Int)}
	case typ == "bit":
		return selectItem{
			sql:     name + " + 0",
			convert: keep(Int),
		}
	case typ == "decimal":
		return selectItem{sql: name, convert: asText(numberValue)}
	case typ == "float":
		// As it is, the server would print six digits only.
		return selectItem{sql: name + " + 0e0", convert: func(v any) Value { return anyFloat(v, 32) }}
	case typ == "double":
		return selectItem{sql: name, convert: func(v any) Value { return anyFloat(v, 64) }}
	case typ == "date":
		return selectItem{sql: name, convert: asText(mysqlDate)}
	case typ == "datetime":
		return selectItem{sql: name, convert: asText(mysqlTimestamp)}
	case typ == "timestamp":
		// MariaDB has no number for a zero TIMESTAMP, MySQL gives 0.
		return selectItem{sql: "COALESCE(UNIX_TIMESTAMP(" + name + "), CASE WHEN " + name +
			" IS NULL THEN NULL ELSE 0 END)", convert: asText(m.instant)}
	case strings.HasSuffix(typ, "blob"), strings.HasSuffix(typ, "binary"), typ == "geometry", typ == "vector":
		// The content is not wanted: old ERPs keep megabytes of notes in blobs.
		return selectItem{
			sql: "CASE WHEN " + name + " IS NULL THEN NULL ELSE '' END",
			convert: binaryColumn("CONVERT(" + col.Name +
				" USING latin1)"),
		}
	default:
		return selectItem{sql: name, convert: asText(plainTextValue)}
	}
}

// mysqlBound is the text of a bound: a TIMESTAMP as an instant in UTC.
func mysqlBound(col Column) selectItem {
	name := mysqlSyntax.column(col.Name)
	if col.Type == "timestamp" {
		return selectItem{sql: "UNIX_TIMESTAMP(" + name + ")", convert: asText(func(s string) Value {
			at, ok := parseEpoch(s)
			if !ok || at.Unix() == 0 {
				return Value{}
			}
			return Value{Kind: Text, Text: at.Format(isoMicro + "+00:00")}
		})}
	}
	return selectItem{sql: name, convert: keep(Text)}
}

func mysqlDate(s string) Value {
	if _, ok := parseMoment(s); ok || strings.Contains(s, "-00") {
		return Value{Kind: Date, Text: s} // 0000-00-00 and 2026-00-00 are stored dates that a mapping may call empty
	}
	return Value{Kind: Date, Text: s, Err: oddTime("date", s)}
}

func mysqlTimestamp(s string) Value {
	if len(s) >= 10 && strings.Contains(s[:10], "-00") {
		return Value{Kind: Date, Text: s[:10]}
	}
	return timestampText(s)
}

func (m *mysql) instant(s string) Value {
	at, ok := parseEpoch(s)
	switch {
	case !ok:
		return Value{Kind: Instant, Err: oddTime("timestamp", s)}
	case at.Unix() == 0:
		return Value{Kind: Date, Text: zeroDate} // a TIMESTAMP begins at 1970-01-01 00:00:01
	}
	return Value{Kind: Instant, Text: instantText(at, m.opt.TimeZone)}
}
