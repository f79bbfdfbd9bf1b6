package faultlist

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

const (
	root       = "../.."
	invariants = 14 // of sync/doc.go
)

var (
	fault      = regexp.MustCompile(`(?m)^\| F(\d{3}) \| ([^|]+) \| ([^|]*)\|$`)
	citation   = regexp.MustCompile(`(?:\b|Test|Fuzz)I(\d{1,2})(?:[^0-9]|$)`)
	underscore = regexp.MustCompile(`^(?:Test|Fuzz)(?:F\d{3}|I\d{1,2})_[^F]`)
	isTest     = regexp.MustCompile(`^(?:Test|Fuzz)[A-Z]`)
	number     = regexp.MustCompile(`(?:\b|Test|_)(F)(\d{3})(?:[-–]F(\d{3}))?|(?:\b|Test|_)(I)(\d{1,2})(?:[^0-9]|$)`)
)

func TestEveryFaultHasATestThatBearsItsNumber(t *testing.T) {
	t.Parallel()
	page := must.Get(os.ReadFile("testdata/faults.md"))(t)
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
	for i := range invariants {
		delete(borne, fmt.Sprintf("I%d", i+1))
	}
	for name := range borne {
		t.Errorf("a test bears %s, which is no fault of testdata/faults.md and no invariant of sync/doc.go", name)
	}
}

// An invariant is cited by a test in its name, TestI9..., or in the comment that stands above it.
func TestEveryInvariantIsCitedByTwoTests(t *testing.T) {
	t.Parallel()
	cited := map[string][]string{}
	eachTest(t, func(_ string, test *ast.FuncDecl) {
		found := citation.FindAllStringSubmatch(test.Name.Name+"\n"+test.Doc.Text(), -1)
		for _, m := range found {
			if tests := cited[m[1]]; !slices.Contains(tests, test.Name.Name) {
				cited[m[1]] = append(tests, test.Name.Name)
			}
		}
	})
	for i := range invariants {
		if tests := cited[strconv.Itoa(i+1)]; len(tests) < 2 {
			t.Errorf("the invariant I%d of sync/doc.go is cited by %d tests, two are needed: %q", i+1, len(tests), tests)
		}
	}
}

// TestF031AName, not TestF031_AName: who looks for one finds all.
func TestTheNumberOfATestHasOneSpelling(t *testing.T) {
	t.Parallel()
	eachTest(t, func(folder string, test *ast.FuncDecl) {
		if underscore.MatchString(test.Name.Name) {
			t.Errorf("%s: %s has an underscore after its number: take it out", folder, test.Name.Name)
		}
	})
}

// eachTest hands over all functions that are tests, with their folders.
func eachTest(t *testing.T, see func(folder string, test *ast.FuncDecl)) {
	t.Helper()
	seen := 0
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && isTest.MatchString(f.Name.Name) {
				seen++
				see(filepath.Dir(path), f)
			}
		}
		return nil
	})
	if err != nil || seen < 1000 {
		t.Fatalf("%d tests were found: %v", seen, err)
	}
}

// borne returns the numbers that tests and scripts bear; F114-F117 are four.
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
	must.Do(t, err)
	return found
}
