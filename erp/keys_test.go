package erp_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
)

func TestByKeysFindsEveryTypeOfKeyAgain(t *testing.T) {
	t.Parallel()
	s, _ := postgres(t, `CREATE TYPE tipo AS ENUM ('a', 'b')`,
		`CREATE TABLE c (i int, b bigint, t text, p char(6), n numeric(10,2), f float8, g float4, d date, ts timestamp, tz timestamptz, u uuid, e tipo, l bool)`,
		`INSERT INTO c VALUES
		(1, 9007199254740993, ' São|1\', '01', 1.50, 0.1, 0.1, '2026-10-18', '2026-01-01 10:00:00.302674',
			'2018-11-04 03:00:00.000001+00', 'db5b5fab-8f4d-4e27-9da1-494c73cf256d', 'a', true),
		(2, 9007199254740992, '', '', 1.51, 1e300, 3.4e38, '0001-01-01', '2026-01-01 10:00:00', '1900-01-01 12:00:00+00', '73ab4876-7734-47c1-87fd-e805ec99108d', 'b', false)`)
	for _, key := range [][]string{
		{"i"},
		{"b"},
		{"t"},
		{"p"},
		{"n"},
		{"f"},
		{"g"},
		{"d"},
		{"ts"},
		{"tz"},
		{"u"},
		{"e"},
		{"l"},
		{"p", "i"},
		{"t", "d", "u", "n"},
		{"I", "P"},
	} {
		erptest.Recheck(t, s, erp.Query{SQL: "SELECT * FROM c;\n-- fim", Key: key})
	}
	lite, _ := erptest.SQLite(t, `CREATE TABLE c (i INTEGER, t TEXT, x, d DATE, ts DATETIME, r REAL, v VARCHAR(10))`,
		`INSERT INTO c VALUES (1, ' 01 ', '1', '2026-10-18', '2026-01-01T10:00:00Z', 0.1, '0001'), (2, '', 1, '10/08/2026', '2026-01-01 10:00:00', 1e300, '1'), (3, 'É', 2.5, 20260810, 'x', -1, 'A')`)
	for _, key := range [][]string{
		{"i"},
		{"t"},
		{"x"},
		{"d"},
		{"ts"},
		{"r"},
		{"v"},
		{"v", "i"},
		{"x", "d", "ts", "r"},
	} {
		erptest.Recheck(t, lite, erp.Query{SQL: "SELECT * FROM c;\n-- fim", Key: key})
	}
}

// A type without its own equality operator is compared as the text that was read, and causes
// no error.
func TestAKeyOfATypeThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	s, _ := postgres(t,
		`CREATE TABLE c (j json, jb jsonb, x xml, pt point, bx box, ci circle, pg polygon, ls lseg, i int)`,
		`INSERT INTO c VALUES ('{"a": 1,  "b":2}', '{"b":2,"a":1}', '<n id="1"/>', '(1,2)', '(0,0),(2,1)', '<(0,0),1>', '((0,0),(1,1),(1,0))', '[(0,0),(1,1)]', 1),
		('{"a":1}', '{"a":1}', '<n>é</n>', '(2,1)', '(0,0),(1,2)', '<(5,5),1>', '((0,0),(2,2),(2,0))', '[(0,0),(0,1)]', 2), ('[3]', '[3]', 'x', '(3,3)', '(9,9),(8,8)', '<(1,1),2>', '((1,1))', '[(3,3),(4,4)]', 3)`)
	for _, key := range [][]string{
		{"j"},
		{"jb"},
		{"x"},
		{"pt"},
		{"bx"},
		{"ci"},
		{"pg"},
		{"ls"},
		{"j", "i"},
		{"x", "j"},
	} {
		erptest.Recheck(t, s, erp.Query{SQL: "SELECT * FROM c", Key: key})
	}
	for column, text := range map[string]string{"j": `{"a":1}`, "x": "<n>é</n>", "bx": "(1,2),(0,0)"} {
		if found, err := s.Explain(t.Context(), erp.Query{SQL: "SELECT * FROM c", Key: []string{column}},
			[]string{text}); err != nil {
			t.Errorf("%s: %+v, %v", column, found, err)
		}
	}
}

func TestByKeysOfManyKeysComesInChunks(t *testing.T) {
	t.Parallel()
	const n = 1501
	var keys [][]erp.Value
	for i := range n + 500 {
		keys = append(keys, []erp.Value{{Kind: erp.Int, Text: fmt.Sprint(i + 1)}})
	}
	q := erp.Query{SQL: "SELECT k FROM c", Key: []string{"k"}}
	pg, _ := postgres(t, `CREATE TABLE c (k int)`, fmt.Sprintf(`INSERT INTO c SELECT generate_series(1, %d)`, n))
	lite, _ := erptest.SQLite(t, `CREATE TABLE c (k INTEGER)`,
		fmt.Sprintf(
			`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO c SELECT i FROM n`, n))
	for _, s := range []*erp.Source{pg, lite} {
		rows, err := s.ByKeys(t.Context(), q, keys)
		if err != nil || len(rows) != n {
			t.Errorf("%s: %d rows, %v; want %d", s.Target(), len(rows), err, n)
		}
	}
}

func TestF022ADoubleKeyIsReturnedTwice(t *testing.T) {
	t.Parallel()
	q := erp.Query{SQL: "SELECT filial, num, v FROM c", Key: []string{"filial", "num"}}
	statements := []string{
		`CREATE TABLE c (filial char(2), num varchar(6), v int)`,
		`INSERT INTO c VALUES ('01', '000123', 1), ('01', '000123', 2), ('02', '000123', 3)`,
	}
	pg, _ := postgres(t, statements...)
	lite, _ := erptest.SQLite(t, statements...)
	for _, s := range []*erp.Source{pg, lite} {
		rows, err := s.ByKeys(t.Context(), q,
			[][]erp.Value{{{Kind: erp.Text, Text: "01"}, {Kind: erp.Text, Text: "000123"}}})
		if err != nil || len(rows) != 2 {
			t.Errorf("%s: %d rows, %v; want both", s.Target(), len(rows), err)
		}
	}
}

func TestByKeysRefusesWhatIsNoKey(t *testing.T) {
	t.Parallel()
	s, _ := postgres(t, `CREATE TABLE c (k int)`, `INSERT INTO c VALUES (1)`)
	q := erp.Query{SQL: "SELECT k FROM c", Key: []string{"k"}}
	_, err := s.ByKeys(t.Context(), q, [][]erp.Value{{{}}})
	erptest.WantError(t, err, erp.CodeOther, "NULL")
	_, err = s.ByKeys(t.Context(), q, [][]erp.Value{{{Kind: erp.Int, Text: "1"}, {Kind: erp.Int, Text: "1"}}})
	erptest.WantError(t, err, erp.CodeOther, "parts")
	// A key that was read before the column became a number.
	_, err = s.ByKeys(t.Context(), q, [][]erp.Value{{{Kind: erp.Text, Text: "CT-MARIA"}}, {{Kind: erp.Int, Text: "1"}}})
	erptest.WantError(t, err, erp.CodeData, "type of the key")
	if strings.Contains(err.Error(), "MARIA") {
		t.Errorf("the error quotes the row: %v", err)
	}
	rows, err := s.ByKeys(t.Context(), q, nil)
	if err != nil || rows != nil {
		t.Errorf("no keys: %v, %v", rows, err)
	}
}

func TestTableStreamsTheNamedColumns(t *testing.T) {
	t.Parallel()
	statements := []string{
		`CREATE TABLE r (id text, filial char(2), cod int)`,
		`INSERT INTO r VALUES ('u1', '01', 7), (NULL, '02', 8)`,
	}
	pg, _ := postgres(t, statements...)
	lite, _ := erptest.SQLite(t, statements...)
	for _, s := range []*erp.Source{pg, lite} {
		var got []string
		err := s.Table(t.Context(), "SELECT * FROM r ORDER BY cod", []string{"COD", "filial", "id"},
			func(v []erp.Value) error {
				got = append(got, v[0].Text+"|"+v[1].Text+"|"+fmt.Sprint(v[2].Kind == erp.Null))
				return nil
			})
		if diff := cmp.Diff([]string{"7|01|false", "8|02|true"}, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", s.Target(), err, diff)
		}
		stop := errors.New("stop here")
		if err := s.Table(t.Context(), "SELECT * FROM r", []string{"id"},
			func([]erp.Value) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("%s: the caller's error came back as %v", s.Target(), err)
		}
		erptest.WantError(t, s.Table(t.Context(), "SELECT * FROM r", []string{"uuid"}, nil), erp.CodeMissingColumn, `"uuid"`,
			"id, filial, cod")
	}
}

func TestRowGetPrefersTheExactName(t *testing.T) {
	t.Parallel()
	r := erp.NewRow([]string{"num", "Num", "VALOR"}, []erp.Value{{Text: "a"}, {Text: "b"}, {Text: "c"}})
	for name, want := range map[string]string{"num": "a", "Num": "b", "valor": "c", "Valor": "c"} {
		if v, ok := r.Get(name); !ok || v.Text != want {
			t.Errorf("Get(%q) = %q, %v; want %q", name, v.Text, ok, want)
		}
	}
	for _, name := range []string{"NUM", "x"} { // NUM is ambiguous
		if v, ok := r.Get(name); ok {
			t.Errorf("Get(%q) = %q, want none", name, v.Text)
		}
	}
	if _, ok := (erp.Row{}).Get("x"); ok {
		t.Error("the empty row has a column")
	}
}
