package erptest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/must"
)

// SaoPaulo returns the time zone of the tests.
func SaoPaulo(t testing.TB) *time.Location {
	t.Helper()
	return must.Get(time.LoadLocation("America/Sao_Paulo"))(t)
}

// Admin opens the ERP's own connection, with which the tests write.
func Admin(t testing.TB, driver, dsn string, statements ...string) *sql.DB {
	t.Helper()
	db := must.Get(sql.Open(driver, dsn))(t)
	t.Cleanup(func() { must.Do(t, db.Close()) })
	Exec(t, db, statements...)
	return db
}

// Exec runs statements.
func Exec(t testing.TB, db interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, statements ...string,
) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%.80s: %v", s, err)
		}
	}
}

// Open opens a reader in the zone of São Paulo, and closes it after the test.
func Open(t testing.TB, opt erp.SourceOptions) *erp.Source {
	t.Helper()
	if opt.TimeZone == nil {
		opt.TimeZone = SaoPaulo(t)
	}
	s := must.Get(erp.Open(t.Context(), opt))(t)
	t.Cleanup(func() { must.Do(t, s.Close()) })
	return s
}

// Read returns all rows and the result, and fails the test on an error.
func Read(t testing.TB, s *erp.Source, q erp.Query, w erp.Window) ([]erp.Row, erp.Result) {
	t.Helper()
	var rows []erp.Row
	res := must.Get(s.Read(t.Context(), q, w, func(r erp.Row) error {
		rows = append(rows, r)
		return nil
	}))(t)
	if res.Rows != len(rows) {
		t.Errorf("Result.Rows = %d, %d rows were given", res.Rows, len(rows))
	}
	return rows, res
}

// ReadError returns the error of a read that must fail.
func ReadError(t testing.TB, s *erp.Source, q erp.Query) error {
	t.Helper()
	res, err := s.Read(t.Context(), q, erp.Window{}, func(erp.Row) error { return nil })
	if err == nil {
		t.Fatalf("Read succeeded with %d rows, want an error", res.Rows)
	}
	if res != (erp.Result{}) {
		t.Errorf("Read failed and still returned %+v", res)
	}
	return err
}

// Text returns the text of a row's column, or a marker such as <null>.
func Text(r erp.Row, name string) string {
	v, ok := r.Get(name)
	switch {
	case !ok:
		return "<no column>"
	case v.Err != "":
		return "<" + v.Err.Error() + ">"
	case v.IsNull():
		return "<null>"
	}
	return v.Text
}

// Texts returns the Text of each row.
func Texts(rows []erp.Row, name string) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = Text(r, name)
	}
	return out
}

// WantError checks the code of an error, and that its text contains the words.
func WantError(t testing.TB, err error, code erp.Code, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", code)
	}
	if got := erp.CodeOf(err); got != code {
		t.Errorf("code = %s, want %s: %v", got, code, err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
	var e *erp.Error
	if !errors.As(err, &e) {
		t.Errorf("%T is no *erp.Error", err)
	}
}

// KeysOf returns the column k of all rows, sorted.
func KeysOf(rows []erp.Row) string {
	k := Texts(rows, "k")
	slices.Sort(k)
	return strings.Join(k, " ")
}

// Recheck reads all rows, and then each again by its key values.
func Recheck(t *testing.T, s *erp.Source, q erp.Query) {
	t.Helper()
	rows, _ := Read(t, s, q, erp.Window{})
	var keys [][]erp.Value
	seen := map[string]bool{}
	for _, r := range rows {
		var key []erp.Value
		usable := true
		for _, name := range q.Key {
			v, ok := r.Get(name)
			usable = usable && ok && v.Usable()
			key = append(key, v)
		}
		if id := fmt.Sprint(key); usable && !seen[id] {
			seen[id] = true
			keys = append(keys, key)
		}
	}
	again, err := s.ByKeys(t.Context(), q, keys)
	if err != nil {
		t.Fatalf("%v: %v", q.Key, err)
	}
	show := func(rows []erp.Row) []string {
		var out []string
		for _, r := range rows {
			out = append(out, fmt.Sprint(r.Values))
		}
		slices.Sort(out)
		return out
	}
	if diff := cmp.Diff(show(rows), show(again)); diff != "" {
		t.Errorf("%v (-first +again):\n%s", q.Key, diff)
	}
}

// OpenError returns the error of Open for an address that must fail, and checks that it does not
// contain the password.
func OpenError(t *testing.T, driver, dsn string) error {
	t.Helper()
	s, err := erp.Open(t.Context(), erp.SourceOptions{Driver: driver, DSN: erp.Secret(dsn)})
	if err == nil {
		_ = s.Close()
		t.Fatalf("Open succeeded")
	}
	if strings.Contains(err.Error(), "segredo") {
		t.Errorf("the error holds the password: %v", err)
	}
	return err
}

// Silent returns the address of a server that accepts connections and never sends anything.
func Silent(t *testing.T) string {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
		}
	}()
	return l.Addr().String()
}

// ShowExclusion describes an exclusion in words.
func ShowExclusion(x erp.Exclusion) string {
	switch {
	case !x.Known:
		return "unknown"
	case x.Returned:
		return "returned exists"
	case x.Exists == nil:
		return "cannot tell"
	case !*x.Exists:
		return "missing"
	}
	return "exists: " + strings.Join(x.Conditions, "; ")
}

// Wait calls done until it returns true. The test's own time-out ends a wait without success.
func Wait(t *testing.T, done func() bool) {
	t.Helper()
	for !done() {
		must.Do(t, t.Context().Err())
	}
}

// SQLiteFile creates a file with these statements.
func SQLiteFile(t testing.TB, statements ...string) (path string, db *sql.DB) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "erp %23?.db") // a name that must be escaped
	return path, Admin(t, "sqlite", "file:"+strings.NewReplacer("%", "%25", "?", "%3f", " ",
		"%20").Replace(path),
		statements...)
}

// SQLite creates a file with these statements, and a reader on it.
func SQLite(t testing.TB, statements ...string) (*erp.Source, *sql.DB) {
	t.Helper()
	path, db := SQLiteFile(t, statements...)
	return Open(t, erp.SourceOptions{Driver: "sqlite", DSN: erp.Secret(path)}), db
}
