package trade

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
