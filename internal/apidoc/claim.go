package apidoc

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

// claims are the tests of this process that proved a row, by view and row.
var claims = struct {
	mu    sync.Mutex
	tests map[cell][]string
}{tests: map[cell][]string{}}

// cell is a place in the table of docs/api-coverage.md.
type cell struct {
	row  string
	view View
}

// Run runs f as a subtest that is named after the row, and claims the row for it. f fails if the row is wrong.
func Run(t *testing.T, v View, id string, f func(t *testing.T)) {
	t.Helper()
	t.Run(id, func(t *testing.T) {
		t.Helper()
		Covers(t, v, id)
		f(t)
	})
}

// Covers claims rows for the running test, which fails if one of them is wrong. For tests that have another name than the row, or prove several.
func Covers(t *testing.T, v View, ids ...string) {
	t.Helper()
	_, _ = readPage()
	for _, id := range ids {
		if fault := faultOf(v, id); fault != "" {
			t.Error(fault)
			continue
		}
		claim(cell{id, v}, t.Name())
	}
}

// faultOf says what is wrong with a claim; "" if nothing is.
func faultOf(v View, id string) string {
	r, ok := Find(id)
	switch {
	case !slices.Contains(Views, v):
		return fmt.Sprintf("apidoc: %q is no view", v)
	case !ok:
		return fmt.Sprintf("apidoc: the document has no row %q, see internal/apidoc/rows*.go", id)
	case r.Without(v) != "":
		return fmt.Sprintf("apidoc: the row %q needs no test in the view %q (%s): take the claim or the reason away", id, v, r.Without(v))
	}
	return ""
}

func claim(c cell, test string) {
	claims.mu.Lock()
	defer claims.mu.Unlock()
	if !slices.Contains(claims.tests[c], test) {
		claims.tests[c] = append(claims.tests[c], test)
	}
}

// claimed is what was claimed, the names of each row sorted.
func claimed() map[cell][]string {
	claims.mu.Lock()
	defer claims.mu.Unlock()
	out := make(map[cell][]string, len(claims.tests))
	for c, tests := range claims.tests {
		out[c] = slices.Sorted(slices.Values(tests))
	}
	return out
}

// uncovered are the rows without a test in these views, as "row (view)".
func uncovered(tests map[cell][]string, views []View) []string {
	var missing []string
	for _, s := range Sections() {
		for _, r := range s.Rows {
			for _, v := range views {
				if r.Without(v) == "" && len(tests[cell{r.ID, v}]) == 0 {
					missing = append(missing, fmt.Sprintf("%s (%s)", r.ID, v))
				}
			}
		}
	}
	return missing
}
