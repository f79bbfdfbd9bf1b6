package console

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"path"
	"strings"
)

//go:embed templates
var templates embed.FS

// pages are the templates by the name of their page, each with the layout around it and the parts
// that several have.
type pages map[string]*template.Template

// parsePages reads the templates. A wrong one is a fault of the program, which the tests find.
func parsePages() pages {
	out := pages{}
	names, err := fs.Glob(templates, "templates/*.html")
	if err != nil {
		panic(err)
	}
	for _, file := range names {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if name == "layout" || name == "parts" {
			continue
		}
		out[name] = template.Must(template.New("layout.html").Option("missingkey=error").Funcs(
			template.FuncMap{"dict": dict, "deref": deref, "text": text, "list": list, "mask": maskText}).
			ParseFS(templates, "templates/layout.html", "templates/parts.html", file))
	}
	return out
}

// execute writes a page, or only its part for htmx.
func (p pages) execute(w io.Writer, f frame) error {
	t := p[f.Page]
	if t == nil {
		return fmt.Errorf("there is no page %q", f.Page)
	}
	name := "layout.html"
	if f.Bare && t.Lookup("part") != nil {
		name = "part"
	}
	return t.ExecuteTemplate(w, name, f)
}

// dict gives a part several values: {{template "x" dict "Page" $ "Row" .}}.
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

// deref gives what a pointer points to.
func deref(n *int) int { return *n }

// text gives the text that a pointer points to.
func text(s *string) string { return *s }

// list names fields one after the other.
func list(f frame, fields []string) string {
	names := make([]string, len(fields))
	for i, name := range fields {
		names[i] = f.FieldName(name)
	}
	return strings.Join(names, ", ")
}
