package must

// T is a *testing.T, a *testing.B or a *rapid.T.
type T interface {
	Helper()
	Fatal(args ...any)
}

// Do fails the test and ends it at the first of the errors.
func Do(t T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Get returns the value of a call. If the call returned an error, it fails the test and ends it:
// must.Get(os.Open(name))(t).
func Get[V any](value V, err error) func(t T) V {
	return func(t T) V {
		t.Helper()
		Do(t, err)
		return value
	}
}
