package state

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/safrasync/safrasync/trade"
)

// DueContents is Due with no more of each entry than its number, key and hashes. Those whose source hash has no neighbourhood have their values too.
func (s *Store) DueContents(ctx context.Context, job string, now time.Time, after int64, limit int) ([]trade.Entry, error) {
	var rows []struct {
		ID          int64  `db:"id"`
		Key         string `db:"key"`
		SourceHash  string `db:"source_hash"`
		SourceNear  int64  `db:"source_near"`
		PayloadHash string `db:"payload_hash"`
		PayloadNear int64  `db:"payload_near"`
	}
	query := `SELECT e.id, e.key, e.source_hash, e.source_near, e.payload_hash, e.payload_near FROM entry e WHERE e.job = ? AND e.state = 'pending' AND e.id > ?
		AND (e.next_attempt_at IS NULL OR e.next_attempt_at <= ?) ORDER BY e.id LIMIT ?`
	if err := s.read.SelectContext(ctx, &rows, s.q(query), job, after, now.UnixMilli(), limit); err != nil {
		return nil, s.fault(ctx, "looking for what is due", err)
	}
	out := make([]trade.Entry, len(rows))
	var blank []int64 // without a neighbourhood: a search would find only what has none either
	for i, r := range rows {
		if r.SourceNear == 0 || r.PayloadNear == 0 {
			blank = append(blank, r.ID)
		}
		out[i] = trade.Entry{
			ID: r.ID, Job: job, Key: r.Key,
			SourceHash: trade.Hash{Sum: r.SourceHash, Near: r.SourceNear}, PayloadHash: trade.Hash{Sum: r.PayloadHash, Near: r.PayloadNear},
		}
	}
	return out, s.placed(ctx, out, blank)
}

// placed fills in the neighbourhood of the payloads of some entries, and the values of which the caller may make that of the source.
func (s *Store) placed(ctx context.Context, entries []trade.Entry, blank []int64) error {
	whole, err := s.Entries(ctx, blank)
	if err != nil || len(whole) == 0 {
		return err
	}
	read := make(map[int64]trade.Entry, len(whole))
	for _, e := range whole {
		read[e.ID] = e
	}
	for i := range entries {
		e := &entries[i]
		if now, ok := read[e.ID]; ok && now.PayloadHash.Same(e.PayloadHash) && now.SourceHash.Same(e.SourceHash) {
			e.PayloadHash, e.Values = now.PayloadHash, now.Values
		}
	}
	return nil
}

// SameContent returns the entries of this kind of record, of all jobs, whose attempt created a record, may have created one, or may be creating one, and that
// ask for the business of one of these payloads ([trade.Hash.SameContent]), or whose newest row in the ERP has one of these source hashes. The entry asked about
// is among them when that is true of itself. So are those of which the platform says that it has the record already. Each comes with the hashes of all that was sent of it, or may have been.
// Those that are held because another job has the record come too, with none.
func (s *Store) SameContent(ctx context.Context, sends trade.Kind, payloads, sources []trade.Hash) ([]trade.SentContent, error) {
	const op = "looking for the same content"
	var out []trade.SentContent
	at := map[int64]int{}
	for _, ask := range []struct {
		where, blank string
		hashes       []trade.Hash
		numbers      bool // look for the number alone, where there is one
	}{{s.d.samePayload(), s.d.blankPayload(), payloads, true}, {s.d.sameSource(), s.d.blankSource(), sources, false}} {
		if len(ask.hashes) == 0 {
			continue
		}
		var blank []bool
		if err := s.read.SelectContext(ctx, &blank, ask.blank); err != nil {
			return nil, s.fault(ctx, op, err)
		}
		wanted, err := s.d.contents(ask.hashes, ask.numbers, slices.Contains(blank, true))
		if err != nil {
			return nil, s.fault(ctx, op, err)
		}
		if wanted == nil {
			continue
		}
		args := []any{string(sends)}
		for range strings.Count(ask.where, s.d.wanted) {
			args = append(args, wanted...)
		}
		found, err := s.entries(ctx, op, ask.where, args...)
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
	sums, nears := []string{}, []int64{}
	for _, h := range sources {
		sums = append(sums, h.Sum)
	}
	for _, h := range payloads {
		if h.Near != 0 {
			nears = append(nears, h.Near)
		}
	}
	held, err := s.entries(ctx, op, `WHERE e.sends = ? AND e.job IN (SELECT job FROM job_kind WHERE sends = ?) AND e.state = 'held' AND e.cause = '`+trade.CauseOtherJob+`'
		AND (`+s.d.among("e.source_hash")+` OR `+s.d.among("e.payload_near")+`) ORDER BY e.id`, string(sends), string(sends), listOf(s.d, sums), listOf(s.d, nears))
	if err != nil {
		return nil, err
	}
	for _, e := range held {
		out = append(out, trade.SentContent{Entry: e})
	}
	return out, s.whatWasSent(ctx, op, out, at)
}

// whatWasSent adds the hashes of what was sent of some entries, or may have been. An accepted entry has its own beside those of its attempts: a person may have given it the record. So has
// one that is held because the platform says that it has the record.
func (s *Store) whatWasSent(ctx context.Context, op string, of []trade.SentContent, at map[int64]int) error {
	for i, c := range of {
		if c.Entry.State == trade.Accepted && c.Entry.MovedID == "" || c.Entry.State == trade.Held && c.Entry.Cause == trade.CauseExists {
			of[i].Payloads = append(of[i].Payloads, c.Entry.PayloadHash)
		}
	}
	for chunk := range slices.Chunk(of, inList) {
		ids := make([]any, len(chunk))
		for i, c := range chunk {
			ids[i] = c.Entry.ID
		}
		var rows []struct {
			EntryID int64  `db:"entry_id"`
			Near    int64  `db:"payload_near"`
			Hash    string `db:"payload_hash"`
		}
		query := `SELECT entry_id, payload_near, payload_hash FROM attempt WHERE entry_id IN (` + marks(len(ids)) + `) AND (outcome IS NULL OR outcome IN ('unknown', 'created'))`
		if err := s.read.SelectContext(ctx, &rows, s.q(query), ids...); err != nil {
			return s.fault(ctx, op, err)
		}
		for _, r := range rows {
			if c := &of[at[r.EntryID]]; c.Entry.MovedID == "" {
				c.Payloads = append(c.Payloads, trade.Hash{Sum: r.Hash, Near: r.Near})
			}
		}
	}
	return nil
}

// Of a state and an outcome PostgreSQL knows by its statistics how many rows have it, and these lag, in a first pass by all that it has sent: of what seems to have no rows it would go
// through all rows, for each hash. Of a CASE it knows nothing. Its indexes have the same conditions, word for word.
const (
	isThere     = `CASE WHEN state = 'accepted' OR state = 'held' AND cause = 'exists' THEN true ELSE false END`
	maybeThere  = `CASE WHEN state IN ('accepted', 'in_doubt', 'sending') THEN true ELSE false END`
	mayHaveMade = `CASE WHEN outcome IS NULL OR outcome IN ('unknown', 'created') THEN true ELSE false END`
)

// asksForTheSame finds a payload by its number alone where no hash is given, and else by both. A hash is hexadecimal: "g" comes after all.
const asksForTheSame = `payload_near = w.near AND payload_hash >= w.hash AND payload_hash <= CASE w.hash WHEN '' THEN 'g' ELSE w.hash END`

// samePayload selects the entries of a kind whose payload went out, or may have: now, or in an attempt.
func (d dialect) samePayload() string {
	return `WHERE e.sends = ? AND e.id IN (` +
		d.lookup(`entry_id`, `attempt`, asksForTheSame+` AND `+mayHaveMade) + ` UNION ` +
		d.lookup(`id`, `entry`, asksForTheSame+` AND `+isThere) + `) ORDER BY e.id`
}

// sameSource selects the entries of a kind that went out, or may have, and whose newest row is the same.
func (d dialect) sameSource() string {
	return `WHERE e.sends = ? AND e.id IN (` + d.lookup(`id`, `entry`, `source_near = w.near AND source_hash = w.hash AND `+maybeThere) + `) ORDER BY e.id`
}

// blankPayload and blankSource tell, in a row each, whether any of what samePayload and sameSource look among has no neighbourhood, as what was recorded before there were any.
func (d dialect) blankPayload() string {
	return d.blank("payload", "attempt", mayHaveMade) + ` UNION ALL ` + d.blank("payload", "entry", isThere)
}

func (d dialect) blankSource() string { return d.blank("source", "entry", maybeThere) }

// blank asks an index for its first rows. SQLite's indexes have all rows, also those that never had a payload. PostgreSQL would go through all rows for one that it believes to be there; it does
// not for the least number.
func (d dialect) blank(hashed, table, condition string) string {
	if d.name == Postgres {
		return `SELECT COALESCE(MIN(` + hashed + `_near) <= 0, false) FROM ` + table + ` WHERE ` + condition
	}
	return `SELECT EXISTS (SELECT 1 FROM ` + table + ` WHERE ` + hashed + `_near = 0 AND ` + hashed + `_hash > '')`
}

// lookup selects a column of the rows of a table that a condition finds for each hash w. PostgreSQL is not asked whether it would rather go through all of them: of a table that grows while
// it is sent from it does not know how large it is.
func (d dialect) lookup(column, table, condition string) string {
	if d.name == Postgres {
		return `SELECT found.` + column + ` FROM ` + d.wanted + ` CROSS JOIN LATERAL (SELECT ` + column + ` FROM ` + table + ` WHERE ` + condition + ` OFFSET 0) AS found`
	}
	return `SELECT ` + column + ` FROM ` + d.wanted + ` CROSS JOIN ` + table + ` WHERE ` + condition
}

// contents are the arguments of dialect.wanted: the hashes, each beside its number, or with numbers the number alone; where there are blank ones also the hashes
// among those. nil when there are none.
func (d dialect) contents(hashes []trade.Hash, numbers, blank bool) ([]any, error) {
	type place struct {
		sum  string
		near int64
	}
	places := make([]place, 0, len(hashes))
	seen := make(map[place]bool, len(hashes))
	add := func(p place) { // once: what many rows have was sent for many as a rule, and each look would find them all
		if !seen[p] {
			seen[p] = true
			places = append(places, p)
		}
	}
	for _, h := range hashes {
		if h.Sum == "" {
			continue
		}
		if numbers && h.Near != 0 {
			add(place{"", h.Near})
		} else {
			add(place{h.Sum, h.Near})
		}
		if blank {
			add(place{h.Sum, 0})
		}
	}
	if len(places) == 0 {
		return nil, nil
	}
	if d.name == SQLite { // one object, of names and numbers: of what is within a value SQLite would read the text once more for each column
		text := append(make([]byte, 0, len(places)*96), '{')
		for i, p := range places {
			name, err := json.Marshal(p.sum)
			if err != nil {
				return nil, fmt.Errorf("looking for the same content: %w", err)
			}
			if i > 0 {
				text = append(text, ',')
			}
			text = strconv.AppendInt(append(append(text, name...), ':'), p.near, 10)
		}
		return []any{string(append(text, '}'))}, nil
	}
	near, sums := make([]int64, len(places)), make([]string, len(places))
	for i, p := range places {
		near[i], sums[i] = p.near, p.sum
	}
	return []any{pq.Array(near), pq.Array(sums)}, nil
}

// Renumber stores the content numbers of entries, and of their attempts with the same payload, in
// one transaction that is fenced by the lease ([trade.ErrLeaseLost]). An entry that has moved since
// it was read is left out.
func (s *Store) Renumber(ctx context.Context, lease trade.Lease, entries []trade.Entry) error {
	return s.inTx(ctx, "storing content numbers", func(t *tx) error {
		if err := fence(t, lease); err != nil {
			return err
		}
		var stored []int64
		for _, e := range entries {
			moved, err := t.changed(`UPDATE entry SET payload_near = ?, version = version + 1 WHERE id = ? AND version = ?`, e.PayloadHash.Near, e.ID, e.Version)
			if err != nil {
				return err
			}
			if moved == 0 {
				continue
			}
			if err := t.exec(`UPDATE attempt SET payload_near = ? WHERE entry_id = ? AND payload_hash = ?`, e.PayloadHash.Near, e.ID, e.PayloadHash.Sum); err != nil {
				return err
			}
			stored = append(stored, e.ID)
		}
		return t.noteFacts(stored, time.Now())
	})
}
