package pending_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

var at = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

func text(s string) *string { return &s }

// jobsOf are a job of contracts and one of deliveries that hang on them.
func jobsOf(t testing.TB) []*mapping.Job {
	t.Helper()
	contracts := map[string]mapping.FieldSpec{"currency": {Const: text("BRL")}}
	for field, column := range map[string]string{
		"amount": "qtd", "product": "produto", "haverst": "safra", "unit_of_measurement": "um", "order_type": "tipo",
		"order_date": "emissao", "price": "preco",
	} {
		contracts[field] = mapping.FieldSpec{Columns: []string{column}}
	}
	for field, kind := range map[string]string{
		"producer_id": "producers", "issuer_id": "users",
		"delivery_place_id": "delivery_places", "wallet_id": "wallets",
	} {
		contracts[field] = mapping.FieldSpec{Columns: []string{field}, Ref: kind}
	}
	deliveries := map[string]mapping.FieldSpec{"contract_id": {
		Columns: []string{"contrato"},
		SentBy:  []mapping.ParentSpec{{Job: "contracts", Columns: []string{"contrato"}}},
	}}
	for _, field := range []string{"delivered_volume", "delivered_volume_unit_of_measure", "delivery_date", "car"} {
		deliveries[field] = mapping.FieldSpec{Columns: []string{field}}
	}
	var out []*mapping.Job
	for _, spec := range []mapping.JobSpec{
		{
			Name: "contracts", Sends: trade.OrderCommitments, Query: "SELECT 1", Key: []string{"num"},
			Schedule: "@every 1h", Sweep: "@every 24h", Fields: contracts,
		},
		{
			Name: "deliveries", Sends: trade.Deliveries, Query: "SELECT 1", Key: []string{"num"}, Schedule: "@every 1h",
			Sweep: "@every 24h", Fields: deliveries,
		},
	} {
		job := must.Get(mapping.Compile(spec, time.UTC))(t)
		out = append(out, job)
	}
	return out
}

// row makes an entry.
func row(sends trade.Kind, key string, st trade.State, cause, amount string, values map[string]string,
	awaited ...trade.Awaited,
) trade.Entry {
	n, err := trade.ParseDecimal(amount)
	if err != nil {
		panic(err)
	}
	e := trade.Entry{
		Sends: sends, Key: key, State: st, Cause: cause, Generation: 1, FirstSeenAt: at, UpdatedAt: at,
		Values: trade.Values{}, SourceHash: trade.HashOf("s" + key), MappedWith: "m",
		Payload: json.RawMessage(`{}`), PayloadHash: trade.HashOf("p" + key),
		Quantity: trade.Quantity{Amount: n, Unit: trade.SC}, WaitingFor: awaited,
	}
	for column, value := range values {
		e.Values[column] = trade.Cell{Kind: 't', Text: value}
	}
	return e
}

func contract(key string, st trade.State, cause, amount, product, price string, awaited ...trade.Awaited) trade.Entry {
	values := map[string]string{
		"produto": product, "um": "SC", "tipo": "COMPRA", "qtd": amount, "preco": price,
		"wallet_id": "W7", "producer_id": "P1",
	}
	if price == "" {
		values["tipo"] = "FIXACAO_COMPRA"
	}
	return row(trade.OrderCommitments, key, st, cause, amount, values, awaited...)
}

func delivery(key, amount, of string) trade.Entry {
	return row(trade.Deliveries, key, trade.Waiting, trade.CauseParent, amount, nil,
		trade.Awaited{Job: "contracts", Key: of})
}

func record(t testing.TB, s *state.Store, job string, entries ...trade.Entry) {
	t.Helper()
	lease := must.Get(s.AcquireLease(t.Context(), job, state.Self()))(t)
	must.Get(s.Record(t.Context(), lease, trade.Page{New: entries}))(t)
	must.Do(t, s.ReleaseLease(t.Context(), lease))
}

// lines writes a view down, one line for each group and one for each sum.
func lines(v *pending.View) []string {
	out := []string{fmt.Sprintf("moving %d", v.Moving)}
	for _, g := range v.Groups {
		line := fmt.Sprintf("%s: %d rows, %d behind", g.Key, g.Rows(), g.Behind)
		for _, p := range g.Own {
			line += fmt.Sprintf("; %s %s %d, retry %d", p.Job, p.State, p.Rows, p.Retry)
		}
		for _, s := range g.Subjects {
			line += fmt.Sprintf("; %s %d", s.Text, s.Rows)
		}
		out = append(out, line)
		for _, s := range g.Sums {
			line := fmt.Sprintf("  %s fixing=%v %s: %d rows, %s kg", s.Kind, s.Fixing, s.Product, s.Rows, s.Kilograms)
			for _, currency := range slices.Sorted(maps.Keys(s.Values)) {
				line += "; " + currency + " " + s.Values[currency].String()
			}
			out = append(out, line)
		}
	}
	return out
}

func TestABoardCountsWhatWaitsBehindACause(t *testing.T) {
	t.Parallel()
	s := must.Get(state.OpenMemory(t.Context()))(t)
	t.Cleanup(func() { _ = s.Close() })
	unlinked := "message.wallet.producer-not-linked"
	wallet := trade.Awaited{Platform: "wallets", ID: "x"}
	goes := contract("goes", trade.Pending, "", "1", "SOJA", "100")
	record(t, s, "contracts",
		contract("a", trade.Waiting, unlinked, "100", "SOJA", "100.50", wallet),
		contract("b", trade.Waiting, unlinked, "10", "MILHO", "50", wallet),
		contract("c", trade.Waiting, unlinked, "5", "SOJA", "", wallet),
		contract("d", trade.Waiting, "ref:wallets", "1", "SOJA", "1", trade.Awaited{Ref: "wallets", Code: "W7"}),
		goes,
	)
	early := delivery("6", "1", "before")
	early.WaitingFor[0].ParentCause = trade.CauseCutOver
	record(t, s, "deliveries", delivery("1", "2", "a"), delivery("2", "3", "b"), delivery("3", "1", "goes"),
		delivery("4", "1", "nowhere"), delivery("5", "1", "d"), early)
	board := &pending.Index{Ledger: s, Jobs: jobsOf(t), Now: func() time.Time { return at }}
	take := func(want ...string) {
		t.Helper()
		view := must.Get(board.Update(t.Context()))(t)
		if diff := cmp.Diff(want, lines(view)); diff != "" {
			t.Errorf("the board (-want +got):\n%s", diff)
		}
	}
	take(
		"moving 1",
		unlinked+": 5 rows, 2 behind; contracts waiting 3, retry 3; P1 – W7 3",
		"  order_commitments fixing=false MILHO: 1 rows, 600 kg; BRL 500",
		"  order_commitments fixing=false SOJA: 1 rows, 6000 kg; BRL 10050",
		"  order_commitments fixing=true SOJA: 1 rows, 300 kg",
		"  deliveries fixing=false MILHO: 1 rows, 180 kg",
		"  deliveries fixing=false SOJA: 1 rows, 120 kg",
		"ref:wallets: 2 rows, 1 behind; contracts waiting 1, retry 0; W7 1",
		"  order_commitments fixing=false SOJA: 1 rows, 60 kg; BRL 1",
		"  deliveries fixing=false SOJA: 1 rows, 60 kg",
		"parent: 1 rows, 1 behind",
		"  deliveries fixing=false : 1 rows, 60 kg",
		"parent before_cut_over: 1 rows, 1 behind",
		"  deliveries fixing=false : 1 rows, 60 kg",
	)
	// One that a person has tried again is on its way, and what waits for it too: only that row is
	// read again.
	entry := must.Get(s.Entry(t.Context(), "contracts", "a"))(t)
	lease := must.Get(s.AcquireLease(t.Context(), "contracts", state.Self()))(t)
	entry.State, entry.Cause = trade.Pending, ""
	if lost, err := s.Record(t.Context(), lease,
		trade.Page{Updates: []trade.Update{{From: trade.Waiting, Entry: entry}}}); err != nil || lost != 0 {
		t.Fatal(lost, err)
	}
	view := must.Get(board.Update(t.Context()))(t)
	if got := lines(view); view.Moving != 2 || !strings.HasPrefix(got[1], unlinked+": 3 rows, 1 behind") {
		t.Errorf("after the act the board says\n%s", strings.Join(got, "\n"))
	}
}

// cpu is the time that the process has spent on the processors: on a busy machine the clock says
// little.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkBoard looks at a ledger of 1,000,000 rows of which 100,000 are stuck: 80,000 contracts
// of 500 wallets and 20,000 deliveries behind them. "first" reads all of them, "again" none, "after
// an act" one.
func BenchmarkBoard(b *testing.B) {
	file := filepath.Join(b.TempDir(), "state.db")
	s := must.Get(state.Open(b.Context(), state.OpenOptions{Driver: state.SQLite, DSN: file, Begin: true}))(b)
	defer s.Close()
	db := must.Get(sqlx.Open("sqlite", file+"?_pragma=busy_timeout(60000)&_pragma=synchronous(off)"))(b)
	defer db.Close()
	for from := 1; from <= 1_000_000; from += 50_000 {
		must.Get(db.Exec(manyRows, from, from+49_999))(b)
	}
	must.Get(db.Exec(manyBodies))(b)
	jobs := jobsOf(b)
	board := &pending.Index{Ledger: s, Jobs: jobs, Now: time.Now}
	var spent time.Duration
	report := func(b *testing.B) {
		b.ReportMetric(float64(spent.Milliseconds())/float64(b.N), "cpu-ms/op")
		spent = 0
	}
	look := func(b *testing.B, board *pending.Index) {
		b.Helper()
		before := cpu(b)
		defer func() { spent += cpu(b) - before }()
		view, err := board.Update(b.Context())
		if err != nil || len(view.Groups) != 1 || view.Groups[0].Rows() != 100_000 || view.Groups[0].Behind != 20_000 {
			b.Fatal(view, err)
		}
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			board = &pending.Index{Ledger: s, Jobs: jobs, Now: time.Now}
			look(b, board)
		}
		report(b)
	})
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			look(b, board)
		}
		report(b)
	})
	b.Run("after an act", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			must.Get(db.Exec(`UPDATE entry SET version = version + 1 WHERE id = 950000`))(b)
			b.StartTimer()
			look(b, board)
		}
		report(b)
	})
}

const manyRows = `INSERT INTO entry (job, sends, key, key_parts, state, cause, flags, generation, attempts, first_seen_at, updated_at, waiting_for,
	source_hash, mapped_with, sendable, payload_hash, content, amount, unit, gone_sweeps,
	version)
SELECT CASE WHEN i <= 980000 THEN 'contracts' ELSE 'deliveries' END, CASE WHEN i <= 980000
	THEN 'order_commitments' ELSE 'deliveries' END, '01|' || i, '[]',
	CASE WHEN i <= 900000 THEN 'pending' ELSE 'waiting' END, CASE WHEN i <= 900000 THEN '' WHEN i <= 980000
		THEN 'ref:wallets' ELSE 'parent' END, '[]', 1, 0, 0, 0,
	CASE WHEN i <= 900000 THEN '[]' WHEN i <= 980000
		THEN '[{"ref":"wallets","code":"' || (i % 500) || '"}]'
		ELSE '[{"job":"contracts","key":"01|' || (i - 20000) || '"}]' END,
	x'01', 'm', 1, x'01', 1, '1000.5', 'SC', 0, 1
FROM (WITH RECURSIVE numbers (i) AS (SELECT CAST(? AS BIGINT) UNION ALL SELECT i + 1 FROM numbers WHERE i < ?) SELECT i FROM numbers) AS n`

const manyBodies = `INSERT INTO body (entry_id, target, payload, cells, warnings)
SELECT id, '', '{"amount":1000.5,"product":"SOJA","price":129.50}',
	'{"num":"t:000123","qtd":"t:1000.5","produto":"t:SOJA","um":"t:SC","tipo":"t:COMPRA","preco":"t:129.50", ' ||
		'"safra":"t:2025/2026","emissao":"t:2026-03-10","producer_id":"t:P1|01","wallet_id":"t:12"}', '[]'
FROM entry`
