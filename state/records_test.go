package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// A record is found by what was sent while it may exist, and not once it is proved not to.
func TestARecordIsFoundWhereItMayHaveBeenMade(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		var page []trade.Entry
		for _, key := range []string{"created", "doubt", "open", "refused", "never", "different"} {
			e := newEntry(key)
			e.SourceHash = trade.HashOf("same")
			if key == "different" {
				e.SourceHash = trade.HashOf("different")
			}
			page = append(page, e)
		}
		es := mustRecord(t, s, lease, page...)
		mustSettle(t, s, lease, created(mustSend(t, s, lease, es[0]), "r1"), unknown(mustSend(t, s, lease, es[1])),
			refused(mustSend(t, s, lease, es[3])), created(mustSend(t, s, lease, es[5]), "r2"))
		mustSend(t, s, lease, es[2])
		query := trade.RecordQuery{Job: "contracts", Kind: trade.OrderCommitments, Prints: []trade.Prints{
			{Cells: trade.HashOf("same")}, {Cells: trade.HashOf("same")}, {Cells: "11"}, {},
		}}
		found, alone, err := s.Records(t.Context(), query)
		var keys []string
		for _, r := range found {
			keys = append(keys, r.Key+" "+string(r.Certainty))
		}
		want := []string{"created made", "doubt maybe", "open maybe"}
		if diff := cmp.Diff(want, keys); diff != "" || !alone || err != nil {
			t.Errorf("found (-want +got):\n%s\nalone %v, %v", diff, alone, err)
		}
		query.Kind = trade.Deliveries
		if found, _, err := s.Records(t.Context(), query); len(found) != 0 || err != nil {
			t.Errorf("another kind: %v, %v", found, err)
		}
		unsent := must.Get(s.Unsent(t.Context(), trade.OrderCommitments, []trade.Hash{trade.HashOf("same")}))(t)
		if len(unsent) != 2 || unsent[0].Key != "refused" || unsent[1].Key != "never" {
			t.Errorf("unsent: %+v", unsent)
		}
		// What a person edits by hand in the ledger is found, with the row.
		if odd, err := s.Unrecorded(t.Context()); len(odd) != 0 || err != nil {
			t.Errorf("contradicting: %v, %v", odd, err)
		}
		mustExec(t, s, `UPDATE sent SET certainty = 'void' WHERE key = 'doubt'`)
		mustExec(t, s, `UPDATE sent SET sent_fields = sent_cells WHERE key = 'created'`)
		rows := slices.DeleteFunc(must.Get(s.Diagnose(t.Context(), "", true, 0))(t),
			func(d Diagnosis) bool { return d.Check != "rows" })
		if len(rows) != 1 || rows[0].Problem != ProblemEdited || rows[0].Args[0] != 2 {
			t.Errorf("the doctor says %+v", rows)
		}
	})
}

// Another job's record is found by its key, where the two jobs are not told to be apart.
func TestARecordIsFoundByTheKeyOfAnotherJob(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		a := mustLease(t, s, "a")
		mustSettle(t, s, a, created(mustSend(t, s, a, mustRecord(t, s, a, newEntry("1"))[0]), "r1"))
		mustRecord(t, s, mustLease(t, s, "b"), newEntry("2"))
		found, alone, err := s.Records(t.Context(), trade.RecordQuery{
			Job: "b", Kind: trade.OrderCommitments, Keys: []string{"1", "3"},
		})
		if err != nil || alone || len(found) != 1 || found[0].Row.Job != "a" || found[0].Sent != found[0].Newest {
			t.Errorf("%+v, %v, %v", found, alone, err)
		}
	})
}

// What a row is now is found also where the ERP changed it after it was sent.
func TestARecordIsFoundByItsNewestRowToo(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		e := mustRecord(t, s, lease, newEntry("a"))[0]
		mustSettle(t, s, lease, created(mustSend(t, s, lease, e), sqldb.NewID()))
		sent := mustEntry(t, s, "contracts", "a")
		sent.SourceHash, sent.Flags = trade.HashOf("newer"), trade.Flags{trade.Changed}
		fields := trade.HashOf("a")[:24] + trade.HashOf("b")[:24]
		sent.Newest = trade.Prints{Cells: trade.HashOf("newer"), Fields: fields}
		sent.Now, sent.AckValues, sent.Acknowledged = trade.Values{"preco": {Kind: 'n', Text: "2"}},
			trade.Values{"preco": {}}, trade.Flags{trade.Cancelled}
		mustUpdate(t, s, lease, sent.State, sent)
		sent.Version++
		for _, by := range []trade.Prints{
			{Cells: trade.HashOf("newer")}, {Fields: fields}, {Cells: trade.HashOf("source-a")},
		} {
			found, _, err := s.Records(t.Context(), trade.RecordQuery{
				Kind: trade.OrderCommitments, Prints: []trade.Prints{by},
			})
			if err != nil || len(found) != 1 || found[0].Key != "a" || found[0].Newest != sent.Newest {
				t.Errorf("found %+v, %v", found, err)
			}
		}
		got := mustEntry(t, s, "contracts", "a")
		if !cmp.Equal(got.Now, sent.Now) || !cmp.Equal(got.AckValues, sent.AckValues) ||
			!cmp.Equal(got.Acknowledged, sent.Acknowledged) {
			t.Errorf("kept %+v", got)
		}
		known, err := s.Known(t.Context(), "contracts", []string{"a"})
		if err != nil || !known["a"].Acknowledged.Has(trade.Cancelled) {
			t.Errorf("known %+v, %v", known, err)
		}
	})
}

// While PostgreSQL's statistics are of before the first rows were sent, it would go through all of
// the records, or of the entries, for a few of them.
func TestRecordsAreLookedUpWhileStatisticsLag(t *testing.T) {
	for _, statistics := range []string{`ANALYZE entry, sent`, `SELECT 'a ledger that begins has none'`} {
		s := mustOpen(t, backends[1].open(t))
		ctx := t.Context()
		for _, statement := range []string{
			`ALTER TABLE entry DISABLE TRIGGER USER`,
			`ALTER TABLE entry SET (autovacuum_enabled = off)`,
			`ALTER TABLE sent SET (autovacuum_enabled = off)`,
			statistics,
			`INSERT INTO entry (job, sends, key, key_parts, state, cause, flags, generation, attempts, first_seen_at, updated_at, waiting_for, source_hash, mapped_with,
				sendable, payload_hash, content, amount, unit, gone_sweeps, version)
				SELECT 'j', 'deliveries', n::text, '[]', 'pending', '', '[]', 1, 0, 0, 0, '[]',
					decode(md5(n::text), 'hex'), 'm', 1, decode(md5(n::text), 'hex'), n, '1', 'SC', 0, 1
				FROM generate_series(1, 20000) n`,
			`INSERT INTO body (entry_id, target, payload, cells, warnings) SELECT id, '', '{}', '{}', '[]' FROM entry`,
			`INSERT INTO sent (origin, entry_id, kind, job, key, generation, certainty, remote_id, parent, sent_cells, sent_payload, sent_fields, sent_ab, sent_ac, sent_bc, kg, sent_at, version)
				SELECT id, id, sends, job, key, 1, 'made', key, '', source_hash, payload_hash, payload_hash, id, id, id, '0', 0, 1 FROM entry`,
		} {
			must.Get(s.db.Write.ExecContext(ctx, statement))(t)
		}
		query := trade.RecordQuery{Job: "j", Kind: trade.Deliveries, Keys: []string{"x"}}
		for i := range 32 { // few enough of 20,000 that reading all is not cheaper
			prints := trade.Prints{Cells: trade.HashOf(fmt.Sprint(i)), Fields: trade.HashOf(fmt.Sprint(i))[:24]}
			query.Pairs[i%3] = append(query.Pairs[i%3], int64(i))
			query.Prints = append(query.Prints, prints)
		}
		records, args := recordsQuery(s.db.D, query, []string{"k"})
		unsent, cells := unsentQuery(s.db.D, query.Kind, []trade.Hash{trade.HashOf("1"), trade.HashOf("2")})
		for _, ask := range []struct {
			query string
			args  []any
		}{{records, args}, {selectEntry + unsent, cells}} {
			var plan []string
			err := s.db.All(ctx, "", &plan, `EXPLAIN `+ask.query, ask.args...)
			if text := strings.Join(plan, "\n"); err != nil || strings.Contains(text, "Seq Scan") ||
				strings.Contains(text, "Index Cond: (kind") {
				t.Errorf("%v\n%s", err, text)
			}
		}
	}
}

// Weights with parts of a kilogram are stored as they are, also of many rows at once.
func TestRecordsOfAGroupKeepPartsOfAKilogram(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		var entries []trade.Entry
		for i, amount := range []string{"10.000001", "20.5", "30"} {
			e := newEntry(fmt.Sprint(i))
			e.Quantity = trade.Quantity{Amount: must.Get(trade.ParseDecimal(amount))(t), Unit: trade.TON}
			entries = append(entries, e)
		}
		var g trade.Group
		for _, e := range mustRecord(t, s, lease, entries...) {
			g.Intents = append(g.Intents, intentOf(e))
		}
		mustCommit(t, s, lease, g)
		for i, want := range []string{"10000.001", "20500", "30000"} {
			var kg string
			must.Do(t, s.db.Get(t.Context(), "reading", &kg, `SELECT kg FROM sent WHERE key = ?`, fmt.Sprint(i)))
			if kg != want {
				t.Errorf("record %d has %s kg, want %s", i, kg, want)
			}
		}
	})
}
