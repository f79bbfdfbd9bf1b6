package firebird

import (
	"database/sql"
	"strings"
	"time"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/internal/phrase"
)

// firebirdType returns the type of a column; an integer with a scale is "numeric".
func firebirdType(ct *sql.ColumnType) string {
	typ := strings.ToLower(ct.DatabaseTypeName())
	if _, scale, ok := ct.DecimalSize(); ok && scale != 0 && !strings.HasPrefix(typ, "dec") {
		return "numeric"
	}
	return typ
}

// Item selects numbers and times as the text that Firebird itself writes: the driver would put
// dates into a time zone and write small decimals in E notation.
func (f *engine) Item(col dialect.Column, use dialect.Use) dialect.Item {
	name := Syntax.Column(col.Name)
	if use == dialect.ForBound {
		if col.Type == "timestamp with timezone" {
			return dialect.Item{SQL: name, Convert: func(v any) dialect.Value {
				if at, ok := v.(time.Time); ok {
					return dialect.Value{Kind: dialect.Text, Text: at.UTC().Format(firebirdTime + "+00:00")}
				}
				return dialect.Value{}
			}}
		}
		return dialect.VerbatimItem("CAST("+name+" AS VARCHAR(24))", dialect.Text)
	}
	binary := dialect.BinaryItem(name, "CAST("+col.Name+" AS VARCHAR(100) CHARACTER SET WIN1252)")
	cast := func(size string) string { return "CAST(" + name + " AS VARCHAR(" + size + "))" }
	padded := func(s string) dialect.Value { return dialect.NumberValue(strings.TrimSpace(s)) }
	switch col.Type {
	case "short", "long", "int64", "int128":
		return dialect.VerbatimItem(name, dialect.Int)
	case "numeric":
		return dialect.TextItem(cast("50"), padded)
	case "decfloat(16)", "decfloat(34)":
		return dialect.TextItem("CAST(CAST("+name+" AS NUMERIC(38,10)) AS VARCHAR(60))", padded)
	case "float":
		return dialect.FloatItem(name, 32)
	case "double":
		return dialect.FloatItem(name, 64)
	case "date":
		return dialect.TextItem(cast("10"), dialect.DateText)
	case "timestamp":
		return dialect.TextItem(cast("24"), dialect.TimestampText)
	case "timestamp with timezone":
		return dialect.Item{SQL: name, Convert: func(v any) dialect.Value {
			if at, ok := v.(time.Time); ok {
				return dialect.Value{Kind: dialect.Instant, Text: dialect.InstantText(at, f.opt.TimeZone)}
			}
			return dialect.Value{Kind: dialect.Instant, Err: phrase.Pack("unreadable date")}
		}}
	case "time":
		return dialect.VerbatimItem(cast("13"), dialect.Text)
	case "boolean":
		return dialect.Item{SQL: name, Convert: dialect.BoolValue}
	case "text", "varying":
		return dialect.Item{SQL: name, Convert: f.text}
	case "blob":
		return dialect.Item{SQL: name, Convert: func(v any) dialect.Value {
			if _, ok := v.([]byte); ok {
				return binary.Convert(v)
			}
			return f.text(v)
		}}
	default:
		return binary
	}
}

// text decodes the driver's value of CHAR and VARCHAR: a string that the server has converted, or
// the stored bytes.
func (f *engine) text(v any) dialect.Value {
	cs := dialect.Charset{}
	if f.bytesMode {
		cs = f.cs
	}
	switch x := v.(type) {
	case string:
		return dialect.TextValue(x, cs)
	case []byte:
		if f.bytesMode {
			return dialect.TextValue(string(x), cs)
		}
		return dialect.Value{Kind: dialect.Bytes, Err: phrase.Pack("binary column (OCTETS); convert it in the query")}
	}
	return dialect.Value{Kind: dialect.Text, Err: phrase.Pack("a type the driver does not explain")}
}
