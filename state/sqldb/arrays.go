package sqldb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lib/pq"
)

// ArrayRows limits the rows of one statement with arrays.
const ArrayRows = 1000

// unnested writes rows to PostgreSQL as one array for each column. The text of the statement is
// short whatever the number of rows; the server would need longer to parse a list of values than to
// write the rows. statement receives the list with the rows, whose columns have the given names.
func (t *Tx) unnested(columns []string, rows [][]any, statement func(list string) string) (changed int, err error) {
	err = EachArray(columns, rows, func(list string, args []any) error {
		n, err := t.Changed(statement(list), args...)
		changed += n
		return err
	})
	return changed, err
}

// EachArray splits rows into chunks and calls fn for each with the list for a statement and its
// arguments.
func EachArray(columns []string, rows [][]any, fn func(list string, args []any) error) error {
	kinds := make([]string, len(columns))
	for i, c := range columns {
		kinds[i] = "CAST(? AS " + postgresDialect.kindOf(c) + "[])"
	}
	list := "unnest(" + strings.Join(kinds, ", ") + ") AS v (" + strings.Join(columns, ", ") + ")"
	for chunk := range slices.Chunk(rows, ArrayRows) {
		args := make([]any, len(columns))
		for i := range columns {
			column := make([]any, len(chunk))
			for n, row := range chunk {
				column[n] = row[i]
				if HashColumns[strings.TrimSuffix(columns[i], wasSuffix)] {
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
