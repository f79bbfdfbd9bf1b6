package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed page.html list.html search.html site.css search.js
var own embed.FS

var templates = template.Must(template.ParseFS(own, "*.html"))

const portuguese = ".pt-BR.md"

// order is that of the menu; pages that are not here follow by name.
var order = []string{
	"concepts", "install", "operation", "configuration", "recipes", "erp", "decisions", "reconciliation", "webhooks",
	"json", "ledger-sql", "versions", "architecture", "reliability", "performance",
}

// besides are pages of the top folder to which those of docs/ lead.
var besides = []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"}

// copied are files and folders to which pages lead, by their path in the repository and in the site.
var copied = map[string]string{
	"config.example.yaml": "config.example.yaml", "docs/images": "images", "docs/examples": "examples",
}

// page is one page of the site.
type page struct {
	Source, File string // its path in the repository, and its name in the site
	Language     string // pt-BR or en
	Other        string // the same page in the other language, if there is one
	Title, Lead  string
	Body         template.HTML
	Headings     []heading // those of the second level
	sections     []section
}

type heading struct{ ID, Text string }

// section is what the search finds: a heading with the text below it.
type section struct {
	File, Page, Heading, Text string
}

// siteOf is the name in the site of a file of the repository, or "".
func siteOf(source string) string {
	dir, name := path.Split(source)
	if strings.HasSuffix(name, ".md") && (dir == "docs/" || slices.Contains(besides, source)) {
		return strings.TrimSuffix(name, ".md") + ".html"
	}
	for from, to := range copied {
		if source == from {
			return to
		}
		if rest, ok := strings.CutPrefix(source, from+"/"); ok {
			return to + "/" + rest
		}
	}
	return ""
}

// build writes the site of a repository into a folder, which it makes anew.
func build(root, out string) error {
	pages, err := read(root)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for from, to := range copied {
		if err := copyAll(filepath.Join(root, from), filepath.Join(out, to)); err != nil {
			return err
		}
	}
	for _, name := range []string{"site.css", "search.js"} {
		text, err := own.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(out, name), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	if err := lists(out); err != nil {
		return err
	}
	for _, p := range pages {
		if err := write(out, p.File, "page.html", view{Page: p, Menu: menu(pages, p.Language)}); err != nil {
			return err
		}
	}
	for _, language := range []string{"pt-BR", "en"} {
		if err := entrance(out, pages, language); err != nil {
			return err
		}
	}
	return nil
}

// read renders all pages of a repository.
func read(root string) ([]*page, error) {
	sources := slices.Clone(besides)
	found, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(found) == 0 {
		return nil, errors.Join(err, fmt.Errorf("%d pages in %s", len(found), filepath.Join(root, "docs")))
	}
	for _, file := range found {
		sources = append(sources, "docs/"+filepath.Base(file))
	}
	var pages []*page
	texts, titles := map[string][]byte{}, map[string]string{}
	for _, source := range sources {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(source)))
		if err != nil {
			return nil, err
		}
		p := &page{Source: source, File: siteOf(source), Language: "en"}
		other := strings.TrimSuffix(source, ".md") + portuguese
		if english, ok := strings.CutSuffix(source, portuguese); ok {
			p.Language, other = "pt-BR", english+".md"
		}
		if slices.Contains(sources, other) {
			p.Other = siteOf(other)
		}
		p.Title = strings.TrimSuffix(path.Base(source), ".md") // of a page without a title
		if line, _, _ := bytes.Cut(text, []byte("\n")); bytes.HasPrefix(line, []byte("# ")) {
			p.Title = strings.ReplaceAll(string(line[2:]), "`", "")
		}
		texts[source], titles[p.File] = text, p.Title
		pages = append(pages, p)
	}
	for _, p := range pages {
		if err := p.render(root, texts[p.Source], titles); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Source, err)
		}
	}
	slices.SortStableFunc(pages, func(a, b *page) int { return place(a) - place(b) })
	return pages, nil
}

// place is that of a page in the menu.
func place(p *page) int {
	name, _, _ := strings.Cut(path.Base(p.Source), ".")
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	if i := slices.Index(besides, p.Source); i >= 0 {
		return 2*len(order) + i
	}
	return len(order)
}

// menu has each page once: in the language, else in the one in which it is.
func menu(pages []*page, language string) []*page {
	var out []*page
	for _, p := range pages {
		if p.Language == language || p.Other == "" {
			out = append(out, p)
		}
	}
	return out
}

// view is what a template shows.
type view struct {
	Page *page
	Menu []*page
	Root string // the way from the page to the top of the site
}

// Say chooses the language of a page.
func (v view) Say(inPortuguese, inEnglish string) string {
	if v.Page.Language == "pt-BR" {
		return inPortuguese
	}
	return inEnglish
}

// Foreign says in which language a page of the menu is, if not in that of this one.
func (v view) Foreign(p *page) string {
	switch {
	case p.Language == v.Page.Language:
		return ""
	case p.Language == "en":
		return "em inglês"
	}
	return "in Portuguese"
}

// Home and Search are the entrance and the search of the language.
func (v view) Home() string   { return v.Say("index.html", "index.en.html") }
func (v view) Search() string { return v.Say("busca.html", "search.html") }

// Index is the index of the search.
func (v view) Index() string { return v.Say("busca.js", "search.en.js") }

// entrance writes the first page of a language and its search, with the index of the pages of its menu.
func entrance(out string, pages []*page, language string) error {
	first := &page{Language: language, File: "index.html", Other: "index.en.html", Title: "safrasync"}
	search := &page{Language: language, File: "busca.html", Other: "search.html", Title: "Busca"}
	if language == "en" {
		first.File, first.Other = first.Other, first.File
		search.File, search.Other, search.Title = search.Other, search.File, "Search"
	}
	v := view{Page: first, Menu: menu(pages, language)}
	var sections []section
	for _, p := range v.Menu {
		sections = append(sections, p.sections...)
	}
	index, err := json.Marshal(sections)
	if err != nil {
		return err
	}
	script := append([]byte("const sections = "), index...)
	if err := os.WriteFile(filepath.Join(out, v.Index()), append(script, ";\n"...), 0o644); err != nil {
		return err
	}
	if err := write(out, first.File, "list.html", v); err != nil {
		return err
	}
	v.Page = search
	return write(out, search.File, "search.html", v)
}

// write executes a template into a file of the site.
func write(out, file, name string, v view) error {
	var b bytes.Buffer
	v.Root = strings.Repeat("../", strings.Count(file, "/"))
	if err := templates.ExecuteTemplate(&b, name, v); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, filepath.FromSlash(file)), b.Bytes(), 0o644)
}

func copyAll(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

// lists gives each folder of examples a page that lists it: pages lead to folders, too.
func lists(out string) error {
	for _, folder := range []string{"examples", "examples/cases"} {
		entries, err := os.ReadDir(filepath.Join(out, folder))
		if err != nil {
			return err
		}
		p := &page{Language: "pt-BR", File: folder + "/index.html", Title: folder}
		v := view{Page: p}
		for _, e := range entries {
			name := e.Name()
			if e.IsDir() {
				name += "/index.html"
			}
			v.Menu = append(v.Menu, &page{Language: "pt-BR", File: name, Title: e.Name()})
		}
		if err := write(out, p.File, "list.html", v); err != nil {
			return err
		}
	}
	return nil
}
