package state

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

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
