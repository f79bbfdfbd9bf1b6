package sandbox

import (
	"bytes"
	_ "embed" // the page
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/i18n"
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
}

// Say is a remark in the language of the page.
func (d pageData) Say(r Remark) string {
	return i18n.Sandbox.Text(i18n.Lang(d.Lang), i18n.Key("remark."+r.Code))
}

func (s *Server) page(r *http.Request) answer {
	report := s.Report()
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		return jsonAnswer(http.StatusOK, report)
	}
	// Portuguese unless the browser asks for English first: this is a cooperative's page.
	d := pageData{Report: report, T: map[string]string{}, Lang: string(i18n.Portuguese), Modules: moduleNames(report.NotContracted)}
	if strings.HasPrefix(strings.ToLower(r.Header.Get("Accept-Language")), "en") {
		d.Lang = string(i18n.English)
	}
	for _, name := range i18n.Sandbox.Names("page.") {
		d.T[name] = i18n.Sandbox.Text(i18n.Lang(d.Lang), i18n.Key("page."+name))
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
