package faultlist

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

var (
	fault  = regexp.MustCompile(`(?m)^\| F(\d{3}) \| ([^|]+) \| ([^|]*)\|$`)
	number = regexp.MustCompile(`(?:\b|Test|_)(F)(\d{3})(?:[-–]F(\d{3}))?|(?:\b|Test|_)(I)(\d{1,2})(?:[^0-9]|$)`)
)

func TestEveryFaultAndEveryInvariantHasATestThatBearsItsNumber(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("testdata/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	borne := borne(t)
	faults := fault.FindAllStringSubmatch(string(page), -1)
	if len(faults) != 168 {
		t.Errorf("testdata/faults.md has %d faults, want 168", len(faults))
	}
	for i, f := range faults {
		name, reason := "F"+f[1], strings.TrimSpace(f[3])
		if f[1] != fmt.Sprintf("%03d", i+1) {
			t.Errorf("%s stands where F%03d should", name, i+1)
		}
		if borne[name] == (reason != "") {
			t.Errorf("%s (%s): a test bears its number: %t; testdata/faults.md says why there is none: %q", name, f[2],
				borne[name], reason)
		}
		delete(borne, name)
	}
	for i := range 14 {
		name := fmt.Sprintf("I%d", i+1)
		if !borne[name] {
			t.Errorf("no test bears the invariant %s of sync/doc.go", name)
		}
		delete(borne, name)
	}
	for name := range borne {
		t.Errorf("a test bears %s, which is no fault of testdata/faults.md and no invariant of sync/doc.go", name)
	}
}

// borne gives the numbers that tests and scripts bear; F114-F117 are four.
func borne(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{".git", ".ci", "bin", "faultlist"}, d.Name()) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, ".txtar") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range number.FindAllStringSubmatch(string(text), -1) {
			if m[4] != "" {
				found["I"+m[5]] = true
				continue
			}
			first, _ := strconv.Atoi(m[2]) // digits by the expression
			last, _ := strconv.Atoi(m[3])  // 0 where there is none
			for n := first; n <= max(first, last); n++ {
				found[fmt.Sprintf("F%03d", n)] = true
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
