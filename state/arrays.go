package state

import (
	"database/sql/driver"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// arrayRows bounds the rows of one statement with arrays.
const arrayRows = 1000

// arrayRoom bounds what is asked for at once for an array, in bytes: one text may be much longer than the others.
const arrayRoom = 256 << 10

// textIDs are the tables whose id is no number.
var textIDs = map[string]bool{"attempt": true}

// unnested writes rows to PostgreSQL as one array for each column: one short text, whatever the number of rows, where a list of values costs the server more to read than the rows to write.
// statement gets the list that has the rows, with the names of the columns.
func (t *tx) unnested(table string, columns []string, rows [][]any, statement func(list string) string) (changed int, err error) {
	err = eachArray(table, columns, rows, func(list string, args []any) error {
		n, err := t.changed(statement(list), args...)
		changed += n
		return err
	})
	return changed, err
}

// eachArray cuts rows into parts, and gives each part as a list for a statement, with its arguments.
func eachArray(table string, columns []string, rows [][]any, fn func(list string, args []any) error) error {
	kinds := make([]string, len(columns))
	for i, c := range columns {
		kinds[i] = "CAST(? AS TEXT[])"
		if numberColumns[c] && (c != "id" || !textIDs[table]) {
			kinds[i] = "CAST(? AS BIGINT[])"
		}
	}
	list := "unnest(" + strings.Join(kinds, ", ") + ") AS v (" + strings.Join(columns, ", ") + ")"
	for chunk := range slices.Chunk(rows, arrayRows) {
		args := make([]any, len(columns))
		for i := range columns {
			var err error
			if args[i], err = arrayOf(chunk, i); err != nil {
				return fmt.Errorf("column %s of %s: %w", columns[i], table, err)
			}
		}
		if err := fn(list, args); err != nil {
			return err
		}
	}
	return nil
}

// arrayOf is one column of rows in PostgreSQL's text form of an array.
func arrayOf(rows [][]any, column int) (string, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, row := range rows {
		if i > 0 {
			b.WriteByte(',')
		}
		value, err := driver.DefaultParameterConverter.ConvertValue(row[column])
		if err != nil {
			return "", err
		}
		switch v := value.(type) {
		case nil:
			b.WriteString("NULL")
		case int64:
			b.WriteString(strconv.FormatInt(v, 10))
		case string:
			if i == 0 { // as a rule the others are about as long
				b.Grow(min(len(rows)*(len(v)+len(v)/4+len(`"",`)), arrayRoom))
			}
			writeQuoted(&b, v)
		default: // unreachable: rows have numbers and texts
			return "", fmt.Errorf("a %T cannot be stored", v)
		}
	}
	b.WriteByte('}')
	return b.String(), nil
}

// writeQuoted writes an element of an array between quotes. JSON has many quotes: what stands between two of them is copied as one piece.
func writeQuoted(b *strings.Builder, text string) {
	b.WriteByte('"')
	from := 0
	for i := range len(text) {
		if c := text[i]; c == '"' || c == '\\' {
			b.WriteString(text[from:i])
			b.WriteByte('\\')
			from = i
		}
	}
	b.WriteString(text[from:])
	b.WriteByte('"')
}
