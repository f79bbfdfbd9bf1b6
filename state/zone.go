package state

import (
	"context"
	"slices"
	"sort"
	"time"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// The years for which the views for people know the offsets of the ERP's zone.
const zoneFrom, zoneTo = 2000, 2100

// zoneChange states from when, in milliseconds, a zone is how many seconds ahead of UTC.
type zoneChange struct {
	Since   int64
	Seconds int
}

// changesOf returns when the UTC offset of a zone changes. It looks at each day: the bounds of package
// time take a step for each second where a zone has a rule for ever.
func changesOf(zone *time.Location) []zoneChange {
	var out []zoneChange
	const day = 24 * 60 * 60
	offset := func(at int64) int {
		_, seconds := time.Unix(at, 0).In(zone).Zone()
		return seconds
	}
	end := time.Date(zoneTo, 1, 1, 0, 0, 0, 0, zone).Unix()
	for at := time.Date(zoneFrom, 1, 1, 0, 0, 0, 0, zone).Unix(); at < end; at += day {
		now := offset(at)
		if len(out) == 0 {
			out = append(out, zoneChange{at * 1000, now})
		} else if was := out[len(out)-1].Seconds; was != now {
			since := at - day + 1 + int64(sort.Search(day-1,
				func(i int) bool { return offset(at-day+1+int64(i)) == now }))
			out = append(out, zoneChange{since * 1000, now})
		}
	}
	return out
}

// storeZone stores the offsets of the ERP's zone, in which the views for people show times. It
// writes only if they have changed.
func (s *Store) storeZone(ctx context.Context, zone *time.Location) error {
	const op = "storing the ERP's zone"
	if zone == nil {
		return nil
	}
	var have []zoneChange
	if err := s.db.All(ctx, op, &have, `SELECT since, seconds FROM zone ORDER BY since`); err != nil {
		return err
	}
	want := changesOf(zone)
	if slices.Equal(have, want) {
		return nil
	}
	return s.db.InTx(ctx, op, func(t *sqldb.Tx) error {
		if err := t.Do(`DELETE FROM zone`); err != nil {
			return err
		}
		rows := trade.Map(want, func(c zoneChange) []any { return []any{c.Since, c.Seconds} })
		return t.InsertRows("zone", []string{"since", "seconds"}, rows,
			"ON CONFLICT (since) DO UPDATE SET seconds = excluded.seconds")
	})
}
