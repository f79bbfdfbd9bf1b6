package state

import (
	"fmt"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// While PostgreSQL's statistics are of before the first rows were sent, it would go through all of
// the records, or of the entries, for a few of them.
func TestRecordsAreLookedUpWhileStatisticsLag(t *testing.T) {
	for _, statistics := range []string{`ANALYZE entry, record`, `SELECT 'a ledger that begins has none'`} {
		s := mustOpen(t, backends[1].open(t))
		ctx := t.Context()
		for _, statement := range []string{
			`ALTER TABLE entry DISABLE TRIGGER USER`,
			`ALTER TABLE entry SET (autovacuum_enabled = off)`,
			`ALTER TABLE record SET (autovacuum_enabled = off)`,
			statistics,
			`INSERT INTO entry (job, sends, key, key_parts, state, cause, flags, generation, attempts, first_seen_at, updated_at, waiting_for, warnings, cells, source_hash, mapped_with, target,
				payload, payload_hash, content, amount, unit, gone_sweeps, version)
				SELECT 'j', 'deliveries', n::text, '[]', 'pending', '', '[]', 1, 0, 0, 0, '[]', '[]', '{}',
					decode(md5(n::text), 'hex'), 'm', '', '{}', decode(md5(n::text), 'hex'), n, '1', 'SC', 0, 1
				FROM generate_series(1, 20000) n`,
			`INSERT INTO record (entry_id, kind, job, key, generation, certainty, remote_id, parent, sent_cells, sent_payload, sent_business, sent_frame, sent_document, sent_near, kg, sent_at, version)
				SELECT id, sends, job, key, 1, 'made', key, '', source_hash, payload_hash, id, id, id, id, '0', 0, 1 FROM entry`,
		} {
			must.Get(s.db.Write.ExecContext(ctx, statement))(t)
		}
		query := trade.RecordQuery{Job: "j", Kind: trade.Deliveries, Keys: []string{"x"}}
		for i := range 32 { // few enough of 20,000 that reading all is not cheaper
			prints := trade.Prints{Cells: trade.HashOf(fmt.Sprint(i)), Near: int64(20000 + i)}
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
