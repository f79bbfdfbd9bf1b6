package sqltext

import (
	"slices"
	"strings"
)

// Snippet is a named query that other queries can use like a table.
type Snippet struct{ Name, SQL string }

// Prepend puts the snippets that a query names before it, as common table expressions, together
// with those that these name themselves. An own WITH of the query stays. The lines of the query
// keep their numbers. A query or a snippet that is not understood is left as it is, for the
// database to report. snippets stand in an order in which each uses only earlier ones.
func Prepend(sql string, snippets []Snippet, syntax *Syntax) string {
	st, bad := Parse(sql, syntax)
	if bad != nil {
		return sql
	}
	used, bodies := make([]bool, len(snippets)), make([]string, len(snippets))
	use := func(of Statement, before int) {
		for i := range snippets[:before] {
			used[i] = used[i] || of.names(snippets[i].Name)
		}
	}
	use(st, len(snippets))
	for i, s := range slices.Backward(snippets) {
		bodies[i] = s.SQL
		if inner, bad := Parse(s.SQL, syntax); used[i] && bad == nil {
			bodies[i] = inner.Body // without a semicolon
			use(inner, i)
		}
	}
	var parts []string
	for i, s := range snippets {
		if used[i] {
			parts = append(parts, s.Name+" AS ("+Tidy(bodies[i], syntax)+")")
		}
	}
	if len(parts) == 0 {
		return sql
	}
	at, with := st.toks[0].start, "WITH "+strings.Join(parts, ", ")
	if st.toks[0].word != "WITH" {
		return sql[:at] + with + " " + sql[at:]
	}
	own := st.toks[0].end
	if len(st.toks) > 1 && st.toks[1].word == "RECURSIVE" {
		with, own = "WITH RECURSIVE "+strings.Join(parts, ", "), st.toks[1].end
	}
	return sql[:at] + with + "," + sql[own:]
}

// names reports whether a table of the query, of a subquery too, has a name.
func (st Statement) names(name string) bool {
	for i, t := range st.toks {
		if t.kind == tokWord && strings.EqualFold(st.textAt(i), name) && st.textAt(i-1) != "." &&
			(st.textAt(i-1) == "," || slices.Contains([]string{"FROM", "JOIN", "LATERAL"}, st.wordAt(i-1))) {
			return true
		}
	}
	return false
}
