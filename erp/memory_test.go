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
