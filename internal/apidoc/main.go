package apidoc

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

// Runner is the part of *testing.M that Main needs.
type Runner interface{ Run() int }

// Main wraps the tests of a package that proves these views: after a full and successful run, a row
// that no test claimed leads to exit code 1. Use:
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(apidoc.Main(m, apidoc.Sandbox)) }
func Main(m Runner, views ...View) Runner { return judged{m, views} }

type judged struct {
	tests Runner
	views []View
}

// Run implements [Runner].
func (j judged) Run() int {
	code := j.tests.Run()
	if code != 0 || !everythingRan() {
		return code
	}
	if missing := uncovered(j.views); len(missing) > 0 {
		fmt.Fprintf(os.Stderr, "FAIL: rows of the API's document that no test claims (see internal/apidoc):\n\t%s\n",
			strings.Join(missing, "\n\t"))
		return 1
	}
	return code
}

// everythingRan reports whether no flag kept tests from running.
func everythingRan() bool {
	for _, name := range []string{"run", "skip", "list", "fuzz", "bench"} {
		if f := flag.Lookup("test." + name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	worker := flag.Lookup("test.fuzzworker")
	return worker == nil || worker.Value.String() != "true"
}
