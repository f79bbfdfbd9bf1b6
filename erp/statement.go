package erp

import "strings"

// statement is a configured query that may be put into parentheses.
type statement struct {
	// body is the query without its last semicolon and what follows; offsets
	// in it are offsets in the configured text.
	body    string
	toks    []token // without comments
	dialect syntax
}

// parseStatement accepts exactly one query. The read-only transaction is what
// protects the ERP; this check gives the better message, and makes sure that
// the text cannot break out of the parentheses it is wrapped in.
func parseStatement(sql string, dialect syntax) (statement, *Error) {
	all, err := tokenize(sql, dialect)
	if err != nil {
		return statement{}, err
	}
	st := statement{dialect: dialect}
	s := scanner{sql: sql}
	depth, ended := 0, -1
	for _, t := range all {
		if t.kind == tokComment {
			continue
		}
		if ended >= 0 && t.kind != tokEnd {
			return statement{}, s.fail(t.start, "a second statement follows the semicolon; only one query is allowed")
		}
		switch t.kind {
		case tokEnd:
			ended = t.start
			continue
		case tokParam:
			return statement{}, s.fail(t.start, "it contains the parameter "+sql[t.start:t.end]+", and there is nothing to fill it with")
		case tokOpen:
			depth++
		case tokClose:
			if depth--; depth < 0 {
				return statement{}, s.fail(t.start, "a closing parenthesis has no opening one")
			}
		}
		st.toks = append(st.toks, t)
	}
	if len(st.toks) == 0 {
		return statement{}, failf(CodeSyntax, "the query is empty; write a SELECT")
	}
	last := st.toks[len(st.toks)-1]
	if depth != 0 {
		return statement{}, s.fail(last.start, "a parenthesis is not closed")
	}
	first := st.toks[0]
	switch first.word {
	case "SELECT", "WITH", "VALUES", "TABLE":
	default:
		if first.kind != tokOpen {
			return statement{}, failf(CodeSyntax, "the query begins with %q; only a query that reads (SELECT or WITH … SELECT) is allowed",
				sql[first.start:first.end])
		}
	}
	st.body = sql[:last.end]
	return st, nil
}

const (
	wrapOpen  = " FROM (\n"
	wrapClose = "\n) AS q"
)

// wrap builds SELECT items FROM (query) AS q. The line breaks keep a comment
// in the query's last line from swallowing the parenthesis.
func (st statement) wrap(items []string) string {
	return "SELECT " + strings.Join(items, ", ") + wrapOpen + st.body + wrapClose
}

// describeOpen precedes the query when its columns are asked for.
const describeOpen = "SELECT *" + wrapOpen

func (st statement) describe() string { return describeOpen + st.body + wrapClose + " LIMIT 0" }

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// nearText quotes a little of the query from a byte offset on, for messages.
func nearText(sql string, at int) string {
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
