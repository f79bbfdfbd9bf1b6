package erp

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
)

// pgReader creates a database with these statements, and opens it for reading.
func pgReader(t testing.TB, statements ...string) (*Source, *sql.DB) {
	t.Helper()
	dsn := pgtest.Database(t)
	db := must.Get(sql.Open("postgres", dsn))(t)
	t.Cleanup(func() { _ = db.Close() })
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%.80s: %v", s, err)
		}
	}
	s := must.Get(Open(t.Context(), SourceOptions{Driver: "postgres", DSN: Secret(dsn)}))(t)
	t.Cleanup(func() { _ = s.Close() })
	return s, db
}

// keyStatement returns the statement with which rows are read again by key.
func keyStatement(t testing.TB, s *Source, q Query, keys [][]Value) (query string, args []any) {
	t.Helper()
	must.Do(t, s.inTx(t.Context(), func(_ dialect.Clock, tx dialect.Tx) error {
		p, err := s.plan(t.Context(), tx, q)
		if err != nil {
			return err
		}
		query, args, err = s.keyReader(tx, p).query(p.items, keys)
		return err
	}))
	return query, args
}

// Whatever the query does with the table, its rows are read again along the index of the key: with
// groups and unions the keys are conditions within, and keys of which no column has few values do
// not become hundreds of alternatives.
func TestKeysAreReadAlongTheIndex(t *testing.T) {
	t.Parallel()
	const table = `(filial char(2) NOT NULL, ticket char(9) NOT NULL, item char(1) NOT NULL, contrato varchar(20) NOT NULL, num int NOT NULL UNIQUE, kg numeric NOT NULL,
		em timestamptz NOT NULL, obs char(150) NOT NULL, PRIMARY KEY (filial, ticket, item), UNIQUE (contrato, ticket))`
	const fill = `SELECT lpad((n %% 12 + 1)::text, 2, '0'), 'T' || lpad(n::text, 8, '0'), '1', 'C' || lpad(n::text, 8, '0'), n, n / 10.0, now(), 'carga conferida' FROM generate_series(1, %d) n`
	sizes := []int{20_000}
	if os.Getenv("SAFRASYNC_TEST_LONG") != "" {
		sizes = append(sizes, 1_000_000)
	}
	for _, size := range sizes {
		s, db := pgReader(t, `CREATE TABLE e `+table, `INSERT INTO e `+fmt.Sprintf(fill, size), `VACUUM ANALYZE e`)
		const all = "SELECT filial, ticket, item, contrato, num, kg, em FROM e"
		for _, c := range []struct {
			name, sql string
			key       []string
		}{
			{"one column", all, []string{"num"}},
			{"two columns, all of them different", all, []string{"contrato", "ticket"}},
			{"three columns", all, []string{"filial", "ticket", "item"}},
			{
				"the sum of each key",
				"SELECT filial, ticket, item, sum(kg) AS kg FROM e GROUP BY filial, ticket, item",
				[]string{"filial", "ticket", "item"},
			},
			{
				"the sum of each contract", "SELECT contrato, ticket, sum(kg) AS kg FROM e GROUP BY contrato, ticket",
				[]string{"contrato", "ticket"},
			},
			{
				"a union", all + " UNION ALL SELECT filial, ticket, '2', contrato, num, kg, em FROM e",
				[]string{"filial", "ticket", "item"},
			},
			{
				"a union of sums",
				"SELECT filial, ticket, sum(kg) AS kg FROM e GROUP BY filial, ticket UNION ALL SELECT '99', ticket, 0 FROM e WHERE num < 0",
				[]string{"filial", "ticket"},
			},
		} {
			value := func(name string, n int) Value {
				switch name {
				case "filial":
					return Value{Kind: Text, Text: fmt.Sprintf("%02d", n%12+1)}
				case "ticket":
					return Value{Kind: Text, Text: fmt.Sprintf("T%08d", n)}
				case "item":
					return Value{Kind: Text, Text: "1"}
				case "contrato":
					return Value{Kind: Text, Text: fmt.Sprintf("C%08d", n)}
				}
				return Value{Kind: Int, Text: fmt.Sprint(n)}
			}
			var keys [][]Value
			for n := range 200 {
				var key []Value
				for _, name := range c.key {
					key = append(key, value(name, 7000+n))
				}
				keys = append(keys, key)
			}
			q := Query{SQL: c.sql, Key: c.key}
			query, args := keyStatement(t, s, q, keys)
			var steps []string
			must.Do(t, sqlx.NewDb(db, "postgres").Select(&steps, "EXPLAIN "+query, args...))
			var plan string
			for _, step := range steps {
				plan += step[:min(120, len(step))] + "\n"
			}
			if strings.Contains(plan, "Seq Scan") || !strings.Contains(plan, "Index") {
				t.Errorf("%s, %d rows: the last look reads the whole table:\n%s", c.name, size, plan)
			}
			if n := strings.Count(plan, "Index Scan"); n > 128 {
				t.Errorf("%s, %d rows: %d times the index", c.name, size, n)
			}
			if rows, err := s.ByKeys(t.Context(), q, keys); err != nil || len(rows) != len(keys) {
				t.Errorf("%s, %d rows: %d of %d found: %v", c.name, size, len(rows), len(keys), err)
			}
		}
	}
}

// Rows are found by their keys as if each key were in its own statement: whatever a text contains,
// whatever its padding, and without rows of keys that were not requested.
func TestKeysInArraysFindWhatEachKeyFindsAlone(t *testing.T) {
	t.Parallel()
	odd := []string{
		"", " ", "a", "a ", " a", "A", "NULL", "null", `"`, `\`, `{`, `}`, ",", `{"a"}`, `\"`, "'", "é",
		"a\tb", "a\nb", "0", "1.50", "1.5",
	}
	s, db := pgReader(t, `CREATE TYPE tipo AS ENUM ('x', 'y')`, `CREATE DOMAIN codigo AS varchar(10)`,
		`CREATE TABLE c (id int, t text, v varchar(10), p char(10), k codigo, e tipo, i bigint, n numeric, f float8, g float4, d date, ts timestamp, tz timestamptz, u uuid, l bool)`)
	add := func(id int, text string) {
		t.Helper()
		must.Get(db.ExecContext(context.Background(), `INSERT INTO c SELECT $1::int, $2::text, $2, $2, $2, (ARRAY['x','y'])[1 + $1 % 2]::tipo, $1 % 90, ($1 % 80) / 4.0, ($1 % 70) / 3.0, ($1 % 71) / 3.0,
			date '2026-01-01' + $1 % 75, timestamp '2026-01-01' + $1 % 77 * interval '1.000001 second', timestamptz '2026-01-01 00:00:00+00' + $1 % 78 * interval '1 hour', md5(($1 % 79)::text)::uuid, $1 % 2 = 0`, id, text))(t)
	}
	for id := range 300 {
		text := fmt.Sprint(id % 100)
		if id < 2*len(odd) {
			text = odd[id%len(odd)]
		}
		add(id, text)
	}
	show := func(rows []Row) []string {
		var out []string
		for _, r := range rows {
			out = append(out, fmt.Sprint(r.Values))
		}
		slices.Sort(out)
		return slices.Compact(out) // CHAR padding and neighbours: two keys may find the same row
	}
	for _, names := range [][]string{
		{"t"},
		{"v"},
		{"p"},
		{"k"},
		{"e"},
		{"i"},
		{"n"},
		{"f"},
		{"g"},
		{"d"},
		{"ts"},
		{"tz"},
		{"u"},
		{"l"},
		{"t", "i"},
		{"p", "t"},
		{"v", "p"},
		{"i", "d"},
		{"n", "ts"},
		{"u", "tz"},
		{"f", "g"},
		{"k", "i"}, // more groups than allowed alternatives
		{"e", "i"},
		{"e", "l"},
		{"i", "e", "p"},
		{"l", "e", "t"},
	} {
		q := Query{SQL: "SELECT * FROM c", Key: names}
		var keys [][]Value
		seen := map[string]bool{}
		must.Get(s.Read(t.Context(), Query{SQL: "SELECT * FROM c WHERE id % 3 <> 0", Key: names}, Window{},
			func(r Row) error {
				var key []Value
				for _, name := range names {
					v, _ := r.Get(name)
					key = append(key, v)
				}
				if id := fmt.Sprint(key); !seen[id] && len(keys) < chunkKeys {
					seen[id] = true
					keys = append(keys, key)
				}
				return nil
			}))(t)
		together, err := s.ByKeys(t.Context(), q, keys)
		if err != nil {
			t.Fatalf("%v: %v", names, err)
		}
		var alone []Row
		must.Do(t, s.inTx(t.Context(), func(_ dialect.Clock, tx dialect.Tx) error {
			p, err := s.plan(t.Context(), tx, q)
			if err != nil {
				return err
			}
			for _, key := range keys { // as people would write it by hand
				cond, args := make([]string, len(key)), make([]any, len(key))
				for i, v := range key {
					cond[i], args[i] = fmt.Sprintf("q.%s = $%d", names[i], i+1), v.Text
				}
				rows, err := tx.Fetch(t.Context(), p.st.Wrap(dialect.SelectList(p.items), strings.Join(cond, " AND ")),
					args,
					p.items)
				if err != nil {
					return err
				}
				for _, values := range rows {
					alone = append(alone, p.row(values))
				}
			}
			return nil
		}))
		if diff := cmp.Diff(show(alone), show(together)); diff != "" || len(alone) == 0 {
			t.Errorf("%v, %d keys (-alone +together):\n%s", names, len(keys), diff)
		}
		if unique := show(together); len(unique) != len(together) {
			t.Errorf("%v: %d rows came, %d of them once", names, len(together), len(unique))
		}
	}
}

// A key that appears twice is returned twice, and parts of two keys do not combine into a third
// one.
func TestNoRowOfAnotherKeyIsAmongThem(t *testing.T) {
	t.Parallel()
	s, _ := pgReader(t, `CREATE TYPE tipo AS ENUM ('x', 'y')`,
		`CREATE TABLE c AS SELECT a, lpad(b::text, 3, '0')::char(4) AS b, CASE WHEN b % 2 = 0 THEN 'x' ELSE 'y' END::tipo AS e FROM generate_series(1, 90) a, generate_series(1, 90) b`,
		`INSERT INTO c SELECT * FROM c WHERE a = 7 AND b = '007'`)
	for _, n := range []int{2, 64, 90} {
		for _, names := range [][]string{{"a", "b"}, {"b", "a"}, {"a", "b", "e"}} {
			var keys [][]Value
			for i := 1; i <= n; i++ {
				e := "y"
				if i%2 == 0 {
					e = "x"
				}
				part := map[string]Value{
					"a": {Kind: Int, Text: fmt.Sprint(i)},
					"b": {Kind: Text, Text: fmt.Sprintf("%03d", i)}, "e": {Kind: Text, Text: e},
				}
				var key []Value
				for _, name := range names {
					key = append(key, part[name])
				}
				keys = append(keys, key)
			}
			rows, err := s.ByKeys(t.Context(), Query{SQL: "SELECT * FROM c", Key: names}, keys)
			want := n
			if n >= 7 {
				want++
			}
			if err != nil || len(rows) != want {
				t.Errorf("%d keys %v: %d rows, want %d: %v", n, names, len(rows), want, err)
			}
		}
	}
}

// A single key is compared by equality only, in the order of its columns. PostgreSQL considers an
// array of one the cheaper comparison and evaluates it first, even for rows that another part of
// the key excludes and for which this part cannot be computed.
func TestOneKeyIsComparedInTheOrderOfItsColumns(t *testing.T) {
	t.Parallel()
	s, _ := pgReader(t, `CREATE TYPE tipo AS ENUM ('x', 'y')`, `CREATE TABLE c (tipo text, num text)`,
		`INSERT INTO c VALUES ('x', '1'), ('x', '2'), ('y', '2/A')`)
	q := Query{SQL: "SELECT tipo::tipo AS tipo, num::int AS num FROM c", Key: []string{"tipo", "num"}}
	keys := [][]Value{
		{{Kind: Text, Text: "x"}, {Kind: Int, Text: "1"}},
		{{Kind: Text, Text: "x"}, {Kind: Int, Text: "2"}},
	}
	for n := 1; n <= len(keys); n++ {
		if rows, err := s.ByKeys(t.Context(), q, keys[:n]); err != nil || len(rows) != n {
			t.Errorf("%d of %d rows: %v", len(rows), n, err)
		}
	}
}
