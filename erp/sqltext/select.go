package sqltext

import (
	"iter"
	"slices"
	"strings"
)

// Select is a plain SELECT, split at its conditions.
type Select struct {
	sql        string
	Syntax     *Syntax
	fromAt     int      // offset of FROM
	headEnd    int      // where the FROM clause ends
	tail       string   // from GROUP BY or ORDER BY to the end
	Where      string   // the whole condition; "" if there is none
	Conditions []string // Where, split at its top-level ANDs
	Joins      []innerJoin
	PlainFrom  bool   // FROM has only tables and optional joins: nothing in it, or in a WITH, could filter
	before     string // the WITH of the query
}

// innerJoin is a JOIN that drops rows without a partner.
type innerJoin struct {
	start, end int    // the words to replace: JOIN or INNER JOIN
	Text       string // the join as written, for people
}

// SplitSelect splits one top-level [WITH …] SELECT … FROM … [WHERE …] [GROUP BY …] [ORDER BY …]. ok is
// false for every query whose meaning would change if the condition were removed, and for every query
// that is not understood, such as a UNION.
func SplitSelect(st Statement) (p Select, ok bool) {
	before := ""
	if start := st.mainAt(); start > 0 {
		before = st.Body[:st.toks[start].start]
		main, bad := Parse(st.Body[len(before):], st.Syntax)
		if bad != nil {
			return Select{}, false
		}
		st = main
	}
	c := clauses{fromAt: -1, whereAt: -1, tailAt: len(st.toks), plainFrom: before == ""}
	if st.toks[0].word != "SELECT" || !c.find(st) || c.fromAt < 0 {
		return Select{}, false
	}
	p = Select{
		sql: st.Body, Syntax: st.Syntax, fromAt: st.toks[c.fromAt].start, headEnd: len(st.Body),
		PlainFrom: c.plainFrom, before: before,
	}
	if c.tailAt < len(st.toks) {
		p.headEnd = st.toks[c.tailAt].start
		p.tail = st.Body[p.headEnd:]
	}
	fromEnd := c.tailAt
	if c.whereAt >= 0 {
		if c.whereAt+1 >= c.tailAt {
			return p, false
		}
		fromEnd = c.whereAt
		p.headEnd = st.toks[c.whereAt].start
		p.Where = st.Body[st.toks[c.whereAt+1].start:st.toks[c.tailAt-1].end]
		p.Conditions = splitAnd(st, c.whereAt+1, c.tailAt, p.Where)
	}
	var bounds []int // token indexes at which any join begins
	for i, t := range st.top() {
		if t.start < p.fromAt || i >= fromEnd {
			continue
		}
		switch t.word {
		case "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "INNER":
			bounds = append(bounds, i)
		case "JOIN":
			switch st.toks[i-1].word {
			case "LEFT", "RIGHT", "FULL", "OUTER", "CROSS", "NATURAL":
			case "INNER":
				p.Joins = append(p.Joins, innerJoin{start: st.toks[i-1].start, end: t.end})
			default:
				bounds = append(bounds, i)
				p.Joins = append(p.Joins, innerJoin{start: t.start, end: t.end})
			}
		}
	}
	for i := range p.Joins {
		end := st.toks[fromEnd-1].end
		for _, b := range bounds {
			if st.toks[b].start > p.Joins[i].start {
				end = st.toks[b-1].end
				break
			}
		}
		p.Joins[i].Text = Tidy(st.Body[p.Joins[i].start:end], st.Syntax)
	}
	return p, true
}

// clauses has the tokens at which the clauses of a SELECT begin.
type clauses struct {
	fromAt, whereAt int  // -1: none
	tailAt          int  // GROUP or ORDER, otherwise the end
	plainFrom       bool // as in Select
}

// find returns false if the query is not understood.
func (c *clauses) find(st Statement) bool {
	depth := 0
	for i, t := range st.toks {
		switch t.kind {
		case tokOpen:
			if st.textAt(i+1) == "+" && st.textAt(i+2) == ")" {
				return false // Oracle's a.x = b.x(+): a condition that is a join
			}
			depth++
			if depth == 1 && c.fromAt >= 0 && c.whereAt < 0 && c.tailAt == len(st.toks) && !st.isOptional(i) {
				switch w := st.wordAt(i + 1); {
				case w == "SELECT", w == "WITH", w == "VALUES", st.textAt(i+1) == "(":
					c.plainFrom = false
				}
			}
		case tokClose:
			depth--
		}
		if depth > 0 || t.kind != tokWord || st.isQualified(i) {
			continue
		}
		if slices.Contains(st.Syntax.Opaque, t.word) || !c.word(st, i) {
			return false
		}
	}
	return true
}

// mainAt returns the token at which the query begins after its WITH; 0 if it has none.
func (st Statement) mainAt() int {
	if st.toks[0].word != "WITH" {
		return 0
	}
	for i, t := range st.top() {
		if t.word == "SELECT" {
			return i
		}
	}
	return 0
}

// top yields the words outside parentheses that no dot makes a name, with their indexes.
func (st Statement) top() iter.Seq2[int, token] {
	return func(yield func(int, token) bool) {
		depth := 0
		for i, t := range st.toks {
			switch t.kind {
			case tokOpen:
				depth++
			case tokClose:
				depth--
			}
			if depth == 0 && t.kind == tokWord && !st.isQualified(i) && !yield(i, t) {
				return
			}
		}
	}
}

// isOptional reports whether what begins at a token of FROM is the right side of a join that keeps
// all rows of the left side, as every inner join does once it is relaxed.
func (st Statement) isOptional(i int) bool {
	if st.wordAt(i-1) == "LATERAL" {
		i--
	}
	if st.wordAt(i-1) != "JOIN" {
		return false
	}
	if st.wordAt(i-2) == "OUTER" {
		i--
	}
	return !slices.Contains([]string{"RIGHT", "FULL", "CROSS", "NATURAL"}, st.wordAt(i-2))
}

// word processes a top-level keyword. It returns false if the query is not understood.
func (c *clauses) word(st Statement, i int) bool {
	switch st.toks[i].word {
	case "UNION", "INTERSECT", "EXCEPT", "MINUS", "HAVING", "LIMIT", "OFFSET", "FETCH", "WINDOW", "INTO":
		return false
	case "DISTINCT":
		return st.wordAt(i+1) != "ON"
	case "FROM":
		if c.fromAt < 0 && st.wordAt(i-1) != "DISTINCT" {
			c.fromAt = i
		}
	case "WHERE":
		if c.whereAt >= 0 || c.fromAt < 0 || c.tailAt < len(st.toks) {
			return false
		}
		c.whereAt = i
	case "GROUP", "ORDER":
		if c.fromAt >= 0 && c.tailAt == len(st.toks) {
			c.tailAt = i
		}
	}
	return true
}

// textAt returns a token as written, or "" if there is none.
func (st Statement) textAt(i int) string {
	if i < 0 || i >= len(st.toks) {
		return ""
	}
	return st.Body[st.toks[i].start:st.toks[i].end]
}

// wordAt returns a keyword or unquoted name in upper case, otherwise "".
func (st Statement) wordAt(i int) string {
	if i < 0 || i >= len(st.toks) {
		return ""
	}
	return st.toks[i].word
}

// isQualified reports whether a word follows or precedes a dot, so that it is a name.
func (st Statement) isQualified(i int) bool { return st.textAt(i-1) == "." || st.isQualifier(i) }

// splitAnd splits a condition at the ANDs that join its parts. It ignores the AND of BETWEEN and
// those inside CASE … END or parentheses. With an OR at the same level the condition is one part.
func splitAnd(st Statement, from, to int, whole string) []string {
	var parts []string
	cases, between, start := 0, 0, st.toks[from].start
	for i, t := range st.top() {
		if i < from || i >= to {
			continue
		}
		switch t.word {
		case "CASE":
			cases++
		case "END":
			cases = max(0, cases-1)
		case "BETWEEN":
			if cases == 0 {
				between++
			}
		case "OR":
			if cases == 0 {
				return []string{whole}
			}
		case "AND":
			switch {
			case cases > 0:
			case between > 0:
				between--
			case i == from || i+1 == to || st.toks[i-1].start < start:
				return []string{whole} // invalid SQL: let the database report it
			default:
				parts = append(parts, st.Body[start:st.toks[i-1].end])
				start = st.toks[i+1].start
			}
		}
	}
	return append(parts, st.Body[start:st.toks[to-1].end])
}

// Head is a SELECT up to the end of FROM, to which a condition can be added.
type Head struct{ text, tail string }

// From returns the query without its condition.
func (p Select) From() Head { return Head{p.before + p.sql[:p.headEnd], p.tail} }

// Relax makes every inner join optional, except the one with this index (-1: all are optional).
func (p Select) Relax(strict int) Head {
	var b strings.Builder
	b.WriteString(p.before)
	at := 0
	for i, j := range p.Joins {
		if i == strict {
			continue
		}
		b.WriteString(p.sql[at:j.start])
		b.WriteString("LEFT JOIN")
		at = j.end
	}
	b.WriteString(p.sql[at:p.headEnd])
	return Head{b.String(), p.tail}
}

// With adds a condition, unless cond is "".
func (h Head) With(cond string) string {
	if cond == "" {
		return h.text + "\n" + h.tail
	}
	return h.text + "\nWHERE (" + cond + "\n)\n" + h.tail
}

// Tidy returns a part of a query on one line, without its comments.
func Tidy(sql string, syntax *Syntax) string {
	toks, err := tokenize(sql, syntax)
	if err != nil {
		return strings.Join(strings.Fields(sql), " ")
	}
	var b strings.Builder
	end := -1
	for _, t := range toks {
		if t.kind == tokComment {
			continue
		}
		if end >= 0 && t.start > end {
			b.WriteByte(' ')
		}
		b.WriteString(sql[t.start:t.end])
		end = t.end
	}
	return b.String()
}

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
