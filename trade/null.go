package trade

// OrNull returns nil, which is null in JSON, for the zero value: an empty text, no time, no day.
func OrNull[T comparable](v T) *T {
	var zero T
	is, told := any(v).(interface{ IsZero() bool })
	if v == zero || told && is.IsZero() {
		return nil
	}
	return &v
}
