package console

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"

	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// request is one request that has passed the guard, and its answer.
type request struct {
	*http.Request
	w      http.ResponseWriter
	sent   http.ResponseWriter // the server's own, for its limits
	c      *Console
	id     string
	from   string // address of the browser
	secret string // of the login, as the browser holds it
	login  *trade.Login
	lang   trade.Lang
	theme  string
	wrote  bool
}

// frame is what every page has around it.
type frame struct {
	voice
	Page   string // name of its template
	Name   string // of the installation
	User   *trade.User
	Token  string
	Path   string
	Theme  string
	Asset  assets
	Bare   bool // a part of a page, for htmx
	Told   string
	Titles trade.Titles
	By     string // what people know the issuer by; "" = there is none
	Data   any
}

// May tells a template whether the person may use what needs a role, so that it need not be
// offered. The guard decides.
func (f frame) May(role string) bool { return f.User != nil && f.User.Role.May(trade.Role(role)) }

// person is who asks, for the audit.
func (q *request) person(reason string) engine.Person {
	return engine.Person{Name: q.login.User.Name, From: "console " + q.from, Reason: strings.TrimSpace(reason)}
}

// record begins a record of the audit about what this person does.
func (q *request) record(act, target, reason, detail string) trade.AuditRecord {
	who := "?"
	if q.login != nil {
		who = q.login.User.Name
	}
	return trade.AuditRecord{
		At: q.c.Now(), Who: who, From: "console " + q.from, Act: act, Target: target,
		Reason: reason, Detail: detail,
	}
}

// page answers with a page: the template of that name, in its frame.
func (q *request) page(status int, name string, data any) error {
	f := frame{
		voice: voice{q.lang, q.c.Zone, q.c.Now()}, Page: name, Name: q.c.Name, Path: q.URL.Path, Theme: q.theme,
		Asset: asset, Data: data,
		Bare: q.Header.Get("HX-Request") == "true" && q.Header.Get("HX-Boosted") == "" &&
			q.Header.Get("HX-Target") == "part",
	}
	if q.c.OpenID != nil {
		f.By = q.c.OpenID.Label
	}
	if q.login != nil {
		f.User, f.Token, f.Titles = &q.login.User, q.token(), titlesOf(q)
		f.Told = q.told()
	}
	var b bytes.Buffer
	if err := q.c.pages.execute(&b, f); err != nil {
		return err
	}
	q.wrote = true
	q.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	q.w.WriteHeader(status)
	if q.Method != http.MethodHead {
		_, _ = q.w.Write(b.Bytes()) // the browser has gone
	}
	return nil
}

// redirect sends the browser to a path of ours after something was done.
func (q *request) redirect(path string) error {
	q.wrote = true
	http.Redirect(q.w, q.Request, path, http.StatusSeeOther)
	return nil
}

// local is a path to go on to that a browser named, if it is one of ours; else the first page
// (C10).
func local(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" ||
		!strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") ||
		strings.ContainsAny(next, "\\\r\n\t") || strings.HasPrefix(next, "//") {
		return "/"
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).String()
}
