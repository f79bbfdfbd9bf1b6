package sqltext

import (
	"slices"
	"strconv"
	"strings"
)

// Syntax describes how a database writes SQL.
type Syntax struct {
	Name  string
	Lexis Lexis

	// Forbidden are sequences of words that would lock or change something, or leave the single
	// query; the read-only transaction does not prevent all of them.
	Forbidden [][]string
	// Hints are words that change how rows are locked or which of them are seen, with what is wrong
	// with each.
	Hints map[string]string
	// Opaque are words with which a query has another meaning without its condition.
	Opaque []string

	// Quotes enclose a name, and Alias follows a wrapped query.
	Quotes [2]string
	Alias  string
	// Placeholder returns the placeholder of the nth argument.
	Placeholder func(n int) string
	// NoRows, after a wrapped query, makes it return its columns but no row.
	NoRows string
	First  FirstRow
	// FlatCTE: neither WITH nor ORDER BY without a limit is allowed in parentheses (SQL Server).
	FlatCTE bool
}

// Lexis describes where strings, names and comments of a language end.
type Lexis struct {
	Backtick           bool // `name`
	Bracket            bool // [name]
	BracketDoubled     bool // in a name, ]] means ]
	NestedComments     bool
	HashComments       bool // # to the end of the line
	DashNeedsBlank     bool // "--1" is arithmetic, not a comment
	ExecutableComments bool // /*! … */ is run
	PostgresStrings    bool // E'…' and $tag$…$tag$
	OracleStrings      bool // q'[…]'
	Backslash          bool // escapes the next character in a string
	DoubleQuoteText    bool // "…" is a string
	Params             string
	WordMore           string // further characters of a name
}

// FirstRow limits a query to one row: after SELECT, after the condition, or at the end.
type FirstRow struct{ Prefix, Cond, Suffix string }

// QuestionMark returns the placeholder of most databases.
func QuestionMark(int) string { return "?" }

// Numbered returns a function for placeholders that consist of a prefix and a number.
func Numbered(prefix string) func(int) string {
	return func(n int) string { return prefix + strconv.Itoa(n) }
}

// Quote returns any text as a quoted name.
func (l *Syntax) Quote(name string) string {
	return l.Quotes[0] + strings.ReplaceAll(name, l.Quotes[1], l.Quotes[1]+l.Quotes[1]) + l.Quotes[1]
}

// Column returns a column of the wrapped query.
func (l *Syntax) Column(name string) string { return "q." + l.Quote(name) }

// bans reports whether a forbidden sequence of words begins with the first of the tokens.
func (l *Syntax) bans(toks []token) bool {
	return slices.ContainsFunc(l.Forbidden, func(words []string) bool {
		return len(words) <= len(toks) &&
			slices.EqualFunc(toks[:len(words)], words, func(t token, word string) bool { return t.word == word })
	})
}

// isQualifier reports whether a dot follows a word, so that it is the name of a table or schema.
func (st Statement) isQualifier(i int) bool { return st.textAt(i+1) == "." }
