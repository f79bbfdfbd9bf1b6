package discovery

import (
	"context"
	"encoding/json"

	"github.com/safrasync/safrasync/trade"
)

// NewContents returns entries of a job in a state, pending or waiting, with ids greater than after, in
// id order, at most limit, with only what is compared of each: id, job, key, kind, hashes, target and
// payload.
func (s *Discovery) NewContents(ctx context.Context, job string, state trade.State, after int64, limit int,
) ([]trade.Entry, error) {
	var rows []struct {
		trade.Entry
		Body string
	}
	query := `SELECT e.id, e.job, e.sends, e.key, e.source_hash, e.payload_hash, e.target,
		COALESCE(e.payload, '') AS body FROM entry e WHERE e.job = ? AND e.state = ? AND e.id > ? ORDER BY e.id LIMIT ?`
	err := s.db.All(ctx, "looking for new rows", &rows, query, job, string(state), after, limit)
	out := make([]trade.Entry, len(rows))
	for i, r := range rows {
		out[i] = r.Entry
		out[i].Payload = json.RawMessage(r.Body)
	}
	return out, err
}
