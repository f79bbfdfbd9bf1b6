package sqltext

import (
	"slices"
	"strings"

	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/internal/phrase"
)

// Statement is a configured query that can be put into parentheses.
type Statement struct {
	// Body is the query without its last semicolon and what follows; offsets in it are offsets in
	// the configured text.
	Body   string
	toks   []token // without comments
	Syntax *Syntax
}

// Parse accepts exactly one query. The read-only transaction is what protects the ERP. This check
// gives a better message, and ensures that the text cannot break out of the parentheses around it.
func Parse(sql string, syntax *Syntax) (Statement, *fault.Error) {
	all, err := tokenize(sql, syntax)
	if err != nil {
		return Statement{}, err
	}
	st := Statement{Syntax: syntax}
	s := scanner{sql: sql}
	var open []int // the offsets of open parentheses
	ended := -1
	for _, t := range all {
		if t.kind == tokComment {
			continue
		}
		if ended >= 0 && t.kind != tokEnd {
			return Statement{}, s.fail(t.start, "a second statement follows the semicolon; only one query is allowed")
		}
		switch t.kind {
		case tokEnd:
			ended = t.start
			continue
		case tokParam:
			return Statement{}, s.fail(t.start,
				"it contains the parameter %s, and there is nothing to fill it with", sql[t.start:t.end])
		case tokOpen:
			open = append(open, t.start)
		case tokClose:
			if len(open) == 0 {
				return Statement{}, s.fail(t.start, "a closing parenthesis has no opening one")
			}
			open = open[:len(open)-1]
		}
		st.toks = append(st.toks, t)
	}
	if len(st.toks) == 0 {
		return Statement{}, fault.Failf(fault.CodeSyntax, "the query is empty; write a SELECT")
	}
	last := st.toks[len(st.toks)-1]
	if len(open) > 0 {
		return Statement{}, s.fail(open[len(open)-1], "a parenthesis is not closed")
	}
	first := st.toks[0]
	switch first.word {
	case "SELECT", "WITH", "VALUES", "TABLE":
	default:
		if first.kind != tokOpen {
			return Statement{}, fault.Failf(fault.CodeSyntax,
				"the query begins with %q; only a query that reads (SELECT or WITH … SELECT) is allowed",
				sql[first.start:first.end])
		}
	}
	st.Body = sql[:last.end]
	for i, t := range st.toks {
		toks := st.toks[i:]
		if slices.ContainsFunc(syntax.Forbidden, func(words []string) bool {
			return len(words) <= len(toks) &&
				slices.EqualFunc(toks[:len(words)], words, func(t token, word string) bool { return t.word == word })
		}) && !st.isQualifier(i) {
			e := s.fail(t.start, "%q is not allowed in a query that only reads", sql[t.start:t.end])
			e.Code = fault.CodeReadOnly
			return Statement{}, e
		}
	}
	for i, t := range st.toks {
		if wrong, ok := syntax.Hints[t.word]; ok && !st.isQualifier(i) {
			return Statement{}, s.fail(t.start, "%q is not accepted: %w", sql[t.start:t.end], phrase.Fixed(wrong))
		}
	}
	return st, nil
}

const (
	wrapOpen  = " FROM (\n"
	wrapClose = "\n)"
)

// Wrap returns SELECT items FROM (query) AS q WHERE condition; if condition is "", there is no
// WHERE. The line breaks prevent a comment in the query's last line from hiding the parenthesis.
func (st Statement) Wrap(items []string, condition string) string {
	return st.wrapAfter("SELECT ", items, condition)
}

func (st Statement) wrapAfter(sel string, items []string, condition string) string {
	with, body := st.parts()
	if condition != "" {
		condition = "\nWHERE " + condition
	}
	return with + sel + strings.Join(items, ", ") + wrapOpen + body + wrapClose + st.Syntax.Alias + condition
}

// FirstRow returns a statement for the first row that matches a condition.
func (st Statement) FirstRow(items []string, condition string) string {
	l := st.Syntax.First
	return st.wrapAfter("SELECT "+l.Prefix, items, condition+l.Cond) + l.Suffix
}

// DescribeOpen precedes the query in a statement that describes its columns.
const DescribeOpen = "SELECT *" + wrapOpen

// Describe returns a statement that returns the columns of the query, and no row.
func (st Statement) Describe() string { return st.Wrap([]string{"*"}, "") + st.Syntax.NoRows }

// parts returns the query in the form that is allowed in parentheses. SQL Server allows there
// neither WITH nor an ORDER BY that limits nothing: the first is put in front, the second is left
// out.
func (st Statement) parts() (with, body string) {
	if !st.Syntax.FlatCTE {
		return "", st.Body
	}
	from, to := 0, len(st.Body)
	isWith := st.toks[0].word == "WITH"
	top := false
	for _, t := range st.top() {
		switch t.word {
		case "SELECT":
			if isWith && from == 0 {
				from = t.start
			}
			top = top || to < len(st.Body) // not a valid query: let the database report it
		case "TOP":
			top = true
		case "ORDER":
			to = t.start
		case "OFFSET":
			top = true
		}
	}
	if top {
		to = len(st.Body)
	}
	if from > 0 {
		with = st.Body[:from] + "\n"
	}
	return with, strings.TrimRight(st.Body[from:to], " \t\r\n")
}

// Near quotes the word of the query at a byte offset, for messages.
func Near(sql string, at int) string {
	if at < 0 || at >= len(sql) {
		return "the end"
	}
	fields := strings.Fields(sql[at:])
	if len(fields) == 0 {
		return "the end"
	}
	word := fields[0]
	if r := []rune(word); len(r) > 30 {
		word = string(r[:30]) + "…"
	}
	return `"` + word + `"`
}
