package erptest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/sqltext"
	"github.com/safrasync/safrasync/internal/must"
)

// Sample is the input for which the statements of one engine are built.
type Sample struct {
	Queries []string
	Columns []dialect.Column
	// Since is a bound for each type of changed_at.
	Since map[string]string
	// Key is a value for each column.
	Key []dialect.Value
}

// Unopened returns the dialect of an engine for an address at which no server listens, in the zone
// of São Paulo.
func Unopened(t testing.TB, e *dialect.Engine, dsn string) dialect.Dialect {
	t.Helper()
	opt := dialect.SourceOptions{Driver: e.Name, DSN: dialect.Secret(dsn), TimeZone: SaoPaulo(t)}.WithDefaults()
	opened, bad := e.Open(opt, dialect.Charset{})
	if bad != nil {
		t.Fatal(bad)
	}
	t.Cleanup(func() { must.Do(t, opened.DB.Close()) })
	return opened.Dialect
}

// Golden compares the SQL that is sent with a file in testdata; with SAFRASYNC_UPDATE_GOLDEN it
// writes the file. It is for databases of which the tests have no server.
func Golden(t *testing.T, file string, e *dialect.Engine, d dialect.Dialect, s Sample) {
	t.Helper()
	var out strings.Builder
	show := func(title, sql string, args ...any) {
		fmt.Fprintf(&out, "== %s\n%s\n", title, sql)
		for _, a := range args {
			fmt.Fprintf(&out, "   %T %v\n", a, a)
		}
		out.WriteString("\n")
	}
	show("tables", e.Catalogue.Relations)
	show("columns", e.Catalogue.Columns)
	show("indexes", e.Catalogue.Indexes)
	for _, sql := range s.Queries {
		st, bad := sqltext.Parse(sql, e.Syntax)
		if bad != nil {
			t.Fatal(bad)
		}
		show("describe", st.Describe())
		show("first row of a key", st.FirstRow([]string{"*"}, "q.x = 1"))
	}
	for i, c := range s.Columns {
		item := d.Item(c, dialect.ForMapping)
		show("column "+c.Name+" "+c.Type, item.SQL)
		if since, ok := s.Since[c.Type]; ok {
			if bad := e.ChangedAt.Check(c); bad != nil {
				t.Error(bad)
			}
			b := dialect.NewBinder(e.Syntax)
			cond, bad := d.Window(b, c, dialect.Window{Since: since, Lookback: time.Hour})
			if bad != nil {
				t.Fatal(bad)
			}
			show("window on "+c.Name+", its bound is "+d.Item(c, dialect.ForBound).SQL, cond, b.Args...)
			b = dialect.NewBinder(e.Syntax)
			none := dialect.Window{Since: "0001-01-01" + since[10:], Lookback: time.Hour}
			cond, bad = d.Window(b, c, none)
			if bad != nil {
				t.Fatal(bad)
			}
			show("window on "+c.Name+" after a time that means none", cond, b.Args...)
		}
		b := dialect.NewBinder(e.Syntax)
		cond, bad := d.Keys(b, s.Columns[i:i+1], [][]dialect.Value{{s.Key[i]}})
		if bad != nil {
			t.Fatal(bad)
		}
		show("key "+c.Name, cond, b.Args...)
		for _, fast := range []bool{true, false} {
			b := dialect.NewBinder(e.Syntax)
			show(fmt.Sprintf("explain by %s, fast %v", c.Name, fast),
				d.LoosePart(b, s.Columns[i], s.Key[i].Trimmed(), fast), b.Args...)
		}
	}
	b := dialect.NewBinder(e.Syntax)
	cond, bad := d.Keys(b, s.Columns[:2], [][]dialect.Value{s.Key[:2], s.Key[:2]})
	if bad != nil {
		t.Fatal(bad)
	}
	show("two keys of two columns", cond, b.Args...)
	got := out.String()
	file = filepath.Join("testdata", file)
	if os.Getenv("SAFRASYNC_UPDATE_GOLDEN") != "" {
		must.Do(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want := must.Get(os.ReadFile(file))(t)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; SAFRASYNC_UPDATE_GOLDEN=1 writes it):\n%s", file, diff)
	}
}
