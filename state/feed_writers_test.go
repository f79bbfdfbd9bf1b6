package state

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
)

// rowWriters are the places that write rows, or the log of their changes, and why a place leaves the
// version of a row as it is; "" = it writes the version, by which the triggers write the log.
var rowWriters = map[string]string{
	"state/attempts_settle.go writeSettled: UPDATE entry":                       "",
	"state/attempts_settle.go writeSettled: UpdateRows entry":                   "",
	"state/queue.go WakeFor: UPDATE entry":                                      "",
	"state/job_move.go Apply: UPDATE entry":                                     "",
	"state/queue.go WakeBlocked: UPDATE entry":                                  "",
	"state/retention_bodies.go reduceEntries: UpdateRows entry":                 "",
	"state/rows_update.go applyUpdates: UpdateRows entry":                       "",
	"state/queue.go moveAll: UPDATE entry":                                      "",
	"state/rows_found.go insertEntryRows: EachArray ?":                          "a new row begins with version 1",
	"state/rows_found.go insertEntryRows: INSERT INTO entry":                    "a new row begins with version 1",
	"state/rows_found.go insertEntryRows: InsertText entry":                     "a new row begins with version 1",
	"state/replay_write.go generations: UpdateRows entry":                       "a step of a replay: it ends with the version",
	"state/replay_write.go states: UpdateRows entry":                            "",
	"state/replay_write.go states: UpdateRows entry (2)":                        "",
	"state/replay_write.go states: UpdateRows entry (3)":                        "what was sent, of rows of the first",
	"state/copy_rows.go copyTable: DELETE FROM ?":                               "a copy: a new log begins",
	"state/copy_rows.go copyTable: InsertRows ?":                                "a copy: a new log begins",
	"state/feed.go Feed: INSERT INTO feed":                                      "the log begins",
	"state/feed.go Feed: DELETE FROM ?":                                         "the log ends",
	"state/feed.go newLife: UPDATE feed":                                        "another log begins",
	"state/feed.go numberChanges: UPDATE change":                                "the order of what PostgreSQL's trigger wrote",
	"state/feed.go numberChanges: UPDATE feed":                                  "the order of what PostgreSQL's trigger wrote",
	"state/sqldb/bulk.go InsertRows: INSERT INTO ?":                             "its callers stand here",
	"state/sqldb/bulk.go InsertRows: InsertText ?":                              "its callers stand here",
	"state/sqldb/bulk.go InsertRows: InsertText ? (2)":                          "its callers stand here",
	"state/sqldb/bulk.go InsertText: INSERT INTO ?":                             "its callers stand here",
	"state/sqldb/bulk.go AddRows: InsertText ?":                                 "its callers stand here",
	"state/sqldb/bulk.go AddRows: EachArray ?":                                  "its callers stand here",
	"state/sqldb/bulk.go AddRows: INSERT INTO ?":                                "its callers stand here",
	"state/attempts_settle.go writeSettled: ChangeRows entry":                   "",
	"state/group.go claim: ChangeRows entry":                                    "",
	"state/sqldb/bulk.go UpdateRows: ChangeRows ?":                              "its callers stand here",
	"state/sqldb/bulk.go ChangeRows: UPDATE ?":                                  "its callers stand here",
	"state/sqldb/bulk.go ChangeRows: UPDATE ? (2)":                              "its callers stand here",
	"state/sqldb/arrays.go unnested: EachArray ?":                               "its callers stand here",
	"state/sqldb/migrate.go apply: INSERT INTO ?":                               "the versions of the tables",
	"state/sqldb/migrations/00001_ledger.sql safrasync_fed: INSERT INTO change": "the log",
	"state/sqldb/migrations/00001_ledger.sql entry_fed_new: UPDATE feed":        "the log",
	"state/sqldb/migrations/00001_ledger.sql entry_fed_new: INSERT INTO change": "the log",
	"state/sqldb/migrations/00001_ledger.sql entry_fed: UPDATE feed":            "the log",
	"state/sqldb/migrations/00001_ledger.sql entry_fed: INSERT INTO change":     "the log",
}

// writtenTables are the tables of rows and of the log of their changes.
var writtenTables = []string{"entry", "change", "feed"}

// rowCalls are the functions that write rows of a table, which is their first argument; the second one
// are the columns.
var rowCalls = []string{"InsertRows", "UpdateRows", "InsertText", "EachArray", "ChangeRows", "AddRows"}

// rowWriter is a place that writes rows.
type rowWriter struct {
	name    string
	version bool // it writes the version of the row
}

// Programs read the changes of rows by the log, which triggers write when the version of a row changes:
// whoever writes rows writes the version, or is known not to.
func TestEveryWriterOfRowsIsKnown(t *testing.T) {
	found := map[string]bool{}
	must.Do(t, filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		name = filepath.ToSlash(strings.TrimPrefix(name, ".."+string(filepath.Separator)))
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "tools" || d.Name() == "testdata" || len(name) > 2 && d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir() || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		var writers []rowWriter
		switch filepath.Ext(name) {
		case ".go":
			writers = writersInGo(t, name, string(must.Get(os.ReadFile(filepath.Join("..", name)))(t)))
		case ".sql":
			writers = writersInSQL(name, string(must.Get(os.ReadFile(filepath.Join("..", name)))(t)))
		}
		for _, w := range writers {
			one := w.name
			for n := 2; found[w.name]; n++ {
				w.name = fmt.Sprintf("%s (%d)", one, n)
			}
			found[w.name] = true
			switch why, known := rowWriters[w.name]; {
			case !known:
				t.Errorf("%s: unknown: does it write the version?", w.name)
			case why == "" && !w.version:
				t.Errorf("%s: does not write the version", w.name)
			}
		}
		return nil
	}))
	for _, name := range slices.Sorted(maps.Keys(rowWriters)) {
		if !found[name] {
			t.Errorf("%s: is gone", name)
		}
	}
}

func TestAWriterOfRowsIsFound(t *testing.T) {
	got := writersInGo(t, "x.go", "package x\n"+
		"const q = `WITH a AS (SELECT 1) UPDATE entry SET version = version + 1 WHERE ` + where\n"+
		"func f() { t.Do(`DELETE FROM ` + table + ` WHERE x`); t.UpdateRows(table, columns, rows) }\n"+
		"func (s *S) g() { t.UpdateRows(`entry`, []string{`id`, `state`}, rows); t.Do(`UPDATE entry\n SET job = ?`) }\n"+
		"func h() { t.Do(`UPDATE entry_x SET a`); t.Do(`SELECT 1 FROM entry`); t.InsertRows(`listing`, columns, rows) }\n")
	got = append(got, writersInSQL("x.sql", "CREATE FUNCTION y() AS $$ BEGIN\n INSERT INTO change (a) VALUES (1);\nEND")...)
	want := []rowWriter{
		{"x.go q: UPDATE entry", true},
		{"x.go f: DELETE FROM ?", false},
		{"x.go f: UpdateRows ?", false},
		{"x.go g: UpdateRows entry", false},
		{"x.go g: UPDATE entry", false},
		{"x.sql y: INSERT INTO change", false},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(rowWriter{})); diff != "" {
		t.Errorf("writers (-want +got):\n%s", diff)
	}
}

var (
	writing  = regexp.MustCompile(`\b(INSERT INTO|UPDATE|DELETE FROM)\s+(\w+|\?)`)
	creating = regexp.MustCompile(`CREATE (?:TRIGGER|FUNCTION) (\w+)`)
)

// writersInGo returns the functions and constants of a file that write rows, or tables whose name is
// not written there.
func writersInGo(t *testing.T, name, source string) (out []rowWriter) {
	t.Helper()
	columnsOf := map[string][]string{
		"updateColumns": updateColumns, "settledColumns": settledColumns, "replayedColumns": replayedColumns,
		"reducedColumns": reducedColumns, "stateColumns": stateColumns, "keptColumns": keptColumns,
		"emptiedColumns": emptiedColumns, "bodyColumns": bodyColumns, "emptiedBody": emptiedBody,
		"reducedBody": reducedBody,
	}
	file := must.Get(parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution))(t)
	within := func(where string, n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				called, _ := n.Fun.(*ast.Ident)
				if selector, ok := n.Fun.(*ast.SelectorExpr); ok {
					called = selector.Sel
				}
				if called == nil || len(n.Args) < 3 || !slices.Contains(rowCalls, called.Name) {
					return true
				}
				table, columns := textOf(n.Args[0]), textOf(n.Args[1])
				if named, ok := n.Args[1].(*ast.Ident); ok {
					columns = fmt.Sprint(columnsOf[named.Name])
				}
				if table == "?" || slices.Contains(writtenTables, table) {
					out = append(out, rowWriter{
						fmt.Sprintf("%s %s: %s %s", name, where, called.Name, table),
						slices.Contains(strings.Fields(strings.Trim(columns, "[]")), "version"),
					})
				}
			case *ast.BasicLit, *ast.BinaryExpr:
				out = append(out, writersInText(name+" "+where, textOf(n.(ast.Expr)))...)
				return false
			}
			return true
		})
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				within(d.Name.Name, d.Body)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					within(v.Names[0].Name, v)
				}
			}
		}
	}
	return out
}

// textOf returns the text of an expression, or of a list of texts; "?" stands for what is no literal.
func textOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, _ := strconv.Unquote(e.Value)
			return text
		}
	case *ast.BinaryExpr:
		return textOf(e.X) + textOf(e.Y)
	case *ast.CompositeLit:
		var texts []string
		for _, of := range e.Elts {
			texts = append(texts, textOf(of))
		}
		return fmt.Sprint(texts)
	}
	return "?"
}

// writersInSQL returns the triggers and functions of a file of SQL that write rows.
func writersInSQL(name, source string) (out []rowWriter) {
	starts := creating.FindAllStringSubmatchIndex(source, -1)
	for i, at := range starts {
		end := len(source)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		out = append(out, writersInText(name+" "+source[at[2]:at[3]], source[at[3]:end])...)
	}
	return out
}

// writersInText returns the statements of a text that write rows.
func writersInText(where, text string) (out []rowWriter) {
	for _, m := range writing.FindAllStringSubmatch(text, -1) {
		if m[2] == "?" || slices.Contains(writtenTables, m[2]) {
			out = append(out, rowWriter{
				fmt.Sprintf("%s: %s %s", where, m[1], m[2]), strings.Contains(text, "version = "),
			})
		}
	}
	return out
}
