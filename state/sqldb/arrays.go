package sqldb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lib/pq"
)

// ArrayRows bounds the rows of one statement with arrays.
const ArrayRows = 1000

// textIDs are the tables whose id is no number.
var textIDs = map[string]bool{"attempt": true}

// unnested writes rows to PostgreSQL as one array for each column: one short text, whatever the
// number of rows, where a list of values costs the server more to read than the rows to write.
// statement gets the list that has the rows, with the names of the columns.
func (t *Tx) unnested(table string, columns []string, rows [][]any,
	statement func(list string) string,
) (changed int, err error) {
	err = EachArray(table, columns, rows, func(list string, args []any) error {
		n, err := t.Changed(statement(list), args...)
		changed += n
		return err
	})
	return changed, err
}

// EachArray cuts rows into parts, and gives each part as a list for a statement, with its
// arguments.
func EachArray(table string, columns []string, rows [][]any, fn func(list string, args []any) error) error {
	kinds := make([]string, len(columns))
	for i, c := range columns {
		kinds[i] = "CAST(? AS " + PostgresDialect.kindOf(c, c == "id" && textIDs[table]) + "[])"
	}
	list := "unnest(" + strings.Join(kinds, ", ") + ") AS v (" + strings.Join(columns, ", ") + ")"
	for chunk := range slices.Chunk(rows, ArrayRows) {
		args := make([]any, len(columns))
		for i := range columns {
			column := make([]any, len(chunk))
			for n, row := range chunk {
				if column[n] = row[i]; HashColumns[columns[i]] {
					column[n] = fmt.Sprintf(`\x%s`, row[i])
				}
			}
			args[i] = pq.Array(column)
		}
		if err := fn(list, args); err != nil {
			return err
		}
	}
	return nil
}
