package state

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
)

// A zone whose summer time has a rule for ever has two changes in a year, each at its second.
func TestTheChangesOfAZoneWithSummerTimeAreFew(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int{
		"America/Santiago": 210, "America/New_York": 202, "America/Sao_Paulo": 42, "America/Asuncion": 60, "UTC": 1,
	} {
		zone := must.Get(time.LoadLocation(name))(t)
		changes := changesOf(zone)
		if len(changes) > most {
			t.Errorf("%s has %d changes", name, len(changes))
		}
		for i, c := range changes {
			at := time.UnixMilli(c.Since).In(zone)
			_, now := at.Zone()
			_, before := at.Add(-time.Second).Zone()
			if now != c.Seconds || i > 0 && before != changes[i-1].Seconds {
				t.Errorf("%s: %s has %d seconds and %d before, want %+v", name, at, now, before, c)
			}
		}
	}
}
