package httpapi

import (
	"bytes"
	_ "embed" // the document and its page
	"encoding/json"
	"html/template"
	"net/http"
	"slices"
	"strings"
)

//go:embed openapi.json
var document []byte

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// described is the part of the document that the page shows.
type described struct {
	OpenAPI string `json:"openapi"`
	Info    struct {
		Title, Description, Version string
	} `json:"info"`
	Paths map[string]map[string]struct {
		Summary, Description string
		Scope                string `json:"x-scope"`
		Responses            map[string]struct {
			Description string
			Ref         string `json:"$ref"`
		}
		RequestBody struct {
			Content map[string]struct{ Example json.RawMessage }
		} `json:"requestBody"`
	} `json:"paths"`
	Components struct {
		Responses map[string]struct{ Description string }
	} `json:"components"`
}

// document serves the description of the API, which is not secret.
func (a *API) document(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(a.described(r))
}

// described returns the document. The version of the program is only for whoever has a token.
func (a *API) described(r *http.Request) []byte {
	version := "v1"
	if _, ok := find(a.Tokens, r); ok {
		version = a.Version
	}
	return bytes.Replace(document, []byte(`"VERSION"`), []byte(`"`+version+`"`), 1)
}

// operation is one row of the page.
type operation struct {
	Method, Path, Summary, Description, Scope, Body string
	Answers                                         [][2]string
}

// page serves the document as a page for people.
func (a *API) page(w http.ResponseWriter, r *http.Request) {
	var d described
	if err := json.Unmarshal(a.described(r), &d); err != nil {
		a.broken(w, r, err)
		return
	}
	var operations []operation
	for path, methods := range d.Paths {
		for method, o := range methods {
			row := operation{
				Method: strings.ToUpper(method), Path: path,
				Summary: o.Summary, Description: o.Description, Scope: o.Scope,
				Body: string(o.RequestBody.Content["application/json"].Example),
			}
			for status, answer := range o.Responses {
				text := answer.Description
				if name, shared := strings.CutPrefix(answer.Ref, "#/components/responses/"); shared {
					text = d.Components.Responses[name].Description
				}
				row.Answers = append(row.Answers, [2]string{status, text})
			}
			slices.SortFunc(row.Answers, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
			operations = append(operations, row)
		}
	}
	slices.SortFunc(operations, func(a, b operation) int { return strings.Compare(a.Path, b.Path) })
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = page.Execute(w, struct { // the caller may be gone
		described
		Operations []operation
	}{d, operations})
}
