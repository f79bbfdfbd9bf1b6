package main

import (
	"bytes"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// ids gives headings the names that GitHub gives them, which the links of the pages use.
type ids map[string]bool

// Generate returns the name of a heading.
func (s ids) Generate(value []byte, _ ast.NodeKind) []byte {
	slug := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.TrimSpace(string(value)))
	id := slug
	for i := 1; s[id]; i++ {
		id = fmt.Sprintf("%s-%d", slug, i)
	}
	s[id] = true
	return []byte(id)
}

// Put notes a name that is given already.
func (s ids) Put(value []byte) { s[string(value)] = true }

// render makes a page of its source: title, lead, body, headings and what the search finds. Titles are
// those of all pages, by their place in the site.
func (p *page) render(root string, source []byte, titles map[string]string) error {
	source = picture.ReplaceAllFunc(source, arrows)
	if p.Other != "" { // the head of each page of the site leads to the other language
		source = twin.ReplaceAll(source, nil)
	}
	doc := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(ids{}))))
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			err := p.lead(root, &n.Destination)
			if title := titles[string(n.Destination)]; title != "" && strings.HasSuffix(plain(n, source), ".md") {
				n.RemoveChildren(n)
				n.AppendChild(n, ast.NewString([]byte(title)))
			}
			return ast.WalkContinue, err
		case *ast.Image:
			return ast.WalkContinue, p.lead(root, &n.Destination)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return err
	}
	p.findSections(doc, source)
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, doc); err != nil {
		return err
	}
	p.Body = template.HTML(b.String())
	return nil
}

// lead turns a link of a page in the repository into one of the site.
func (p *page) lead(root string, to *[]byte) error {
	target, anchor, hasAnchor := strings.Cut(string(*to), "#")
	if target == "" || strings.Contains(target, "://") {
		return nil
	}
	source := path.Join(path.Dir(p.Source), target)
	there := siteOf(source)
	if there == "" {
		return fmt.Errorf("the site has no %s", source)
	}
	if info, err := os.Stat(filepath.Join(root, filepath.FromSlash(source))); err != nil {
		return err
	} else if info.IsDir() {
		there += "/index.html"
	}
	if hasAnchor {
		there += "#" + anchor
	}
	*to = []byte(there)
	return nil
}

// findSections takes lead and headings from a document, and its text by headings.
func (p *page) findSections(doc ast.Node, source []byte) {
	now := section{File: p.File, Page: p.Title}
	keep := func() {
		now.Text = strings.TrimSpace(now.Text)
		if now.Text != "" || now.Heading != "" {
			p.sections = append(p.sections, now)
		}
	}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		h, isHeading := n.(*ast.Heading)
		words := plain(n, source)
		switch {
		case isHeading && h.Level == 1: // the title
		case isHeading:
			keep()
			id, _ := h.AttributeString("id")
			name, _ := id.([]byte)
			now = section{File: p.File + "#" + string(name), Page: p.Title, Heading: words}
			if h.Level == 2 {
				p.Headings = append(p.Headings, heading{string(name), words})
			}
		default:
			if p.Lead == "" && n.Kind() == ast.KindParagraph {
				p.Lead = firstSentence(words)
			}
			now.Text += words + "\n"
		}
	}
	keep()
}

// twin is what the first paragraph of a source says of the other language.
var twin = regexp.MustCompile(`\s\((?:in English|em português):\s\[[^]]*\]\([^)]*\)\)`)

// firstSentence of a page says for whom it is, or what is on it.
func firstSentence(words string) string {
	sentence, _, _ := strings.Cut(words, ". ")
	return strings.TrimRight(sentence, ".:")
}

// plain is the text of a node, without marks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(n.Value)
			}
		case *ast.AutoLink:
			if entering {
				b.Write(n.Label(source))
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				for i := range n.Lines().Len() {
					line := n.Lines().At(i)
					b.Write(line.Value(source))
				}
			}
		default:
			if !entering && n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

var (
	picture = regexp.MustCompile("(?ms)^```mermaid\n(.*?)^```$")
	move    = regexp.MustCompile(`(?m)^\s*(\S+) --> (\S+): (.*)$`)
)

// arrows turns a picture of states, which needs a program to be drawn, into a table of its arrows.
func arrows(block []byte) []byte {
	var b bytes.Buffer
	b.WriteString("| | → | |\n|---|---|---|\n")
	for _, m := range move.FindAllSubmatch(block, -1) {
		from := strings.Replace(string(m[1]), "[*]", "•", 1)
		fmt.Fprintf(&b, "| %s | %s | %s |\n", from, m[2], m[3])
	}
	return b.Bytes()
}
