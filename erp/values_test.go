package erp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/internal/phrase"
)

// F028, F029, F030: values that are not an amount or a day, exponents and long numbers, as stored
// in the database.
func TestPostgresValuesAreExactText(t *testing.T) {
	t.Parallel()
	s, _ := postgres(t, "CREATE TYPE situacao AS ENUM ('aberto')", "CREATE DOMAIN peso AS numeric(10,3)")
	cases := []struct {
		sql  string
		want erp.Value
	}{
		{"NULL::int", erp.Value{}},
		{"'Conceição'::text", erp.Value{Kind: erp.Text, Text: "Conceição"}},
		{"'0001'::char(8)", erp.Value{Kind: erp.Text, Text: "0001    "}},
		{"' x '::varchar(9)", erp.Value{Kind: erp.Text, Text: " x "}},
		{"9223372036854775807::bigint", erp.Value{Kind: erp.Int, Text: "9223372036854775807"}},
		{"(-7)::smallint", erp.Value{Kind: erp.Int, Text: "-7"}},
		{"1234.5000::numeric(18,4)", erp.Value{Kind: erp.Number, Text: "1234.5000"}},
		{
			"123456789012345678901234567890.123456789::numeric",
			erp.Value{Kind: erp.Number, Text: "123456789012345678901234567890.123456789"},
		},
		{"'NaN'::numeric", erp.Value{Kind: erp.Number, Text: "NaN", Err: "not a number (NaN)"}},
		{"'Infinity'::numeric", erp.Value{Kind: erp.Number, Text: "Infinity", Err: "infinite number"}},
		{"12.5::peso", erp.Value{Kind: erp.Number, Text: "12.500"}},
		{"12.34::numeric::money", erp.Value{Kind: erp.Number, Text: "12.34"}},
		{"0.1::float8 + 0.2::float8", erp.Value{Kind: erp.Float, Text: "0.30000000000000004"}},
		{"1234.5670000000001::float8", erp.Value{Kind: erp.Float, Text: "1234.567"}},
		{"1e21::float8", erp.Value{Kind: erp.Float, Text: "1000000000000000000000"}},
		{"1e-7::float8", erp.Value{Kind: erp.Float, Text: "0.0000001"}},
		{"0.1::float4", erp.Value{Kind: erp.Float, Text: "0.1"}},
		{"'NaN'::float8", erp.Value{Kind: erp.Float, Text: "NaN", Err: "not a number (NaN)"}},
		{"true", erp.Value{Kind: erp.Bool, Text: "true"}},
		{"false", erp.Value{Kind: erp.Bool, Text: "false"}},
		{
			"'DB5B5FAB-8F4D-4E27-9DA1-494C73CF256D'::uuid",
			erp.Value{Kind: erp.Text, Text: "db5b5fab-8f4d-4e27-9da1-494c73cf256d"},
		},
		{"'aberto'::situacao", erp.Value{Kind: erp.Text, Text: "aberto"}},
		{"'{\"a\": 1}'::jsonb", erp.Value{Kind: erp.Text, Text: `{"a": 1}`}},
		{"'\\x00ff'::bytea", erp.Value{
			Kind: erp.Bytes,
			Err:  phrase.Pack("binary column; convert it in the query, e.g. %s", "convert_from(v, 'WIN1252')"),
		}},
		{"NULL::bytea", erp.Value{}},
		{"repeat('x', 2000000)", erp.Value{Kind: erp.Text, Err: "text longer than 1 MiB"}},
		{"'2026-10-18'::date", erp.Value{Kind: erp.Date, Text: "2026-10-18"}},
		{"'2018-11-04'::date", erp.Value{Kind: erp.Date, Text: "2018-11-04"}}, // that day began at 01:00 in São Paulo
		{"'0001-01-01'::date", erp.Value{Kind: erp.Date, Text: "0001-01-01"}},
		{"'infinity'::date", erp.Value{Kind: erp.Date, Text: "infinity", Err: "infinite date"}},
		{"'-infinity'::timestamptz", erp.Value{Kind: erp.Instant, Text: "-infinity", Err: "infinite date"}},
		{"'0044-03-15 BC'::date", erp.Value{Kind: erp.Date, Text: "0044-03-15 BC", Err: "date before Christ"}},
		{"'12026-01-02'::date", erp.Value{Kind: erp.Date, Text: "12026-01-02", Err: "date after the year 9999"}},
		{
			"'12026-01-02 10:00'::timestamp",
			erp.Value{Kind: erp.Timestamp, Text: "12026-01-02 10:00:00", Err: "date after the year 9999"},
		},
		{"'2026-08-10 23:59:59.302674'::timestamp", erp.Value{Kind: erp.Timestamp, Text: "2026-08-10T23:59:59.302674"}},
		{"'2026-08-10 02:30:00+00'::timestamptz", erp.Value{Kind: erp.Instant, Text: "2026-08-09T23:30:00-03:00"}},
		{"'2018-11-04 02:59:59+00'::timestamptz", erp.Value{Kind: erp.Instant, Text: "2018-11-03T23:59:59-03:00"}},
		{"'2018-11-04 03:00:00+00'::timestamptz", erp.Value{Kind: erp.Instant, Text: "2018-11-04T01:00:00-02:00"}},
		{"'1900-01-01 12:00:00+00'::timestamptz", erp.Value{Kind: erp.Instant, Text: "1900-01-01T08:53:32-03:06:28"}},
		{"'10:20'::time", erp.Value{Kind: erp.Text, Text: "10:20:00"}},
	}
	for _, c := range cases {
		rows, _ := erptest.Read(t, s, erp.Query{SQL: "SELECT 1 AS k, " + c.sql + " AS v", Key: []string{"k"}},
			erp.Window{})
		if got, _ := rows[0].Get("v"); got != c.want {
			t.Errorf("%s = %+v, want %+v", c.sql, got, c.want)
		}
	}
}

func TestTheSessionDayIsTheMappingsDay(t *testing.T) {
	t.Parallel()
	s, _ := postgres(t)
	rows, _ := erptest.Read(t, s, erp.Query{
		SQL: "SELECT 1 AS k, ('2026-08-10 02:30:00+00'::timestamptz)::date AS d",
		Key: []string{"k"},
	}, erp.Window{})
	if got := erptest.Text(rows[0], "d"); got != "2026-08-09" {
		t.Errorf("the cast to date in the query gives %s, want 2026-08-09 as in America/Sao_Paulo", got)
	}
}

func TestSQLiteValuesAreExactText(t *testing.T) {
	t.Parallel()
	s, db := erptest.SQLite(t, `CREATE TABLE v (k INTEGER PRIMARY KEY, x, d DATE, ts DATETIME, n NUMERIC(18,4))`)
	erptest.Exec(t, db,
		`INSERT INTO v (k, x) VALUES (1, 'São'), (2, 42), (3, 137.69), (4, x'00ff'), (5, CAST(x'4a4fc34f' AS TEXT)), (6, NULL), (7, 1e21), (8, 9e999)`,
		`INSERT INTO v (k, d) VALUES (20, '2026-08-10'), (21, '10/08/2026'), (22, 20260810)`,
		`INSERT INTO v (k, ts) VALUES (30, '2026-08-10 02:30:00'), (31, '2026-08-10T02:30:00Z'), (32, '2026-08-10T02:30:00.302674')`,
		`INSERT INTO v (k, n) VALUES (40, 2.1375), (41, 3260), (42, '12.50')`,
	)
	want := map[string]erp.Value{
		"x1": {Kind: erp.Text, Text: "São"}, "x2": {Kind: erp.Int, Text: "42"}, "x3": {Kind: erp.Float, Text: "137.69"},
		"x4": {Kind: erp.Bytes, Err: phrase.Pack("binary value; convert it in the query, e.g. %s", "CAST(column AS TEXT)")},
		"x5": {Kind: erp.Text, Err: phrase.Pack("bytes not valid UTF-8 at %d", 3)}, "x6": {},
		"x7":  {Kind: erp.Float, Text: "1000000000000000000000"},
		"x8":  {Kind: erp.Float, Text: "+Inf", Err: "infinite number"},
		"d20": {Kind: erp.Date, Text: "2026-08-10"}, "d21": {Kind: erp.Text, Text: "10/08/2026"},
		"d22":  {Kind: erp.Int, Text: "20260810"},
		"ts30": {Kind: erp.Timestamp, Text: "2026-08-10 02:30:00"},
		"ts31": {Kind: erp.Instant, Text: "2026-08-09T23:30:00-03:00"},
		"ts32": {Kind: erp.Timestamp, Text: "2026-08-10T02:30:00.302674"},
		"n40":  {Kind: erp.Float, Text: "2.1375"}, "n41": {Kind: erp.Int, Text: "3260"},
		"n42": {Kind: erp.Float, Text: "12.5"},
	}
	got := map[string]erp.Value{}
	rows, _ := erptest.Read(t, s, erp.Query{SQL: "SELECT * FROM v", Key: []string{"k"}}, erp.Window{})
	for _, r := range rows {
		for _, c := range r.Columns() {
			name := c + erptest.Text(r, "k")
			if _, ok := want[name]; ok {
				got[name], _ = r.Get(c)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// F032: bytes of another encoding are decoded as configured, or make only their own value
// unreadable.
func TestCharsetDecodesForeignBytes(t *testing.T) {
	t.Parallel()
	path, _ := erptest.SQLiteFile(t, `CREATE TABLE v (k TEXT, x)`,
		`INSERT INTO v VALUES (CAST(x'4bc3' AS TEXT), CAST(x'46495841c7c34f' AS TEXT)), ('B', CAST(x'81' AS TEXT))`)
	s := erptest.Open(t, erp.SourceOptions{Driver: "sqlite", DSN: erp.Secret(path), Charset: "windows-1252"})
	q := erp.Query{SQL: "SELECT k, x FROM v", Key: []string{"k"}}
	rows, _ := erptest.Read(t, s, q, erp.Window{})
	if diff := cmp.Diff([]string{"FIXAÇÃO", "<byte not defined in windows-1252 at 1>"}, erptest.Texts(rows,
		"x")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again, err := s.ByKeys(t.Context(), q, [][]erp.Value{{rows[0].Values[0]}})
	if err != nil || len(again) != 1 || erptest.Text(again[0], "k") != "KÃ" {
		t.Errorf("ByKeys of a decoded key = %v, %v", erptest.Texts(again, "k"), err)
	}
}

const sqlASCII = "ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"

func TestF031InvalidBytesInSQLASCIISpoilOneValueOnly(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DatabaseWith(t, sqlASCII)
	erptest.Admin(t, "postgres", dsn, `CREATE TABLE p (k int PRIMARY KEY, cod char(4), nome text, preco numeric)`,
		`INSERT INTO p VALUES (1, '01', 'José', 1.50), (2, '02', E'JO\xC3O', 2.50), (3, E'0\xC7', 'Ana', NULL)`)
	s := erptest.Open(t, erp.SourceOptions{Driver: "postgres", DSN: erp.Secret(dsn)})
	if f, err := s.Facts(t.Context()); err != nil || f.Charset != "SQL_ASCII" {
		t.Errorf("Facts = %+v, %v", f, err)
	}
	q := erp.Query{SQL: "SELECT * FROM p ORDER BY k", Key: []string{"k"}}
	rows, res := erptest.Read(t, s, q, erp.Window{})
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s|%s|%s|%s", erptest.Text(r, "k"), erptest.Text(r, "cod"), erptest.Text(r,
			"nome"), erptest.Text(r, "preco")))
	}
	want := []string{
		"1|01  |José|1.50", "2|02  |<bytes not valid UTF-8 at 3>|2.50",
		"3|<bytes not valid UTF-8 at 2>|Ana|<null>",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if res.Degraded {
		t.Error("the read is called degraded, and it was complete")
	}

	// The same for the key itself: it is counted as unreadable, and still returned.
	_, res = erptest.Read(t, s, erp.Query{SQL: "SELECT * FROM p", Key: []string{"cod"}}, erp.Window{})
	if res.Unreadable != 1 {
		t.Errorf("Unreadable = %d, want 1", res.Unreadable)
	}

	win := erptest.Open(t, erp.SourceOptions{Driver: "postgres", DSN: erp.Secret(dsn), Charset: "WIN1252"})
	q = erp.Query{SQL: "SELECT * FROM p WHERE k > 1 ORDER BY k", Key: []string{"nome", "cod"}}
	rows, _ = erptest.Read(t, win, q, erp.Window{})
	if diff := cmp.Diff([]string{"JOÃO", "Ana"}, erptest.Texts(rows, "nome")); diff != "" {
		t.Errorf("as WIN1252 (-want +got):\n%s", diff)
	}
	again := must.Get(win.ByKeys(t.Context(), q,
		[][]erp.Value{{rows[0].Values[2], rows[0].Values[1]}, {rows[1].Values[2], rows[1].Values[1]}}))(t)
	found := erptest.Texts(again, "nome")
	slices.Sort(found)
	if diff := cmp.Diff([]string{"Ana", "JOÃO"}, found); diff != "" {
		t.Errorf("ByKeys (-want +got):\n%s", diff)
	}
}

func TestF031AValueThatBreaksTheQueryIsReadAround(t *testing.T) {
	t.Parallel()
	// 3000 rows, so that many are delivered before the bad one is reached.
	s, _ := postgres(t, `CREATE TABLE p (k int PRIMARY KEY, preco text, em timestamptz)`,
		`INSERT INTO p SELECT i, CASE WHEN i IN (2500, 2777) THEN 'dez' ELSE i || '.5' END, '2026-01-01 00:00:00+00'::timestamptz + i * interval '1 second' FROM generate_series(1, 3000) i`)
	q := erp.Query{SQL: "SELECT k, preco::numeric AS preco, em FROM p", Key: []string{"k"}, ChangedAt: "em"}
	rows, res := erptest.Read(t, s, q, erp.Window{})
	if !res.Degraded || res.Rows != 3000 || res.Unreadable != 0 {
		t.Fatalf("result %+v, want 3000 rows, degraded", res)
	}
	seen, bad := map[string]bool{}, []string{}
	for _, r := range rows {
		if seen[erptest.Text(r, "k")] {
			t.Fatalf("row %s was given twice", erptest.Text(r, "k"))
		}
		seen[erptest.Text(r, "k")] = true
		if strings.HasPrefix(erptest.Text(r, "preco"), "<") {
			bad = append(bad, erptest.Text(r, "k")+" "+erptest.Text(r, "preco"))
		} else if erptest.Text(r, "preco") != erptest.Text(r, "k")+".5" {
			t.Errorf("row %s has price %s", erptest.Text(r, "k"), erptest.Text(r, "preco"))
		}
	}
	slices.Sort(bad)
	want := []string{
		"2500 <the database cannot compute this value (SQLSTATE 22P02)>",
		"2777 <the database cannot compute this value (SQLSTATE 22P02)>",
	}
	if diff := cmp.Diff(want, bad); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want := "2025-12-31 21:50:00-03"; res.Bound != want {
		t.Errorf("Bound = %q, want %q", res.Bound, want)
	}

	again, err := s.ByKeys(t.Context(), q,
		[][]erp.Value{{{Kind: erp.Int, Text: "2499"}}, {{Kind: erp.Int, Text: "2500"}}})
	if err != nil || len(again) != 2 {
		t.Fatalf("ByKeys = %d rows, %v", len(again), err)
	}
}

func TestADegradedReadKeepsTheWindowAndCountsLostKeys(t *testing.T) {
	t.Parallel()
	s, _ := postgres(t, `CREATE TABLE p (k int, preco text, em timestamp)`,
		`INSERT INTO p SELECT i, i::text, '2026-01-01'::timestamp + i * interval '1 hour' FROM generate_series(1, 100) i`,
		`INSERT INTO p VALUES (NULL, '1', NULL), (7, 'sete', NULL), (7, '8', NULL)`)
	rows, res := erptest.Read(t, s, erp.Query{
		SQL: "SELECT k, preco::numeric AS preco, em FROM p", Key: []string{"k"},
		ChangedAt: "em",
	},
		erp.Window{Since: "2026-01-05 00:00:00"})
	if got := erptest.KeysOf(rows); got != "100 7 7 96 97 98 99" || !res.Degraded || res.Unreadable != 1 ||
		res.Bound != "2026-01-05 04:00:00" {
		t.Errorf("rows %q, %+v; want those from 96 on and the two without a time, one lost key", got, res)
	}
}

func TestSecretsArePrintedByNoVerb(t *testing.T) {
	t.Parallel()
	opt := erp.SourceOptions{Driver: "postgres", DSN: "postgres://u:segredo@h/db"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if got := fmt.Sprintf(verb, opt); strings.Contains(got, "segredo") || strings.Contains(got, "7365677265646f") {
			t.Errorf("%s prints %s", verb, got)
		}
	}
}
