package discovery

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// IdSlack is how much longer than planned a run or an attempt may take and still be found by the
// time in its id.
const IdSlack = 24 * time.Hour

// IdsFrom returns the lowest UUIDv7 of a time. Ids are in time order, so recent rows are found by
// the index of their ids.
func IdsFrom(t time.Time) string {
	ms := max(t.UnixMilli(), 0)
	b := []byte{byte(ms >> 40), byte(ms >> 32), byte(ms >> 24), byte(ms >> 16), byte(ms >> 8), byte(ms)}
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:]
}

// Ages returns how old the rows of a job are.
func (s *Discovery) Ages(ctx context.Context, job string) (trade.Ages, error) {
	var pending, waiting, doubt, newest, run sql.NullInt64
	for _, q := range []struct {
		into *sql.NullInt64
		text string
	}{
		{&pending, `SELECT MIN(first_seen_at) FROM entry WHERE job = ? AND state = 'pending'`},
		{&waiting, `SELECT MIN(first_seen_at) FROM entry WHERE job = ? AND state = 'waiting'`},
		{
			&doubt,
			`SELECT MIN(a.started_at) FROM entry e JOIN attempt a ON a.entry_id = e.id WHERE e.job = ? AND e.state = 'in_doubt' AND a.outcome = 'unknown'`,
		},
		{&newest, `SELECT (SELECT first_seen_at FROM entry WHERE job = ? ORDER BY id DESC LIMIT 1)`},
		{&run, `SELECT (SELECT started_at FROM run WHERE job = ? ORDER BY seq LIMIT 1)`},
	} {
		if err := s.db.Get(ctx, "looking at the age of rows", q.into, q.text, job); err != nil {
			return trade.Ages{}, err
		}
	}
	unsent := pending
	if waiting.Valid && (!unsent.Valid || waiting.Int64 < unsent.Int64) {
		unsent = waiting
	}
	return trade.Ages{
		Unsent: sqldb.Instant(unsent), Pending: sqldb.Instant(pending), Waiting: sqldb.Instant(waiting),
		InDoubt: sqldb.Instant(doubt), Newest: sqldb.Instant(newest), FirstRun: sqldb.Instant(run),
	}, nil
}

// RunsEnded calls fn for the runs of all jobs that ended at or after one time and before another,
// in the order of their ends.
func (s *Discovery) RunsEnded(ctx context.Context, from, before time.Time, fn func(trade.RunReport) error) error {
	const op = "reading the runs"
	var rows []string
	query := `SELECT report FROM run WHERE id >= ? AND ended_at >= ? AND ended_at < ? ORDER BY ended_at, seq`
	if err := s.db.All(ctx, op, &rows, query, IdsFrom(from.Add(-IdSlack)), from.UnixMilli(),
		before.UnixMilli()); err != nil {
		return err
	}
	for _, text := range rows {
		var report trade.RunReport
		if err := json.Unmarshal([]byte(text), &report); err != nil {
			return s.db.Fault(ctx, op, fmt.Errorf("the record of a run is damaged: %w", err))
		}
		if err := fn(report); err != nil {
			return err
		}
	}
	return nil
}

// sentPage is how many attempts are in memory at a time.
const sentPage = 1000

// Sent calls fn for every record that the platform confirmed at or after one time and before
// another, in the order of the attempts.
func (s *Discovery) Sent(ctx context.Context, from, before time.Time, fn func(trade.Sent) error) error {
	query := `SELECT a.id, e.job, e.sends, a.target, a.payload, a.finished_at FROM attempt a JOIN entry e ON e.id = a.entry_id
		WHERE a.id > ? AND a.outcome = 'created' AND a.finished_at >= ? AND a.finished_at < ? ORDER BY a.id LIMIT ?`
	for after := IdsFrom(from.Add(-IdSlack)); ; {
		var rows []struct {
			ID, Job, Sends, Target, Payload string
			FinishedAt                      int64
		}
		if err := s.db.All(ctx, "reading what was sent", &rows, query, after, from.UnixMilli(), before.UnixMilli(),
			sentPage); err != nil {
			return err
		}
		for _, r := range rows {
			sent := trade.Sent{
				Job: r.Job, Sends: trade.Kind(r.Sends), Target: r.Target,
				At: time.UnixMilli(r.FinishedAt).UTC(),
			}
			if json.Valid([]byte(r.Payload)) {
				sent.Payload = json.RawMessage(r.Payload)
			}
			if err := fn(sent); err != nil {
				return err
			}
			after = r.ID
		}
		if len(rows) < sentPage {
			return nil
		}
	}
}

// PayloadsOf returns what was sent for records of a kind, by their ids on the platform. Records
// that the ledger does not have, or whose payload was removed, are not in the result.
func (s *Discovery) PayloadsOf(ctx context.Context, sends trade.Kind,
	ids []string,
) (map[string]json.RawMessage, error) {
	out := make(map[string]json.RawMessage, len(ids))
	var rows []struct {
		RemoteID, Payload string
	}
	query := `SELECT r.remote_id, e.payload FROM record r JOIN entry e ON e.id = r.entry_id AND e.record_id = r.id
		WHERE r.kind = ? AND r.remote_id <> '' AND e.payload IS NOT NULL AND ` + s.db.D.Among("r.remote_id")
	err := s.db.All(ctx, "reading records that were sent", &rows, query, string(sends), sqldb.ListOf(s.db.D, ids))
	for _, r := range rows {
		if json.Valid([]byte(r.Payload)) {
			out[r.RemoteID] = json.RawMessage(r.Payload)
		}
	}
	return out, err
}

// Acts counts the acts of the audit in a period, by name.
func (s *Discovery) Acts(ctx context.Context, from, before time.Time) (map[string]int, error) {
	return s.db.Counts(ctx, "counting acts",
		`SELECT act AS name, COUNT(*) AS n FROM audit WHERE at >= ? AND at < ? GROUP BY act`, from.UnixMilli(),
		before.UnixMilli())
}

// Spaces returns the free space in the folders of the ledger's file and of its journal, if they are
// on this host. It does not know the disks of a PostgreSQL server.
func (s *Discovery) Spaces() []trade.Space {
	var folders []string
	if s.db.D.Name == sqldb.SQLite && !s.db.Memory {
		folders = append(folders, filepath.Dir(s.db.Where))
	}
	if s.db.JournalPath != "" {
		folders = append(folders, s.db.JournalPath)
	}
	var out []trade.Space
	for _, folder := range folders {
		if free, ok := s.db.Tune.Free(folder); ok {
			out = append(out, trade.Space{Folder: folder, Free: free, Low: free < sqldb.LowSpace})
		}
	}
	return out
}
