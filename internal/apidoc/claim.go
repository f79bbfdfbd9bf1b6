package apidoc

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

// claims holds the rows that tests of this process claimed.
var claims = struct {
	mu   sync.Mutex
	rows map[cell]bool
}{rows: map[cell]bool{}}

// cell identifies a row in a view.
type cell struct {
	row  string
	view View
}

// Run runs f as a subtest that is named after the row, and claims the row for it. f must fail if
// the row is wrong.
func Run(t *testing.T, v View, id string, f func(t *testing.T)) {
	t.Helper()
	t.Run(id, func(t *testing.T) {
		t.Helper()
		Covers(t, v, id)
		f(t)
	})
}

// Covers claims rows for the running test, which must fail if one of them is wrong. It is for tests
// whose name is not that of the row, or that prove several rows.
func Covers(t *testing.T, v View, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if fault := faultOf(v, id); fault != "" {
			t.Error(fault)
			continue
		}
		claims.mu.Lock()
		claims.rows[cell{id, v}] = true
		claims.mu.Unlock()
	}
}

// faultOf returns what is wrong with a claim, or "".
func faultOf(v View, id string) string {
	r, ok := Find(id)
	switch {
	case !slices.Contains(Views, v):
		return fmt.Sprintf("apidoc: %q is no view", v)
	case !ok:
		return fmt.Sprintf("apidoc: the document has no row %q, see internal/apidoc/rows*.go", id)
	case r.Without(v) != "":
		return fmt.Sprintf("apidoc: the row %q needs no test in the view %q (%s): take the claim or the reason away",
			id, v, r.Without(v))
	}
	return ""
}

// uncovered returns the rows without a test in these views, as "row (view)".
func uncovered(views []View) []string {
	claims.mu.Lock()
	defer claims.mu.Unlock()
	var missing []string
	for _, s := range Sections() {
		for _, r := range s.Rows {
			for _, v := range views {
				if r.Without(v) == "" && !claims.rows[cell{r.ID, v}] {
					missing = append(missing, fmt.Sprintf("%s (%s)", r.ID, v))
				}
			}
		}
	}
	return missing
}
