package erp_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	_ "modernc.org/sqlite"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/internal/throwaway"
)

func TestMain(m *testing.M) {
	os.Exit(pgtest.Run(throwaway.M{M: m}, func() error { return goleak.Find() }))
}

func saoPaulo(t testing.TB) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation("America/Sao_Paulo")
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// admin is the ERP's own access: the tests write through it.
func admin(t testing.TB, driver, dsn string, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	exec(t, db, statements...)
	return db
}

func exec(t testing.TB, db interface {
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

func open(t testing.TB, opt erp.Options) *erp.Source {
	t.Helper()
	if opt.TimeZone == nil {
		opt.TimeZone = saoPaulo(t)
	}
	s, err := erp.Open(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// postgres makes a database with these statements, and a reader on it.
func postgres(t testing.TB, statements ...string) (*erp.Source, *sql.DB) {
	t.Helper()
	dsn := pgtest.Database(t)
	db := admin(t, "postgres", dsn, statements...)
	return open(t, erp.Options{Driver: erp.DriverPostgres, DSN: erp.Secret(dsn)}), db
}

func sqliteFile(t testing.TB, statements ...string) (path string, db *sql.DB) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "erp %23?.db") // a name that must be escaped
	return path, admin(t, "sqlite", "file:"+strings.NewReplacer("%", "%25", "?", "%3f", " ", "%20").Replace(path),
		statements...)
}

func sqlite(t testing.TB, statements ...string) (*erp.Source, *sql.DB) {
	t.Helper()
	path, db := sqliteFile(t, statements...)
	return open(t, erp.Options{Driver: erp.DriverSQLite, DSN: erp.Secret(path)}), db
}

// read returns all rows and the result, and fails on an error.
func read(t testing.TB, s *erp.Source, q erp.Query, w erp.Window) ([]erp.Row, erp.Result) {
	t.Helper()
	var rows []erp.Row
	res, err := s.Read(t.Context(), q, w, func(r erp.Row) error {
		rows = append(rows, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if res.Rows != len(rows) {
		t.Errorf("Result.Rows = %d, %d rows were given", res.Rows, len(rows))
	}
	return rows, res
}

func readError(t testing.TB, s *erp.Source, q erp.Query) error {
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

// text is the row's column, or a mark for what it is instead.
func text(r erp.Row, name string) string {
	v, ok := r.Get(name)
	switch {
	case !ok:
		return "<no column>"
	case v.Err != "":
		return "<" + v.Err + ">"
	case v.IsNull():
		return "<null>"
	}
	return v.Text
}

func texts(rows []erp.Row, name string) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = text(r, name)
	}
	return out
}

// wantError checks code and words, and that nothing secret is in the text.
func wantError(t testing.TB, err error, code erp.Code, words ...string) {
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

func testdata(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "testdata", "erp", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
