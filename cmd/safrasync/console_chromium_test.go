package main

import (
	"context"
	_ "embed" // for axe
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

//go:embed testdata/axe/axe.min.js
var axe string

// chrome is a real Chromium that looks at a console.
type chrome struct {
	t    *testing.T
	base string
	ctx  context.Context

	clicks int // so far
}

// startChromium starts a browser whose data are in a folder.
func startChromium(folder string, more ...chromedp.ExecAllocatorOption) (ctx context.Context, end func(), err error) {
	options := slices.Concat(chromedp.DefaultExecAllocatorOptions[:], []chromedp.ExecAllocatorOption{
		chromedp.NoSandbox, chromedp.ExecPath("chromium"), chromedp.UserDataDir(folder),
		chromedp.Flag("lang", "pt-BR"), chromedp.Env("LANGUAGE=pt_BR"), // as the browsers of the cooperatives are
	}, more)
	allocator, closeAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closeBrowser := chromedp.NewContext(allocator)
	return ctx, func() {
		closeBrowser()
		closeAllocator()
	}, chromedp.Do(ctx)
}

// oneChromium is the browser of all tests that need no flags of their own. Each has a context of its
// own in it, with cookies and a window that no other test sees.
var oneChromium = sync.OnceValues(func() (ctx context.Context, err error) {
	folder, err := shared()
	if err == nil {
		ctx, endChromium, err = startChromium(filepath.Join(folder, "chromium"))
	}
	return ctx, err
})

// endChromium ends the browser of all tests, if one of them has started it.
var endChromium = func() {}

// newChrome opens a window of this size: in the browser of all tests, or in one with flags.
func newChrome(t *testing.T, base string, width, height int64, flags ...chromedp.ExecAllocatorOption) *chrome {
	t.Helper()
	open := oneChromium
	if len(flags) > 0 {
		open = func() (context.Context, error) {
			browser, end, err := startChromium(t.TempDir(), flags...)
			t.Cleanup(end)
			return browser, err
		}
	}
	limited, stop := context.WithTimeout(must.Get(open())(t), 3*time.Minute)
	t.Cleanup(stop)
	ctx, closeTab := chromedp.NewContext(limited, chromedp.WithNewBrowserContext())
	t.Cleanup(closeTab)
	c := &chrome{t: t, base: base, ctx: ctx}
	c.do(chromedp.EmulateViewport(width, height))
	return c
}

func (c *chrome) do(actions ...chromedp.Action[chromedp.Void]) {
	c.t.Helper()
	must.Do(c.t, chromedp.Do(c.ctx, actions...))
}

// open goes to a page. Chromium gives up what it is loading when the computer gets another network,
// as tests of several machines beside this one make them.
func (c *chrome) open(path string) {
	c.t.Helper()
	err := chromedp.Do(c.ctx, chromedp.Navigate(c.base+path))
	if err != nil && strings.Contains(err.Error(), "ERR_NETWORK_CHANGED") {
		err = chromedp.Do(c.ctx, chromedp.Navigate(c.base+path))
	}
	must.Do(c.t, err)
}

// click clicks on something that leads to another page, and waits for it.
func (c *chrome) click(selector string) {
	c.t.Helper()
	c.clicks++
	if _, err := chromedp.Run(c.ctx, chromedp.WaitEvent(page.LoadEventFired, nil,
		chromedp.Click(chromedp.CSS(selector)))); err != nil {
		c.t.Fatalf("clicking on %s: %v\n%s", selector, err, c.text())
	}
}

// press clicks on what leads to no other page.
func (c *chrome) press(selector string) {
	c.t.Helper()
	c.clicks++
	c.do(chromedp.Click(chromedp.CSS(selector)))
}

// key types a letter that leads to another page, and waits for it.
func (c *chrome) key(letter string) {
	c.t.Helper()
	typed := chromedp.WaitEvent(page.LoadEventFired, nil, chromedp.KeyEvent(letter))
	if _, err := chromedp.Run(c.ctx, typed); err != nil {
		c.t.Fatalf("typing %s: %v\n%s", letter, err, c.text())
	}
}

// writes wants a person who types to write the reason, and a key that is held since the page before to
// write nothing.
func (c *chrome) writes() {
	c.t.Helper()
	at := must.Get(chromedp.Run(c.ctx, chromedp.Evaluate[string](`document.activeElement.name || document.activeElement.tagName`)))(c.t)
	if at != "reason" {
		c.t.Errorf("who types writes into %s", at)
	}
	typed := must.Get(chromedp.Run(c.ctx, chromedp.Evaluate[bool](`document.activeElement.dispatchEvent(
		new KeyboardEvent("keydown", {key: "a", repeat: true, bubbles: true, cancelable: true}))`)))(c.t)
	if typed {
		c.t.Error("a key that is held is typed into the reason")
	}
}

// fill types into a field, in place of what it has.
func (c *chrome) fill(selector, text string) {
	c.t.Helper()
	c.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).value = ""; 0`, selector)),
		chromedp.SendKeys(chromedp.CSS(selector), text))
}

// text is what the page shows.
func (c *chrome) text() string {
	c.t.Helper()
	return must.Get(chromedp.Run(c.ctx, chromedp.Evaluate[string](`document.body.innerText`)))(c.t)
}

// shows wants texts on the page.
func (c *chrome) shows(texts ...string) {
	c.t.Helper()
	got := strings.ToLower(c.text())
	for _, text := range texts {
		if !strings.Contains(got, strings.ToLower(text)) {
			c.t.Errorf("the page does not show %q:\n%s", text, got)
		}
	}
}

// themes are what the setting of a computer asks of a page whose reader has chosen nothing.
var themes = []string{"dark", "light"}

// theme sets what the computer asks for. Nothing fades from one into the other: a colour on its way
// is neither.
func (c *chrome) theme(name string) {
	c.t.Helper()
	must.Get(chromedp.Call(c.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"},
		},
	}))(c.t)
}

// accessible wants the page without a violation of WCAG A and AA, as axe finds them, in the dark and
// in the light, and no wider than its window. Where SAFRASYNC_PICTURES names a folder, it keeps
// there what the page looks like.
func (c *chrome) accessible(name string) {
	c.t.Helper()
	c.do(chromedp.Evaluate[chromedp.Void](axe + ";0"))
	for _, theme := range themes {
		c.theme(theme)
		found, err := chromedp.Run(c.ctx, chromedp.Evaluate[string](`axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
			.then(r => r.violations.map(v => v.id + ": " + v.nodes.map(n => n.html + " " + n.failureSummary).join("\n    ")).join("\n"))`,
			chromedp.EvalAwaitPromise))
		if err != nil {
			c.t.Fatalf("%s: %v", name, err)
		}
		if found != "" {
			c.t.Errorf("%s, %s, is not for everybody:\n%s", name, theme, found)
		}
		if folder := os.Getenv("SAFRASYNC_PICTURES"); folder != "" {
			shot := must.Get(chromedp.Run(c.ctx, chromedp.CaptureScreenshot()))(c.t)
			must.Do(c.t, os.WriteFile(folder+"/"+url.PathEscape(name+" "+theme)+".png", shot, 0o600))
		}
	}
	wider, err := chromedp.Run(c.ctx,
		chromedp.Evaluate[bool](`document.documentElement.scrollWidth > document.documentElement.clientWidth`))
	if err != nil || wider {
		c.t.Errorf("%s is wider than its window (%v)", name, err)
	}
}

// complaints collects what the browser complains of: refusals of the policy, errors of scripts.
func (c *chrome) complaints() func() []string {
	c.t.Helper()
	script := `window.complaints = JSON.parse(sessionStorage.getItem("complaints") || "[]");
		const note = (text) => { window.complaints.push(text); sessionStorage.setItem("complaints",
			JSON.stringify(window.complaints)); };
		document.addEventListener("securitypolicyviolation", (e) => {
			// Pico's own icons, before the next style sheet has replaced them; package view tests that it does.
			if (e.blockedURI === "data" && document.readyState !== "complete") return;
			note([e.violatedDirective, e.blockedURI, e.documentURI, e.sourceFile].join(" "));
		});
		window.addEventListener("error", (e) => note(String(e.message)));`
	must.Get(chromedp.Call(c.ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: script}))(c.t)
	return func() []string {
		return must.Get(chromedp.Run(c.ctx, chromedp.Evaluate[[]string](`window.complaints || []`)))(c.t)
	}
}

// logIn logs in as somebody with a role.
func (c *chrome) logIn(role trade.Role) {
	c.t.Helper()
	c.open("/")
	c.do(chromedp.SendKeys(chromedp.CSS("input[name=name]"), consoletest.People[role]),
		chromedp.SendKeys(chromedp.CSS("input[name=password]"), consoletest.Password))
	c.click("article button")
	c.shows("Início")
}

// A person logs in, finds a contract by its number, and sees why it did not go; every page on the
// way is for everybody.
func TestChromiumFindsAContractAndSeesWhyItDidNotGo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := newChrome(t, d.server.URL, 1366, 768)
	complaints := c.complaints()
	c.open("/")
	c.accessible("login")
	c.logIn(trade.Accountant)
	c.accessible("home")
	row := d.rows(trade.Invalid)[0]
	_, number, _ := strings.Cut(row.Key, "|")
	c.click(`nav a[href="/rows"]`)
	c.accessible("rows")
	// the box of every page: one row has the number, so that Enter opens it
	c.do(chromedp.SendKeys(chromedp.CSS(".find input[type=search]"), strings.TrimLeft(number, "0")+"\r"),
		chromedp.WaitVisible(chromedp.CSS("#fields")))
	c.shows("O caminho até aqui", "Quem resolve", trade.Sentences(row.Error.Fields[:1], trade.Portuguese))
	c.accessible("row")
	c.press("details.others > summary")
	c.click(fmt.Sprintf(`a[href="/act/dismiss?row=%d"]`, row.ID))
	c.accessible("act")
	if list := complaints(); len(list) > 0 {
		t.Errorf("the browser complains: %s", strings.Join(list, "; "))
	}
}

// Every page is for everybody on a phone, in the light and in the dark.
func TestChromiumPagesAreForEverybody(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "lost-after@1")
	doubt, _ := d.inDoubt()
	d.candidate(likeID, "read", strings.Replace(string(doubt.Payload), `"amount":`+doubt.Quantity.Amount.String(),
		`"amount":"7"`, 1))
	c := newChrome(t, d.server.URL, 390, 844)
	complaints := c.complaints()
	c.logIn(trade.Administrator)
	sent, wrong := d.rows(trade.Accepted)[0], d.rows(trade.Invalid)[0]
	d.heard(1, "order_commitments", sent.RemoteID, "UPDATE_WORKFLOW_ORDER_COMMITMENT", "APPROVED")
	runs := must.Get(d.host.Store.Runs(t.Context(), "", 1))(t)
	pages := map[string]string{
		"home": "/", "rows": "/rows", "accepted row": fmt.Sprintf("/rows/%d", sent.ID), "users": "/users",
		"account": "/account", "licences": "/licences", "error": "/nothing", "season": "/season",
		"filter":  "/rows?" + url.Values{"state": {"needs_person"}}.Encode(),
		"no rows": "/rows?q=nowhere", "wrong row": fmt.Sprintf("/rows/%d", wrong.ID),
		"act": fmt.Sprintf("/act/dismiss?row=%d", wrong.ID), "resync": "/resync?job=" + wrong.Job,
		"pending": "/pending", "doubts": "/doubts", "doubt": fmt.Sprintf("/doubts/%d", doubt.ID),
		"changed": "/changed", "references": "/references", "wallets": "/references/wallets",
		"report": "/report?show=1", "totals": "/report?show=1&part=totals",
		"routines": "/routines", "run": "/runs/" + runs[0].ID,
		"events": "/events", "alerts": "/alerts", "audit": "/audit", "approvals": "/approvals",
		"decisions": "/decisions",
	}
	for name, path := range pages {
		c.open(path)
		c.accessible(name)
	}
	if list := complaints(); len(list) > 0 {
		t.Errorf("the browser complains: %s", strings.Join(list, "; "))
	}
}

// Who has chosen a theme has it, whatever the computer asks for.
func TestChromiumShowsTheThemeThatSomebodyChose(t *testing.T) {
	t.Parallel()
	c := newChrome(t, newDesk(t).server.URL, 390, 844)
	c.logIn(trade.Reader)
	for i, theme := range themes {
		c.open("/account")
		c.do(chromedp.SetValue(chromedp.CSS("select[name=theme]"), theme))
		c.click(".preferences button")
		seen := map[string]bool{}
		for _, asked := range themes {
			c.theme(asked)
			seen[must.Get(chromedp.Run(c.ctx, chromedp.Evaluate[string](
				`getComputedStyle(document.documentElement).getPropertyValue("--surface").trim()`)))(t)] = true
		}
		if want := []string{"#171d24", "#ffffff"}[i]; len(seen) != 1 || !seen[want] {
			t.Errorf("%s has the surfaces %v, want %s", theme, seen, want)
		}
	}
}

// A download leaves the page where it is: the next one works as well.
func TestChromiumDownloadsTwoFilesInARow(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := newChrome(t, d.server.URL, 1280, 800)
	c.logIn(trade.Accountant)
	c.open("/report?show=1")
	for _, format := range []string{"csv", "xlsx", "csv"} {
		c.download("button[value=" + format + "]")
	}
	c.shows("Planilha (XLSX)")
}

// At 1280 pixels no number and no day of a report is broken over two lines, all are written as
// people here write them, no table is wider than the page, and on a phone a line is a card.
func TestChromiumReportIsReadAt1280Pixels(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	c := newChrome(t, d.server.URL, 1280, 800)
	c.logIn(trade.Accountant)
	for _, path := range []string{
		"/report?show=1", "/report?show=1&unit=money", "/report?show=1&single=1&part=contracts", "/season",
		fmt.Sprintf("/rows/%d", d.rows(trade.Accepted)[0].ID),
		"/routines", "/",
	} {
		c.open(path)
		broken, err := chromedp.Run(c.ctx, chromedp.Evaluate[string](`(() => {
			const wrong = [];
			for (const cell of document.querySelectorAll("td, dd, time")) {
				const main = cell.querySelector("small") ? cell.firstChild : cell;
				const text = (main.innerText ?? main.textContent).trim();
				if (!/^(−?[\d.,]+( (kg|t|sc))?|R\$ .*|\d\d\/\d\d\/\d{4}( \d\d:\d\d)?)$/.test(text)) {
					if (/\b\d{4}-\d\d-\d\d\b/.test(text) &&
						!cell.closest("pre, code, .code")) wrong.push("a day as machines write it: " + text);
					continue;
				}
				const range = document.createRange();
				range.selectNodeContents(main);
				const lines = new Set([...range.getClientRects()].filter((r) => r.width > 0)
					.map((r) => Math.round(r.top)));
				if (lines.size > 1) wrong.push("broken: " + text);
				if (cell.classList.contains("number") && !/^(−?\d{1,3}(\.\d{3})*(,\d+)?( (kg|t|sc))?|R\$ .*)$/.test(text)) wrong.push("not as people write it: " + text);
			}
			return wrong.join("\n");
		})()`))
		if err != nil || broken != "" {
			t.Errorf("%s: %v\n%s", path, err, broken)
		}
		c.accessible(path)
	}
	c.open("/report?show=1&harvest=")
	c.shows("132,03", "R$", "no ERP", "Diferença")
	c.open("/report?show=1&single=1&part=contracts")
	c.shows("R$ 225.900,00", "10/03/2026")
	for _, width := range []int64{1280, 390} {
		c.do(chromedp.EmulateViewport(width, 800))
		for _, part := range []string{"summary", "totals", "contracts", "divergences"} {
			c.open("/report?show=1&single=1&part=" + part)
			wrong, err := chromedp.Run(c.ctx, chromedp.Evaluate[string](fmt.Sprintf(`(() => {
				const shown = [...document.querySelectorAll(".tab")].filter((t) => t.offsetHeight > 0).map((t) => t.id);
				if (shown.join() !== %[1]q) return "shown are " + shown;
				const box = document.querySelector("#%[1]s .scroll");
				if (!box) return "";
				if (box.scrollWidth > box.clientWidth) return "the table is wider than the page";
				if (box.querySelectorAll("th").length > 8) return "there are more than eight columns";
				const cell = box.querySelector("tbody td:nth-child(2)");
				const label = getComputedStyle(cell, "::before").content;
				const cards = innerWidth < 800 && box.querySelector("table.cards");
				return (label === "none") === !cards ? "" : "the label of a cell is " + label;
			})()`, part)))
			if err != nil || wrong != "" {
				t.Errorf("%s at %d pixels: %s (%v)", part, width, wrong, err)
			}
		}
	}
	c.accessible("report as cards")
}

// No figure ends in an ellipsis at 1280 pixels or is broken, and no page is wider than a phone: a sum
// whose last figures are missing is read as another one. A ledger of a million rows has the largest.
func TestChromiumCutsNoFigure(t *testing.T) {
	t.Parallel()
	d := newDemoDesk(t)
	c := newChrome(t, d.server.URL, 1280, 800)
	c.logIn(trade.Administrator)
	for _, path := range []string{"/", "/rows", "/rows?job=contracts", "/changed", "/routines", "/pending"} {
		c.do(chromedp.EmulateViewport(1280, 800))
		c.open(path)
		cut, err := chromedp.Run(c.ctx, chromedp.Evaluate[string](`(() => {
			for (const [cells, figure] of [
				[".rows > tfoot td[colspan]", "66.250.140,037"], [".runs td.number", "1.000.000"],
				[".causes td.short", "466.715.191"], [".causes td:is(.money, .other)", "172.210.098.648"]])
				for (const cell of document.querySelectorAll(cells)) cell.textContent = figure;
			return [...document.querySelectorAll("td.number, th.number")].filter((cell) => {
				const lines = document.createRange();
				lines.selectNodeContents(cell);
				const tops = new Set([...lines.getClientRects()].map((line) => Math.round(line.top / 8)));
				const one = cell.matches("td") &&
					!cell.querySelector("br, small, span") && /^[^a-z]*t?$/.test(cell.textContent.trim());
				return cell.scrollWidth > cell.clientWidth || one && tops.size > 1;
			}).map((cell) => cell.textContent.trim()).join("\n");
		})()`))
		if err != nil || cut != "" {
			t.Errorf("%s cuts (%v)\n%s", path, err, cut)
		}
		c.do(chromedp.EmulateViewport(390, 844))
		c.accessible(path + " 390")
		if path != "/rows" {
			continue
		}
		unit, err := chromedp.Run(c.ctx, chromedp.Evaluate[string](
			`getComputedStyle(document.querySelector(".lines td[title].number:not(.money)"), "::after").content`))
		if err != nil || unit != `" t"` {
			t.Errorf("a weight of %s has the unit %s on a phone (%v)", path, unit, err)
		}
	}
}
