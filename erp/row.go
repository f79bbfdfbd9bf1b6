package erp

import (
	"fmt"
	"strings"
	"time"

	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/internal/phrase"
)

// columnIndex finds columns by name. All rows of one read share it.
type columnIndex struct {
	names  []string
	exact  map[string]int
	folded map[string]int // -1: two columns differ only in case
}

func newColumnIndex(names []string) *columnIndex {
	x := &columnIndex{names: names, exact: make(map[string]int, len(names)), folded: make(map[string]int, len(names))}
	for i, n := range names {
		x.exact[n] = i
		low := strings.ToLower(n)
		if _, twice := x.folded[low]; twice {
			x.folded[low] = -1
		} else {
			x.folded[low] = i
		}
	}
	return x
}

// find prefers the exact name. Otherwise it ignores case, because PostgreSQL folds unquoted names
// to lower case and people write them as they like.
func (x *columnIndex) find(name string) (int, bool) {
	if i, ok := x.exact[name]; ok {
		return i, true
	}
	i, ok := x.folded[strings.ToLower(name)]
	return i, ok && i >= 0
}

// Row is one row of a query. It does not refer to the connection and may be kept after the read.
// Its texts may share memory with those of other rows of the read: to keep a text for long, copy
// it.
type Row struct {
	columns *columnIndex
	// Values are in the order of Columns.
	Values []Value
	// Late is set for a row that the window would have left out (Window.Whole): how long before
	// this read it was changed. It is 0 for every other row.
	Late time.Duration
}

// NewRow returns a row, for tests of mappings and for previews. It panics if the two slices differ
// in length.
func NewRow(columns []string, values []Value) Row {
	if len(columns) != len(values) {
		panic(fmt.Sprintf("erp.NewRow: %d columns, %d values", len(columns), len(values)))
	}
	return Row{columns: newColumnIndex(columns), Values: values}
}

// Columns returns the column names. The slice is shared and must not be changed.
func (r Row) Columns() []string {
	if r.columns == nil {
		return nil
	}
	return r.columns.names
}

// Get returns the value of a column: by the exact name, otherwise ignoring case. ok is false if
// there is no such column.
func (r Row) Get(name string) (v Value, ok bool) {
	i, ok := r.Index(name)
	if !ok {
		return Value{}, false
	}
	return r.Values[i], true
}

// Index returns the index of a column in Values: by the exact name, otherwise ignoring case. It is
// the same for all rows with the same Columns. ok is false if there is no such column.
func (r Row) Index(name string) (i int, ok bool) {
	if r.columns == nil {
		return 0, false
	}
	i, ok = r.columns.find(name)
	return i, ok && i < len(r.Values)
}

func namesOf(cols []Column) []string {
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = c.Name
	}
	return names
}

// resolve returns the indexes of configured names among the columns of a result.
func resolve(cols []Column, what string, wanted []string) ([]int, *Error) {
	x := newColumnIndex(namesOf(cols))
	at := make([]int, 0, len(wanted))
	for _, name := range wanted {
		i, ok := x.find(name)
		if !ok {
			return nil, fault.Failf(CodeMissingColumn,
				"column %q, named in %w, is not in the result of the query; it returns: %s",
				name, phrase.Fixed(what), strings.Join(x.names, ", "))
		}
		at = append(at, i)
	}
	return at, nil
}
