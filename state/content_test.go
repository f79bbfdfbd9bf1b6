package state

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lib/pq"

	"github.com/safrasync/safrasync/trade"
)

func TestTheSameContentIsFoundWhereItMayHaveBeenSent(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		var page []trade.Entry
		for _, key := range []string{"created", "doubt", "open", "refused", "never", "different"} {
			e := newEntry(key)
			e.PayloadHash.Sum = "same"
			if key == "different" {
				e.PayloadHash.Sum = "other"
			}
			page = append(page, e)
		}
		es := mustRecord(t, s, lease, page...)
		mustCommit(t, s, lease, trade.Group{Settle: []trade.Settlement{
			created(mustSend(t, s, lease, es[0]), "r1"), unknown(mustSend(t, s, lease, es[1])), refused(mustSend(t, s, lease, es[3])), created(mustSend(t, s, lease, es[5]), "r2"),
		}})
		mustSend(t, s, lease, es[2])
		found, err := s.SameContent(t.Context(), trade.OrderCommitments, []trade.Hash{{Sum: "same"}, {Sum: "none"}, {}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, e := range found {
			keys = append(keys, e.Entry.Key)
		}
		if diff := cmp.Diff([]string{"created", "doubt", "open"}, keys); diff != "" {
			t.Errorf("found (-want +got):\n%s", diff)
		}
		if found, err := s.SameContent(t.Context(), "deliveries", []trade.Hash{{Sum: "same"}}, nil); len(found) != 0 || err != nil {
			t.Errorf("another kind: %v, %v", found, err)
		}
	})
}

// Content that many rows have, and that was sent for many, would be found as often as the product of both.
func TestTheSameContentIsLookedForOnce(t *testing.T) {
	t.Parallel()
	hashes := []trade.Hash{{Sum: "a", Near: 7}, {Sum: "b"}, {}, {Sum: "a", Near: 7}, {Sum: "a", Near: 8}, {Sum: "b", Near: 7}, {Sum: "b"}}
	for _, test := range []struct {
		d            dialect
		plain, blank []any
		numbers      []any
	}{
		{sqliteDialect, []any{`{"a":7,"b":0,"a":8,"b":7}`}, []any{`{"a":7,"a":0,"b":0,"a":8,"b":7}`}, []any{`{"":7,"a":0,"b":0,"":8}`}},
		{
			postgresDialect,
			[]any{pq.Array([]int64{7, 0, 8, 7}), pq.Array([]string{"a", "b", "a", "b"})},
			[]any{pq.Array([]int64{7, 0, 0, 8, 7}), pq.Array([]string{"a", "a", "b", "a", "b"})},
			[]any{pq.Array([]int64{7, 0, 0, 8}), pq.Array([]string{"", "a", "b", ""})},
		},
	} {
		for blank, want := range map[bool][]any{false: test.plain, true: test.blank} {
			got, err := test.d.contents(hashes, false, blank)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s, blank %v: %v (-want +got):\n%s", test.d.name, blank, err, diff)
			}
		}
		got, err := test.d.contents(hashes, true, true)
		if diff := cmp.Diff(test.numbers, got); diff != "" || err != nil {
			t.Errorf("%s, numbers: %v (-want +got):\n%s", test.d.name, err, diff)
		}
	}
}

// What was recorded before hashes had a neighbourhood, or was rebuilt from the journal, is found by what came later, and the other way round.
func TestTheSameContentIsFoundWithoutItsNeighbourhood(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		var page []trade.Entry
		var number int64
		for _, key := range []string{"near", "before"} {
			e := newEntry(key)
			e.Payload = []byte(`{"order_date":"2026-01-31"}`)
			number = trade.ContentNumber(e.Sends, 0, "", e.Payload)
			e.PayloadHash, e.SourceHash = trade.Hash{Sum: "5a3e", Near: number}, trade.Hash{Sum: "row", Near: 9}
			page = append(page, e)
		}
		es := mustRecord(t, s, lease, page...)
		if _, err := s.write.ExecContext(t.Context(), s.q(`UPDATE entry SET payload_near = 0, source_near = 0 WHERE id = ?`), es[1].ID); err != nil {
			t.Fatal(err)
		}
		read, err := s.Entries(t.Context(), []int64{es[1].ID})
		if err != nil || len(read) != 1 || read[0].PayloadHash.Near != number {
			t.Fatalf("what has a payload knows its neighbourhood: %+v, %v", read, err)
		}
		due, err := s.DueContents(t.Context(), "contracts", at, 0, 1)
		if err != nil || len(due) != 1 || due[0].PayloadHash.Near != number || due[0].SourceHash.Near != 9 {
			t.Fatalf("what is due: %+v, %v", due, err)
		}
		mustCommit(t, s, lease, trade.Group{Settle: []trade.Settlement{created(mustSend(t, s, lease, es[0]), "r1"), created(mustSend(t, s, lease, read[0]), "r2")}})
		for name, ask := range map[string][2][]trade.Hash{
			"payload": {{{Sum: "5a3e", Near: number}}, nil},
			"source":  {nil, {{Sum: "row", Near: 9}}},
		} {
			found, err := s.SameContent(t.Context(), trade.OrderCommitments, ask[0], ask[1])
			if err != nil || len(found) != 2 {
				t.Errorf("%s: %+v, %v, want both", name, found, err)
			}
		}
		found, err := s.SameContent(t.Context(), trade.OrderCommitments, nil, []trade.Hash{{Sum: "row", Near: 8}})
		if err != nil || len(found) != 1 || found[0].Entry.Key != "before" {
			t.Errorf("in another neighbourhood: %+v, %v, want the one that has none", found, err)
		}
	})
}

// A row that is due and lost its neighbourhood, because the ERP changed its amount and not its days or because it was recorded before, is judged like the others.
func TestWhatIsDueKnowsItsNeighbourhood(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		entry := func(key, amount string) trade.Entry {
			e := newEntry(key)
			e.Payload = []byte(`{"order_date":"2026-01-31","amount":` + amount + `}`)
			e.PayloadHash, e.SourceHash = trade.Hash{Sum: "0f0" + amount, Near: trade.ContentNumber(e.Sends, 0, "", e.Payload)}, trade.Hash{Sum: "row " + amount, Near: 20484}
			return e
		}
		es := mustRecord(t, s, lease, entry("sent", "2"), entry("edited", "1"), entry("before", "2"))
		mustCommit(t, s, lease, trade.Group{Settle: []trade.Settlement{created(mustSend(t, s, lease, es[0]), "r1")}})
		edited := es[1]
		edited.Payload, edited.PayloadHash, edited.SourceHash = es[0].Payload, es[0].PayloadHash, es[0].SourceHash
		if lost, err := s.Record(t.Context(), lease, trade.Page{Updates: []trade.Update{{From: trade.Pending, Entry: edited}}}); err != nil || lost != 0 {
			t.Fatal(lost, err)
		}
		if _, err := s.write.ExecContext(t.Context(), s.q(`UPDATE entry SET payload_near = 0, source_near = 0 WHERE id = ?`), es[2].ID); err != nil {
			t.Fatal(err)
		}
		due, err := s.DueContents(t.Context(), "contracts", at.Add(time.Hour), 0, 10)
		if err != nil || len(due) != 2 {
			t.Fatal(due, err)
		}
		for _, e := range due {
			if e.PayloadHash.Near != es[0].PayloadHash.Near || e.Key == "before" && len(e.Values) == 0 {
				t.Errorf("%s is due with %+v and the values %v, of which its source's neighbourhood is made", e.Key, e.PayloadHash, e.Values)
			}
			found, err := s.SameContent(t.Context(), trade.OrderCommitments, []trade.Hash{e.PayloadHash}, nil)
			if err != nil || len(found) != 1 || found[0].Entry.Key != "sent" {
				t.Errorf("%s finds %+v, %v; want the row that was sent", e.Key, found, err)
			}
		}
	})
}

// A rebuilt row has what was sent by its hash only: its payload says nothing of it, and its target is that of a backup.
func TestAPayloadThatIsNotKnownHasNoNeighbourhood(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "trace")
		e := newEntry("a")
		e.Sends, e.Target = trade.Traceability, "order of the backup"
		e.PayloadHash = trade.Hash{Sum: "backup", Near: trade.ContentNumber(e.Sends, 0, e.Target, e.Payload)}
		es := mustRecord(t, s, lease, e)
		mustCommit(t, s, lease, trade.Group{Settle: []trade.Settlement{created(mustSend(t, s, lease, es[0]), "r1")}})
		if _, err := s.write.ExecContext(t.Context(), s.q(`UPDATE entry SET payload_hash = 'sent', payload_near = 0, payload = '{}', mapped_with = '' WHERE id = ?`), es[0].ID); err != nil {
			t.Fatal(err)
		}
		read := mustEntry(t, s, "trace", "a")
		read.Flags = read.Flags.With(trade.Changed, true)
		if lost, err := s.Record(t.Context(), lease, trade.Page{Updates: []trade.Update{{From: trade.Accepted, Entry: read}}}); err != nil || lost != 0 {
			t.Fatal(lost, err)
		}
		want := trade.Hash{Sum: "sent", Near: trade.ContentNumber(trade.Traceability, 0, "order that was sent", []byte(`{"producer_id":"x"}`))}
		if found, err := s.SameContent(t.Context(), trade.Traceability, []trade.Hash{want}, nil); err != nil || len(found) != 1 {
			t.Errorf("found %d, %v; want it", len(found), err)
		}
	})
}

// While PostgreSQL's statistics are of before the first rows were sent, it takes those that were for none. It would go through all of them, in an index of those alone or by their state.
func TestTheSameContentIsLookedUpWhileStatisticsLag(t *testing.T) {
	s := mustOpen(t, backends[1].open(t))
	ctx := t.Context()
	for _, statement := range []string{
		`ALTER TABLE entry DISABLE TRIGGER USER`,
		`ALTER TABLE entry SET (autovacuum_enabled = off)`,
		`INSERT INTO entry (job, sends, key, key_parts, state, cause, flags, generation, attempts, first_seen_at, updated_at, waiting_for, warnings, cells, source_hash, source_near, mapped_with, target,
			payload, payload_hash, payload_near, amount, unit, gone_sweeps, version)
			SELECT 'j', 'order_commitments', n::text, '[]', 'pending', '', '[]', 1, 0, 0, 0, '[]', '[]', '{}', md5(n::text), 20000 + n / 100, 'm', '', '{}', md5(n::text), 20000 + n / 100, '1', 'SC', 0, 1
			FROM generate_series(1, 20000) n`,
		`ALTER TABLE attempt DISABLE TRIGGER USER`,
		`ALTER TABLE attempt SET (autovacuum_enabled = off)`,
		`INSERT INTO attempt (id, entry_id, generation, no, run_id, owner, epoch, target, payload, payload_hash, payload_near, started_at, finished_at, outcome, counts, status, messages, remote_id, reason,
			answer_body) SELECT key, id, 1, 1, '', '', 1, '', '{}', payload_hash, payload_near, 0, 0, 'not_created', 1, 503, '[]', key, '', '' FROM entry`,
		`ANALYZE entry, attempt`,
		`UPDATE attempt SET outcome = 'created' WHERE entry_id % 2 = 0`,
		`UPDATE entry SET state = 'accepted', remote_id = key WHERE id % 2 = 0`,
	} {
		if _, err := s.write.ExecContext(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	hashes := make([]trade.Hash, 32) // of 20,000 rows: few enough that reading all is not cheaper
	for i := range hashes {
		hashes[i] = trade.Hash{Sum: "none", Near: int64(20000 + i)}
	}
	wanted, err := s.d.contents(hashes, true, true)
	if err != nil {
		t.Fatal(err)
	}
	for name, query := range map[string]string{"payload_near": s.d.samePayload(), "source_near": s.d.sameSource()} {
		args := []any{"order_commitments"}
		for range strings.Count(query, s.d.wanted) {
			args = append(args, wanted...)
		}
		plan, err := gather(ctx, s.read, func(line *string) []any { return []any{line} }, `EXPLAIN `+s.q(selectEntry+query), args...)
		wants := strings.Count(query, "w.near")
		if text := strings.Join(plan, "\n"); err != nil || strings.Count(text, "Index Cond: (("+name+" = ") != wants || strings.Contains(text, "Seq Scan") {
			t.Errorf("%v\n%s", err, text)
		}
	}
	for _, query := range []string{s.d.blankPayload(), s.d.blankSource()} {
		plan, err := gather(ctx, s.read, func(line *string) []any { return []any{line} }, `EXPLAIN `+query)
		if text := strings.Join(plan, "\n"); err != nil || !strings.Contains(text, "Limit") || strings.Contains(text, "Seq Scan") {
			t.Errorf("%v\n%s", err, text)
		}
	}
}
