package sqltext

// The tests read the SQL of the engines, which import this package, so they are in an external test
// package.

// Tokenize splits a query into tokens.
var Tokenize = tokenize

// Bounds returns the offsets of a token.
func (t token) Bounds() (start, end int) { return t.start, t.end }

// Parenthesis returns 1 for an opening parenthesis, -1 for a closing one, and otherwise 0.
func (t token) Parenthesis() int {
	switch t.kind {
	case tokOpen:
		return 1
	case tokClose:
		return -1
	}
	return 0
}

// IsSemicolon reports whether the token would end the query.
func (t token) IsSemicolon() bool { return t.kind == tokEnd }

// Front returns what a wrapped query has before its parenthesis.
func (st Statement) Front() string {
	with, _ := st.parts()
	return with
}
