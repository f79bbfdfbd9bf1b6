package sqltext

// The tests read the SQL of the engines, which import this package; so they stand outside it.

// Tokenize cuts a query into tokens.
var Tokenize = tokenize

// Bounds are the offsets of a token.
func (t token) Bounds() (start, end int) { return t.start, t.end }

// Parenthesis is 1 for an opening one and -1 for a closing one, else 0.
func (t token) Parenthesis() int {
	switch t.kind {
	case tokOpen:
		return 1
	case tokClose:
		return -1
	}
	return 0
}

// IsSemicolon tells a token that would end the query.
func (t token) IsSemicolon() bool { return t.kind == tokEnd }

// Front is what a wrapped query has in front of its parenthesis.
func (st Statement) Front() string {
	with, _ := st.parts()
	return with
}
