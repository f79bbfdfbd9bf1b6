package sqltext

import (
	"slices"
	"strings"
)

// Tables returns the names of the tables and views that a query reads, sorted and in lower case,
// without those that the query defines itself (WITH …). The query is tokenized in the first
// language in which that succeeds. For a query that is not understood it returns what it found.
func Tables(sql string, languages ...*Syntax) []string {
	var toks []token
	for _, l := range languages {
		if all, err := tokenize(sql, l); err == nil {
			toks = slices.DeleteFunc(all, func(t token) bool { return t.kind == tokComment })
			break
		}
	}
	f := tableFinder{
		Statement: Statement{Body: sql, toks: toks},
		made:      map[string]bool{}, found: map[string]bool{}, levels: []tableLevel{{query: true}},
	}
	// the names that WITH defines: name [(columns)] AS [[NOT] MATERIALIZED] (SELECT …
	for i := range f.toks {
		if f.wordAt(i) != "AS" || i == 0 {
			continue
		}
		at := i + 1
		for f.wordAt(at) == "NOT" || f.wordAt(at) == "MATERIALIZED" {
			at++
		}
		if f.textAt(at) != "(" || !startsQuery(f.wordAt(at+1)) && f.textAt(at+1) != "(" {
			continue
		}
		name := i - 1
		if f.textAt(name) == ")" {
			for name > 0 && f.textAt(name) != "(" {
				name--
			}
			name--
		}
		f.made[f.name(name)] = true
	}
	for i := 0; i < len(toks); i++ {
		i = f.step(i)
	}
	var out []string
	for name := range f.found {
		if !f.made[name] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

type tableFinder struct {
	Statement
	made   map[string]bool
	found  map[string]bool
	levels []tableLevel // one for each open parenthesis
}

// tableLevel is the position within one level of parentheses.
type tableLevel struct {
	query  bool // this level has a SELECT: its FROM names tables
	from   bool // inside FROM: a table follows a comma
	expect bool // the next token is a table
}

func startsQuery(word string) bool {
	return word == "SELECT" || word == "WITH" || word == "VALUES" || word == "TABLE"
}

// name returns a name without its quotes, in lower case.
func (f *tableFinder) name(i int) string {
	text := f.textAt(i)
	if i >= 0 && i < len(f.toks) && f.toks[i].kind == tokName && len(text) >= 2 {
		text = text[1 : len(text)-1]
	}
	return strings.ToLower(text)
}

// step processes one token, and returns the index of the last token that it used.
func (f *tableFinder) step(i int) int {
	level := &f.levels[len(f.levels)-1]
	switch t := f.toks[i]; {
	case t.kind == tokOpen:
		inner := tableLevel{query: startsQuery(f.wordAt(i + 1))}
		// a join in parentheses, or further parentheses around a SELECT
		if level.expect && !inner.query {
			inner = tableLevel{query: true, from: true, expect: true}
		}
		level.expect = false
		f.levels = append(f.levels, inner)
	case t.kind == tokClose:
		if len(f.levels) > 1 {
			f.levels = f.levels[:len(f.levels)-1]
		}
	case level.expect && (t.kind == tokName || t.kind == tokWord):
		if t.word == "ONLY" || t.word == "LATERAL" || t.word == "SELECT" || t.word == "WITH" || t.word == "VALUES" {
			level.expect = t.word == "ONLY" || t.word == "LATERAL"
			return i
		}
		level.expect = false
		name, last := f.name(i), i
		for f.textAt(last+1) == "." && last+2 < len(f.toks) {
			last += 2
			name += "." + f.name(last)
		}
		if f.textAt(last+1) != "(" { // a function is not a table
			f.found[name] = true
		}
		return last
	case t.kind == tokOther:
		if level.from && f.textAt(i) == "," {
			level.expect = true
		}
	case t.kind == tokWord:
		switch t.word {
		case "FROM":
			if level.query && f.wordAt(i-1) != "DISTINCT" { // IS DISTINCT FROM is a comparison
				level.from, level.expect = true, true
			}
		case "JOIN":
			level.expect = level.from
		case "WHERE", "GROUP", "HAVING", "ORDER", "WINDOW", "LIMIT", "FETCH", "UNION", "INTERSECT", "EXCEPT", "SELECT":
			level.from, level.expect = false, false
		}
	}
	return i
}
