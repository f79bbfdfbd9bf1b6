package mysql

import (
	"strings"

	"github.com/safrasync/safrasync/erp/dialect"
)

func numeric(typ string) bool {
	return strings.HasSuffix(typ, "int") || typ == "year" || typ == "bit" || typ == "decimal" || typ == "float" ||
		typ == "double"
}

// Item selects a column so that the driver loses nothing of it.
func (m *engine) Item(col dialect.Column, use dialect.Use) dialect.Item {
	name := Syntax.Column(col.Name)
	if use == dialect.ForBound {
		if col.Type == "timestamp" {
			return dialect.TextItem("UNIX_TIMESTAMP("+name+")", func(s string) dialect.Value {
				at, ok := dialect.ParseEpoch(s)
				if !ok || at.Unix() == 0 {
					return dialect.Value{}
				}
				return dialect.Value{Kind: dialect.Text, Text: at.Format(dialect.ISOMicro + "+00:00")}
			})
		}
		return dialect.VerbatimItem(name, dialect.Text)
	}
	switch typ := col.Type; {
	case strings.HasSuffix(typ, "int"), typ == "year":
		return dialect.VerbatimItem(name, dialect.Int)
	case typ == "bit":
		return dialect.VerbatimItem(name+" + 0", dialect.Int)
	case typ == "decimal":
		return dialect.TextItem(name, dialect.NumberValue)
	case typ == "float":
		// Otherwise the server would print only six digits.
		return dialect.FloatItem(name+" + 0e0", 32)
	case typ == "double":
		return dialect.FloatItem(name, 64)
	case typ == "date":
		return dialect.TextItem(name, date)
	case typ == "datetime":
		return dialect.TextItem(name, timestamp)
	case typ == "timestamp":
		// For a zero TIMESTAMP MariaDB returns NULL as its number, MySQL returns 0.
		return dialect.TextItem("COALESCE(UNIX_TIMESTAMP("+name+"), CASE WHEN "+name+" IS NULL THEN NULL ELSE 0 END)",
			m.instant)
	case strings.HasSuffix(typ, "blob"), strings.HasSuffix(typ, "binary"), typ == "geometry", typ == "vector":
		return dialect.BinaryItem(name, "CONVERT("+col.Name+" USING latin1)")
	}
	if use == dialect.ForMapping {
		name = "LEFT(" + name + ", " + dialect.LongestText + ")"
	}
	return dialect.TextItem(name, dialect.PlainTextValue)
}

func date(s string) dialect.Value {
	if _, ok := dialect.ParseMoment(s); ok || strings.Contains(s, "-00") {
		// 0000-00-00 and 2026-00-00 are stored dates that a mapping may treat as empty
		return dialect.Value{Kind: dialect.Date, Text: s}
	}
	return dialect.Value{Kind: dialect.Date, Text: s, Err: dialect.OddTime(s)}
}

func timestamp(s string) dialect.Value {
	if len(s) >= 10 && strings.Contains(s[:10], "-00") {
		return dialect.Value{Kind: dialect.Date, Text: s[:10]}
	}
	return dialect.TimestampText(s)
}

func (m *engine) instant(s string) dialect.Value {
	at, ok := dialect.ParseEpoch(s)
	switch {
	case !ok:
		return dialect.Value{Kind: dialect.Instant, Err: dialect.OddTime(s)}
	case at.Unix() == 0:
		return dialect.Value{Kind: dialect.Date, Text: dialect.ZeroDate} // a TIMESTAMP begins at 1970-01-01 00:00:01
	}
	return dialect.Value{Kind: dialect.Instant, Text: dialect.InstantText(at, m.opt.TimeZone)}
}
