package erp

// item selects every type as the text PostgreSQL itself writes. lib/pq's own
// conversions would fail a whole row on a year 12345, and read a float4 as a float8.
func (p *postgres) item(col Column, use use) selectItem {
	name := postgresSyntax.column(col.Name)
	if use == forBound {
		return selectItem{sql: name + "::text", convert: keep(Text)}
	}
	switch col.Type {
	case "bytea":
		// The content is not wanted: old ERPs keep megabytes of notes in bytea.
		return selectItem{
			sql:     "CASE WHEN " + name + " IS NULL THEN NULL ELSE '' END",
			convert: binaryColumn("convert_from(" + col.Name + ", 'WIN1252')"),
		}
	case "int2", "int4", "int8", "oid":
		return selectItem{sql: name + "::text", convert: keep(Int)}
	case "numeric":
		return selectItem{sql: name + "::text", convert: asText(numberValue)}
	case "money":
		// money::text follows the server's locale.
		return selectItem{sql: name + "::numeric::text", convert: asText(numberValue)}
	case "float4":
		return selectItem{sql: name + "::text", convert: asText(func(s string) Value { return floatText(s, 32) })}
	case "float8":
		return selectItem{sql: name + "::text", convert: asText(func(s string) Value { return floatText(s, 64) })}
	case "bool":
		return selectItem{sql: name + "::text", convert: keep(Bool)}
	case "date":
		return selectItem{sql: name + "::text", convert: asText(dateText)}
	case "timestamp":
		return selectItem{sql: name + "::text", convert: asText(timestampText)}
	case "timestamptz":
		return selectItem{sql: name + "::text", convert: asText(p.instant)}
	case "uuid":
		return selectItem{sql: name + "::text", convert: keep(Text)}
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
	return selectItem{sql: expr, convert: asText(plainTextValue)}
}

func (p *postgres) instant(s string) Value {
	m, ok := parseMoment(s)
	if !ok || !m.zoned {
		return Value{Kind: Instant, Text: s, Err: oddTime("timestamp", s)}
	}
	return Value{Kind: Instant, Text: instantText(m.at, p.opt.TimeZone)}
}
