package sandbox

import (
	"bytes"
	_ "embed" // the page
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"
)

//go:embed page.html
var pageSource string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"time": func(t time.Time) string { return t.Format("2006-01-02 15:04:05") },
}).Parse(pageSource))

// maxShown is how many of each the page lists; the report has more.
const maxShown = 200

// pageData is what the template gets.
type pageData struct {
	Report
	T        map[string]string // words
	Lang     string
	Modules  string
	Twice    int // records beyond the first of each group
	Newest   []ShownRecord
	Last     []Request
	Sent     []Delivery
	Problems int // deliveries that failed
	pt       bool
}

// Say is a remark in the language of the page.
func (d pageData) Say(r Remark) string {
	if d.pt {
		return remarkWords[r.Code].pt
	}
	return remarkWords[r.Code].en
}

func (s *Server) page(r *http.Request) answer {
	report := s.Report()
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		return jsonAnswer(http.StatusOK, report)
	}
	// Portuguese unless the browser asks for English first: this is a cooperative's page.
	d := pageData{Report: report, T: map[string]string{}, Lang: "pt-BR", Modules: moduleNames(report.NotContracted)}
	d.pt = !strings.HasPrefix(strings.ToLower(r.Header.Get("Accept-Language")), "en")
	if !d.pt {
		d.Lang = "en"
	}
	for name, words := range pageWords {
		d.T[name] = words.en
		if d.pt {
			d.T[name] = words.pt
		}
	}
	for _, group := range report.MadeTwice {
		d.Twice += len(group) - 1
	}
	for _, sent := range report.Deliveries {
		if sent.Done && !sent.OK {
			d.Problems++
		}
	}
	d.Newest, d.Last, d.Sent = newest(report.Records), newest(report.Requests), newest(report.Deliveries)
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, d); err != nil {
		return trouble(http.StatusInternalServerError, err)
	}
	a := newAnswer(http.StatusOK, "text/html; charset=utf-8", b.Bytes())
	a.header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'")
	return a
}

// newest are the last, newest first.
func newest[T any](all []T) []T {
	out := slices.Clone(all[max(0, len(all)-maxShown):])
	slices.Reverse(out)
	return out
}
