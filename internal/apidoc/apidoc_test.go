package apidoc

import (
	"regexp"
	"slices"
	"strings"
	"testing"
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
			if !shape.MatchString(r.ID) || seen[r.ID] || r.What == "" || len(r.What) > 80 ||
				strings.ContainsAny(r.What, "|`") {
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

func TestARowThatNoTestClaimsIsFound(t *testing.T) {
	t.Parallel()
	const row = "8 url length (sandbox)"
	if missing := uncovered([]View{Sandbox}); !slices.Contains(missing, row) ||
		slices.Contains(missing, "7 object with messages (sandbox)") {
		t.Errorf("without a claim are missing %q", missing)
	}
	Covers(t, Sandbox, "8 url length")
	if missing := uncovered([]View{Sandbox}); slices.Contains(missing, row) {
		t.Errorf("%s is claimed and missing", row)
	}
}
