package state

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// pageRows is how large the ledger of BenchmarkRowPage is.
var pageRows = flag.Int("page-rows", 100_000, "rows of the ledger in which BenchmarkRowPage looks")

// BenchmarkRowPage looks for a page of 50 rows in a large ledger, in each way that people do. In a
// hundred rows 97 are sent.
func BenchmarkRowPage(b *testing.B) {
	benchBoth(b, func(b *testing.B, s *Store) {
		fillLarge(b, s, *pageRows)
		day := time.UnixMilli(1_760_000_000_000).Add(time.Duration(*pageRows) * time.Second)
		month, worth := must.Get(trade.ParseDate("2025-05-10"))(b), trade.NewDecimal(500_000, 0)
		if s.db.D.Name == sqldb.Postgres {
			must.Get(s.db.Write.ExecContext(b.Context(), `VACUUM ANALYZE entry, listing`))(b)
			s.db.Write.SetMaxOpenConns(1) // whose server process does all the work
			must.Get(s.db.Write.ExecContext(b.Context(), `SET max_parallel_workers_per_gather = 0`))(b)
		}
		measure := func(name string, fn func(b *testing.B)) {
			b.Run(name, func(b *testing.B) {
				began := cpuTime() + serverTime(b, s)
				for b.Loop() {
					fn(b)
				}
				spent := cpuTime() + serverTime(b, s) - began
				b.ReportMetric(float64(spent.Microseconds())/1000/float64(b.N), "cpu-ms/op")
			})
		}
		for _, bench := range []struct {
			name string
			q    trade.RowQuery
		}{
			{"all", trade.RowQuery{}},
			{"far in", trade.RowQuery{After: "50000"}},
			{"a rare state", trade.RowQuery{States: []trade.State{trade.Held}}},
			{"what needs a person", trade.RowQuery{States: []trade.State{
				trade.InDoubt, trade.Held, trade.Rejected,
				trade.Invalid,
			}}},
			{"a cause", trade.RowQuery{Causes: []string{"message.wallet.not-found"}}},
			{"a flag", trade.RowQuery{Flags: []trade.Flag{trade.Changed}}},
			{"by key", trade.RowQuery{Sort: trade.ByKey}},
			{"by key, sent", trade.RowQuery{Sort: trade.ByKey, States: []trade.State{trade.Accepted}}},
			{"by key, a rare state", trade.RowQuery{Sort: trade.ByKey, States: []trade.State{trade.Held}}},
			{"a number", trade.RowQuery{Text: "77777"}},
			{"a number that is not there", trade.RowQuery{Text: "X77777Y"}},
			{"a text in a state, nowhere", trade.RowQuery{Text: "nowhere", States: []trade.State{trade.Rejected}}},
			{"a text in few keys", trade.RowQuery{Text: "|0000777"}},
			{"a text in few keys, by key", trade.RowQuery{Text: "|0000777", Sort: trade.ByKey}},
			{
				"a text in few keys, in a state, by key",
				trade.RowQuery{Text: "|0000777", Sort: trade.ByKey, States: []trade.State{trade.Accepted}},
			},
			{
				"a text in few keys, in no such state",
				trade.RowQuery{Text: "|0000777", States: []trade.State{trade.Dismissed}},
			},
			{"by key, what is invalid", trade.RowQuery{Sort: trade.ByKey, States: []trade.State{trade.Invalid}}},
			{"a part of a number", trade.RowQuery{Text: "777"}},
			{"a day", trade.RowQuery{From: day.Add(-48 * time.Hour), Until: day.Add(-24 * time.Hour)}},
			{"a day without rows", trade.RowQuery{From: day.Add(48 * time.Hour)}},
			{"the largest", trade.RowQuery{Sort: "-" + trade.ByValue}},
			{"the smallest", trade.RowQuery{Sort: trade.ByVolume}},
			{"by title", trade.RowQuery{Sort: trade.ByTitle}},
			{"by day, sent", trade.RowQuery{Sort: "-" + trade.ByDay, States: []trade.State{trade.Accepted}}},
			{"by day, a rare state", trade.RowQuery{Sort: "-" + trade.ByDay, States: []trade.State{trade.Held}}},
			{"by state", trade.RowQuery{Sort: trade.ByState}},
			{"by change", trade.RowQuery{Sort: "-" + trade.ByChanged}},
			{"the largest of a product", trade.RowQuery{
				Sort: "-" + trade.ByValue, Facts: trade.FactQuery{Product: "TRIGO"},
			}},
			{"the largest of a producer", trade.RowQuery{
				Sort: "-" + trade.ByValue, Facts: trade.FactQuery{Producer: "PRODUTOR 77"},
			}},
			{"a producer", trade.RowQuery{Facts: trade.FactQuery{Producer: "PRODUTOR 77"}}},
			{"a part of producers", trade.RowQuery{Facts: trade.FactQuery{Producer: "tor 77"}}},
			{"a product", trade.RowQuery{Facts: trade.FactQuery{Product: "TRIGO"}}},
			{"a season", trade.RowQuery{
				Facts: trade.FactQuery{Season: "2021"}, Of: trade.Selection{Harvest: "2021"},
			}},
			{"without a season", trade.RowQuery{
				Facts: trade.FactQuery{Season: trade.NotKnown}, Of: trade.Selection{Harvest: trade.NotKnown},
			}},
			{"a product in a branch by weight", trade.RowQuery{
				Sort: "-" + trade.ByVolume, Facts: trade.FactQuery{Product: "SOJA", Branch: "03"},
			}},
			{"documents of a month by day", trade.RowQuery{
				Sort: "-" + trade.ByDay, Facts: trade.FactQuery{DayFrom: month, DayUntil: month},
			}},
			{"of a worth by worth", trade.RowQuery{
				Sort: trade.ByValue, Facts: trade.FactQuery{WorthFrom: &worth},
			}},
			{"of a worth, newest first", trade.RowQuery{Facts: trade.FactQuery{WorthFrom: &worth}}},
		} {
			bench.q.Limit = 50
			measure(bench.name, func(b *testing.B) { must.Get(s.RowPage(b.Context(), bench.q))(b) })
		}
		measure("names", func(b *testing.B) {
			_, _, err := s.RowNames(b.Context(), trade.ByProducer, nil, "", 300)
			must.Do(b, err)
		})
		measure("sums of a job", func(b *testing.B) { must.Get(s.Counts(b.Context(), "contracts"))(b) })
		measure("sums of a producer", func(b *testing.B) {
			few := trade.RowQuery{Facts: trade.FactQuery{Producer: "PRODUTOR 77"}}
			must.Get(s.RowSums(b.Context(), few, false))(b)
		})
		measure("sums of a product", func(b *testing.B) {
			must.Get(s.RowSums(b.Context(), trade.RowQuery{Facts: trade.FactQuery{Product: "SOJA"}}, true))(b)
		})
		measure("what waits for a row", func(b *testing.B) {
			parent := trade.Entry{Job: "contracts", Key: "01|000000007"}
			must.Get(s.Dependents(b.Context(), parent, 50))(b)
		})
	})
}

// serverTime returns the CPU time of the process of PostgreSQL that serves the only connection.
func serverTime(b *testing.B, s *Store) time.Duration {
	b.Helper()
	if s.db.D.Name != sqldb.Postgres {
		return 0
	}
	var pid int
	must.Do(b, s.db.Write.GetContext(b.Context(), &pid, `SELECT pg_backend_pid()`))
	text := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid)))(b)
	ns, _, _ := strings.Cut(string(text), " ")
	return time.Duration(must.Get(strconv.ParseInt(ns, 10, 64))(b))
}

// listLarge lists the rows of fillLarge: contracts of a thousand producers in nine branches, of which every
// fiftieth is of wheat, over three years, and some without a weight or a worth; of three seasons, every second of that
// of the contract before it.
const listLarge = `INSERT INTO listing (entry_id, job, title, product, producer, branch, day, kilograms, worth, currency, words,
		documents, season, contract_job, contract)
	SELECT id, job, key,
		CASE WHEN id % 50 = 0 THEN 'TRIGO' WHEN id % 3 = 0 THEN 'MILHO' WHEN id % 97 <> 1 THEN 'SOJA' END,
		'PRODUTOR ' || (id * 7919 % 1000), '0' || (id % 9 + 1), 20240101 + id % 3 * 10000 + id / 3 % 12 * 100 + id % 28,
		CASE WHEN id % 41 <> 3 THEN id * 7919 % 100003 * 600000 END,
		CASE WHEN id % 29 <> 5 THEN id * 104729 % 1000003 * 10000 END, CASE WHEN id % 29 <> 5 THEN 'BRL' ELSE '' END,
		' ' || (id % 9 + 1) || substr(key, 4) || ' ' || (id % 9 + 1) || ' ' || id || ' ', ' ',
		CASE WHEN id % 2 = 1 THEN '202' || (id % 3) END,
		CASE WHEN id % 2 = 0 THEN job END,
		CASE WHEN id % 2 = 0 THEN (SELECT p.key FROM entry p WHERE p.id = entry.id - 1) END
	FROM entry WHERE id BETWEEN ? AND ?`

// fillLarge makes a ledger of so many rows by statements: what the program writes row by row takes
// minutes.
func fillLarge(b testing.TB, s *Store, rows int) {
	b.Helper()
	numbers, pad := `WITH RECURSIVE n(i) AS (SELECT CAST(? AS INTEGER) UNION ALL SELECT i + 1 FROM n WHERE i < ?) `,
		`printf('%09d', i)`
	from := `n`
	if s.db.D.Name == sqldb.Postgres {
		numbers, pad, from = ``, `lpad(i::text, 9, '0')`, `generate_series(CAST(? AS BIGINT), CAST(? AS BIGINT)) i`
	}
	state := `CASE i % 100 WHEN 0 THEN CASE i % 7 WHEN 0 THEN 'held' ELSE 'invalid' END WHEN 1 THEN 'waiting' WHEN 2 THEN 'rejected' ELSE 'accepted' END`
	insert := `INSERT INTO entry (job, sends, key, key_parts, state, cause, record_id, flags, generation, attempts, first_seen_at, updated_at, waiting_for,
		source_hash, mapped_with, sendable, payload_hash, content, amount, volume, unit, gone_sweeps, version)
		` + numbers + `SELECT 'contracts', 'order_commitments', '0' || (i % 9 + 1) || '|' || ` + pad + `, '[]', ` + state + `, CASE i % 100 WHEN 2 THEN 'message.wallet.not-found' WHEN 1 THEN 'ref:wallets' ELSE '' END,
		CASE WHEN i % 100 > 2 THEN i END, CASE i % 1000 WHEN 500 THEN '["changed"]' ELSE '[]' END, 1, 1,
			1760000000000, 1760000000000 + i * 1000,
		CASE i % 100 WHEN 1 THEN '[{"ref":"wallets","code":"12"}]' ELSE '[]' END, CAST('source-' || i AS ` + s.db.D.Bytes + `), 'm', 1, CAST('payload-' || i AS ` + s.db.D.Bytes + `), i, '1500.25', 15002500, 'SC', 0, 1 FROM ` + from
	bodies := `INSERT INTO body (entry_id, target, payload, cells, warnings) SELECT id, '',
		'{"amount":1500.25,"price":120.5,"order_date":"2026-03-01"}',
		'{"num":"s:' || id || '","quantidade":"n:1500.25","preco":"n:120.5","emissao":"d:2026-03-01"}', '[]'
		FROM entry WHERE id BETWEEN ? AND ?`
	s.db.Tune.Write = time.Hour
	err := s.db.InOneTx(b.Context(), func(t *sqldb.Tx) error {
		restore, err := withoutTriggers(t)
		if err != nil {
			return err
		}
		for first := 1; first <= rows; first += 20_000 {
			if err := t.Do(insert, first, min(rows, first+19_999)); err != nil {
				return err
			}
			if err := t.Do(bodies, first, min(rows, first+19_999)); err != nil {
				return err
			}
			if err := t.Do(listLarge, first, min(rows, first+19_999)); err != nil {
				return err
			}
		}
		return restore()
	})
	if err == nil && s.db.D.Name == sqldb.Postgres {
		err = s.db.InOneTx(b.Context(), func(t *sqldb.Tx) error { return t.Do(`ANALYZE entry, body, listing`) })
	}
	if err == nil {
		err = s.db.InOneTx(b.Context(), func(t *sqldb.Tx) error {
			return t.Do(
				`INSERT INTO job_kind (job, sends) VALUES ('contracts', 'order_commitments')`)
		})
	}
	must.Do(b, err)
}
