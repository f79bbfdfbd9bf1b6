package must

import "testing"

// Do ends a test at the first of the errors.
func Do(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Get gives the value of a call, and ends the test when there is an error:
// must.Get(os.Open(name))(t).
func Get[V any](value V, err error) func(t testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		Do(t, err)
		return value
	}
}
