package erptest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/must"
)

// Engine is a real database on which the battery runs.
type Engine struct {
	// Name is the driver.
	Name string
	// Start creates a database with these statements, and a reader on it.
	Start func(t testing.TB, statements ...string) (*erp.Source, *sql.DB)
	// Timestamp and Float are the names of these types.
	Timestamp, Float string
	// Folded returns a lower-case name without quotes as the database returns it.
	Folded func(string) string
	// Words returns a query for the words that the database knows; "" if it has none.
	Words string
	// Running returns a query that counts the statements that the server executes in the database, the
	// query itself excepted; "" if there is no server.
	Running string
	// Numbers returns a query that returns the numbers 1 to n as k.
	Numbers func(n int) string
}

// Battery runs the tests that every engine must pass.
func Battery(t *testing.T, e Engine) {
	t.Helper()
	t.Parallel()
	for name, test := range map[string]func(*testing.T, Engine){
		"F005 F006 rows are found by their time of change": window,
		"the time of change may be a day":                  changedAtDate,
		"a first time that means none stops no window":     noTimeYet,
		"rows are found again by any key":                  byKeys,
		"many keys and double keys":                        manyKeysAndDoubleKeys,
		"values are exact text":                            values,
		"a date is ten characters, an instant a local day": days,
		"faults are named and point into the query":        faults,
		"a cancelled read is called that":                  cancelledRead,
		"F003 F004 rows and bound are of one snapshot":     oneSnapshot,
		"rows that a writer holds are read":                rowsLockedByAWriter,
		"the caller's error comes back":                    callersError,
		"the conditions that exclude a row are named":      exclusions,
		"a customer's battery passes":                      customersBattery,
		"a column may be named by a word of SQL":           wordsAsNames,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, e)
		})
	}
}

// customersBattery runs what `safrasync check --battery` runs on any server.
func customersBattery(t *testing.T, e Engine) {
	s, db := e.Start(t, `CREATE TABLE c (k int)`)
	lines := map[string]string{}
	must.Do(t, s.Battery(t.Context(), func(f erp.Finding) {
		lines[f.Line] = f.Result
		if f.Result == erp.Differs {
			t.Errorf("%s: %s, want %s", f.Line, f.Got, f.Want)
		}
	}))
	for _, line := range []string{
		"integer", "key integer", "decimal", "negative", "float", "text", "key text", "accents", "padding",
		"key padding", "empty", "null", "date", "key date", "timestamp", "collation",
		"rows", "window", "faults", "cancellation", "timeout",
	} {
		if lines[line] != erp.Passed {
			t.Errorf("%s: %q, want passed", line, lines[line])
		}
	}
	if e.Running != "" {
		stopsOnTheServer(t, e, s, db)
	}
}

// stopsOnTheServer asks the server whether it still works on what the battery stopped, then shows
// with a query of its own that the server would have said so.
func stopsOnTheServer(t *testing.T, e Engine, s *erp.Source, db *sql.DB) {
	running := func() (n int) {
		tx := must.Get(db.BeginTx(t.Context(), nil))(t) // Firebird's monitor shows one moment per transaction
		must.Do(t, tx.QueryRowContext(t.Context(), e.Running).Scan(&n), tx.Rollback())
		return n
	}
	gone := func() bool {
		for range 1000 { // the server may notice a moment after the client; it would count for minutes
			if running() == 0 {
				return true
			}
		}
		return false
	}
	if !gone() {
		t.Error("the server still works on a query of the battery that was stopped")
	}
	for k := range 10 {
		Exec(t, db, fmt.Sprintf(`INSERT INTO c VALUES (%d)`, k))
	}
	slow := "SELECT COUNT(*) AS k FROM c t0"
	for i := range 9 {
		slow += fmt.Sprintf(" CROSS JOIN c t%d", i+1)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error)
	go func() {
		_, err := s.Read(ctx, erp.Query{SQL: slow, Key: []string{"k"}}, erp.Window{},
			func(erp.Row) error { return nil })
		ended <- err
	}()
	Wait(t, func() bool { return running() > 0 })
	cancel()
	WantError(t, <-ended, erp.CodeCancelled)
	if !gone() {
		t.Error("the server still works on a query that was cancelled")
	}
}

// Recursive returns a query for the numbers 1 to n as k, in the form that most databases accept.
func Recursive(n int) string {
	return fmt.Sprintf("WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < %d) SELECT k FROM n",
		n)
}

func window(t *testing.T, e Engine) {
	s, db := e.Start(t, `CREATE TABLE c (k varchar(20), em `+e.Timestamp+`)`,
		`INSERT INTO c VALUES ('at', '2026-05-01 10:00:00')`,
		`INSERT INTO c VALUES ('same', '2026-05-01 10:00:00')`,
		`INSERT INTO c VALUES ('before', '2026-05-01 09:30:00')`,
		`INSERT INTO c VALUES ('old', '2026-04-01 10:00:00')`,
		`INSERT INTO c VALUES ('never', NULL)`)
	q := erp.Query{SQL: "SELECT k, em FROM c", Key: []string{"k"}, ChangedAt: "em"}
	rows, res := Read(t, s, q, erp.Window{})
	if got := KeysOf(rows); got != "at before never old same" || res.FutureBound ||
		!strings.HasPrefix(res.Bound, "2026-05-01 10:00:00") {
		t.Fatalf("%q, %+v", got, res)
	}
	for lookback, want := range map[time.Duration]string{0: "at never same", time.Hour: "at before never same"} {
		rows, next := Read(t, s, q, erp.Window{Since: res.Bound, Lookback: lookback})
		if got := KeysOf(rows); got != want || next.Bound != res.Bound {
			t.Errorf("lookback %s: %q with bound %q, want %q and %q", lookback, got, next.Bound, want, res.Bound)
		}
	}
	Exec(t, db, `INSERT INTO c VALUES ('future', '2099-01-01 00:00:00')`)
	_, next := Read(t, s, q, erp.Window{Since: res.Bound})
	if !next.FutureBound || strings.HasPrefix(next.Bound, "2099") || next.Bound <= res.Bound {
		t.Errorf("with a row of 2099 the bound is %q (future %v), want the database's now()", next.Bound,
			next.FutureBound)
	}
	if drift := time.Since(next.ServerTime).Abs(); drift > time.Hour {
		t.Errorf("ServerTime is %s off", drift)
	}
}

func changedAtDate(t *testing.T, e Engine) {
	s, _ := e.Start(t, `CREATE TABLE c (k varchar(20), em date)`, `INSERT INTO c VALUES ('at', '2026-05-10')`,
		`INSERT INTO c VALUES ('twodays', '2026-05-08')`, `INSERT INTO c VALUES ('old', '2026-05-07')`,
		`INSERT INTO c VALUES ('never', NULL)`)
	q := erp.Query{SQL: "SELECT k, em FROM c", Key: []string{"k"}, ChangedAt: "EM"}
	_, res := Read(t, s, q, erp.Window{})
	if res.Bound != "2026-05-10" {
		t.Errorf("Bound = %q", res.Bound)
	}
	rows, _ := Read(t, s, q, erp.Window{Since: res.Bound})
	if got := KeysOf(rows); got != "at never twodays" {
		t.Errorf("window has %q, want at never twodays", got)
	}
}

// wordsAsNames selects columns that are named by words of this and other databases, in the form in
// which `init` writes them. Some of these words are functions without parentheses.
func wordsAsNames(t *testing.T, e Engine) {
	_, db := e.Start(t, `CREATE TABLE c (k int)`)
	words := strings.Fields(strings.ToLower(string(must.Get(os.ReadFile("../../reserved.txt"))(t))))
	if e.Words != "" {
		words = append(words, ownWords(t, e, db)...)
	}
	slices.Sort(words)
	quote := `"`
	if e.Name == "mysql" {
		quote = "`"
	}
	table := 0
	for some := range slices.Chunk(slices.Compact(words), 100) {
		table++
		var created, inserted, selected []string
		for _, word := range some {
			name := e.Folded(word)
			created = append(created, quote+name+quote+" int")
			inserted = append(inserted, "7")
			selected = append(selected, erp.QuoteName(e.Name, name))
		}
		Exec(t, db, fmt.Sprintf("CREATE TABLE w%d (%s)", table, strings.Join(created, ", ")),
			fmt.Sprintf("INSERT INTO w%d VALUES (%s)", table, strings.Join(inserted, ", ")))
		for i, name := range selected {
			query := "SELECT " + name + " FROM w" + strconv.Itoa(table)
			if err := erp.CheckQuery(e.Name, query); err != nil {
				t.Error(err)
			}
			var got int
			if err := db.QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != 7 {
				t.Errorf("%s is written %s: %d, %v", some[i], name, got, err)
			}
		}
	}
}

// ownWords returns the words that a query of the database returns.
func ownWords(t *testing.T, e Engine, db *sql.DB) (words []string) {
	t.Helper()
	must.Do(t, sqlx.NewDb(db, e.Name).SelectContext(t.Context(), &words, e.Words))
	for i, word := range words {
		words[i] = strings.ToLower(word)
	}
	return words
}

// noTimeYet: the only rows have the earliest time that the type has, and the lookback goes beyond it.
func noTimeYet(t *testing.T, e Engine) {
	for typ, earliest := range map[string]string{e.Timestamp: "0001-01-01 00:00:00", "date": "0001-01-01"} {
		s, db := e.Start(t, `CREATE TABLE c (k varchar(20), em `+typ+`)`, `INSERT INTO c VALUES ('none', '`+earliest+`')`)
		q := erp.Query{SQL: "SELECT k, em FROM c", Key: []string{"k"}, ChangedAt: "em"}
		_, res := Read(t, s, q, erp.Window{})
		Exec(t, db, `INSERT INTO c VALUES ('new', '2026-05-01')`)
		rows, _ := Read(t, s, q, erp.Window{Since: res.Bound, Lookback: 72 * time.Hour})
		if got := KeysOf(rows); got != "new none" {
			t.Errorf("%s: the window after %s has %q, want new none", typ, res.Bound, got)
		}
	}
}

func byKeys(t *testing.T, e Engine) {
	s, _ := e.Start(t, `CREATE TABLE c (i int, b bigint, t varchar(20), p char(6), n numeric(10,2), f `+e.Float+
		`, d date, ts `+e.Timestamp+`)`,
		`INSERT INTO c VALUES (1, 9007199254740993, ' São|1', '01', 1.50, 0.1, '2026-10-18', '2026-01-01 10:00:00.302')`,
		`INSERT INTO c VALUES (2, 9007199254740992, '', '', 1.51, 1e300, '1900-01-01', '2026-01-01 10:00:00')`,
		`INSERT INTO c VALUES (3, -5, 'x''y', 'ABCDEF', -0.01, -2.5, '1899-12-30', '1900-01-01 00:00:00')`)
	for _, key := range [][]string{
		{"i"},
		{"b"},
		{"t"},
		{"p"},
		{"n"},
		{"f"},
		{"d"},
		{"ts"},
		{"p", "i"},
		{"t", "d", "b", "n"},
		{"I", "P"},
	} {
		Recheck(t, s, erp.Query{SQL: "SELECT * FROM c;\n-- fim", Key: key})
	}
	rows, err := s.ByKeys(t.Context(), erp.Query{SQL: "SELECT * FROM c", Key: []string{"i", "p"}},
		[][]erp.Value{{{Kind: erp.Int, Text: "1"}, {Kind: erp.Text, Text: "ABCDEF"}}})
	if err != nil || len(rows) != 0 {
		t.Errorf("a key of parts of two rows finds %d rows, %v", len(rows), err)
	}
}

func manyKeysAndDoubleKeys(t *testing.T, e Engine) {
	s, _ := e.Start(t, `CREATE TABLE c (filial char(2), num varchar(6), v int)`,
		`INSERT INTO c VALUES ('01', '000123', 1)`,
		`INSERT INTO c VALUES ('01', '000123', 2)`, `INSERT INTO c VALUES ('02', '000123', 3)`)
	var keys [][]erp.Value
	for i := range 450 {
		keys = append(keys, []erp.Value{
			{Kind: erp.Text, Text: "01"},
			{Kind: erp.Text, Text: fmt.Sprintf("%06d", i)},
		})
	}
	rows, err := s.ByKeys(t.Context(),
		erp.Query{SQL: "SELECT filial, num, v FROM c", Key: []string{"filial", "num"}}, keys)
	if err != nil || len(rows) != 2 {
		t.Errorf("%d rows, %v; want both of the double key", len(rows), err)
	}
}

func values(t *testing.T, e Engine) {
	s, _ := e.Start(t, `CREATE TABLE c (k int, n numeric(18,4), f `+e.Float+`, d date, ts `+e.Timestamp+
		`, t varchar(30), p char(8), z int)`,
		`INSERT INTO c VALUES (1, 12345678901234.5678, 1234.5670000000001, '2018-11-04', '2026-08-10 23:59:59', 'Conceição do Araguaia', '0001', NULL)`)
	rows, _ := Read(t, s, erp.Query{SQL: "SELECT * FROM c", Key: []string{"k"}}, erp.Window{})
	got := map[string]string{}
	for _, c := range []string{"k", "n", "f", "d", "ts", "t", "p", "z"} {
		got[c] = strings.TrimSpace(strings.Replace(Text(rows[0], c), "T", " ", 1))
	}
	want := map[string]string{
		"k": "1", "n": "12345678901234.5678", "f": "1234.567", "d": "2018-11-04", "ts": "2026-08-10 23:59:59",
		"t": "Conceição do Araguaia", "p": "0001", "z": "<null>",
	}
	if e.Name == "sqlite" {
		want["n"] = "12345678901234.568" // SQLite stores a NUMERIC as a float
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// dayForms are the forms in which programs store days, with the day in São Paulo; "" is an error of
// the row.
var dayForms = map[string]string{
	"2026-05-10":                     "2026-05-10",
	"2026-05-10 23:59":               "2026-05-10",
	"2026-05-10 00:00:00":            "2026-05-10",
	"2026-05-10T23:59:59.999":        "2026-05-10",
	"2026-05-11T02:30:00Z":           "2026-05-10",
	"2026-05-11T02:30:00.000Z":       "2026-05-10",
	"2026-05-11 02:30:00.000 +00:00": "2026-05-10",
	"2026-05-10T23:30:00-07:00":      "2026-05-11",
	"2026-05-10 23:30:00-03":         "2026-05-10",
	"2026-05-10 ou 2026-05-20":       "",
	"2026-05-10 CANCELADO":           "",
	"2026-05-10 99:99":               "",
	"2026-05-10T":                    "",
	"2026-05-10 10:00:00 UTC":        "",
	"2026-05-1":                      "",
	"2026-02-30 10:00:00":            "",
	"2026-05-10;":                    "",
}

// days checks the one rule of the days: in texts of every engine, in its columns of dates and
// times, and in SQLite, which stores any text in those.
func days(t *testing.T, e Engine) {
	columns := map[string]string{"texto": "varchar(40)"}
	want := map[string]map[string]string{"texto": dayForms}
	if e.Name == "sqlite" {
		for _, kind := range []string{"datetime", "timestamp", "date"} {
			columns["c_"+kind], want["c_"+kind] = kind, maps.Clone(dayForms)
			for _, zoned := range []string{"2026-05-10T00:00:00Z", "2026-05-10 00:00:00.000 +00:00"} {
				want["c_"+kind][zoned] = map[bool]string{true: "2026-05-10", false: "2026-05-09"}[kind == "date"]
			}
		}
	} else {
		columns["dia"], columns["hora"] = "date", e.Timestamp
		want["dia"] = map[string]string{"2026-05-10": "2026-05-10"}
		want["hora"] = map[string]string{
			"2026-05-10 23:59:59": "2026-05-10", "2026-05-10 00:00:00": "2026-05-10",
		}
	}
	for name, kind := range columns {
		statements := []string{"CREATE TABLE c (k varchar(40), " + name + " " + kind + ")"}
		for stored := range want[name] {
			statements = append(statements, "INSERT INTO c VALUES ('"+stored+"', '"+stored+"')")
		}
		s, _ := e.Start(t, statements...)
		rows, _ := Read(t, s, erp.Query{SQL: "SELECT * FROM c", Key: []string{"k"}}, erp.Window{})
		got := map[string]string{}
		for _, r := range rows {
			v, _ := r.Get(name)
			got[Text(r, "k")] = ""
			if day, ok := v.Day(SaoPaulo(t)); ok {
				got[Text(r, "k")] = day.Format(time.DateOnly)
			}
		}
		if diff := cmp.Diff(want[name], got); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", name, kind, diff)
		}
	}
}

func faults(t *testing.T, e Engine) {
	s, _ := e.Start(t, `CREATE TABLE c (k int, preco numeric(9,2))`)
	for _, c := range []struct {
		sql   string
		code  erp.Code
		words []string
	}{
		{"SELECT k,\n  prco FROM c", erp.CodeMissingColumn, []string{"renamed in the ERP"}},
		{"SELECT k FRM c", erp.CodeSyntax, nil},
		{"SELECT k FROM contratos", erp.CodeMissingTable, nil},
		{"SELECT k, k FROM c", erp.CodeDuplicateColumn, []string{`two columns named "k"`}},
		{"SELECT a.*, b.* FROM c a JOIN c b ON a.k = b.k", erp.CodeDuplicateColumn, []string{`"k"`}},
		{"SELECT k FROM c; DELETE FROM c", erp.CodeSyntax, []string{"a second statement", "line 1, column 18"}},
		{"DELETE FROM c", erp.CodeSyntax, []string{`begins with "DELETE"`}},
		{"SELECT k FROM c) AS x, (SELECT 1", erp.CodeSyntax, []string{"closing parenthesis"}},
		{"SELECT 'k FROM c", erp.CodeSyntax, []string{"string does not end", "column 8"}},
	} {
		_, err := s.Columns(t.Context(), c.sql)
		words := c.words
		if c.code == erp.CodeDuplicateColumn {
			for i := range words {
				words[i] = strings.ReplaceAll(words[i], `"k"`, `"`+e.Folded("k")+`"`)
			}
		}
		WantError(t, err, c.code, words...)
	}
	WantError(t, ReadError(t, s, erp.Query{SQL: "SELECT * FROM c", Key: []string{"filial"}, Job: "contracts"}),
		erp.CodeMissingColumn, "job contracts", `"filial"`)
	cols, err := s.Columns(t.Context(), "SELECT * FROM c")
	if err != nil || len(cols) != 2 || !strings.EqualFold(cols[1].Name, "preco") {
		t.Errorf("Columns = %v, %v", cols, err)
	}
}

func cancelledRead(t *testing.T, e Engine) {
	s, _ := e.Start(t, `CREATE TABLE c (k int)`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	res, err := s.Read(ctx, erp.Query{SQL: e.Numbers(900), Key: []string{"k"}}, erp.Window{}, func(erp.Row) error {
		n++
		if n == 150 {
			cancel()
		}
		return nil
	})
	WantError(t, err, erp.CodeCancelled, "before it was complete")
	if !errors.Is(err, context.Canceled) || res != (erp.Result{}) || n >= 900 {
		t.Errorf("%v, %+v, %d rows", err, res, n)
	}
	rows, _ := Read(t, s, erp.Query{SQL: e.Numbers(5), Key: []string{"k"}}, erp.Window{})
	if len(rows) != 5 {
		t.Errorf("the next read gives %d rows", len(rows))
	}
}

func oneSnapshot(t *testing.T, e Engine) {
	if e.Name == "sqlite" {
		return // a SQLite file has one writer or many readers; see its own tests
	}
	s, db := e.Start(t, `CREATE TABLE c (k int, em `+e.Timestamp+`, x varchar(2000))`)
	for i := range 500 {
		Exec(t, db, fmt.Sprintf(`INSERT INTO c VALUES (%d, '2026-01-01 00:00:00', '%s')`, i,
			strings.Repeat("x", 2000)))
	}
	n := 0
	res := must.Get(s.Read(t.Context(), erp.Query{SQL: "SELECT * FROM c", Key: []string{"k"}, ChangedAt: "em"},
		erp.Window{}, func(erp.Row) error {
			n++
			if n == 1 {
				Exec(t, db, `INSERT INTO c VALUES (999, '2026-02-02 00:00:00', '')`,
					`UPDATE c SET em = '2026-02-02 00:00:00' WHERE k > 400`)
			}
			return nil
		}))(t)
	if n != 500 || !strings.HasPrefix(res.Bound, "2026-01-01") {
		t.Errorf("read %d rows with bound %q; want 500 with the bound of the snapshot", n, res.Bound)
	}
}

func rowsLockedByAWriter(t *testing.T, e Engine) {
	if e.Name == "sqlite" {
		return // see TestSQLiteWaitsForAWriterAndThenSaysSo
	}
	s, db := e.Start(t, `CREATE TABLE c (k int, v varchar(9))`, `INSERT INTO c VALUES (1, 'antes')`)
	tx := must.Get(db.BeginTx(t.Context(), nil))(t)
	Exec(t, tx, `UPDATE c SET v = 'depois'`)
	rows, _ := Read(t, s, erp.Query{SQL: "SELECT k, v FROM c", Key: []string{"k"}}, erp.Window{})
	if got := Texts(rows, "v"); len(got) != 1 || got[0] != "antes" {
		t.Errorf("read %v while a writer holds the row, want what is committed", got)
	}
	must.Do(t, tx.Rollback())
}

func callersError(t *testing.T, e Engine) {
	s, _ := e.Start(t, `CREATE TABLE c (k int)`, `INSERT INTO c VALUES (1)`, `INSERT INTO c VALUES (2)`)
	full := &os.PathError{Op: "write", Path: "ledger", Err: io.ErrShortWrite}
	q := erp.Query{SQL: "SELECT k FROM c", Key: []string{"k"}, Job: "contracts"}
	_, err := s.Read(t.Context(), q, erp.Window{}, func(erp.Row) error { return full })
	if err != error(full) { //nolint:errorlint // the very value must come back, not a wrapped one
		t.Errorf("%v, want the caller's own error", err)
	}
	if rows, _ := Read(t, s, q, erp.Window{}); len(rows) != 2 {
		t.Errorf("the next read gives %d rows", len(rows))
	}
	var got []string
	err = s.Table(t.Context(), "SELECT k AS cod FROM c ORDER BY k", []string{"COD"}, func(v []erp.Value) error {
		got = append(got, v[0].Text)
		return nil
	})
	if err != nil || !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("Table gives %v, %v", got, err)
	}
}
