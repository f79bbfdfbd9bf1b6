package postgres

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lib/pq"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
)

// pgArrays are the types for which PostgreSQL compares a column with an array as with a single
// value: by the column's own equality, through its index.
var pgArrays = map[string]bool{
	"int2": true, "int4": true, "int8": true, "oid": true, "numeric": true, "float4": true, "float8": true,
	"bool": true,
	"text": true, "varchar": true, "bpchar": true, "uuid": true, "date": true, "timestamp": true, "timestamptz": true,
}

// pgAsText are the types that PostgreSQL cannot compare, or whose = means something else (boxes and
// circles with the same area are equal). Such a part of a key is compared as the text that was
// read.
var pgAsText = map[string]bool{
	"json": true, "xml": true, "point": true, "line": true, "lseg": true, "box": true, "path": true, "polygon": true,
	"circle": true,
}

// keyColumn returns the expression of a column for the comparison with a key.
func keyColumn(c dialect.Column) string {
	name := Syntax.Column(c.Name)
	if pgAsText[c.Type] {
		name += "::text"
	}
	return name
}

// maxGroups is the maximum number of alternatives in a condition. For more, planning takes longer
// than reading, because the planner compares each with each.
const maxGroups = 64

// Keys binds the stored text without a type, so that PostgreSQL interprets each part in the
// column's own type and can use its index.
//
// Keys that differ in only one column are one alternative: every other column equals a value, and
// that column equals any value of an array. If a key begins with a branch, there are as many
// alternatives as branches. All of this consists of conditions on the columns, not of a join with
// the keys: the database pushes conditions down into groups, unions and views, but not a join.
func (p *engine) Keys(b *dialect.Binder, cols []dialect.Column, keys [][]dialect.Value) (string, *fault.Error) {
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = keyColumn(c)
	}
	isForeign := func(v dialect.Value) bool { return v.Kind == dialect.Text && !dialect.IsASCII(v.Text) }
	var alternatives []string
	var plain [][]dialect.Value
	for _, key := range keys {
		// a text that was decoded here is stored in bytes that are not UTF-8: it cannot be bound as text
		if p.bytesMode && p.cs.Table != nil && slices.ContainsFunc(key, isForeign) {
			parts := make([]string, len(key))
			for i, v := range key {
				if raw, ok := p.cs.Encode(v.Text); ok && isForeign(v) {
					parts[i] = bytesOf(names[i]) + " = " + b.Add(raw) + "::bytea"
				} else {
					parts[i] = names[i] + " = " + b.Add(v.Text)
				}
			}
			alternatives = append(alternatives, "("+strings.Join(parts, " AND ")+")")
			continue
		}
		plain = append(plain, key)
	}
	// the column with the most values, so that the others make few groups; one whose type has no
	// array only if no column's type has one
	var wide int
	most := -1
	for i, c := range cols {
		values := make(map[string]struct{}, len(plain))
		for _, key := range plain {
			values[key[i].Text] = struct{}{}
		}
		n := len(values)
		if pgArrays[c.Type] {
			n += len(plain) + 1
		}
		if n > most {
			wide, most = i, n
		}
	}
	var groups []keyGroup
	at := make(map[string]int, len(plain))
	var rest []byte
	for _, key := range plain {
		rest = rest[:0]
		for i, v := range key {
			if i != wide {
				rest = append(strconv.AppendInt(rest, int64(len(v.Text)), 10), ':')
				rest = append(rest, v.Text...)
			}
		}
		n, known := at[string(rest)]
		if !known {
			n = len(groups)
			at[string(rest)] = n
			groups = append(groups, keyGroup{first: key})
		}
		groups[n].values = append(groups[n].values, key[wide].Text)
	}
	noArray := func(c dialect.Column) bool { return !pgArrays[c.Type] }
	if len(groups) > maxGroups && !slices.ContainsFunc(cols, noArray) {
		// Each column must be one of its values, which an index can serve; that the values belong together is
		// compared afterwards. IS TRUE prevents the planner from turning that into a join.
		parts, arrays := make([]string, len(cols)), make([]string, len(cols))
		for i, c := range cols {
			values := make([]string, len(plain))
			for n, key := range plain {
				values[n] = key[i].Text
			}
			arrays[i] = b.Add(pq.StringArray(values)) + "::" + c.Type + "[]"
			parts[i] = names[i] + " = ANY(" + arrays[i] + ")"
		}
		alternatives = append(alternatives, "("+strings.Join(parts, " AND ")+" AND (("+strings.Join(names, ",")+
			") IN (SELECT * FROM unnest("+strings.Join(arrays, ",")+"))) IS TRUE)")
		groups = nil
	}
	for _, g := range groups {
		parts := make([]string, len(cols))
		for i, c := range cols {
			switch {
			// PostgreSQL estimates an array of one as cheaper, and would compare it first
			case i != wide, len(g.values) == 1:
				parts[i] = names[i] + " = " + b.Add(g.first[i].Text)
			case pgArrays[c.Type]:
				parts[i] = names[i] + " = ANY(" + b.Add(pq.StringArray(g.values)) + ")"
			default:
				list := make([]string, len(g.values))
				for n, text := range g.values {
					list[n] = b.Add(text)
				}
				parts[i] = names[i] + " IN (" + strings.Join(list, ",") + ")"
			}
		}
		alternatives = append(alternatives, "("+strings.Join(parts, " AND ")+")")
	}
	return "(" + strings.Join(alternatives, " OR ") + ")", nil
}

// keyGroup has keys that differ only in one column.
type keyGroup struct {
	first  []dialect.Value
	values []string // the values of that column
}
