package erp

import (
	"strconv"
	"strings"
)

// language is how a database writes SQL.
type language struct {
	name  string
	lexis lexis

	// forbidden are words in a row that would lock or change something, or leave
	// the single query; the reading transaction does not stop all of them.
	forbidden [][]string
	// opaque are words whose query means something else without its condition.
	opaque []string

	// quotes stand around a name, and alias after a wrapped query.
	quotes [2]string
	alias  string
	// placeholder is that of the nth argument.
	placeholder func(n int) string
	// noRows, after a wrapped query, gives its columns but no row.
	noRows string
	first  firstRow
	// flatCTE: no WITH and no lone ORDER BY in parentheses (SQL Server).
	flatCTE bool
}

// lexis is where strings, names and comments of a language end.
type lexis struct {
	backtick           bool // `name`
	bracket            bool // [name]
	bracketDoubled     bool // ]] stands for ] in it
	nestedComments     bool
	hashComments       bool // # to the end of the line
	dashNeedsBlank     bool // "--1" is arithmetic, not a comment
	executableComments bool // /*! … */ is run
	postgresStrings    bool // E'…' and $tag$…$tag$
	oracleStrings      bool // q'[…]'
	backslash          bool // protects the next character in a string
	doubleQuoteText    bool // "…" is a string
	params             string
	wordMore           string // further characters of a name
}

// firstRow is what limits a query to one row: after SELECT, after the condition, or at the end.
type firstRow struct{ prefix, cond, suffix string }

func questionMark(int) string { return "?" }

func numbered(prefix string) func(int) string {
	return func(n int) string { return prefix + strconv.Itoa(n) }
}

// quote makes a name of any text.
func (l *language) quote(name string) string {
	return l.quotes[0] + strings.ReplaceAll(name, l.quotes[1], l.quotes[1]+l.quotes[1]) + l.quotes[1]
}

// column names a column of the wrapped query.
func (l *language) column(name string) string { return "q." + l.quote(name) }

// banned finds words that must not be run; at is the first of them.
func (l *language) banned(st statement) (at int, found bool) {
	for i := range st.toks {
		for _, words := range l.forbidden {
			if i+len(words) <= len(st.toks) && !st.isQualifier(i) && matches(st.toks[i:i+len(words)], words) {
				return i, true
			}
		}
	}
	return 0, false
}

func matches(toks []token, words []string) bool {
	for i, w := range words {
		if toks[i].word != w {
			return false
		}
	}
	return true
}

// isQualifier: a dot follows, so the word is the name of a table or schema.
func (st statement) isQualifier(i int) bool { return st.textAt(i+1) == "." }
