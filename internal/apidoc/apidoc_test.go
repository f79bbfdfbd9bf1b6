package apidoc

import (
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

func TestEachPackageSettlesItsOwnColumnsAndARowWithoutATestFails(t *testing.T) {
	t.Parallel()
	ours, theirs := every("TestOne", Together, Client), every("TestTwo", Sandbox)
	text := ""
	for _, step := range []struct {
		tests   map[cell][]string
		views   []View
		changes bool
	}{
		{ours, []View{Together, Client}, true},
		{theirs, []View{Sandbox}, true},
		{ours, []View{Together, Client}, false},
		{theirs, []View{Sandbox}, false},
		{every("TestThree", Sandbox), []View{Sandbox}, true},
	} {
		want, err := settle(text, step.tests, step.views)
		if err != nil || (want != text) != step.changes {
			t.Fatalf("settle of %v: %v, changed: %t", step.views, err, want != text)
		}
		text = want
	}
	if !strings.Contains(text, "`TestOne`<br>`TestOne/more` | `TestOne`<br>`TestOne/more` | `TestThree`") || strings.Contains(text, "TestTwo") {
		t.Errorf("the page has not the newest names:\n%s", text)
	}
	delete(theirs, cell{"8 url length", Sandbox})
	if _, err := settle(text, theirs, []View{Sandbox}); err == nil || !strings.Contains(err.Error(), "8 url length (sandbox)") {
		t.Errorf("settle without a test of a row = %v", err)
	}
	if got := difference("a\nb", "a\nc"); !strings.Contains(got, "line 2 is\n\tb\nand should be\n\tc") {
		t.Errorf("difference = %q", got)
	}
}

func TestThePageOfTheRepositoryHasEveryRowAndIsReadAsWritten(t *testing.T) {
	t.Parallel()
	text, err := readPage()
	if err != nil {
		t.Fatal(err)
	}
	tests := parse(text)
	if missing := uncovered(tests, Views); len(missing) > 0 {
		t.Errorf("rows without a test: %q", missing)
	}
	if diff := cmp.Diff(page(tests), text); diff != "" {
		t.Errorf("docs/api-coverage.md is out of date, run make api-coverage (-want +got):\n%s", diff)
	}
}
