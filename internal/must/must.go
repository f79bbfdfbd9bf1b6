// Package must ends a test at an error that it does not expect.
package must

import "errors"

// T is a *testing.T, a *testing.B or a *rapid.T.
type T interface {
	Helper()
	Fatal(args ...any)
}

// OK ends the test unless all errors are nil.
func OK(t T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// Get gives what a call gave, or ends the test: must.Get(os.ReadFile(name))(t).
func Get[V any](value V, err error) func(t T) V {
	return func(t T) V {
		t.Helper()
		OK(t, err)
		return value
	}
}
