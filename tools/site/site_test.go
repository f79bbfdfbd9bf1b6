package main

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

const repository = "../.."

// site builds the site of this tree.
func site(t *testing.T) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "site")
	must.Do(t, build(repository, out))
	return out
}

var (
	attribute = regexp.MustCompile(`<(\w+)[^>]*?\s(href|src|action|srcset|poster|data)="([^"]*)"`)
	named     = regexp.MustCompile(`\sid="([^"]*)"`)
)

// Every link of every page leads to a file of the site, and to a place in it; what a page loads stands
// beside it.
func TestEveryLinkHoldsAndNothingComesFromOutside(t *testing.T) {
	t.Parallel()
	out := site(t)
	places := map[string][]string{} // the names in each page
	must.Do(t, filepath.WalkDir(out, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel := filepath.ToSlash(must.Get(filepath.Rel(out, file))(t))
		text := string(must.Get(os.ReadFile(file))(t))
		places[rel] = nil
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			places[rel] = append(places[rel], m[1])
		}
		if name := path.Base(rel); name == "site.css" || name == "search.js" {
			for _, way := range []string{"://", "url(", "@import", "fetch", "XMLHttpRequest", "import("} {
				if strings.Contains(text, way) {
					t.Errorf("%s has %s", rel, way)
				}
			}
		}
		return nil
	}))
	links := 0
	for page := range places {
		if path.Ext(page) != ".html" {
			continue
		}
		text := string(must.Get(os.ReadFile(filepath.Join(out, page)))(t))
		if strings.Contains(text, "<style") || strings.Contains(text, " style=") || strings.Contains(text, "<iframe") {
			t.Errorf("%s has a style or a frame of its own", page)
		}
		for _, m := range attribute.FindAllStringSubmatch(text, -1) {
			to := must.Get(url.Parse(strings.ReplaceAll(m[3], "&amp;", "&")))(t)
			if to.Scheme != "" || to.Host != "" {
				if m[1] != "a" {
					t.Errorf("%s loads %s", page, m[3])
				}
				continue
			}
			links++
			there := page
			if to.Path != "" {
				there = path.Join(path.Dir(page), to.Path)
			}
			names, ok := places[there]
			if !ok || to.Fragment != "" && !slices.Contains(names, to.Fragment) {
				t.Errorf("%s: %s leads nowhere", page, m[3])
			}
		}
	}
	if links < 500 {
		t.Errorf("%d links", links)
	}
}

// Each page of docs/ is on the first page of each language, once: in that language if it is written in it.
func TestEveryPageIsOnTheFirstPageOfBothLanguages(t *testing.T) {
	t.Parallel()
	out := site(t)
	for _, c := range []struct{ entrance, other string }{{"index.html", ".html"}, {"index.en.html", ".pt-BR.html"}} {
		text := string(must.Get(os.ReadFile(filepath.Join(out, c.entrance)))(t))
		for _, source := range must.Get(filepath.Glob(repository + "/docs/*.md"))(t) {
			english := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(source), ".md"), ".pt-BR")
			n := strings.Count(text, `"`+english+`.html"`) + strings.Count(text, `"`+english+`.pt-BR.html"`)
			_, err := os.Stat(filepath.Join(out, english+c.other))
			wrong := strings.Contains(text, `"`+english+c.other+`"`) && err == nil && twins(out, english)
			if n != 1 || wrong {
				t.Errorf("%s has %s %d times, or in the other language", c.entrance, english, n)
			}
		}
	}
	page := string(must.Get(os.ReadFile(filepath.Join(out, "concepts.pt-BR.html")))(t))
	for _, want := range []string{
		`<html lang="pt-BR">`, `href="concepts.html" hreflang="en"`, `<h2 id="as-situações-de-uma-linha">`,
		`<td>pending</td>`, `href="decisions.pt-BR.html"`, `<a href="#palavras">Palavras</a>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("concepts.pt-BR.html has no %s", want)
		}
	}
	if strings.Contains(page, "in English:") {
		t.Error("concepts.pt-BR.html has two links to the other language")
	}
}

func twins(out, english string) bool {
	_, a := os.Stat(filepath.Join(out, english+".html"))
	_, b := os.Stat(filepath.Join(out, english+".pt-BR.html"))
	return errors.Join(a, b) == nil
}

// A real browser finds words in files, without a server: with other accents and cases, in headings
// first, and by their beginnings.
func TestTheSearchFindsAWordInBothLanguages(t *testing.T) {
	t.Parallel()
	out := site(t)
	first := regexp.MustCompile(`<ol id="found" class="list">(?:<li><a href="([^"]*)")?`)
	for _, c := range []struct{ page, query, want string }{
		{"busca.html", "CONFIGURACAO campos", "configuration.pt-BR.html#campos"},
		{"busca.html", "trava liberar", "operation.pt-BR.html#travas"},
		{"busca.html", "<b>xyzzy</b>", ""},
		{"search.html", "safrasync_heartbeats_total", "operation.html#monitoring"},
	} {
		address := url.URL{
			Scheme: "file", Path: filepath.ToSlash(filepath.Join(out, c.page)),
			RawQuery: url.Values{"q": {c.query}}.Encode(),
		}
		browser := exec.Command("chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
			"--disable-dev-shm-usage", "--user-data-dir="+t.TempDir(), "--dump-dom", address.String())
		text, err := browser.Output()
		if err != nil {
			t.Fatalf("chromium (.ci/need-chromium): %v", err)
		}
		m := first.FindSubmatch(text)
		if m == nil || string(m[1]) != c.want {
			t.Errorf("%q finds %q first, want %q\n%.600s", c.query, m, c.want, text)
		}
	}
}

// A link that leads nowhere ends the build.
func TestALinkThatLeadsNowhereIsAFault(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"[x](../go.mod)": "the site has no go.mod", "[x](none.md)": "none.md: no such file",
	} {
		p := &page{Source: "docs/erp.md", File: "erp.html"}
		if err := p.render(repository, []byte(source), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", source, err, want)
		}
	}
}
