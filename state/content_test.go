package state

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/discovery"
	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func TestTheSameContentIsFoundWhereItMayHaveBeenSent(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		var page []trade.Entry
		for _, key := range []string{"created", "doubt", "open", "refused", "never", "different"} {
			e := newEntry(key)
			if e.Content = 7; key == "different" {
				e.Content = 9
			}
			page = append(page, e)
		}
		es := mustRecord(t, s, lease, page...)
		mustSettle(t, s, lease, created(mustSend(t, s, lease, es[0]), "r1"), unknown(mustSend(t, s, lease, es[1])),
			refused(mustSend(t, s, lease, es[3])), created(mustSend(t, s, lease, es[5]), "r2"))
		mustSend(t, s, lease, es[2])
		found := must.Get(s.SameContent(t.Context(), trade.OrderCommitments, []int64{7, 7, 11, 0}, nil))(t)
		var keys []string
		for _, e := range found {
			keys = append(keys, e.Entry.Key)
		}
		if diff := cmp.Diff([]string{"created", "doubt", "open"}, keys); diff != "" {
			t.Errorf("found (-want +got):\n%s", diff)
		}
		if found, err := s.SameContent(t.Context(), "deliveries", []int64{7}, nil); len(found) != 0 || err != nil {
			t.Errorf("another kind: %v, %v", found, err)
		}
	})
}

// While PostgreSQL's statistics are of before the first rows were sent, it takes those that were
// for none. It would go through all of them, in an index of those alone or by their state, or
// through all deliveries, which have an index of their own.
func TestTheSameContentIsLookedUpWhileStatisticsLag(t *testing.T) {
	for _, statistics := range []string{`ANALYZE entry, attempt`, `SELECT 'a ledger that begins has none'`} {
		s := mustOpen(t, backends[1].open(t))
		ctx := t.Context()
		for _, statement := range []string{
			`ALTER TABLE entry DISABLE TRIGGER USER`,
			`ALTER TABLE entry SET (autovacuum_enabled = off)`,
			`INSERT INTO entry (job, sends, key, key_parts, state, cause, flags, generation, attempts, first_seen_at, updated_at, waiting_for, warnings, cells, source_hash, mapped_with, target,
				payload, payload_hash, content, amount, unit, gone_sweeps, version)
				SELECT 'j', 'deliveries', n::text, '[]', 'pending', '', '[]', 1, 0, 0, 0, '[]', '[]', '{}',
					decode(md5(n::text), 'hex'), 'm', '', '{}', decode(md5(n::text), 'hex'), n, '1', 'SC', 0, 1
				FROM generate_series(1, 20000) n`,
			`ALTER TABLE attempt DISABLE TRIGGER USER`,
			`ALTER TABLE attempt SET (autovacuum_enabled = off)`,
			`INSERT INTO attempt (id, entry_id, generation, no, run_id, owner, epoch, target, payload, payload_hash, content, started_at, finished_at, outcome, counts, status, messages, remote_id, reason,
				answer_body) SELECT key, id, 1, 1, '', '', 1, '', '{}', payload_hash, content, 0, 0, 'not_created', 1, 503, '[]', key, '', '' FROM entry`,
			statistics,
			`UPDATE attempt SET outcome = 'created' WHERE entry_id % 2 = 0`,
			`UPDATE entry SET state = 'accepted', remote_id = gen_random_uuid()::text WHERE id % 2 = 0`,
		} {
			must.Get(s.db.Write.ExecContext(ctx, statement))(t)
		}
		// of 20,000 rows: few enough that reading all is not cheaper
		contents, hashes := make([]int64, 32), make([]trade.Hash, 32)
		for i := range hashes {
			contents[i], hashes[i] = int64(20000+i), trade.HashOf(fmt.Sprint(i))
		}
		numbers := sqldb.ListOf(s.db.D, contents)
		for column, ask := range map[string]struct {
			query string
			args  []any
			times int
		}{
			"content":     {discovery.SentContent(s.db.D), []any{numbers, numbers}, 2},
			"source_hash": {discovery.SentSource(s.db.D), []any{sqldb.HashesOf(s.db.D, hashes)}, 1},
		} {
			var plan []string
			err := s.db.All(ctx, "", &plan, `EXPLAIN `+ledger.SelectEntry+ask.query,
				append([]any{"deliveries"}, ask.args...)...)
			if text := strings.Join(plan, "\n"); err != nil ||
				strings.Count(text, "Index Cond: ("+column+" = ") != ask.times || !strings.Contains(text, "entry_pkey") ||
				strings.Contains(text, "Seq Scan") {
				t.Errorf("%v\n%s", err, text)
			}
		}
	}
}
