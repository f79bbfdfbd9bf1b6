package apidoc

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// writeVariable makes [Main] write the page instead of comparing it; `make api-coverage` sets it.
const writeVariable = "SAFRASYNC_API_COVERAGE"

// Runner is what TestMain needs of a *testing.M.
type Runner interface{ Run() int }

// Main wraps the tests of a package that proves these views: after a full and successful run it compares what was claimed with the rows and
// with docs/api-coverage.md, and gives exit code 1 where they do not agree. For
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
	file, err := pageFile()
	if err == nil {
		err = settle(file, claimed(), j.views, os.Getenv(writeVariable) == "write")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "FAIL: "+err.Error())
		return 1
	}
	return code
}

// everythingRan says whether no flag kept tests from running.
func everythingRan() bool {
	for _, name := range []string{"run", "skip", "list", "fuzz", "bench"} {
		if f := flag.Lookup("test." + name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	worker := flag.Lookup("test.fuzzworker")
	return worker == nil || worker.Value.String() != "true"
}

// settle compares the claims of these views with the rows and the page, or writes the page.
func settle(file string, tests map[cell][]string, views []View, write bool) error {
	if missing := uncovered(tests, views); len(missing) > 0 {
		return fmt.Errorf("rows of the API's document that no test claims (see internal/apidoc):\n\t%s", strings.Join(missing, "\n\t"))
	}
	have, err := os.ReadFile(file)
	if err != nil && (!write || !errors.Is(err, os.ErrNotExist)) {
		return fmt.Errorf("%w; run make api-coverage", err)
	}
	all := parse(string(have))
	maps.DeleteFunc(all, func(c cell, _ []string) bool {
		for _, v := range views {
			if c.view == v {
				return true
			}
		}
		return false
	})
	maps.Copy(all, tests)
	want := page(all)
	if want == string(have) {
		return nil
	}
	if write {
		return os.WriteFile(file, []byte(want), 0o644)
	}
	return fmt.Errorf("docs/api-coverage.md is out of date, run make api-coverage: %s", difference(string(have), want))
}

// pageFile finds docs/api-coverage.md from the folder of the running test.
func pageFile() (string, error) {
	at, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return filepath.Join(at, "docs", "api-coverage.md"), nil
		}
		if up := filepath.Dir(at); up != at {
			at = up
			continue
		}
		return "", errors.New("no go.mod above the test: where is docs/api-coverage.md?")
	}
}
