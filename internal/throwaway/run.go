package throwaway

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

var ends struct {
	mu    sync.Mutex
	runs  bool
	funcs []func() error
}

// M runs the tests of a package and then stops every server that they have started. It wraps a
// *testing.M:
//
//	func TestMain(m *testing.M) { os.Exit(throwaway.M{M: m}.Run()) }
type M struct{ M interface{ Run() int } }

// Run runs the tests and returns the exit code of the process.
func (m M) Run() int {
	ends.mu.Lock()
	ends.runs = true
	ends.mu.Unlock()
	code := m.M.Run()
	ends.mu.Lock()
	defer ends.mu.Unlock()
	var err error
	for _, end := range ends.funcs {
		err = errors.Join(err, end())
	}
	ends.funcs = nil
	if err != nil {
		fmt.Fprintln(os.Stderr, "throwaway: after the tests:", err)
		code = max(code, 1)
	}
	return code
}

// NeedMain fails the test if the package's TestMain does not stop servers: a server's folder would
// be left behind after every run.
func NeedMain(t testing.TB) {
	t.Helper()
	ends.mu.Lock()
	defer ends.mu.Unlock()
	if !ends.runs {
		t.Fatal("this package's tests need a TestMain with throwaway.M, or pgtest.Main, which stops the server")
	}
}

// Shared is the one server of a test process, started by the first test that asks for it.
type Shared[S interface{ Remove() error }] struct {
	// Start starts the server.
	Start func() (S, error)

	once   sync.Once
	server S
	err    error // why it could not be started; stored, so that the second test does not try again for a minute
}

// Get returns the server. It fails the test if there is none, or if nothing would stop it.
func (s *Shared[S]) Get(t testing.TB) S {
	t.Helper()
	NeedMain(t)
	s.once.Do(func() {
		s.server, s.err = s.Start()
		if s.err != nil {
			return
		}
		ends.mu.Lock()
		defer ends.mu.Unlock()
		ends.funcs = append(ends.funcs, s.server.Remove)
	})
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.server
}
