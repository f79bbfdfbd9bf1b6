package erp

import (
	"strings"
)

// item selects every type as the text PostgreSQL itself writes. lib/pq's own
// conversions would fail a whole row on a year 12345, and read a float4 as a float8.
func (p *postgres) item(col Column, _ bool) selectItem {
	name := "q." + quoteName(col.Name)
	switch col.Type {
	case "bytea":
		// The content is not wanted: old ERPs keep megabytes of notes in bytea.
		return pgItem("CASE WHEN "+name+" IS NULL THEN NULL ELSE '' END", func(string) Value {
			return Value{Kind: Bytes, Err: "binary column; convert it in the query, e.g. convert_from(" + col.Name +
				", 'WIN1252')"}
		})
	case "int2", "int4", "int8", "oid":
		return pgKept(name+"::text", Int)
	case "numeric":
		return pgItem(name+"::text", numberValue)
	case "money":
		// money::text follows the server's locale.
		return pgItem(name+"::numeric::text", numberValue)
	case "float4":
		return pgItem(name+"::text", func(s string) Value { return floatText(s, 32) })
	case "float8":
		return pgItem(name+"::text", func(s string) Value { return floatText(s, 64) })
	case "bool":
		return pgKept(name+"::text", Bool)
	case "date":
		return pgItem(name+"::text", pgDate)
	case "timestamp":
		return pgItem(name+"::text", pgTimestamp)
	case "timestamptz":
		return pgItem(name+"::text", p.instant)
	case "uuid":
		return pgKept(name+"::text", Text)
	}
	if p.bytesMode {
		return selectItem{sql: bytesOf(name), convert: func(v any) Value {
			if raw, ok := v.([]byte); ok {
				return textValue(string(raw), p.cs)
			}
			return Value{}
		}}
	}
	expr := name
	switch col.Type {
	case "text", "varchar", "bpchar":
		// As it is: a cast of CHAR to text would drop the padding, and a key
		// must be bound again as it was stored.
	default:
		expr += "::text"
	}
	return pgItem(expr, func(s string) Value { return textValue(s, charset{}) })
}

func (p *postgres) rawItem(col Column) selectItem {
	return pgKept("q."+quoteName(col.Name)+"::text", Text)
}

// pgKept is an expression whose text is kept as it comes.
func pgKept(sql string, kind Kind) selectItem {
	return pgItem(sql, func(s string) Value { return Value{Kind: kind, Text: s} })
}

// pgItem is an expression that gives text.
func pgItem(sql string, convert func(string) Value) selectItem {
	return selectItem{sql: sql, convert: pgText(convert)}
}

func pgText(convert func(string) Value) func(any) Value {
	return func(v any) Value {
		switch x := v.(type) {
		case string:
			return convert(x)
		case []byte:
			return convert(string(x))
		default:
			return Value{}
		}
	}
}

func numberValue(s string) Value {
	v := Value{Kind: Number, Text: s}
	switch s {
	case "NaN":
		v.Err = "not a number (NaN)"
	case "Infinity", "-Infinity":
		v.Err = "infinite number"
	}
	return v
}

func pgDate(s string) Value {
	v := Value{Kind: Date, Text: s}
	if len(s) == 10 {
		if _, ok := parseMoment(s); ok {
			return v
		}
	}
	v.Err = oddTime("date", s)
	return v
}

func pgTimestamp(s string) Value {
	m, ok := parseMoment(s)
	if !ok || m.sep == "" || m.zoned {
		return Value{Kind: Timestamp, Text: s, Err: oddTime("timestamp", s)}
	}
	return Value{Kind: Timestamp, Text: s[:10] + "T" + s[11:]}
}

func (p *postgres) instant(s string) Value {
	m, ok := parseMoment(s)
	if !ok || !m.zoned {
		return Value{Kind: Instant, Text: s, Err: oddTime("timestamp", s)}
	}
	return Value{Kind: Instant, Text: instantText(m.at, p.opt.TimeZone)}
}

// oddTime says what is wrong with a date that no calendar of ours can hold.
func oddTime(what, s string) string {
	switch {
	case s == "infinity" || s == "-infinity":
		return what + " " + s
	case strings.HasSuffix(s, " BC"):
		return what + " before Christ"
	case farFuture(s):
		return what + " after the year 9999"
	default:
		return "unreadable " + what
	}
}

func farFuture(s string) bool {
	year, _, ok := strings.Cut(s, "-")
	return ok && len(year) > 4 && strings.Trim(year, "0123456789") == "" && !strings.HasSuffix(s, " BC")
}
