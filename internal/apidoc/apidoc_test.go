package apidoc

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryRowHasAnIDOfItsOwnAndWords(t *testing.T) {
	t.Parallel()
	shape := regexp.MustCompile(`^[1-9](\.[1-7])? [A-Za-z0-9_. -]+$`)
	seen := map[string]bool{}
	for _, s := range Sections() {
		if s.Title == "" || len(s.Rows) == 0 {
			t.Errorf("section %q has %d rows", s.Title, len(s.Rows))
		}
		for _, r := range s.Rows {
			if !shape.MatchString(r.ID) || seen[r.ID] || r.What == "" || len(r.What) > 80 || strings.ContainsAny(r.What, "|`") {
				t.Errorf("row %q (%q) is not well formed, or stands twice", r.ID, r.What)
			}
			seen[r.ID] = true
		}
	}
	if len(Events) != 25 {
		t.Errorf("%d events, want 25", len(Events))
	}
}

func TestAWrongClaimIsFound(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		view View
		id   string
		want string
	}{
		{Client, "2.1 amount", ""},
		{Sandbox, "2.1 harvest", `no row "2.1 harvest"`},
		{Client, "6 receiver 1", "needs no test in the view"},
		{"both", "2.1 amount", "is no view"},
	} {
		got := faultOf(test.view, test.id)
		if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
			t.Errorf("claim of %s in %s: %q, want %q", test.id, test.view, got, test.want)
		}
	}
}

// every claims all rows that need a test in these views.
func every(test string, views ...View) map[cell][]string {
	tests := map[cell][]string{}
	for _, name := range uncovered(nil, views) {
		id, view, _ := strings.Cut(strings.TrimSuffix(name, ")"), " (")
		tests[cell{id, View(view)}] = []string{test, test + "/more"}
	}
	return tests
}

func TestARowWithoutATestAndAPageOutOfDateFail(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "page.md")
	ours, theirs := every("TestOne", Together, Client), every("TestTwo", Sandbox)
	if err := settle(file, ours, []View{Together, Client}, false); err == nil || !strings.Contains(err.Error(), "make api-coverage") {
		t.Errorf("settle without a page = %v", err)
	}
	for _, step := range []struct {
		tests map[cell][]string
		views []View
	}{{ours, []View{Together, Client}}, {theirs, []View{Sandbox}}} {
		if err := settle(file, step.tests, step.views, true); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // each knows its own columns only
		if err := settle(file, ours, []View{Together, Client}, false); err != nil {
			t.Error(err)
		}
		if err := settle(file, theirs, []View{Sandbox}, false); err != nil {
			t.Error(err)
		}
	}
	renamed := every("TestThree", Sandbox)
	if err := settle(file, renamed, []View{Sandbox}, false); err == nil || !strings.Contains(err.Error(), "TestThree") {
		t.Errorf("settle with a renamed test = %v", err)
	}
	delete(theirs, cell{"8 url length", Sandbox})
	for _, write := range []bool{false, true} {
		if err := settle(file, theirs, []View{Sandbox}, write); err == nil || !strings.Contains(err.Error(), "8 url length (sandbox)") {
			t.Errorf("settle without a test of a row = %v", err)
		}
	}
}

func TestThePageOfTheRepositoryHasEveryRowAndIsReadAsWritten(t *testing.T) {
	t.Parallel()
	file, err := pageFile()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tests := parse(string(text))
	if missing := uncovered(tests, Views); len(missing) > 0 {
		t.Errorf("rows without a test: %q", missing)
	}
	if diff := cmp.Diff(page(tests), string(text)); diff != "" {
		t.Errorf("docs/api-coverage.md is out of date, run make api-coverage (-want +got):\n%s", diff)
	}
}
