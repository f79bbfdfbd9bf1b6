package trade

// Map returns what a function makes of each element of a list.
func Map[S ~[]T, T, U any](list S, of func(T) U) []U {
	out := make([]U, len(list))
	for i, one := range list {
		out[i] = of(one)
	}
	return out
}
