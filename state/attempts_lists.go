package state

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Outcomes returns the attempts of entries by entry, in order: times, outcome, status and id. It
// does not read what was sent and answered.
func (s *Store) Outcomes(ctx context.Context, entryIDs []int64) (map[int64][]trade.Attempt, error) {
	out := map[int64][]trade.Attempt{}
	query := `SELECT ` + outcomeColumns + ` FROM attempt a WHERE ` +
		s.db.D.Among("a.origin") + ` ORDER BY entry_id, no`
	attempts, err := sqldb.List[trade.Attempt](ctx, s.db, "reading when rows were sent", query,
		sqldb.ListOf(s.db.D, entryIDs))
	for _, a := range attempts {
		out[a.EntryID] = append(out[a.EntryID], a)
	}
	return out, err
}

// outcomeColumns are those of an attempt without what was sent and answered.
const outcomeColumns = `a.attempt AS id, a.origin AS entry_id, a.generation, a.no, a.started_at, a.finished_at,
	CASE a.outcome WHEN 'open' THEN '' ELSE a.outcome END AS outcome, a.status, a.answer_id AS remote_id`

// runSlack is how far a run's clock may be from that of the ids of its attempts.
const runSlack = 10 * time.Minute

// RunRows returns the ids of the rows that a run sent, by what came of the last request, and of those that it changed
// without sending them and that nothing changed since, by their state.
func (s *Store) RunRows(ctx context.Context, run trade.RunReport) (map[trade.RunResult][]int64, error) {
	before, until := "g", int64(math.MaxInt64) // after every id and time
	if !run.EndedAt.IsZero() {
		before, until = sqldb.IDsFrom(run.EndedAt.Add(runSlack)), run.EndedAt.UnixMilli()
	}
	var rows []struct {
		ID     int64
		Result trade.RunResult
	}
	err := s.db.All(ctx, "reading what a run did", &rows, `WITH ran AS (SELECT origin AS id, CASE
		WHEN outcome = 'not_created' AND (reason LIKE '%"attempt.exists"%' OR reason LIKE '%"attempt.collides"%')
			THEN 'exists'
		ELSE outcome END AS result FROM attempt a WHERE attempt >= ? AND attempt < ? AND run_id = ? AND NOT EXISTS (
			SELECT 1 FROM attempt later WHERE later.origin = a.origin AND later.no > a.no AND later.run_id = a.run_id))
		SELECT id, result FROM ran
		UNION ALL SELECT id, CASE WHEN state IN ('in_doubt', 'rejected', 'held', 'invalid', 'waiting') THEN state
			ELSE 'changed' END
		FROM entry e WHERE job = ? AND updated_at >= ? AND updated_at <= ?
			AND NOT EXISTS (SELECT 1 FROM ran WHERE ran.id = e.id)`,
		sqldb.IDsFrom(run.StartedAt.Add(-runSlack)), before, run.ID,
		run.Job, run.StartedAt.UnixMilli(), until)
	out := map[trade.RunResult][]int64{}
	for _, r := range rows {
		out[r.Result] = append(out[r.Result], r.ID)
	}
	return out, err
}

// RunSent returns how many rows an open run has sent.
func (s *Store) RunSent(ctx context.Context, run trade.RunReport) (rows int, err error) {
	err = s.db.Get(ctx, "counting what a run sent", &rows, `SELECT COUNT(DISTINCT origin) FROM attempt
		WHERE attempt >= ? AND run_id = ? AND outcome <> 'not_sent'`, sqldb.IDsFrom(run.StartedAt.Add(-runSlack)), run.ID)
	return rows, err
}

// sentPage is how many attempts are in memory at a time.
const sentPage = 1000

// Sent calls fn for every record that the platform confirmed at or after one time and before
// another, in the order of the attempts.
func (s *Store) Sent(ctx context.Context, from, before time.Time, fn func(trade.Sent) error) error {
	query := `SELECT s.attempt AS id, e.job, e.sends, s.target, COALESCE(x.payload, '{}') AS payload, s.finished_at AS at
		FROM sent s JOIN entry e ON e.id = s.origin LEFT JOIN exchange x ON x.attempt = s.attempt
		WHERE s.attempt > ? AND s.attempt <> '' AND s.outcome = 'created' AND s.finished_at >= ? AND s.finished_at < ? ORDER BY s.attempt LIMIT ?`
	for after := sqldb.IDsFrom(from.Add(-sqldb.IDSlack)); ; {
		var rows []struct {
			ID string
			trade.Sent
		}
		if err := s.db.All(ctx, "reading what was sent", &rows, query, after, from.UnixMilli(), before.UnixMilli(),
			sentPage); err != nil {
			return err
		}
		for _, r := range rows {
			if !json.Valid(r.Payload) {
				r.Payload = nil
			}
			if err := fn(r.Sent); err != nil {
				return err
			}
			after = r.ID
		}
		if len(rows) < sentPage {
			return nil
		}
	}
}

// Attempts returns all attempts of an entry in order.
func (s *Store) Attempts(ctx context.Context, entryID int64) ([]trade.Attempt, error) {
	return sqldb.List[trade.Attempt](ctx, s.db, "reading the attempts of a row",
		selectAttempt+`WHERE a.origin = ? ORDER BY a.no`, entryID)
}

// apiMessageKey is the form of the platform's message keys. Other texts are not collected, because
// they may name a person.
var apiMessageKey = regexp.MustCompile(`^message(\.[A-Za-z0-9_-]+)+$`)

// MessageKeys counts the message keys in the platform's answers, the most frequent first. It reads
// all attempts.
func (s *Store) MessageKeys(ctx context.Context) ([]trade.SeenMessage, error) {
	const op = "counting the platform's messages"
	var rows []struct {
		Messages string
		N        int
		Last     int64
	}
	query := `SELECT messages, COUNT(*) AS n, MAX(COALESCE(finished_at, started_at)) AS last FROM attempt WHERE messages <> '[]' GROUP BY messages`
	if err := s.db.All(ctx, op, &rows, query); err != nil {
		return nil, err
	}
	seen := map[string]*trade.SeenMessage{}
	for _, r := range rows {
		var keys []string
		if err := json.Unmarshal([]byte(r.Messages), &keys); err != nil {
			return nil, s.db.Fault(ctx, op, phrase.Errorf("an attempt is damaged in column messages: restore the backup"))
		}
		slices.Sort(keys)
		for _, key := range slices.Compact(keys) {
			if !apiMessageKey.MatchString(key) {
				continue
			}
			if seen[key] == nil {
				seen[key] = &trade.SeenMessage{Key: key}
			}
			seen[key].Count += r.N
			if at := time.UnixMilli(r.Last).UTC(); at.After(seen[key].Last) {
				seen[key].Last = at
			}
		}
	}
	out := []trade.SeenMessage{}
	for _, m := range seen {
		out = append(out, *m)
	}
	slices.SortFunc(out, func(a, b trade.SeenMessage) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Key, b.Key))
	})
	return out, nil
}
