package postgres_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/internal/must"
)

// Texts with quotes, commas and backslashes arrive as they are stored.
func TestPostgresTextsArriveAsTheyAreStored(t *testing.T) {
	t.Parallel()
	s, db := postgres(t, `CREATE TABLE c (i int PRIMARY KEY, a text, b varchar(40), c char(8), d numeric, e date)`)
	texts := []string{
		"", " ", "a", `"`, `""`, `\`, `\\`, `\"`, `"\`, ",", "(", ")", "(,)", `("a",)`, "a,b", "a\nb", "a\tb", "\r\n",
		"é", "'", "''", "NULL", "null", `a"b\c,d(e)f`, strings.Repeat(`"\`, 500), "  trailing  ",
	}
	for i, text := range texts {
		must.Get(db.Exec(
			`INSERT INTO c VALUES ($1, $2, left($3, 40), left($4, 8), CASE WHEN $1 % 2 = 0 THEN $1 * 1.50 END, CASE WHEN $1 % 3 = 0 THEN date '2026-03-10' END)`, i, text, text, text))(t)
	}
	must.Get(db.Exec(`INSERT INTO c (i) VALUES ($1)`, len(texts)))(t)
	rows, _ := erptest.Read(t, s, erp.Query{SQL: "SELECT * FROM c ORDER BY i", Key: []string{"i"}}, erp.Window{})
	if len(rows) != len(texts)+1 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, want := range texts {
		a, _ := rows[i].Get("a")
		if a.Kind != erp.Text || a.Text != want || a.Err != "" {
			t.Errorf("%q came as %+v", want, a)
		}
		c, _ := rows[i].Get("c") // padded, as it is stored
		if short := []rune(want); len([]rune(c.Text)) != 8 ||
			!strings.HasPrefix(c.Text, string(short[:min(8, len(short))])) {
			t.Errorf("%q came as %q in CHAR(8)", want, c.Text)
		}
		d, _ := rows[i].Get("d")
		if e, _ := rows[i].Get("e"); d.IsNull() != (i%2 != 0) || e.IsNull() != (i%3 != 0) || i%2 == 0 &&
			d.Text != fmt.Sprintf("%d.%02d", i*150/100, i*150%100) {
			t.Errorf("row %d: %+v, %+v", i, d, e)
		}
	}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		if v, _ := rows[len(texts)].Get(name); !v.IsNull() {
			t.Errorf("NULL came as %+v", v)
		}
	}
	alone, _ := erptest.Read(t, s, erp.Query{SQL: `SELECT ',' AS "k"`, Key: []string{"k"}}, erp.Window{})
	if len(alone) != 1 || erptest.Text(alone[0], "k") != "," {
		t.Errorf("one column: %+v", alone)
	}
}

// A caller that needs no more rows ends the reading, although the next rows are being fetched.
func TestACallerThatHasEnoughEndsAReadingThatIsAhead(t *testing.T) {
	t.Parallel()
	s, _ := postgres(t)
	enough := fmt.Errorf("enough")
	for _, after := range []int{1, 99, 100, 101, 2500} {
		n := 0
		_, err := s.Read(t.Context(), erp.Query{SQL: "SELECT i FROM generate_series(1, 100000) i", Key: []string{"i"}},
			erp.Window{}, func(erp.Row) error {
				n++
				if n == after {
					return enough
				}
				return nil
			})
		if err != enough || n != after { //nolint:errorlint // the very error, not a wrapped one
			t.Errorf("after %d rows: %d, %v", after, n, err)
		}
	}
	if rows, _ := erptest.Read(t, s, erp.Query{SQL: "SELECT 1 AS k", Key: []string{"k"}},
		erp.Window{}); len(rows) != 1 {
		t.Errorf("the connection is of no use: %v", rows)
	}
}

// The database works on the next rows while the caller uses the first ones.
func TestTheNextRowsAreFetchedWhileTheFirstAreUsed(t *testing.T) {
	t.Parallel()
	s, db := postgres(t)
	first, fetched := true, 0
	_, err := s.Read(t.Context(), erp.Query{SQL: "SELECT i FROM generate_series(1, 1000) i", Key: []string{"i"}},
		erp.Window{}, func(erp.Row) error {
			for first && fetched == 0 && t.Context().Err() == nil {
				if err := db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()
					AND pid <> pg_backend_pid() AND query LIKE 'FETCH FORWARD 400 %'`).Scan(&fetched); err != nil {
					return err
				}
			}
			first = false
			return nil
		})
	if err != nil || fetched != 1 {
		t.Errorf("%d readings are ahead, %v", fetched, err)
	}
}

// BenchmarkReadPostgres reads 100,000 rows of the width of a contract, without and with a time of
// change; cpu-ns/row is the CPU time of our process, whatever else the computer does.
func BenchmarkReadPostgres(b *testing.B) {
	const rows = 100_000
	s, _ := postgres(b)
	q := erp.Query{Key: []string{"filial", "num"}, SQL: `SELECT '01'::char(2) AS filial, lpad(i::text, 9, '0')::char(9) AS num, '1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c02'::varchar AS produtor,
		'00001'::varchar AS carteira, 'C'::char(1) AS tipo, '001'::varchar AS produto, '2025/2026'::varchar AS safra,
			i * 0.25 AS quantidade, 100.25::numeric(18,6) AS preco,
		'20260310'::char(8) AS emissao, '20260601'::char(8) AS inicio, timestamp '2026-03-10 08:00:00' AS atualizado,
		timestamptz '2026-03-10 08:00:00.123456+00' + i * interval '1 second' AS em FROM generate_series(1, 100000) i`}
	withChanges := q
	withChanges.ChangedAt = "em"
	since := erp.Window{Since: "2026-03-10 08:00:00+00", Whole: true}
	for _, c := range []struct {
		name string
		q    erp.Query
		w    erp.Window
	}{{"plain", q, erp.Window{}}, {"changed_at", withChanges, erp.Window{}}, {"sweep", withChanges, since}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			before := cpu(b)
			for b.Loop() {
				if r, err := s.Read(b.Context(), c.q, c.w, func(erp.Row) error { return nil }); err != nil ||
					r.Rows != rows {
					b.Fatal(r.Rows, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
			b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/float64(b.N)/rows, "cpu-ns/row")
		})
	}
}

// cpu returns the CPU time of this process so far.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
