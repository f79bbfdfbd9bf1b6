package state

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

const deliveries = trade.Deliveries

// short makes an entry that waits for things.
func short(key string, sends trade.Kind, state trade.State, q trade.Quantity, awaited ...trade.Awaited) trade.Entry {
	e := newEntry(key)
	e.Sends, e.State, e.Quantity, e.WaitingFor = sends, state, q, awaited
	e.Payload, e.PayloadHash = nil, ""
	return e
}

func wallet(code string) trade.Awaited   { return trade.Awaited{Ref: "wallets", Code: code} }
func producer(code string) trade.Awaited { return trade.Awaited{Ref: "producers", Code: code} }

func contract(key string) trade.Awaited {
	return trade.Awaited{Job: "contracts", Key: key, ParentState: trade.Waiting}
}

func weighing(unit trade.Unit, amount string) trade.Quantity {
	q := sacas(amount)
	q.Unit = unit
	return q
}

// shortages returns what Shortages says, one line for each code.
func shortages(t *testing.T, s *Store) []string {
	t.Helper()
	all := must.Get(s.Shortages(t.Context()))(t)
	var out []string
	for _, one := range all {
		line := one.Kind + " " + one.Code
		for _, side := range []struct {
			name  string
			loads map[trade.Kind]*trade.Load
		}{{"blocks", one.Blocked}, {"invalid", one.Invalid}} {
			for _, kind := range []trade.Kind{trade.OrderCommitments, deliveries} {
				if l := side.loads[kind]; l != nil {
					line += fmt.Sprintf("; %s %d %s, %s kg, %d unweighed", side.name, l.Rows, kind, l.Kilograms,
						l.Unweighed)
				}
			}
		}
		out = append(out, line)
	}
	return out
}

func TestShortagesCountWhatEachMissingCodeBlocks(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		mustRecord(
			t, s, lease,
			newEntry("goes"),
			short("a", trade.OrderCommitments, trade.Waiting, sacas("100"), wallet("10")),
			short("b", trade.OrderCommitments, trade.Waiting, weighing(trade.TON, "2.5"), wallet("10"), producer("7")),
			short("c", trade.OrderCommitments, trade.Waiting, weighing(trade.KG, "0.1"), wallet("2"), wallet("2"),
				wallet("10")),
			short("d", trade.OrderCommitments, trade.Waiting, trade.Quantity{}, wallet("9")),
			short("e", trade.OrderCommitments, trade.Invalid, sacas("1"), wallet("10")),
			short("f", trade.OrderCommitments, trade.Waiting, sacas("5"), trade.Awaited{Platform: "wallets", ID: "x"}),
		)
		lease = mustLease(t, s, "deliveries")
		mustRecord(
			t, s, lease,
			short("1", deliveries, trade.Waiting, weighing("kg", "30"), contract("a")),
			short("2", deliveries, trade.Waiting, weighing("ton", "1"), contract("b")),
			// its contract is invalid: the wallet alone does not help
			short("3", deliveries, trade.Waiting, weighing("sc", "1"), contract("e")),
			short("4", deliveries, trade.Waiting, weighing("sc", "1"), contract("goes")), // nothing is missing
			short("5", deliveries, trade.Waiting, weighing("sc", "1"), contract("a"), contract("c"), wallet("10")),
		)
		want := []string{
			"producers 7; blocks 1 order_commitments, 2500 kg, 0 unweighed; blocks 1 deliveries, 1000 kg, 0 unweighed",
			"producers ; blocks 1 order_commitments, 2500 kg, 0 unweighed; blocks 1 deliveries, 1000 kg, 0 unweighed",
			"wallets 10; blocks 3 order_commitments, 8500.1 kg, 0 unweighed; blocks 3 deliveries, 1090 kg, 0 unweighed; invalid 1 order_commitments, 60 kg, 0 unweighed",
			"wallets 2; blocks 1 order_commitments, 0.1 kg, 0 unweighed; blocks 1 deliveries, 60 kg, 0 unweighed",
			"wallets 9; blocks 1 order_commitments, 0 kg, 1 unweighed",
			"wallets ; blocks 4 order_commitments, 8500.1 kg, 1 unweighed; blocks 3 deliveries, 1090 kg, 0 unweighed; invalid 1 order_commitments, 60 kg, 0 unweighed",
		}
		if diff := cmp.Diff(want, shortages(t, s)); diff != "" {
			t.Errorf("Shortages (-want +got):\n%s", diff)
		}

		// A code that has come blocks nothing any more, although the rows still stand as waiting
		// for it.
		must.Get(s.ReplaceReferences(t.Context(), "wallets", map[string]string{"10": "x"}, nil))(t)
		want = []string{
			want[0], want[1],
			"wallets 2; blocks 1 order_commitments, 0.1 kg, 0 unweighed; blocks 1 deliveries, 60 kg, 0 unweighed",
			"wallets 9; blocks 1 order_commitments, 0 kg, 1 unweighed",
			"wallets ; blocks 2 order_commitments, 0.1 kg, 1 unweighed; blocks 1 deliveries, 60 kg, 0 unweighed",
		}
		if diff := cmp.Diff(want, shortages(t, s)); diff != "" {
			t.Errorf("Shortages after a code came (-want +got):\n%s", diff)
		}
	})
}

// As long as nothing moves they are not counted again; whatever moves, they are.
func TestShortagesAreCountedAgainWhenARowMoves(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		mustRecord(t, s, lease, short("a", trade.OrderCommitments, trade.Waiting, sacas("100"), wallet("10")))
		first := shortages(t, s)
		kept := s.missing.Load()
		if again := shortages(t, s); s.missing.Load() != kept || !cmp.Equal(first, again) {
			t.Errorf("counted again although nothing moved: %q, then %q", first, again)
		}
		mustRecord(t, s, lease, newEntry("goes"))
		if shortages(t, s); s.missing.Load() != kept {
			t.Error("counted again because of a row that waits for nothing")
		}
		for what, move := range map[string]func(){
			"a new row": func() {
				mustRecord(t, s, lease, short("b", trade.OrderCommitments, trade.Waiting, sacas("5"), wallet("11")))
			},
			"a row that changes": func() {
				e := must.Get(s.Entry(t.Context(), "contracts", "a"))(t)
				e.WaitingFor = []trade.Awaited{wallet("12")}
				must.Get(s.Record(t.Context(), lease,
					trade.Page{Updates: []trade.Update{{From: e.State, Entry: e}}}))(t)
			},
			"a code that comes": func() {
				must.Get(s.ReplaceReferences(t.Context(), "wallets", map[string]string{"11": "x"},
					nil))(t)
			},
		} {
			kept := s.missing.Load()
			move()
			got := shortages(t, s)
			if s.missing.Load() == kept {
				t.Errorf("%s: not counted again: %q", what, got)
			}
			s.missing.Store(nil)
			if diff := cmp.Diff(shortages(t, s), got); diff != "" {
				t.Errorf("%s (-counted anew +told):\n%s", what, diff)
			}
		}
	})
}

// BenchmarkShortages looks for what is missing in a ledger of 1,000,000 entries, of which 150,000
// contracts wait for one of 3,000 wallets and 50,000 deliveries for such a contract.
func BenchmarkShortages(b *testing.B) {
	benchBoth(b, func(b *testing.B, s *Store) {
		for from := 0; from < 1_000_000; from += 20_000 { // each statement within its time limit
			must.Get(s.db.Write.ExecContext(b.Context(), s.db.Q(manyEntries), from+1, from+20_000))(b)
		}
		if s.db.D.Name == sqldb.Postgres {
			must.Get(s.db.Write.ExecContext(b.Context(), `ANALYZE entry`))(b)
		}
		for b.Loop() {
			s.missing.Store(nil)
			all, err := s.Shortages(b.Context())
			if err != nil || len(all) != 3001 || all[3000].Rows() != 200_000 {
				b.Fatal(len(all), err)
			}
		}
	})
}

const manyEntries = `INSERT INTO entry (job, sends, key, key_parts, state, cause, flags, generation, attempts, first_seen_at, updated_at, waiting_for,
	warnings, cells, source_hash, mapped_with, target, payload, payload_hash, content, amount, unit, gone_sweeps,
		version)
SELECT CASE WHEN i <= 950000 THEN 'contracts' ELSE 'deliveries' END, CASE WHEN i <= 950000
	THEN 'order_commitments' ELSE 'deliveries' END, '01|' || i, '[]',
	'waiting', '', '[]', 1, 0, 0, 0,
	CASE WHEN i <= 800000 THEN '[]' WHEN i <= 950000 THEN '[{"ref":"wallets","code":"' || (i % 3000) || '"}]'
		ELSE '[{"job":"contracts","key":"01|' || (i - 100000) || '","parent_state":"waiting"}]' END,
	'[]', '{"filial":"t:01","num":"t:000123","text":"t:` + longText + `"}', x'00', 'm', '', '{"body":"` + longText + `"}', x'00', 1, '1000.5', 'SC', 0, 1
FROM (WITH RECURSIVE numbers (i) AS (SELECT CAST(? AS BIGINT) UNION ALL SELECT i + 1 FROM numbers WHERE i < ?) SELECT i FROM numbers) AS n`

const longText = `0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789` +
	`0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789`

// What moves while they are counted, and back before anybody asks again, is not told for ever: no
// answer is kept that is not of the moment of its mark.
func TestShortagesAreOfOneMoment(t *testing.T) {
	t.Parallel()
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			l := &listener{asked: map[string]string{}}
			tune := sqldb.DefaultTuning
			tune.Through = l.through
			s := mustOpenTuned(t, b.open(t), tune)
			lease := mustLease(t, s, "contracts")
			mustRecord(t, s, lease, newEntry("goes"),
				short("stays", trade.OrderCommitments, trade.Waiting, sacas("1"), wallet("9")))
			move := func(to trade.State, awaited ...trade.Awaited) {
				e, err := s.Entry(t.Context(), "contracts", "goes")
				if err != nil {
					t.Error(err)
				}
				from := e.State
				e.State, e.WaitingFor = to, awaited
				if _, err := s.Record(t.Context(), lease,
					trade.Page{Updates: []trade.Update{{From: from, Entry: e}}}); err != nil {
					t.Error(err)
				}
			}
			moved := false
			l.before = func(query string) {
				if !moved && strings.Contains(query, "e.waiting_for <> '[]' AND e.state IN ('waiting', 'invalid')") {
					moved = true
					move(trade.Waiting, wallet("10"))
				}
			}
			shortages(t, s)
			if !moved {
				t.Fatal("nothing moved while they were counted")
			}
			move(trade.Pending)
			got := shortages(t, s)
			s.missing.Store(nil)
			if diff := cmp.Diff(shortages(t, s), got); diff != "" {
				t.Errorf("a row that waits no more (-counted anew +told):\n%s", diff)
			}
		})
	}
}
