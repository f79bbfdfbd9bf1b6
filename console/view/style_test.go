package view

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// Texts have five sizes and two weights. On paper sizes are in points.
func TestTextsHaveFiveSizesAndTwoWeights(t *testing.T) {
	t.Parallel()
	size := regexp.MustCompile(`(?:^|[;{\s])font-size:\s*([^;}]+)`)
	weight := regexp.MustCompile(`font-weight:\s*([^;}]+)`)
	sizes := []string{
		"var(--tiny)", "var(--small)", "var(--text)", "var(--large)", "var(--huge)", "inherit",
		"11px", // of letters inside a picture
	}
	for _, name := range must.Get(fs.Glob(static, "static/style/*.css"))(t) {
		css := string(must.Get(static.ReadFile(name))(t))
		for _, m := range weight.FindAllStringSubmatch(css, -1) {
			if !slices.Contains([]string{"400", "600", "inherit"}, strings.TrimSpace(m[1])) {
				t.Errorf("%s: a weight of %s", path.Base(name), m[1])
			}
		}
		if path.Base(name) == "print.css" {
			continue
		}
		for _, m := range size.FindAllStringSubmatch(css, -1) {
			if got := strings.TrimSpace(m[1]); !slices.Contains(sizes, got) {
				t.Errorf("%s: a size of %s; it has --tiny, --small, --text, --large, --huge", path.Base(name), got)
			}
		}
	}
}

// What a page needs on paper stands in one file, which every page has.
func TestPaperHasOneStyle(t *testing.T) {
	t.Parallel()
	for _, name := range must.Get(fs.Glob(static, "static/style/*.css"))(t) {
		css := string(must.Get(static.ReadFile(name))(t))
		if path.Base(name) != "print.css" && (strings.Contains(css, "@media print") || strings.Contains(css, "@page")) {
			t.Errorf("%s says how a page is printed; that belongs to print.css", path.Base(name))
		}
	}
}

// The colours in the dark stand twice: for who chose it, and for whose computer asks for it.
func TestTheDarkIsTheSameWhoeverAsksForIt(t *testing.T) {
	t.Parallel()
	css := string(must.Get(static.ReadFile("static/style/console.css"))(t))
	rules := func(selector string) string {
		_, rest, _ := strings.Cut(css, "\n"+selector+" {\n")
		found, _, _ := strings.Cut(rest, "}\n")
		return strings.Join(strings.Fields(found), " ")
	}
	chosen, asked := rules("[data-theme=dark]"), rules("  :root:not([data-theme])")
	if chosen == "" || chosen != asked {
		t.Errorf("who chose the dark sees\n%s\nwho asks for it\n%s", chosen, asked)
	}
}

// The pictures that Pico has in its own text are replaced by files: the policy of the pages refuses them.
func TestEachPictureOfPicoIsReplaced(t *testing.T) {
	t.Parallel()
	pico := string(must.Get(static.ReadFile("static/vendor/pico-2.1.1.min.css"))(t))
	css := string(must.Get(static.ReadFile("static/style/console.css"))(t))
	found := regexp.MustCompile(`([-\w]*):url\("data`).FindAllStringSubmatch(pico, -1)
	if len(found) < 10 {
		t.Fatalf("only %d pictures are found", len(found))
	}
	for _, m := range found {
		if !strings.Contains(css, m[1]+`: url("../icons/`) {
			t.Errorf("%s is not replaced", m[1])
		}
	}
}
