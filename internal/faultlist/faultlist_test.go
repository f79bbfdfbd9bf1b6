package faultlist

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// writeVariable makes the test write the page; `make failures` sets it.
const writeVariable = "SAFRASYNC_FAILURES"

const page = root + "/docs/failures.md"

const count = 168

func TestEveryFaultHasATestOrAReason(t *testing.T) {
	t.Parallel()
	tests, err := borne()
	if err != nil {
		t.Fatal(err)
	}
	next := 1
	for _, s := range sections {
		for _, f := range s.faults {
			if f.number != next || f.words == "" || strings.ContainsAny(f.words, "|\n") {
				t.Errorf("F%03d stands where F%03d should, or has no words", f.number, next)
			}
			if next++; len(tests[f.number]) == 0 && reasons[f.number] == "" {
				t.Errorf("F%03d (%s) has neither a test that bears its number nor a reason in reasons_test.go", f.number, f.words)
			}
		}
	}
	if next != count+1 {
		t.Errorf("there are %d faults, want %d", next-1, count)
	}
	for n := range tests {
		if n < 1 || n > count {
			t.Errorf("%v bear F%03d, which is no fault", tests[n], n)
		}
	}
	for n := range reasons {
		if n < 1 || n > count || len(tests[n]) > 0 {
			t.Errorf("F%03d has a reason why there is no test, and the tests %v", n, tests[n])
		}
	}
	if os.Getenv(writeVariable) == "write" {
		if err := os.WriteFile(page, []byte(render(tests)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var line = regexp.MustCompile(`(?m)^\| F(\d{3}) \| ([^|]*) \| ([^|]*) \|$`)

// The page has every fault with its words, and each test that it names is there and bears the number.
func TestThePageOfFaultsIsTrue(t *testing.T) {
	t.Parallel()
	if os.Getenv(writeVariable) == "write" {
		return // the other test is writing it
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	tests, err := borne()
	if err != nil {
		t.Fatal(err)
	}
	lines := line.FindAllStringSubmatch(string(text), -1)
	n := 0
	for _, s := range sections {
		for _, f := range s.faults {
			if n++; n > len(lines) {
				t.Fatalf("F%03d is not in docs/failures.md: run make failures", f.number)
			}
			m := lines[n-1]
			named := regexp.MustCompile("`([^`]*Test[^`]*)`").FindAllStringSubmatch(m[3], -1)
			if m[1] != fmt.Sprintf("%03d", f.number) || m[2] != f.words {
				t.Fatalf("docs/failures.md has %q where F%03d, %s, should stand: run make failures", m[0], f.number, f.words)
			}
			if len(named) == 0 && m[3] != reasons[f.number] {
				t.Errorf("docs/failures.md says of F%03d %q, want %q: run make failures", f.number, m[3], reasons[f.number])
			}
			for _, name := range named {
				if !slices.Contains(tests[f.number], name[1]) {
					t.Errorf("docs/failures.md names %s for F%03d, but there is no such test that bears this number: run make failures", name[1], f.number)
				}
			}
		}
	}
	if n != len(lines) {
		t.Errorf("docs/failures.md has %d lines, want %d", len(lines), n)
	}
}

// render makes the page.
func render(tests map[int][]string) string {
	var b strings.Builder
	covered := 0
	for n := 1; n <= count; n++ {
		if len(tests[n]) > 0 {
			covered++
		}
	}
	fmt.Fprintf(&b, `# What can go wrong

%d faults that a program between an ERP and a trading platform meets, each with the tests that show what happens then, or the reason why there is none. %d have
tests. Written by `+"`make failures`"+` from the tests that bear the numbers and from internal/faultlist, whose own tests fail when a fault has neither or the page names a
test that is not there.
`, count, covered)
	for _, s := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n| | fault | shown by |\n|---|---|---|\n", s.title)
		for _, f := range s.faults {
			shown := reasons[f.number]
			if len(tests[f.number]) > 0 {
				shown = "`" + strings.Join(tests[f.number], "`, `") + "`"
			}
			fmt.Fprintf(&b, "| F%03d | %s | %s |\n", f.number, f.words, shown)
		}
	}
	return b.String()
}
