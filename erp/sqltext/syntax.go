package sqltext

import (
	"strconv"
	"strings"
)

// Syntax is how a database writes SQL.
type Syntax struct {
	Name  string
	Lexis Lexis

	// Forbidden are words in a row that would lock or change something, or leave
	// the single query; the reading transaction does not stop all of them.
	Forbidden [][]string
	// Opaque are words whose query means something else without its condition.
	Opaque []string

	// Quotes stand around a name, and alias after a wrapped query.
	Quotes [2]string
	Alias  string
	// Placeholder is that of the nth argument.
	Placeholder func(n int) string
	// NoRows, after a wrapped query, gives its columns but no row.
	NoRows string
	First  FirstRow
	// FlatCTE: no WITH and no lone ORDER BY in parentheses (SQL Server).
	FlatCTE bool
}

// Lexis is where strings, names and comments of a language end.
type Lexis struct {
	Backtick           bool // `name`
	Bracket            bool // [name]
	BracketDoubled     bool // ]] stands for ] in it
	NestedComments     bool
	HashComments       bool // # to the end of the line
	DashNeedsBlank     bool // "--1" is arithmetic, not a comment
	ExecutableComments bool // /*! … */ is run
	PostgresStrings    bool // E'…' and $tag$…$tag$
	OracleStrings      bool // q'[…]'
	Backslash          bool // protects the next character in a string
	DoubleQuoteText    bool // "…" is a string
	Params             string
	WordMore           string // further characters of a name
}

// FirstRow is what limits a query to one row: after SELECT, after the condition, or at the end.
type FirstRow struct{ Prefix, Cond, Suffix string }

// QuestionMark is the placeholder of most databases.
func QuestionMark(int) string { return "?" }

// Numbered returns placeholders of a prefix and a number.
func Numbered(prefix string) func(int) string {
	return func(n int) string { return prefix + strconv.Itoa(n) }
}

// Quote makes a name of any text.
func (l *Syntax) Quote(name string) string {
	return l.Quotes[0] + strings.ReplaceAll(name, l.Quotes[1], l.Quotes[1]+l.Quotes[1]) + l.Quotes[1]
}

// Column names a column of the wrapped query.
func (l *Syntax) Column(name string) string { return "q." + l.Quote(name) }

// banned finds words that must not be run; at is the first of them.
func (l *Syntax) banned(st Statement) (at int, found bool) {
	for i := range st.toks {
		for _, words := range l.Forbidden {
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
func (st Statement) isQualifier(i int) bool { return st.textAt(i+1) == "." }
