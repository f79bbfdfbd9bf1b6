package state

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// rolled makes a job with entries of all kinds: some that a sweep need not look at, some that were
// rebuilt, and amounts of every form.
func rolled(t testing.TB, s *Store, rows int) {
	t.Helper()
	lease := mustLease(t, s, "contracts")
	amounts := []string{
		"120.5", "0", "-3.25", "999999999999999999", "0.000000000000000001", "1234567890123456789012",
		"1234567890.123456789012345",
	}
	var entries []trade.Entry
	for i := range rows {
		e := newEntry(fmt.Sprintf("01|%07d", i))
		amount := must.Get(trade.ParseDecimal(amounts[i%len(amounts)]))(t)
		e.Quantity.Amount = amount
		entries = append(entries, e)
	}
	mustRecord(t, s, lease, entries...)
	other := newEntry("02|1") // of another job, between the numbers of this one
	other.Job = "deliveries"
	mustRecord(t, s, mustLease(t, s, "deliveries"), other)
	mustRecord(t, s, lease, newEntry("03|1"), newEntry("03|\x1f|2"))
	// As an import would leave them: the triggers ask for an attempt before an entry is accepted.
	for _, change := range []string{
		`UPDATE entry SET state = 'held', cause = 'exists' WHERE id % 5 = 1 AND job = 'contracts'`,
		stated, `UPDATE entry SET state = 'accepted', record_id = id WHERE id % 5 = 1 AND id % 2 = 1 AND job = 'contracts'`,
		`UPDATE entry SET state = 'held' WHERE key LIKE '03|%'`,
		`UPDATE entry SET state = 'accepted', record_id = id WHERE key LIKE '03|%'`,
		`UPDATE entry SET flags = '["changed"]' WHERE id % 7 = 1`, `UPDATE entry SET gone_sweeps = 1 WHERE id % 11 = 1`,
		`UPDATE entry SET acknowledged = '["missing"]' WHERE id % 13 = 1`,
		`UPDATE entry SET mapped_with = '', source_hash = CAST('' AS ` + s.db.D.Bytes + `) WHERE id % 17 = 1`,
	} {
		must.Do(t, byHand(s, change))
	}
}

// EachSwept tells of each entry what EachKnown tells, as far as a sweep asks.
func TestARollTellsOfEveryEntryOnce(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		rolled(t, s, sweptPage+300)
		want := map[int64]trade.Known{}
		must.Do(t, s.EachKnown(t.Context(), "contracts", func(k trade.Known) error {
			if k.State == trade.Accepted && len(k.Flags)+len(k.Acknowledged)+k.GoneSweeps == 0 && k.MappedWith != "" {
				k = trade.Known{
					ID: k.ID, Key: k.Key, State: k.State, SourceHash: k.SourceHash,
					MappedWith: mapped,
				}
			}
			want[k.ID] = k
			return nil
		}))
		got := map[int64]trade.Known{}
		must.Do(t, s.EachSwept(t.Context(), "contracts", func(k *trade.Known) {
			if _, twice := got[k.ID]; twice {
				t.Errorf("entry %d came twice", k.ID)
			}
			got[k.ID] = *k
		}))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-each +swept):\n%s", diff)
		}
		mustAddUp(t, s, "contracts")
		must.Do(t, s.EachSwept(t.Context(), "no such job", func(*trade.Known) { t.Error("an entry of no job") }))
	})
}

// BenchmarkEachSwept goes through 20,000 entries that a sweep need not look at.
func BenchmarkEachSwept(b *testing.B) {
	benchBoth(b, func(b *testing.B, s *Store) {
		const rows = 20_000
		lease := mustLease(b, s, "contracts")
		for i := 0; i < rows; i += 1000 {
			var page trade.Page
			for j := range 1000 {
				page.New = append(page.New, newEntry(fmt.Sprintf("01|%07d", i+j)))
			}
			must.Get(s.Record(b.Context(), lease, page))(b)
		}
		for _, change := range []string{
			`UPDATE entry SET state = 'held'`, stated, `UPDATE entry SET state = 'accepted', record_id = id`,
		} {
			must.Do(b, byHand(s, change))
		}
		b.ReportAllocs()
		for b.Loop() {
			must.Do(b, s.EachSwept(b.Context(), "contracts", func(*trade.Known) {}))
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/entry")
	})
}

// stated gives every entry a record under its own number.
const stated = `INSERT INTO sent (id, origin, entry_id, kind, job, key, generation, certainty, remote_id, parent, sent_cells, sent_payload, sent_fields, sent_ab,
	sent_ac, sent_bc, kg, sent_at, version)
	SELECT id, id, id, sends, job, key, 1, 'stated', 'r' || id, '', source_hash, payload_hash, payload_hash, id, id, id, '0', 0, 1 FROM entry`
