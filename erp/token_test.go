package erp

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTokenizeKnowsTextFromCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dialect *language
		sql     string
		want    string
	}{
		{postgresSyntax, `a 'b;c' d`, `a|'b;c'|d`},
		{postgresSyntax, `'it''s' x`, `'it''s'|x`},
		{postgresSyntax, `E'a\'b' x`, `E'a\'b'|x`},
		{postgresSyntax, `'a\' x`, `'a\'|x`},
		{postgresSyntax, `"a""b;" x`, `"a""b;"|x`},
		{postgresSyntax, `$$a;'$$ x`, `$$a;'$$|x`},
		{postgresSyntax, `$f$ $$ $x$ $f$ x`, `$f$ $$ $x$ $f$|x`},
		{postgresSyntax, `a$b$ c`, `a$b$|c`},
		{postgresSyntax, `/* a /* b */ ; */ x`, `/* a /* b */ ; */|x`},
		{sqliteSyntax, `/* a /* b */ x`, `/* a /* b */|x`},
		{postgresSyntax, "a -- ;'\nb", "a|-- ;'|b"},
		{postgresSyntax, `x::date = '12:30'`, `x|:|:|date|=|'12:30'`},
		{postgresSyntax, `j ? 'a'`, `j|?|'a'`},
		{sqliteSyntax, "[a ;b] `c;` d", "[a ;b]|`c;`|d"},
		{postgresSyntax, `a[1]`, `a|[|1|]`},
		{postgresSyntax, `1.5e3+.5`, `1.5e3|+|.5`},
		{postgresSyntax, `ação`, `ação`},
		{sqliteSyntax, `a = :b OR c = ?1`, `a|=|:b|OR|c|=|?1`},
		{mysqlSyntax, `'a\'b' "c;\"d" x`, `'a\'b'|"c;\"d"|x`},
		{mysqlSyntax, "a--1 -- b;\n`c``;` # d;\ne", "a|-|-|1|-- b;|`c``;`|# d;|e"},
		{mysqlSyntax, "a = @b /*+ HINT */", "a|=|@b|/*+ HINT */"},
		{firebirdSyntax, `q'{it's;}' RDB$DB_KEY :x`, `q'{it's;}'|RDB$DB_KEY|:x`},
		{oracleSyntax, `nq'[it's;]' Q'!a'!' col# "x;" a.b(+)`, `nq'[it's;]'|Q'!a'!'|col#|"x;"|a|.|b|(|+|)`},
		{sqlserverSyntax, `[a];]]b] #t N'x' /* /* */ */ @v`, `[a]|;|]|]|b|]|#t|N|'x'|/* /* */ */|@v`},
		{sqlserverSyntax, `[a]];b] c`, `[a]];b]|c`},
	} {
		toks, err := tokenize(c.sql, c.dialect)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		var got []string
		for _, tok := range toks {
			got = append(got, c.sql[tok.start:tok.end])
		}
		if diff := cmp.Diff(strings.Split(c.want, "|"), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.sql, diff)
		}
	}
	for _, c := range []struct {
		dialect *language
		sql     string
	}{
		{mysqlSyntax, `'a\'`},
		{mysqlSyntax, `a /*! DROP */`},
		{mysqlSyntax, `a /*M! x */`},
		{oracleSyntax, `q'[a)'`},
		{oracleSyntax, `q'`},
		{sqlserverSyntax, `[a]]`},
	} {
		if toks, err := tokenize(c.sql, c.dialect); err == nil {
			t.Errorf("%s: %q gives %v, want an error", c.dialect.name, c.sql, toks)
		}
	}
	for _, sql := range []string{`'a`, `"a`, `$$a`, `$a$ $b$`, `/* a`, `/* /* */`, `E'a\'`, "a\x00b", "a\xffb"} {
		if toks, err := tokenize(sql, postgresSyntax); err == nil {
			t.Errorf("%q gives %v, want an error", sql, toks)
		}
	}
}

var languages = []*language{postgresSyntax, sqliteSyntax, mysqlSyntax, firebirdSyntax, sqlserverSyntax, oracleSyntax}

func FuzzTokenize(f *testing.F) {
	for _, s := range []string{
		"", "SELECT 1", "SELECT a.b, 'c' FROM d WHERE x BETWEEN 1 AND 2 AND y = E'\\'' ORDER BY 1;", "$$ $1 $a$ x",
		"/* /* */ */ --",
		"select case when a and b then c end from t join u on (a = b) where a or b;;", "\"", "[x] `y` ?1 :a @b $c",
		"((", "FROM WHERE SELECT .", "WITH x AS (SELECT 1) SELECT * FROM x ORDER BY 1", "q'[a]' # b\n",
		"[a]]b] /*! c */ \"d\\\"\"", "SELECT FROM WHERE 0 AND AND 0", "é'ç",
	} {
		for i := range languages {
			f.Add(s, uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, sql string, number uint8) {
		dialect := languages[int(number)%len(languages)]
		toks, err := tokenize(sql, dialect)
		if err != nil {
			return
		}
		at := 0
		for _, tok := range toks {
			if tok.start < at || tok.end <= tok.start || tok.end > len(sql) {
				t.Fatalf("token %+v after offset %d of %q", tok, at, sql)
			}
			if strings.Trim(sql[at:tok.start], " \t\n\v\f\r") != "" {
				t.Fatalf("%q belongs to no token of %q", sql[at:tok.start], sql)
			}
			at = tok.end
		}
		if strings.Trim(sql[at:], " \t\n\v\f\r") != "" {
			t.Fatalf("the end of %q belongs to no token", sql)
		}
		st, err := parseStatement(sql, dialect)
		if err != nil {
			return
		}
		// What is wrapped must come out as one parenthesis: nothing breaks out.
		with, _ := st.parts() // CTEs stand in front; they are balanced, because the whole is
		wrapped, err := tokenize(strings.TrimPrefix(st.wrap([]string{"*"}, ""), with), dialect)
		if err != nil {
			t.Fatalf("%q can no longer be read when wrapped: %v", sql, err)
		}
		depth := 0
		for i, tok := range wrapped {
			switch tok.kind {
			case tokOpen:
				depth++
			case tokClose:
				depth--
			case tokEnd:
				t.Fatalf("%q keeps a semicolon", sql)
			}
			if depth == 0 && i > 3 && i < len(wrapped)-3 {
				t.Fatalf("%q breaks out of its parentheses", sql)
			}
		}
		if parts, ok := splitSelect(st); ok {
			for _, cond := range parts.conditions {
				if cond == "" || !strings.Contains(parts.where, cond) {
					t.Fatalf("condition %q is not in %q", cond, parts.where)
				}
			}
			_ = parts.relax(-1).with(parts.where)
		}
	})
}

func FuzzParseMoment(f *testing.F) {
	for _, s := range []string{
		"2026-10-18", "2026-10-18 10:20:30.302674-03", "2018-11-04T03:00:00Z",
		"1900-01-01 08:53:32-03:06:28", "2026-02-30", "infinity", "2026-01-01 24:00",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, ok := parseMoment(s)
		if !ok {
			return
		}
		if again, ok := parseMoment(m.like(m.at)); !ok || !again.at.Equal(m.at) {
			t.Fatalf("%q reads as %s, which is written as %q", s, m.at, m.like(m.at))
		}
	})
}
