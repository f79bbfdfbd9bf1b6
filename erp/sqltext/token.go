package sqltext

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/internal/phrase"
)

type tokenKind uint8

const (
	tokWord    tokenKind = iota // keyword or unquoted name
	tokName                     // quoted name
	tokString                   // string of any form
	tokNumber                   // number
	tokParam                    // $1, ?, :name
	tokComment                  // either form
	tokOpen                     // (
	tokClose                    // )
	tokEnd                      // ;
	tokOther                    // operators, commas, dots
)

// token is a piece of a query; start and end are byte offsets.
type token struct {
	kind       tokenKind
	start, end int
	word       string // upper-case text of a tokWord
}

// tokenize splits a query into tokens. It understands just enough of SQL to distinguish text from
// code; everything else is left to the database. Every byte that is not white space belongs to
// exactly one token.
func tokenize(sql string, syntax *Syntax) ([]token, *fault.Error) {
	s := scanner{sql: sql, syntax: syntax}
	if i := strings.IndexByte(sql, 0); i >= 0 {
		return nil, s.fail(i, "it contains a NUL byte")
	}
	if at, bad := FirstInvalidUTF8(sql); bad {
		return nil, s.fail(at, "it is not valid UTF-8")
	}
	for s.pos < len(s.sql) {
		if isSpace(s.sql[s.pos]) {
			s.pos++
			continue
		}
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	return s.toks, nil
}

type scanner struct {
	sql    string
	syntax *Syntax
	pos    int
	toks   []token
}

func (s *scanner) fail(at int, format string, args ...any) *fault.Error {
	line, col := Position(s.sql, at)
	wrong := phrase.New(format, args...)
	e := fault.Failf(fault.CodeSyntax, "the query cannot be read: %w, at line %d, column %d", wrong, line, col)
	e.Wrong, e.Line, e.Column = wrong, line, col
	return e
}

func (s *scanner) rest() string { return s.sql[s.pos:] }

func (s *scanner) emit(kind tokenKind, n int) {
	t := token{kind: kind, start: s.pos, end: s.pos + n}
	if kind == tokWord {
		t.word = strings.ToUpper(s.sql[t.start:t.end])
	}
	s.toks = append(s.toks, t)
	s.pos = t.end
}

func (s *scanner) next() *fault.Error {
	rest := s.rest()
	c := rest[0]
	switch {
	case strings.HasPrefix(rest, "--") && (!s.syntax.Lexis.DashNeedsBlank || len(rest) == 2 || rest[2] <= ' '),
		c == '#' &&
			s.syntax.Lexis.HashComments:
		n := strings.IndexAny(rest, "\n\r")
		if n < 0 {
			n = len(rest)
		}
		s.emit(tokComment, n)
	case s.syntax.Lexis.ExecutableComments && (strings.HasPrefix(rest, "/*!") || strings.HasPrefix(rest, "/*M!")):
		return s.fail(s.pos, "it contains a comment that the database would run (/*! … */); write it as plain SQL")
	case strings.HasPrefix(rest, "/*"):
		// PostgreSQL and SQL Server nest comments, others do not. SQLite would also accept the end
		// of the text as the end of a comment; this tokenizer does not.
		depth := 0
		for i := 0; i < len(rest)-1; {
			switch {
			case rest[i] == '/' && rest[i+1] == '*' && (depth == 0 || s.syntax.Lexis.NestedComments):
				depth++
				i += 2
			case rest[i] == '*' && rest[i+1] == '/':
				depth--
				i += 2
				if depth == 0 {
					s.emit(tokComment, i)
					return nil
				}
			default:
				i++
			}
		}
		return s.fail(s.pos, "a comment does not end")
	case c == '\'':
		return s.quoted(tokString, '\'', 0, s.syntax.Lexis.Backslash)
	case c == '"' && s.syntax.Lexis.DoubleQuoteText:
		return s.quoted(tokString, '"', 0, s.syntax.Lexis.Backslash)
	case c == '"':
		return s.quoted(tokName, '"', 0, false)
	case c == '`' && s.syntax.Lexis.Backtick:
		return s.quoted(tokName, '`', 0, false)
	case c == '[' && s.syntax.Lexis.BracketDoubled:
		return s.quoted(tokName, ']', 0, false)
	case c == '[' && s.syntax.Lexis.Bracket:
		n := strings.IndexByte(rest, ']')
		if n < 0 {
			return s.fail(s.pos, "a name in [brackets] does not end")
		}
		s.emit(tokName, n+1)
	case (c == 'e' || c == 'E') && s.syntax.Lexis.PostgresStrings && strings.HasPrefix(rest[1:], "'"):
		return s.quoted(tokString, '\'', 1, true)
	case s.syntax.Lexis.OracleStrings && alternativeQuote(rest) > 0:
		return s.alternative(alternativeQuote(rest))
	case c == '$': // $tag$…$tag$ or the parameter $1
		n := 1
		for n < len(rest) && (isWordStart(rest[n]) || isDigit(rest[n])) {
			n++
		}
		if s.syntax.Lexis.PostgresStrings && n < len(rest) && rest[n] == '$' && (n == 1 || !isDigit(rest[1])) {
			tag := rest[:n+1]
			end := strings.Index(rest[len(tag):], tag)
			if end < 0 {
				return s.fail(s.pos, "a dollar-quoted string does not end")
			}
			s.emit(tokString, len(tag)+end+len(tag))
			return nil
		}
		if n == 1 {
			s.emit(tokOther, 1)
			return nil
		}
		s.emit(tokParam, n)
		return nil
	case isWordStart(c), strings.IndexByte(s.syntax.Lexis.WordMore, c) >= 0:
		n := 1
		for n < len(rest) && (isWordPart(rest[n]) || strings.IndexByte(s.syntax.Lexis.WordMore, rest[n]) >= 0) {
			n++
		}
		s.emit(tokWord, n)
	case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]):
		n := 1
		for n < len(rest) && (isDigit(rest[n]) || rest[n] == '.' || isWordStart(rest[n])) {
			n++
		}
		s.emit(tokNumber, n)
	case strings.IndexByte(s.syntax.Lexis.Params, c) >= 0:
		n := 1
		for n < len(rest) && isWordPart(rest[n]) {
			n++
		}
		kind := tokParam
		if n == 1 && c != '?' {
			kind = tokOther
		}
		s.emit(kind, n)
	case c == '(':
		s.emit(tokOpen, 1)
	case c == ')':
		s.emit(tokClose, 1)
	case c == ';':
		s.emit(tokEnd, 1)
	default:
		s.emit(tokOther, 1)
	}
	return nil
}

// quoted scans '…' or "…". A doubled quote is an escaped quote, and in E'…' a backslash escapes the
// next byte. skip is the length of the prefix.
func (s *scanner) quoted(kind tokenKind, quote byte, skip int, backslash bool) *fault.Error {
	rest := s.rest()
	for i := skip + 1; i < len(rest); i++ {
		switch {
		case backslash && rest[i] == '\\':
			i++
		case rest[i] == quote && i+1 < len(rest) && rest[i+1] == quote:
			i++
		case rest[i] == quote:
			s.emit(kind, i+1)
			return nil
		}
	}
	if kind == tokName {
		return s.unclosed("a quoted name does not end")
	}
	return s.unclosed("a string does not end")
}

// unclosed returns the error of a quote without an end. If an earlier string or name spans a line
// break, it is very likely the one whose closing quote is missing: then the quotes after it do not
// pair.
func (s *scanner) unclosed(what string) *fault.Error {
	for _, t := range s.toks {
		if (t.kind == tokString || t.kind == tokName) && strings.Contains(s.sql[t.start:t.end], "\n") {
			return s.fail(t.start, "%w in its line, and the quotes after it do not pair", phrase.Fixed(what))
		}
	}
	return s.fail(s.pos, "%w", phrase.Fixed(what))
}

// alternativeQuote returns the length of the opening q'[ or nq'[ of a string, or 0.
func alternativeQuote(rest string) int {
	n := 0
	if rest[0] == 'n' || rest[0] == 'N' {
		n = 1
	}
	if len(rest) < n+3 || rest[n] != 'q' && rest[n] != 'Q' || rest[n+1] != '\'' || isSpace(rest[n+2]) {
		return 0
	}
	return n + 3
}

// alternative scans q'[…]' of Oracle and Firebird. The character after the quote, or its
// counterpart, ends the string together with a quote.
func (s *scanner) alternative(open int) *fault.Error {
	rest := s.rest()
	sign, size := utf8.DecodeRuneInString(rest[open-1:])
	if pair := strings.IndexRune("[]{}()<>", sign); pair >= 0 && pair%2 == 0 {
		sign = rune("[]{}()<>"[pair+1])
	}
	end := strings.Index(rest[open-1+size:], string(sign)+"'")
	if end < 0 {
		return s.fail(s.pos, "a string does not end")
	}
	s.emit(tokString, open-1+size+end+len(string(sign))+1)
	return nil
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isWordStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}
func isWordPart(c byte) bool { return isWordStart(c) || isDigit(c) || c == '$' }

// Position returns line and column, both from 1. The column counts characters.
func Position(sql string, at int) (line, column int) {
	before := sql[:min(at, len(sql))]
	line = 1 + strings.Count(before, "\n")
	return line, 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}

// FirstInvalidUTF8 returns the offset of the first byte that is not valid UTF-8.
func FirstInvalidUTF8(s string) (at int, found bool) {
	if utf8.ValidString(s) {
		return 0, false
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n <= 1 {
			return i, true
		}
		i += n
	}
	return 0, false
}

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

// isQualifier reports whether a dot follows a word, so that it is the name of a table or schema.
func (st Statement) isQualifier(i int) bool { return st.textAt(i+1) == "." }
