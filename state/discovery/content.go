package discovery

import (
	"context"
	"encoding/json"
	"time"

	"github.com/safrasync/safrasync/state/ledger"
	"github.com/safrasync/safrasync/trade"
)

// DueContents is like Due, but reads only what is compared of each entry: id, job, key, kind, hashes,
// target and payload.
func (s *Discovery) DueContents(ctx context.Context, job string, now time.Time, after int64,
	limit int,
) ([]trade.Entry, error) {
	var rows []struct {
		trade.Entry
		Body string
	}
	query := `SELECT e.id, e.job, e.sends, e.key, e.source_hash, e.payload_hash, e.target, e.payload AS body FROM entry e
		WHERE ` + ledger.IsDue
	err := s.db.All(ctx, "looking for what is due", &rows, query, ledger.DueArgs(job, now, after, limit)...)
	out := make([]trade.Entry, len(rows))
	for i, r := range rows {
		out[i] = r.Entry
		out[i].Payload = json.RawMessage(r.Body)
	}
	return out, err
}
