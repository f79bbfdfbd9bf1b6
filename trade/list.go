package trade

import "time"

// Map returns what a function makes of each element of a list.
func Map[S ~[]T, T, U any](list S, of func(T) U) []U {
	out := make([]U, len(list))
	for i, one := range list {
		out[i] = of(one)
	}
	return out
}

// ValuesOf returns copies of what a map has, in any order.
func ValuesOf[K comparable, V any](of map[K]*V) []V {
	out := make([]V, 0, len(of))
	for _, one := range of {
		out = append(out, *one)
	}
	return out
}

// CompareBool compares two answers: false comes before true.
func CompareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

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
