package office

import (
	"time"
)

// Now returns the wall clock's time, in UTC.
func Now() time.Time { return time.Now().UTC() }

// timeOrNull returns a time as a pointer; nil if it is zero, which JSON shows as null.
func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
