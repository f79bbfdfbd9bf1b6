package postgres

import (
	"github.com/safrasync/safrasync/erp/dialect"
)

// Item selects every type as the text that PostgreSQL itself writes. lib/pq's own conversions would
// fail a whole row because of a year 12345, and read a float4 as a float8.
func (p *engine) Item(col dialect.Column, use dialect.Use) dialect.Item {
	name := Syntax.Column(col.Name)
	text := name + "::text"
	if use == dialect.ForBound {
		return dialect.VerbatimItem(text, dialect.Text)
	}
	switch col.Type {
	case "bytea":
		return dialect.BinaryItem(name, "convert_from("+col.Name+", 'WIN1252')")
	case "int2", "int4", "int8", "oid":
		return dialect.VerbatimItem(text, dialect.Int)
	case "numeric":
		return dialect.TextItem(text, dialect.NumberValue)
	case "money":
		// money::text follows the server's locale.
		return dialect.TextItem(name+"::numeric::text", dialect.NumberValue)
	case "float4":
		return dialect.FloatItem(text, 32)
	case "float8":
		return dialect.FloatItem(text, 64)
	case "bool":
		return dialect.VerbatimItem(text, dialect.Bool)
	case "date":
		return dialect.TextItem(text, dialect.DateText)
	case "timestamp":
		return dialect.TextItem(text, dialect.TimestampText)
	case "timestamptz":
		return dialect.TextItem(text, p.instant)
	case "uuid":
		return dialect.VerbatimItem(text, dialect.Text)
	}
	if p.bytesMode {
		return dialect.Item{SQL: bytesOf(name), Convert: func(v any) dialect.Value {
			if raw, ok := v.([]byte); ok {
				return dialect.TextValue(string(raw), p.cs)
			}
			return dialect.Value{}
		}}
	}
	expr := name
	switch {
	case col.Type == "bpchar", use == dialect.ForKey && (col.Type == "text" || col.Type == "varchar"):
		// Unchanged: a cast of CHAR to text would drop the padding, and a key must be bound again
		// as it was stored.
	case use == dialect.ForKey:
		expr = text
	default:
		expr = "left(" + text + ", " + dialect.LongestText + ")"
	}
	return dialect.TextItem(expr, dialect.PlainTextValue)
}

func (p *engine) instant(s string) dialect.Value {
	m, ok := dialect.ParseMoment(s)
	if !ok || !m.Zoned {
		return dialect.Value{Kind: dialect.Instant, Text: s, Err: dialect.OddTime(s)}
	}
	return dialect.Value{Kind: dialect.Instant, Text: dialect.InstantText(m.At, p.opt.TimeZone)}
}
