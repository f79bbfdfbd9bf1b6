package erp

import (
	"database/sql"
	"strings"
	"time"
)

// firebirdType names an integer with a scale for what it is.
func firebirdType(ct *sql.ColumnType) string {
	typ := strings.ToLower(ct.DatabaseTypeName())
	if _, scale, ok := ct.DecimalSize(); ok && scale != 0 && !strings.HasPrefix(typ, "dec") {
		return "numeric"
	}
	return typ
}

// item selects numbers and times as the text that Firebird itself writes: the
// driver would put dates into a time zone and small decimals into E notation.
func (f *firebird) item(col Column, use use) selectItem {
	if use == forBound {
		return firebirdBound(col)
	}
	name := firebirdSyntax.column(col.Name)
	binary := binaryColumn("CAST(" + col.Name + " AS VARCHAR(100) CHARACTER SET WIN1252)")
	cast := func(size string) string { return "CAST(" + name + " AS VARCHAR(" + size + "))" }
	switch col.Type {
	case "short", "long", "int64", "int128":
		return selectItem{sql: name, convert: keep(Int)}
	case "numeric":
		return selectItem{
			sql:     cast("50"),
			convert: asText(func(s string) Value { return numberValue(strings.TrimSpace(s)) }),
		}
	case "decfloat(16)", "decfloat(34)":
		return selectItem{
			sql:     "CAST(CAST(" + name + " AS NUMERIC(38,10)) AS VARCHAR(60))",
			convert: asText(func(s string) Value { return numberValue(strings.TrimSpace(s)) }),
		}
	case "float":
		return selectItem{sql: name, convert: func(v any) Value { return anyFloat(v, 32) }}
	case "double":
		return selectItem{sql: name, convert: func(v any) Value { return anyFloat(v, 64) }}
	case "date":
		return selectItem{sql: cast("10"), convert: asText(dateText)}
	case "timestamp":
		return selectItem{sql: cast("24"), convert: asText(timestampText)}
	case "timestamp with timezone":
		return selectItem{sql: name, convert: func(v any) Value {
			if at, ok := v.(time.Time); ok {
				return Value{Kind: Instant, Text: instantText(at, f.opt.TimeZone)}
			}
			return Value{Kind: Instant, Err: "unreadable timestamp"}
		}}
	case "time":
		return selectItem{sql: cast("13"), convert: keep(Text)}
	case "boolean":
		return selectItem{sql: name, convert: boolValue}
	case "text", "varying":
		return selectItem{sql: name, convert: f.text}
	case "blob":
		return selectItem{sql: name, convert: func(v any) Value {
			if _, ok := v.([]byte); ok {
				return binary(v)
			}
			return f.text(v)
		}}
	default:
		return selectItem{
			sql:     "CASE WHEN " + name + " IS NULL THEN NULL ELSE '' END",
			convert: binary,
		}
	}
}

// text decodes what the driver gives for CHAR and VARCHAR: a string that the
// server has converted, or the bytes that are stored.
func (f *firebird) text(v any) Value {
	cs := charset{}
	if f.bytesMode {
		cs = f.cs
	}
	switch x := v.(type) {
	case string:
		return textValue(x, cs)
	case []byte:
		if f.bytesMode {
			return textValue(string(x), cs)
		}
		return Value{Kind: Bytes, Err: "binary column (OCTETS); convert it in the query"}
	}
	return Value{Kind: Text, Err: "a type the driver does not explain"}
}

// firebirdBound is the text of a bound.
func firebirdBound(col Column) selectItem {
	name := firebirdSyntax.column(col.Name)
	if col.Type == "timestamp with timezone" {
		return selectItem{sql: name, convert: func(v any) Value {
			if at, ok := v.(time.Time); ok {
				return Value{Kind: Text, Text: at.UTC().Format(firebirdTime + "+00:00")}
			}
			return Value{}
		}}
	}
	return selectItem{
		sql:     "CAST(" + name + " AS VARCHAR(24))",
		convert: keep(Text),
	}
}
