package erp

import (
	"slices"
	"strconv"
	"strings"
)

// language is how a database writes SQL: where strings, names and comments end,
// what its queries may not contain, and how a query is wrapped.
type language struct {
	name string

	// Lexical.
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

	// forbidden are words in a row that would lock or change something, or leave
	// the single query; the reading transaction does not stop all of them.
	forbidden [][]string
	// opaque are words whose query means something else without its condition.
	opaque []string

	// Writing.
	quotes      [2]string
	alias       string // of the wrapped query
	placeholder func(n int) string
	noRows      string // after a wrapped query: its columns, but no row
	firstPrefix string // one row: after SELECT,
	firstCond   string // after the condition,
	firstSuffix string // or at the end
	keysAtOnce  int    // how many one statement may ask for; 0 = chunkKeys
	flatCTE     bool   // no WITH and no lone ORDER BY in parentheses (SQL Server)
}

func questionMark(int) string { return "?" }

func numbered(prefix string) func(int) string {
	return func(n int) string { return prefix + strconv.Itoa(n) }
}

var locking = [][]string{{"FOR", "UPDATE"}, {"FOR", "SHARE"}}

var postgresSyntax = &language{
	name: "PostgreSQL", nestedComments: true, postgresStrings: true,
	quotes: [2]string{`"`, `"`}, alias: " AS q", placeholder: numbered("$"), noRows: " LIMIT 0",
	firstSuffix: " LIMIT 1",
	keysAtOnce:  256, // they come in arrays; as many as are looked at together before they are sent
}

var sqliteSyntax = &language{
	name: "SQLite", backtick: true, bracket: true, params: "?:@",
	quotes: [2]string{`"`, `"`}, alias: " AS q", placeholder: questionMark, noRows: " LIMIT 0", firstSuffix: " LIMIT 1",
}

var mysqlSyntax = &language{
	name: "MySQL", backtick: true, hashComments: true, dashNeedsBlank: true, executableComments: true, backslash: true,
	doubleQuoteText: true, params: "?@",
	forbidden: slices.Concat(locking, [][]string{
		{"LOCK", "IN"},
		{"INTO"},
		{"NEXTVAL"},
		{"SETVAL"},
		{"NEXT", "VALUE"},
		{"GET_LOCK"},
	}),
	opaque: []string{"PROCEDURE", "STRAIGHT_JOIN"},
	quotes: [2]string{"`", "`"}, alias: " AS q", placeholder: questionMark, noRows: " LIMIT 0",
	firstSuffix: " LIMIT 1",
}

var firebirdSyntax = &language{
	name: "Firebird", params: "?:", oracleStrings: true,
	forbidden: [][]string{{"FOR", "UPDATE"}, {"WITH", "LOCK"}, {"GEN_ID"}, {"NEXT", "VALUE"}, {"RDB$SET_CONTEXT"}},
	opaque:    []string{"FIRST", "SKIP", "ROWS", "PLAN"},
	quotes:    [2]string{`"`, `"`}, alias: " AS q", placeholder: questionMark, noRows: " WHERE 1 = 0",
	firstSuffix: " ROWS 1",
}

var sqlserverSyntax = &language{
	name: "SQL Server", bracket: true, bracketDoubled: true, nestedComments: true, params: "@", wordMore: "#",
	forbidden: [][]string{
		{"INTO"},
		{"UPDLOCK"},
		{"XLOCK"},
		{"TABLOCKX"},
		{"TABLOCK"},
		{"HOLDLOCK"},
		{"SERIALIZABLE"},
		{"NEXT", "VALUE"},
		{"OPENROWSET"},
		{"OPENQUERY"},
		{"OPENDATASOURCE"},
		// Statements may stand in a row without a semicolon.
		{"INSERT"},
		{"UPDATE"},
		{"DELETE"},
		{"MERGE"},
		{"EXEC"},
		{"EXECUTE"},
		{"DROP"},
		{"TRUNCATE"},
		{"ALTER"},
		{"CREATE"},
		{"GRANT"},
		{"DECLARE"},
		{"OPTION"},
	},
	opaque: []string{"TOP", "FOR", "PIVOT", "UNPIVOT"},
	quotes: [2]string{"[", "]"}, alias: " AS q", placeholder: numbered("@p"), noRows: " WHERE 1 = 0",
	firstPrefix: "TOP 1 ", flatCTE: true,
}

var oracleSyntax = &language{
	name: "Oracle", params: ":", wordMore: "#", oracleStrings: true,
	forbidden: [][]string{{"FOR", "UPDATE"}, {"NEXTVAL"}},
	opaque:    []string{"MINUS", "CONNECT", "START", "ROWNUM", "MODEL", "PIVOT", "UNPIVOT", "SAMPLE"},
	quotes:    [2]string{`"`, `"`}, alias: " q", placeholder: numbered(":"), noRows: " WHERE 1 = 0",
	firstCond: " AND ROWNUM = 1",
}

// quote makes a name of any text.
func (l *language) quote(name string) string {
	return l.quotes[0] + strings.ReplaceAll(name, l.quotes[1], l.quotes[1]+l.quotes[1]) + l.quotes[1]
}

// column names a column of the wrapped query.
func (l *language) column(c Column) string { return "q." + l.quote(c.Name) }

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
func (st statement) isQualifier(i int) bool {
	return i+1 < len(st.toks) && st.body[st.toks[i+1].start:st.toks[i+1].end] == "."
}
