package view

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/trade"
)

//go:embed templates
var templates embed.FS

// pages are the templates by the name of their page, each with the layout and the shared parts. A
// faulty template is a fault of the program, which the tests find.
var pages = sync.OnceValue(func() map[string]*template.Template {
	out := map[string]*template.Template{}
	names, err := fs.Glob(templates, "templates/*.html")
	if err != nil {
		panic(err)
	}
	for _, file := range names {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if name == "layout" || name == "parts" || name == "pictures" {
			continue
		}
		out[name] = template.Must(template.New("layout.html").Option("missingkey=error").Funcs(
			template.FuncMap{"dict": dict, "list": list, "mask": Mask, "whole": whole, "id": remoteID}).
			ParseFS(templates, "templates/layout.html", "templates/parts.html", "templates/pictures.html", file))
	}
	return out
})

// Execute writes a page, or only its part for htmx.
func Execute(w io.Writer, f Frame) error {
	name := "layout.html"
	if t := pages()[f.Page]; f.Bare != "" && t != nil && t.Lookup(f.Bare) != nil {
		name = f.Bare
	}
	return Part(w, name, f)
}

// Part writes one part of a page.
func Part(w io.Writer, name string, f Frame) error {
	t := pages()[f.Page]
	if t == nil {
		return fmt.Errorf("there is no page %q", f.Page)
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, name, f); err != nil {
		return err
	}
	_, err := io.WriteString(w, trade.Visible(b.String()))
	return err
}

// dict passes several values to a part: {{template "x" dict "Page" $ "Row" .}}.
func dict(pairs ...any) (map[string]any, error) {
	out := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: %v is no name", pairs[i])
		}
		out[name] = pairs[i+1]
	}
	return out, nil
}

// unbroken is an id, or a document number with its points, masked or not.
var unbroken = regexp.MustCompile(`[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[\d*]{2,3}\.[\d*]{3}\.[\d*]{3}[-/\d*]+`)

// whole returns a text whose document numbers are not broken over two lines, with ids by their beginning.
func whole(text string) template.HTML {
	var out strings.Builder
	done := 0
	for _, at := range unbroken.FindAllStringIndex(text, -1) {
		part := markup(`<span class="whole">%v</span>`, text[at[0]:at[1]])
		if uuid.Validate(text[at[0]:at[1]]) == nil {
			part = remoteID(text[at[0]:at[1]])
		}
		out.WriteString(template.HTMLEscapeString(text[done:at[0]]) + string(part))
		done = at[1]
	}
	return template.HTML(out.String() + template.HTMLEscapeString(text[done:])) // each part is escaped
}

// list joins the names of fields with commas.
func list(f Frame, fields []string) string {
	return strings.Join(trade.Map(fields, f.FieldName), ", ")
}
