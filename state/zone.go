package state

import (
	"context"
	"slices"
	"time"

	"github.com/safrasync/safrasync/state/sqldb"
)

// The years of which the views for people know the clock of the ERP's zone.
const zoneFrom, zoneTo = 2000, 2100

// zoneChange is since when, in milliseconds, a zone is so many seconds ahead of UTC.
type zoneChange struct {
	Since   int64
	Seconds int
}

// changesOf returns when the clock of a zone changed.
func changesOf(zone *time.Location) []zoneChange {
	var out []zoneChange
	for at := time.Date(zoneFrom, 1, 1, 0, 0, 0, 0, zone); at.Year() < zoneTo; {
		_, seconds := at.Zone()
		out = append(out, zoneChange{at.UnixMilli(), seconds})
		if _, at = at.ZoneBounds(); at.IsZero() { // never again
			break
		}
	}
	return out
}

// keepZone stores the clock of the ERP's zone, in which the views for people show times. It writes
// only what has changed.
func (s *Store) keepZone(ctx context.Context, zone *time.Location) error {
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
		rows := make([][]any, len(want))
		for i, c := range want {
			rows[i] = []any{c.Since, c.Seconds}
		}
		return t.InsertRows("zone", []string{"since", "seconds"}, rows,
			"ON CONFLICT (since) DO UPDATE SET seconds = excluded.seconds")
	})
}
