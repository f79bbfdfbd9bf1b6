package main

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
)

// goldenVariable with the value "write" keeps what the pages look like now: `make pictures`.
const goldenVariable = "SAFRASYNC_CONSOLE"

// goldens is where the pictures are, each with its text beside it. docs/decisions.pt-BR.md shows
// them.
const goldens = "../../docs/images/console"

// The size of the window in which the pictures are made.
const goldenWidth, goldenHeight = 1366, 768

// settled makes of what differs from day to day one and the same: today is the third of November,
// on which October is closed, and so are the days below the chart; the jobs run next on the first
// of January; and spans of time, and ids that the clock or chance make. So the same page gives the
// same text, and on one machine about the same picture: nothing has the focus or the mouse, and
// nothing moves.
const settled = `(() => {
	const still = new CSSStyleSheet();
	still.replaceSync("* { transition: none !important; animation: none !important }");
	document.adoptedStyleSheets = [still];
	document.activeElement?.blur();
	window.scrollTo(0, 0);
	const days = [0, 1].map((back) => new Date(Date.now() - back * 864e5).toLocaleDateString("sv-SE",
		{ timeZone: "America/Sao_Paulo" }));
	const weeks = ["05/10", "12/10", "19/10", "26/10", "02/11"];
	const same = (text) => {
		for (const day of days) {
			const said = day.split("-").reverse().join("/");
			text = text.replace(new RegExp(said + "( \\d\\d:\\d\\d(:\\d\\d)?)?", "g"), (_,
				time) => "03/11/2026" + (time ? " 09:00" : "")).replaceAll(day, "2026-11-03");
		}
		return text.replace(/^\d\d\/\d\d$/, () => weeks.shift() ?? "03/11").replace(/01\/0[17]\/\d{4}/g, "01/01/2027").replace(/\b1 7 \*/g, "1 1 *").replace(/\b(\d+ h )?\d+ min( \d+ s)?|\b\d+ s\b/g, "15 min 0 s")
			.replace(/\b(?!(\d)\1{7})[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g,
				"60bbaf79-10f3-413f-9bb3-95ad994e9eb2");
	};
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) walk.currentNode.data = same(walk.currentNode.data);
	for (const field of document.querySelectorAll("input:not([type=hidden]), textarea"))
		if (field.value) field.value = same(field.value);
	return document.querySelector("main").innerText;
})()`

// The days that settled pretends, as pages and fields write them, and the last of the month that is
// closed.
var pretendedDays = []string{
	"03/11/2026", "2026-11-03", "01/01/2027", "31/10/2026", "2026-10-31",
	"05/10", "12/10", "19/10", "26/10", "02/11",
}

var dayForm = regexp.MustCompile(`(?m)\b(\d{2}/\d{2}/\d{4}|\d{4}-\d{2}-\d{2})\b|^\d{2}/\d{2}$`)

// nearDay is the first day in a text that is not pretended and within two months of now; "" = none.
// Most likely it moves with the clock, and another day finds another text.
func nearDay(text string, now time.Time) string {
	for _, day := range dayForm.FindAllString(text, -1) {
		at, err := time.Parse("02/01/2006", day)
		if err != nil {
			at, err = time.Parse(time.DateOnly, day)
		}
		if err != nil {
			at, err = time.Parse("02/01/2006", fmt.Sprintf("%s/%d", day, now.Year()))
		}
		if err == nil && at.Sub(now).Abs() < 60*24*time.Hour && !slices.Contains(pretendedDays, day) {
			return day
		}
	}
	return ""
}

func TestADayThatMovesWithTheClockIsFound(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"Próximas: 23/11/2026 03:00 · 24/11/2026 03:00": "23/11/2026",
		"data do contrato\t2026-12-01\t–":               "2026-12-01",
		"por enviar\n05/10\n27/10":                      "27/10", "12/13 de 03/11\n02/11": "",
		"03/11/2026 09:00, 01/01/2027 03:00, 2026-11-03": "", "Fechar um mês: 31/10/2026": "",
		"2026-04-01, 10/03/2026, 31/02/2026": "",
	} {
		if got := nearDay(text, now); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

var blankLines = regexp.MustCompile(`\s*\n\s*`)

// golden wants the page to say what it said when its picture was made, and to be for everybody.
// Pictures are for review: fonts differ from machine to machine, so what is compared is the text
// that is kept beside each, and of the picture that it is there, in its size. What the page shows
// afterwards is what the picture shows; its forms still send what the service gave them.
func (c *chrome) golden(name string) {
	c.t.Helper()
	c.accessible(name)
	c.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, goldenWidth-1, goldenHeight-1))
	text := must.Get(chromedp.Run(c.ctx, chromedp.Evaluate[string](settled)))(c.t)
	text = strings.TrimSpace(blankLines.ReplaceAllString(text, "\n")) + "\n"
	if day := nearDay(text, time.Now()); day != "" {
		c.t.Errorf("%s shows %s, which moves with the clock: let it not be shown, or let settled pretend another one",
			name, day)
	}
	picture, words := filepath.Join(goldens, name+".png"), filepath.Join(goldens, name+".txt")
	if os.Getenv(goldenVariable) == "write" {
		shot := must.Get(chromedp.Run(c.ctx, chromedp.CaptureScreenshot()))(c.t)
		must.Do(c.t, os.WriteFile(picture, shot, 0o644), os.WriteFile(words, []byte(text), 0o644))
		return
	}
	want := must.Get(os.ReadFile(words))(c.t)
	if diff := cmp.Diff(string(want), text); diff != "" {
		c.t.Errorf("%s.txt (-want +got); if that is meant, run make pictures and look at what it changes:\n%s", name, diff)
	}
	shot := must.Get(os.ReadFile(picture))(c.t)
	if size, err := png.DecodeConfig(bytes.NewReader(shot)); err != nil || size.Width != goldenWidth ||
		size.Height != goldenHeight {
		c.t.Errorf("%s.png is no picture of %d × %d: %v, %v", name, goldenWidth, goldenHeight, size, err)
	}
}

// Each picture is shown on the page about the console, and each that is shown is there.
func TestThePicturesAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("../../docs/decisions.pt-BR.md"))(t)
	shown := map[string]bool{}
	for _, m := range regexp.MustCompile(`\(images/console/([^)]+)\.png\)`).FindAllStringSubmatch(string(text), -1) {
		shown[m[1]] = true
	}
	files, err := filepath.Glob(goldens + "/*.png")
	if err != nil || len(files) != 10 || len(shown) != 10 {
		t.Errorf("%d pictures, of which %d are shown, want 10 (%v)", len(files), len(shown), err)
	}
	total := int64(0)
	for _, file := range files {
		info := must.Get(os.Stat(file))(t)
		if total += info.Size(); !shown[strings.TrimSuffix(filepath.Base(file), ".png")] {
			t.Errorf("docs/decisions.pt-BR.md does not show %s", file)
		}
	}
	if total > 1_500_000 {
		t.Errorf("the pictures have %d bytes", total)
	}
}
