package discovery

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/safrasync/safrasync/state/jobs"
	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// DueContents is like Due, but reads only id, job, key, hashes and content of each entry.
func (s *Discovery) DueContents(ctx context.Context, job string, now time.Time, after int64,
	limit int,
) ([]trade.Entry, error) {
	out := []trade.Entry{}
	query := `SELECT e.id, e.job, e.key, e.source_hash, e.payload_hash, e.content FROM entry e WHERE ` + ledger.IsDue
	err := s.db.All(ctx, "looking for what is due", &out, query, ledger.DueArgs(job, now, after, limit)...)
	return out, err
}

// SameContent returns the entries of this kind of record, of all jobs, whose attempt created a
// record, may have created one, or may be creating one, if they are for the business of one of
// these contents, or if their newest row in the ERP has one of these source hashes. They include
// the entry for which the caller searches, if that applies to it. They also include entries that
// the platform reports as existing. Each comes with the content numbers of everything that was sent
// for it, or may have been. Entries that are held because another job has the record are returned
// too, without content numbers.
func (s *Discovery) SameContent(ctx context.Context, sends trade.Kind, contents []int64,
	sources []trade.Hash,
) ([]trade.SentContent, error) {
	const op = "looking for the same content"
	numbers, hashes := sqldb.ListOf(s.db.D, ledger.Distinct(contents)), sqldb.HashesOf(s.db.D, ledger.Distinct(sources))
	var out []trade.SentContent
	at := map[int64]int{}
	for _, ask := range []struct {
		where string
		args  []any
	}{
		{SentContent(s.db.D), []any{string(sends), numbers, numbers}},
		{SentSource(s.db.D), []any{string(sends), hashes}},
	} {
		found, err := s.ledger.SelectEntries(ctx, op, ask.where, ask.args...)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			if _, ok := at[e.ID]; !ok {
				at[e.ID] = len(out)
				out = append(out, trade.SentContent{Entry: e})
			}
		}
	}
	held, err := s.ledger.SelectEntries(ctx, op, `WHERE e.sends = ? AND e.job IN (SELECT job FROM job_kind WHERE sends = ?) AND e.state = 'held' AND e.cause = '`+trade.CauseOtherJob+`'
		AND (`+s.db.D.AmongHashes("e.source_hash")+` OR `+s.db.D.Among("e.content")+`) ORDER BY e.id`, string(sends), string(sends), hashes, numbers)
	if err != nil {
		return nil, err
	}
	for _, e := range held {
		out = append(out, trade.SentContent{Entry: e})
	}
	return out, s.whatWasSent(ctx, op, out, at)
}

// whatWasSent adds the content numbers of what was sent for some entries, or may have been. An
// accepted entry has its own content beside those of its attempts, because a person may have
// assigned the record to it. So has an entry that is held because the platform reports the record
// as existing. at holds the indexes of the entries that were sent; the others get no content of
// attempts.
func (s *Discovery) whatWasSent(ctx context.Context, op string, of []trade.SentContent, at map[int64]int) error {
	for i, c := range of {
		if c.Entry.State == trade.Accepted && c.Entry.MovedID == "" || c.Entry.State == trade.Held &&
			c.Entry.Cause == trade.CauseExists {
			of[i].Contents = append(of[i].Contents, c.Entry.Content)
		}
	}
	if len(at) == 0 {
		return nil
	}
	var rows []struct{ EntryID, Content int64 }
	query := `SELECT entry_id, content FROM attempt WHERE ` + s.db.D.Among("entry_id") +
		` AND (outcome IS NULL OR outcome IN ('unknown', 'created'))`
	err := s.db.All(ctx, op, &rows, query, sqldb.ListOf(s.db.D, slices.Collect(maps.Keys(at))))
	for _, r := range rows {
		if c := &of[at[r.EntryID]]; c.Entry.MovedID == "" {
			c.Contents = append(c.Contents, r.Content)
		}
	}
	return err
}

// PostgreSQL estimates from its statistics how many rows have a state or an outcome. The statistics
// lag, in a first pass by everything that it has sent; then PostgreSQL would scan all rows for each
// hash, because it expects none. For a CASE it has no statistics. Its indexes have exactly the same
// conditions, word for word.
const (
	isThere    = `CASE WHEN state = 'accepted' OR state = 'held' AND cause = 'exists' THEN true ELSE false END`
	maybeThere = `CASE WHEN state IN ('accepted', 'in_doubt', 'sending') THEN true ELSE false END`
)

// SentContent selects the entries of a kind whose content was sent, or may have been: now, or in an
// attempt.
func SentContent(d sqldb.Dialect) string {
	return byNumber(d, ledger.Lookup(d, `entry_id`, `attempt`, `content`, `BIGINT`, ledger.MayHaveMade)+` UNION `+
		ledger.Lookup(d, `id`, `entry`, `content`, `BIGINT`, isThere))
}

// SentSource selects the entries of a kind that were sent, or may have been, and whose newest row
// has one of the source hashes.
func SentSource(d sqldb.Dialect) string {
	return byNumber(d, ledger.Lookup(d, `id`, `entry`, `source_hash`, `BYTEA`, maybeThere))
}

// byNumber selects the entries of a kind whose ids a query returns. PostgreSQL gets them as an
// array, for which it expects few values: in a ledger without statistics it expects fewer entries
// of a kind than results of the query, and would scan all of those.
func byNumber(d sqldb.Dialect, query string) string {
	among := `IN (` + query + `)`
	if d.Name == sqldb.Postgres {
		among = `= ANY(ARRAY(` + query + `))`
	}
	return `WHERE e.sends = ? AND e.id ` + among + ` ORDER BY e.id`
}

// Renumber stores the content numbers of entries, and of their attempts with the same payload, in
// one transaction that is fenced by the lease ([trade.ErrLeaseLost]). Entries that have changed
// since they were read are left out.
func (s *Discovery) Renumber(ctx context.Context, lease trade.Lease, entries []trade.Entry) error {
	return s.db.InTx(ctx, "storing content numbers", func(t *sqldb.Tx) error {
		if err := jobs.Fence(t, lease); err != nil {
			return err
		}
		var stored []int64
		for _, e := range entries {
			moved, err := t.Changed(`UPDATE entry SET content = ?, version = version + 1 WHERE id = ? AND version = ?`,
				e.Content, e.ID, e.Version)
			if err != nil {
				return err
			}
			if moved == 0 {
				continue
			}
			if err := t.Do(`UPDATE attempt SET content = ? WHERE entry_id = ? AND payload_hash = ?`, e.Content, e.ID,
				e.PayloadHash); err != nil {
				return err
			}
			stored = append(stored, e.ID)
		}
		return ledger.NoteFacts(t, stored, time.Now())
	})
}
