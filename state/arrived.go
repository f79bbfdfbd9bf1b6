package state

import (
	"context"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// dayMillis is the length of a day.
const dayMillis = 24 * 60 * 60 * 1000

// ArrivedDays returns how many rows of a job were new on each day from since on, for each branch, in
// order. Days are those of the zone of since, as its clocks stand then.
func (s *Store) ArrivedDays(ctx context.Context, job string, since time.Time) ([]trade.ArrivedDay, error) {
	const op = "counting what was new each day"
	_, offset := since.Zone()
	var rows []struct {
		Branch     string
		Day, N, Kg int64
	}
	err := s.db.All(ctx, op, &rows, `SELECT COALESCE(l.branch, '') AS branch, (e.first_seen_at + ?) / ? AS day,
		COUNT(*) AS n, CAST(COALESCE(SUM(l.kilograms), 0) AS BIGINT) AS kg
		FROM entry e LEFT JOIN listing l ON l.entry_id = e.id
		WHERE e.job = ? AND e.first_seen_at >= ? GROUP BY 1, 2 ORDER BY 1, 2`,
		int64(offset)*1000, int64(dayMillis), job, since.UnixMilli())
	out := make([]trade.ArrivedDay, len(rows))
	for i, r := range rows {
		out[i] = trade.ArrivedDay{
			Branch: r.Branch, Day: trade.DateOf(time.UnixMilli(r.Day * dayMillis).UTC()), Rows: int(r.N),
			Kg: trade.ListingDecimal(r.Kg),
		}
	}
	return out, err
}
