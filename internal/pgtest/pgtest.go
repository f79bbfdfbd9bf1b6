package pgtest

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/throwaway"
)

// shared is the one server of this test process.
var shared = throwaway.Shared[*Cluster]{Start: lentOrNew}

// Main calls [Run], then os.Exit. The temporary folders of the tests are in memory if there is space:
// ledgers in SQLite flush thousands of times.
func Main(m *testing.M, after ...func() error) {
	code := 1
	end, err := throwaway.TempInMemory()
	if err == nil {
		code = Run(m, after...)
		err = end()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pgtest: temporary folders in memory:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// Run runs the tests of a package, stops the server that they may have started, and returns the
// exit code of the process. The after functions run if the tests passed, when the server is gone;
// if one returns an error, the package fails. They are for checks of the whole process, for example
// for goroutine leaks:
//
//	func TestMain(m *testing.M) { pgtest.Main(m, func() error { return goleak.Find() }) }
func Run(m interface{ Run() int }, after ...func() error) int {
	forgetVariables()
	code := throwaway.M{M: m}.Run()
	var err error
	if code == 0 {
		for _, check := range after {
			err = errors.Join(err, check())
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pgtest: after the tests:", err)
		code = max(code, 1)
	}
	return code
}

// forgetVariables unsets libpq's variables (PGOPTIONS, PGSERVICE …), which the driver reads,
// because the settings of a developer's or a CI machine must not change a test.
func forgetVariables() {
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "PG") {
			if err := os.Unsetenv(name); err != nil {
				fmt.Fprintln(os.Stderr, "pgtest:", err)
			}
		}
	}
}

// Database creates an empty UTF-8 database for one test and returns its data source name in
// lib/pq's key=value form ("host=127.0.0.1 port=… user=postgres dbname=… sslmode=disable"). The
// database is dropped when the test ends, even with connections open.
func Database(t testing.TB) string {
	t.Helper()
	return DatabaseWith(t, "")
}

// DatabaseWith is [Database] with options for CREATE DATABASE, for example "ENCODING 'SQL_ASCII'
// TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'" for an ERP that stores Latin-1 bytes unchecked.
func DatabaseWith(t testing.TB, options string) string {
	t.Helper()
	return shared.Get(t).DatabaseWith(t, options)
}

// Copy is [Database] with a copy of what fill created. Fill runs once in this process for each
// name, which is much cheaper where many tests begin with the same tables. Fill gets the data
// source name of an empty database, and must leave no connection open.
func Copy(t testing.TB, name string, fill func(dsn string) error) string {
	t.Helper()
	c := shared.Get(t)
	template, err := c.template(name, fill)
	if err != nil {
		t.Fatalf("pgtest: making what is copied as %s: %v", name, err)
	}
	return c.DatabaseWith(t, "TEMPLATE "+template)
}

// Server starts a server that belongs to this test alone and is removed after it. Use it, instead
// of [Database], when the test stops or restarts the server, or changes what all databases share
// (roles, settings), because other tests run in parallel on the common server. All of a process have
// the system identifier of one initdb, as copies of a disk have; that of [Database] is another.
func Server(t testing.TB) *Cluster {
	t.Helper()
	c, err := copied(initialized.Get(t))
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Remove(); err != nil {
			t.Errorf("pgtest: removing the test's server: %v", err)
		}
	})
	return c
}
