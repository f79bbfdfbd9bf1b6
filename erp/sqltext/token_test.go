package sqltext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/erp/dialect/firebird"
	"github.com/safrasync/safrasync/erp/dialect/mysql"
	"github.com/safrasync/safrasync/erp/dialect/oracle"
	"github.com/safrasync/safrasync/erp/dialect/postgres"
	"github.com/safrasync/safrasync/erp/dialect/sqlite"
	"github.com/safrasync/safrasync/erp/dialect/sqlserver"
	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/erp/sqltext"
)

func TestTokenizeKnowsTextFromCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		syntax *sqltext.Syntax
		sql    string
		want   string
	}{
		{postgres.Syntax, `a 'b;c' d`, `a|'b;c'|d`},
		{postgres.Syntax, `'it''s' x`, `'it''s'|x`},
		{postgres.Syntax, `E'a\'b' x`, `E'a\'b'|x`},
		{postgres.Syntax, `'a\' x`, `'a\'|x`},
		{postgres.Syntax, `"a""b;" x`, `"a""b;"|x`},
		{postgres.Syntax, `$$a;'$$ x`, `$$a;'$$|x`},
		{postgres.Syntax, `$f$ $$ $x$ $f$ x`, `$f$ $$ $x$ $f$|x`},
		{postgres.Syntax, `a$b$ c`, `a$b$|c`},
		{postgres.Syntax, `/* a /* b */ ; */ x`, `/* a /* b */ ; */|x`},
		{sqlite.Syntax, `/* a /* b */ x`, `/* a /* b */|x`},
		{postgres.Syntax, "a -- ;'\nb", "a|-- ;'|b"},
		{postgres.Syntax, `x::date = '12:30'`, `x|:|:|date|=|'12:30'`},
		{postgres.Syntax, `j ? 'a'`, `j|?|'a'`},
		{sqlite.Syntax, "[a ;b] `c;` d", "[a ;b]|`c;`|d"},
		{postgres.Syntax, `a[1]`, `a|[|1|]`},
		{postgres.Syntax, `1.5e3+.5`, `1.5e3|+|.5`},
		{postgres.Syntax, `ação`, `ação`},
		{sqlite.Syntax, `a = :b OR c = ?1`, `a|=|:b|OR|c|=|?1`},
		{mysql.Syntax, `'a\'b' "c;\"d" x`, `'a\'b'|"c;\"d"|x`},
		{mysql.Syntax, "a--1 -- b;\n`c``;` # d;\ne", "a|-|-|1|-- b;|`c``;`|# d;|e"},
		{mysql.Syntax, "a = @b /*+ HINT */", "a|=|@b|/*+ HINT */"},
		{firebird.Syntax, `q'{it's;}' RDB$DB_KEY :x`, `q'{it's;}'|RDB$DB_KEY|:x`},
		{oracle.Syntax, `nq'[it's;]' Q'!a'!' col# "x;" a.b(+)`, `nq'[it's;]'|Q'!a'!'|col#|"x;"|a|.|b|(|+|)`},
		{sqlserver.Syntax, `[a];]]b] #t N'x' /* /* */ */ @v`, `[a]|;|]|]|b|]|#t|N|'x'|/* /* */ */|@v`},
		{sqlserver.Syntax, `[a]];b] c`, `[a]];b]|c`},
	} {
		toks, err := sqltext.Tokenize(c.sql, c.syntax)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		var got []string
		for _, tok := range toks {
			start, end := tok.Bounds()
			got = append(got, c.sql[start:end])
		}
		if diff := cmp.Diff(strings.Split(c.want, "|"), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.sql, diff)
		}
	}
	for _, c := range []struct {
		syntax *sqltext.Syntax
		sql    string
	}{
		{mysql.Syntax, `'a\'`},
		{mysql.Syntax, `a /*! DROP */`},
		{mysql.Syntax, `a /*M! x */`},
		{oracle.Syntax, `q'[a)'`},
		{oracle.Syntax, `q'`},
		{sqlserver.Syntax, `[a]]`},
	} {
		if toks, err := sqltext.Tokenize(c.sql, c.syntax); err == nil {
			t.Errorf("%s: %q gives %v, want an error", c.syntax.Name, c.sql, toks)
		}
	}
	for _, sql := range []string{`'a`, `"a`, `$$a`, `$a$ $b$`, `/* a`, `/* /* */`, `E'a\'`, "a\x00b", "a\xffb"} {
		if toks, err := sqltext.Tokenize(sql, postgres.Syntax); err == nil {
			t.Errorf("%q gives %v, want an error", sql, toks)
		}
	}
}

var languages = []*sqltext.Syntax{
	postgres.Syntax, sqlite.Syntax, mysql.Syntax, firebird.Syntax, sqlserver.Syntax,
	oracle.Syntax,
}

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
		syntax := languages[int(number)%len(languages)]
		toks, err := sqltext.Tokenize(sql, syntax)
		if err != nil {
			return
		}
		at := 0
		for _, tok := range toks {
			start, end := tok.Bounds()
			if start < at || end <= start || end > len(sql) {
				t.Fatalf("token %+v after offset %d of %q", tok, at, sql)
			}
			if strings.Trim(sql[at:start], " \t\n\v\f\r") != "" {
				t.Fatalf("%q belongs to no token of %q", sql[at:start], sql)
			}
			at = end
		}
		if strings.Trim(sql[at:], " \t\n\v\f\r") != "" {
			t.Fatalf("the end of %q belongs to no token", sql)
		}
		st, err := sqltext.Parse(sql, syntax)
		if err != nil {
			return
		}
		// The wrapped query must be inside one parenthesis: nothing breaks out. CTEs come before
		// it; they are balanced, because the whole query is.
		wrapped, err := sqltext.Tokenize(strings.TrimPrefix(st.Wrap([]string{"*"}, ""), st.Front()), syntax)
		if err != nil {
			t.Fatalf("%q can no longer be read when wrapped: %v", sql, err)
		}
		depth := 0
		for i, tok := range wrapped {
			depth += tok.Parenthesis()
			if tok.IsSemicolon() {
				t.Fatalf("%q keeps a semicolon", sql)
			}
			if depth == 0 && i > 3 && i < len(wrapped)-3 {
				t.Fatalf("%q breaks out of its parentheses", sql)
			}
		}
		if parts, ok := sqltext.SplitSelect(st); ok {
			for _, cond := range parts.Conditions {
				if cond == "" || !strings.Contains(parts.Where, cond) {
					t.Fatalf("condition %q is not in %q", cond, parts.Where)
				}
			}
			_ = parts.Relax(-1).With(parts.Where)
		}
	})
}

func TestWhatAQueryMayNotContain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		l   *sqltext.Syntax
		sql string
		bad bool
	}{
		{sqlserver.Syntax, "SELECT [update], c.[into] FROM c", false},
		{sqlserver.Syntax, "SELECT 1 AS k DELETE FROM c", true},
		{sqlserver.Syntax, "SELECT * INTO x FROM c", true},
		{sqlserver.Syntax, "SELECT * FROM OPENQUERY(l, 'DELETE FROM x')", true},
		{oracle.Syntax, "SELECT s.NEXTVAL FROM DUAL", true},
		{oracle.Syntax, "SELECT * FROM c FOR UPDATE", true},
		{mysql.Syntax, "SELECT 'for update' AS a, `into` FROM c", false},
		{mysql.Syntax, "SELECT * FROM c WHERE a IN (SELECT k FROM d FOR SHARE)", true},
		{firebird.Syntax, "SELECT FIRST 5 a FROM c", false},
		{firebird.Syntax, "SELECT * FROM c WITH LOCK", true},
	} {
		_, err := sqltext.Parse(c.sql, c.l)
		if (err != nil) != c.bad || c.bad && err.Code != fault.CodeReadOnly {
			t.Errorf("%s: %s: %v", c.l.Name, c.sql, err)
		}
	}
	for hint, why := range map[string]string{
		"NOLOCK": "not yet committed", "readuncommitted": "not yet committed", "READPAST": "leaves out the rows",
		"REPEATABLEREAD": "keeps locks", "SERIALIZABLE": "keeps locks",
		"HOLDLOCK": "keeps locks", "UPDLOCK": "keeps locks",
		"XLOCK": "keeps locks", "TABLOCK": "keeps locks", "TABLOCKX": "keeps locks",
		"READCOMMITTED": "out of the snapshot", "READCOMMITTEDLOCK": "out of the snapshot",
	} {
		for _, form := range []string{"SELECT a FROM dbo.c WITH (%s)", "SELECT a FROM dbo.c (%s)", "SELECT a FROM dbo.c WITH(INDEX(1), %s) x"} {
			sql := fmt.Sprintf(form, hint)
			_, err := sqltext.Parse(sql, sqlserver.Syntax)
			if err == nil || err.Code != fault.CodeSyntax || !strings.Contains(err.Text.Error(), why) ||
				err.Column != 1+strings.Index(sql, hint) {
				t.Errorf("%s: %v, want %q", sql, err, why)
			}
		}
	}
	for _, sql := range []string{"SELECT [nolock], 'NOLOCK' AS a FROM c -- NOLOCK", "SELECT a FROM c WITH (ROWLOCK, INDEX(1))"} {
		if _, err := sqltext.Parse(sql, sqlserver.Syntax); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	for _, c := range []struct {
		l   *sqltext.Syntax
		sql string
	}{
		{sqlserver.Syntax, "SELECT k FROM c CROSS APPLY f(c.k) x WHERE a = 1"},
		{sqlserver.Syntax, "SELECT TOP 5 k FROM c WHERE a = 1"},
		{oracle.Syntax, "SELECT k FROM c, d WHERE c.a = d.a(+) AND c.b = 1"},
		{oracle.Syntax, "SELECT k FROM c WHERE a = 1 MINUS SELECT k FROM d"},
		{oracle.Syntax, "SELECT k FROM c WHERE ROWNUM < 5"},
		{firebird.Syntax, "SELECT FIRST 5 k FROM c WHERE a = 1"},
		{firebird.Syntax, "SELECT k FROM c WHERE a = 1 ROWS 5"},
	} {
		st, err := sqltext.Parse(c.sql, c.l)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := sqltext.SplitSelect(st); ok {
			t.Errorf("%s: %s is taken apart, and its meaning would change", c.l.Name, c.sql)
		}
	}
}
