package erp_test

import (
	"runtime"
	"testing"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
)

// F042: A million rows of about 200 bytes are 200 MB; nothing of them is kept in memory.
func TestMemoryDoesNotGrowWithTheTable(t *testing.T) {
	const rows = 1_000_000
	pg, _ := postgres(t)
	lite, _ := erptest.SQLite(t, `CREATE TABLE c (k)`)
	for _, c := range []struct {
		s   *erp.Source
		sql string
	}{
		{
			pg,
			"SELECT i AS k, repeat('x', 180) AS nome, i * 1.25 AS qtd, now() AS em FROM generate_series(1, 1000000) i",
		},
		{
			lite,
			"WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 1000000) SELECT k, printf('%180d', k) AS nome FROM n",
		},
	} {
		n := 0
		var early, late uint64
		_, err := c.s.Read(t.Context(), erp.Query{SQL: c.sql, Key: []string{"k"}}, erp.Window{}, func(erp.Row) error {
			switch n++; n {
			case rows / 10:
				early = heap()
			case rows - 1:
				late = heap()
			}
			return nil
		})
		if err != nil || n != rows {
			t.Fatalf("%s: %d rows, %v", c.s.Target(), n, err)
		}
		if late > early+4<<20 {
			t.Errorf("%s: the heap grew from %d to %d MiB over %d rows", c.s.Target(), early>>20, late>>20, rows)
		}
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestF034HugeTextsAreNotKept(t *testing.T) {
	s, _ := postgres(t)
	q := erp.Query{SQL: "SELECT i AS k, repeat('x', 10485760) AS obs FROM generate_series(1, 40) i", Key: []string{"k"}}
	rows, _ := erptest.Read(t, s, q, erp.Window{})
	for _, r := range rows {
		if got := erptest.Text(r, "obs"); got != "<text longer than 1 MiB>" {
			t.Fatalf("obs = %.40s", got)
		}
	}
}

// A long cell leaves neither the server nor the file: the driver would keep all of it.
func TestALongCellIsAnErrorOfItsRowAndIsNotFetched(t *testing.T) {
	pg, _ := postgres(t)
	lite, _ := erptest.SQLite(t, `CREATE TABLE c (k, obs TEXT, foto); INSERT INTO c VALUES (1, printf('%.*c', 20000000, 'x'), zeroblob(20000000)), (2, 'curta', 'y'), (3, NULL, 5)`)
	for _, c := range []struct {
		s   *erp.Source
		sql string
	}{
		{pg, `SELECT i AS k, CASE i WHEN 1 THEN repeat('x', 20000000) WHEN 2 THEN 'curta' END AS obs,
			repeat('y', 20000000) AS foto FROM generate_series(1, 3) i`},
		{lite, `SELECT * FROM c`},
	} {
		q := erp.Query{SQL: c.sql, Key: []string{"k"}, Columns: []string{"OBS"}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rows, result := erptest.Read(t, c.s, q, erp.Window{})
		runtime.ReadMemStats(&after)
		if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 15 {
			t.Errorf("%s: %d MiB were allocated for one long cell", c.s.Target(), got)
		}
		for i, want := range []string{"<text longer than 1 MiB>", "curta", "<null>"} {
			if got := erptest.Text(rows[i], "obs"); got != want || result.Degraded || len(rows[i].Columns()) != 2 {
				t.Errorf("%s: %.40s in %v, want %s", c.s.Target(), got, rows[i].Columns(), want)
			}
		}
	}
}

func TestARowIsNotKeptBeyondItsBound(t *testing.T) {
	lite, _ := erptest.SQLite(t, `CREATE TABLE c (k)`)
	rows, _ := erptest.Read(t, lite, erp.Query{
		SQL: `SELECT 1 AS k, printf('%.*c', 1000000, 'a') AS a, printf('%.*c', 1000000, 'b') AS b,
			printf('%.*c', 1000000, 'c') AS c, printf('%.*c', 1000000, 'd') AS d, printf('%.*c', 1000000, 'e') AS e, 'f' AS f`,
		Key: []string{"k"},
	}, erp.Window{})
	if got := erptest.Text(rows[0], "e"); got != "<row longer than 4 MiB up to this column>" {
		t.Errorf("e = %.60s", got)
	}
	if a, f := erptest.Text(rows[0], "a"), erptest.Text(rows[0], "f"); len(a) != 1000000 || f != "f" {
		t.Errorf("%d bytes of a, f = %.60s", len(a), f)
	}
}
