package apidoc

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
	if err := j.settle(); err != nil {
		fmt.Fprintln(os.Stderr, "FAIL: "+err.Error())
		return 1
	}
	return code
}

func (j judged) settle() error {
	have, err := readPage()
	if err != nil {
		return err
	}
	want, err := settle(have, claimed(), j.views)
	switch {
	case err != nil:
		return err
	case want == have:
		return nil
	case os.Getenv(writeVariable) == "write":
		file, err := pageFile()
		if err != nil {
			return err
		}
		return os.WriteFile(file, []byte(want), 0o644)
	}
	return fmt.Errorf("docs/api-coverage.md is out of date, run make api-coverage: %s", difference(have, want))
}

// readPage reads docs/api-coverage.md once, "" if there is none yet. The first claim calls it: Go's test cache sees only the files that are opened
// while tests run, and would otherwise answer for a page that was changed since.
var readPage = sync.OnceValues(func() (string, error) {
	file, err := pageFile()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return string(text), err
})

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

// settle is the page with the columns of these views as claimed, and the others as they stand there. It fails for a row without a test.
func settle(have string, tests map[cell][]string, views []View) (want string, err error) {
	if missing := uncovered(tests, views); len(missing) > 0 {
		return "", fmt.Errorf("rows of the API's document that no test claims (see internal/apidoc):\n\t%s", strings.Join(missing, "\n\t"))
	}
	all := parse(have)
	maps.DeleteFunc(all, func(c cell, _ []string) bool { return slices.Contains(views, c.view) })
	maps.Copy(all, tests)
	return page(all), nil
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
