package erp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/internal/must"
)

func TestF001ARowThatCommitsLateIsInTheNextWindow(t *testing.T) {
	t.Parallel()
	s, db := postgres(t, `CREATE TABLE c (k int, em timestamptz DEFAULT now())`)
	q := erp.Query{SQL: "SELECT k, em FROM c", Key: []string{"k"}, ChangedAt: "em"}

	late := must.Get(db.BeginTx(t.Context(), nil))(t)
	erptest.Exec(t, late, `INSERT INTO c (k) VALUES (1)`) // stamped, not yet visible
	erptest.Exec(t, db, `INSERT INTO c (k) VALUES (2)`)   // a later stamp, visible at once
	rows, first := erptest.Read(t, s, q, erp.Window{})
	if got := erptest.KeysOf(rows); got != "2" {
		t.Fatalf("first read gave %q, want 2", got)
	}
	must.Do(t, late.Commit())
	// No lookback at all: the open transaction alone must have held the bound.
	rows, _ = erptest.Read(t, s, q, erp.Window{Since: first.Bound})
	if got := erptest.KeysOf(rows); !strings.Contains(got, "1") {
		t.Errorf("the late row is lost: second read gave %q after bound %s", got, first.Bound)
	}
}

func TestF001APreparedTransactionHoldsTheBound(t *testing.T) {
	t.Parallel()
	s, db := postgres(t, `CREATE TABLE c (k int, em timestamptz DEFAULT clock_timestamp())`)
	erptest.Exec(t, db, `BEGIN; INSERT INTO c (k) VALUES (1); PREPARE TRANSACTION 'erp_' `)
	t.Cleanup(func() {
		if _, err := db.Exec(`ROLLBACK PREPARED 'erp_'`); err != nil { // the test's context has ended
			t.Error(err)
		}
	})
	var prepared time.Time
	must.Do(t, db.QueryRow(`SELECT prepared FROM pg_prepared_xacts WHERE database = current_database()`).Scan(
		&prepared))
	erptest.Exec(t, db, `INSERT INTO c (k) VALUES (2)`)
	_, res := erptest.Read(t, s, erp.Query{SQL: "SELECT k, em FROM c", Key: []string{"k"}, ChangedAt: "em"},
		erp.Window{})
	bound, err := time.Parse("2006-01-02 15:04:05.999999-07", res.Bound)
	if err != nil || bound.After(prepared) {
		t.Errorf("bound %s is after the prepared transaction (%s), %v", res.Bound, prepared, err)
	}
}

// F003, F004: rows that change or are added while the others are read are returned in the version
// of the snapshot, and the bound belongs to that snapshot too.
func TestF004RowsAndBoundComeFromOneSnapshot(t *testing.T) {
	t.Parallel()
	s, db := postgres(t, `CREATE TABLE c (k int, em timestamptz)`,
		`INSERT INTO c SELECT i, '2026-01-01 00:00:00-03' FROM generate_series(1, 500) i`)
	var n int
	res := must.Get(s.Read(t.Context(), erp.Query{SQL: "SELECT * FROM c", Key: []string{"k"}, ChangedAt: "em"},
		erp.Window{}, func(erp.Row) error {
			n++
			if n == 1 {
				erptest.Exec(t, db, `INSERT INTO c VALUES (999, '2026-02-02 00:00:00-03')`,
					`UPDATE c SET em = '2026-02-02 00:00:00-03' WHERE k > 400`)
			}
			return nil
		}))(t)
	if n != 500 || res.Bound != "2026-01-01 00:00:00-03" {
		t.Errorf("read %d rows with bound %q; want 500 with the bound of the snapshot, 2026-01-01 00:00:00-03",
			n, res.Bound)
	}
}

// F005, F006 and F008 in each type a changed_at may have.
func TestF005_F006_F008_WindowOnPostgres(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typ, bound, window string
		lookback           time.Duration
	}{
		{"timestamptz", "2026-05-01 07:00:00.302674-03", "at future minf never", 0},
		{"timestamp", "2026-05-01 10:00:00.302674", "at future minf never", 0},
		{"timestamptz", "2026-05-01 07:00:00.302674-03", "at before future minf never", time.Microsecond},
		{"timestamp", "2026-05-01 10:00:00.302674", "at before future minf never", time.Hour},
		{"date", "2026-05-01", "at before future minf never twodays", 0},
	} {
		s, db := postgres(t, `CREATE TABLE c (k text, em `+c.typ+`)`, `INSERT INTO c VALUES
			('at', '2026-05-01 10:00:00.302674'), ('before', '2026-05-01 10:00:00.302673'), ('twodays',
				'2026-04-29 12:00:00'),
			('old', '2026-04-28'), ('never', NULL), ('minf', '-infinity')`)
		q := erp.Query{SQL: "SELECT k, em FROM c", Key: []string{"k"}, ChangedAt: "em"}
		_, res := erptest.Read(t, s, q, erp.Window{})
		if res.Bound != c.bound || res.FutureBound {
			t.Errorf("%s: Bound = %q, future %v; want %q", c.typ, res.Bound, res.FutureBound, c.bound)
		}
		erptest.Exec(t, db, `INSERT INTO c VALUES ('future', '2099-01-01')`)
		rows, next := erptest.Read(t, s, q, erp.Window{Since: res.Bound, Lookback: c.lookback})
		if got := erptest.KeysOf(rows); got != c.window {
			t.Errorf("%s, lookback %s: window has %q, want %q", c.typ, c.lookback, got, c.window)
		}
		if !next.FutureBound || strings.HasPrefix(next.Bound, "2099") || next.Bound <= res.Bound {
			t.Errorf("%s: with a row of 2099 the bound is %q (future %v); want the database's now()", c.typ, next.Bound,
				next.FutureBound)
		}
		if drift := time.Since(next.ServerTime).Abs(); drift > time.Hour {
			t.Errorf("ServerTime is %s off", drift)
		}
	}
}

func TestABoundNeverGoesBack(t *testing.T) {
	t.Parallel()
	s, _ := postgres(t, `CREATE TABLE c (k int, em timestamp)`, `INSERT INTO c VALUES (1, '2026-01-01')`)
	q := erp.Query{SQL: "SELECT * FROM c", Key: []string{"k"}, ChangedAt: "em"}
	for _, since := range []string{"2026-03-01 00:00:00", "2025-01-01 00:00:00"} {
		_, res := erptest.Read(t, s, q, erp.Window{Since: since, Lookback: time.Hour})
		if want := max(since, "2026-01-01 00:00:00"); res.Bound != want {
			t.Errorf("Bound after Since %s = %q, want %q", since, res.Bound, want)
		}
	}
	_, res := erptest.Read(t, s, erp.Query{SQL: "SELECT * FROM c", Key: []string{"k"}}, erp.Window{})
	if res.Bound != "" {
		t.Errorf("Bound = %q without changed_at, want none", res.Bound)
	}
}

func TestAnInfiniteChangeIsAFutureOne(t *testing.T) {
	t.Parallel()
	s, _ := postgres(t)
	for _, v := range []string{"infinity", "12026-01-01"} {
		_, res := erptest.Read(t, s, erp.Query{
			SQL: "SELECT 1 AS k, '" + v + "'::timestamptz AS em", Key: []string{"k"},
			ChangedAt: "em",
		}, erp.Window{})
		if !res.FutureBound || res.Bound != "" {
			t.Errorf("%s: %+v, want FutureBound and no bound", v, res)
		}
	}
}

func TestChangedAtOfAWrongTypeIsRefused(t *testing.T) {
	t.Parallel()
	s, _ := postgres(t)
	err := erptest.ReadError(t, s, erp.Query{
		SQL: "SELECT 1 AS k, '20260101'::text AS em", Key: []string{"k"}, ChangedAt: "em",
		Job: "contracts",
	})
	erptest.WantError(t, err, erp.CodeConfig, "job contracts",
		"changed_at column em has type text; cast it to timestamp in the query")
	lite, _ := erptest.SQLite(t, `CREATE TABLE c (k)`)
	err = erptest.ReadError(t, lite, erp.Query{
		SQL: "SELECT 1 AS k, 1760000000 AS em", Key: []string{"k"},
		ChangedAt: "em",
	})
	erptest.WantError(t, err, erp.CodeConfig, "em holds numbers", "datetime(em, 'unixepoch')")
}

func TestWindowOnSQLiteComparesTextsOfOneShape(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, decl, since, want string }{
		{"blank", "DATETIME", "2026-05-01 10:00:00", "at blank frac later never odd"},
		{"blank, no type", "", "2026-05-01 10:00:00", "at blank frac later never odd"},
		{"T", "TEXT", "2026-05-01T10:00:00", "at blank frac later never odd other"},
		{"fraction", "TIMESTAMP", "2026-05-01 10:00:00.500", "at blank frac later never odd"},
		{"date", "DATE", "2026-05-02", "at blank day frac later never odd other"},
		{"zone", "TEXT", "2026-05-01T13:00:00Z", "at blank day frac later never odd other"},
	} {
		s, db := erptest.SQLite(t, `CREATE TABLE c (k TEXT, em `+c.decl+`)`,
			`INSERT INTO c VALUES ('at', '2026-05-01 10:00:00'), ('frac', '2026-05-01 10:00:00.750'), ('other', '2026-05-01 08:59:59'),
			('day', '2026-04-30'), ('old', '2026-04-01 10:00:00'), ('never', NULL), ('blank', ' '), ('odd', '10/08/2026')`)
		later := "2026-05-01T23:00:00" // a T where the others have a blank, later the same day
		erptest.Exec(t, db, `INSERT INTO c VALUES ('later', '`+later+`')`)
		rows, _ := erptest.Read(t, s, erp.Query{SQL: "SELECT k, em FROM c", Key: []string{"k"}, ChangedAt: "EM"},
			erp.Window{Since: c.since, Lookback: time.Hour})
		if got := erptest.KeysOf(rows); got != c.want {
			t.Errorf("%s: window has %q, want %q", c.name, got, c.want)
		}
	}
}

func TestF006FutureOnSQLiteIsCutInTheSameShape(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ value, layout string }{
		{"2099-01-01", "2006-01-02"},
		{"2099-01-01 10:00", "2006-01-02 15:04"},
		{"2099-01-01T10:00:00", "2006-01-02T15:04:05"},
		{"2099-01-01 10:00:00.123", "2006-01-02 15:04:05.000"},
		{"2099-01-01T10:00:00-03:00", "2006-01-02T15:04:05-07:00"},
		{"2099-01-01T10:00:00Z", "2006-01-02T15:04:05Z"},
	} {
		s, _ := erptest.SQLite(t, `CREATE TABLE c (k INTEGER, em DATETIME)`, `INSERT INTO c VALUES (1, '`+c.value+`')`)
		_, res := erptest.Read(t, s, erp.Query{SQL: "SELECT * FROM c;", Key: []string{"k"}, ChangedAt: "em"},
			erp.Window{})
		at, err := time.Parse(c.layout, res.Bound)
		if err != nil || !res.FutureBound || at.After(time.Now().Add(24*time.Hour)) ||
			at.Before(time.Now().Add(-48*time.Hour)) {
			t.Errorf("%s: Bound = %q, future %v (%v); want about now, in the same shape", c.value, res.Bound,
				res.FutureBound, err)
		}
	}
}

func TestSQLiteBoundIsTheStoredText(t *testing.T) {
	t.Parallel()
	s, _ := erptest.SQLite(t, `CREATE TABLE c (k INTEGER, em TIMESTAMP)`,
		`INSERT INTO c VALUES (1, '2026-05-01 10:00:00.302674'), (2, '2026-04-01'), (3, NULL), (4, 'ontem')`)
	rows, res := erptest.Read(t, s, erp.Query{SQL: "SELECT * FROM c -- tudo", Key: []string{"k"}, ChangedAt: "em"},
		erp.Window{})
	if diff := cmp.Diff("1 2 3 4", erptest.KeysOf(rows)); diff != "" {
		t.Error(diff)
	}
	if want := "2026-05-01 10:00:00.302674"; res.Bound != want {
		t.Errorf("Bound = %q, want %q", res.Bound, want)
	}
}
