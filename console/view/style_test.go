package view

import (
	"io/fs"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
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

// What waits and what has an error are told apart by light and by hue, in both themes in one order of light.
func TestWaitingAndWrongAreToldApart(t *testing.T) {
	t.Parallel()
	css := string(must.Get(static.ReadFile("static/style/console.css"))(t))
	colours := regexp.MustCompile(`--fill-waiting: #(\w{6}); --fill-invalid: #(\w{6});`).FindAllStringSubmatch(css, -1)
	if len(colours) != 3 {
		t.Fatalf("%d themes are found", len(colours))
	}
	for _, theme := range colours {
		waits, waitsHue := lightOf(t, theme[1])
		wrong, wrongHue := lightOf(t, theme[2])
		if contrast := (waits + 0.05) / (wrong + 0.05); contrast < 2 || waitsHue-wrongHue < 10 {
			t.Errorf("%s: a contrast of %.1f, hues %.0f and %.0f", theme[0], contrast, waitsHue, wrongHue)
		}
	}
}

// lightOf returns the relative luminance (WCAG 2) and the hue in degrees of a colour between red and yellow.
func lightOf(t *testing.T, hex string) (light, hue float64) {
	t.Helper()
	n := must.Get(strconv.ParseUint(hex, 16, 32))(t)
	r, g, b := float64(n>>16)/255, float64(n>>8&255)/255, float64(n&255)/255
	linear := func(c float64) float64 { return math.Pow((c+0.055)/1.055, 2.4) }
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b), 60 * (g - b) / (r - b)
}
