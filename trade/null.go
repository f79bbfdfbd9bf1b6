package trade

import "time"

// End is a time that is null in JSON while it has not come.
type End struct{ time.Time }

// MarshalJSON writes the time, or null.
func (e End) MarshalJSON() ([]byte, error) {
	if e.IsZero() {
		return []byte("null"), nil
	}
	return e.Time.MarshalJSON()
}

// OrNull returns nil, which is null in JSON, for the zero value: an empty text, no time, no day.
func OrNull[T comparable](v T) *T {
	var zero T
	is, told := any(v).(interface{ IsZero() bool })
	if v == zero || told && is.IsZero() {
		return nil
	}
	return &v
}
