package web

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/trade"
)

// Site is what all requests of a console share.
type Site struct {
	Name        string         // of the installation
	Environment string         // name of an installation that does not count; "" = it does
	Lang        trade.Lang     // for people who have not chosen one
	Zone        *time.Location // of the cooperative
	Secure      bool           // browsers reach it by TLS, of the console or of the proxy
	Issuer      string         // name of the login provider for people; "" = none
	Now         func() time.Time
	Log         *zap.Logger
	// Refused counts requests for which there was no place or time. The log has no line for each.
	Refused func(cause string, err error)
	// Waiting counts what waits for a person on each page of the menu, by its path.
	Waiting func(context.Context, *trade.User) map[string]int
	Titles  func(trade.Lang) trade.Titles // of the jobs
}

// Request is one request that has passed the guard, and its answer.
type Request struct {
	*http.Request
	Writer   http.ResponseWriter
	Site     *Site
	ID       string // number of the answer, also in the log
	From     string // address of the browser
	Secret   string // secret of the login, from the browser's cookie
	Login    *trade.Login
	Lang     trade.Lang
	Answered bool            // the answer has begun
	Ending   <-chan struct{} // closed when the console ends; for streams
	theme    string
}

// NewRequest returns a request with language and theme read from its cookies.
func NewRequest(site *Site, w http.ResponseWriter, r *http.Request, id string) *Request {
	q := &Request{Request: r, Writer: w, Site: site, ID: id, Lang: site.Lang}
	if lang := trade.Lang(q.CookieValue(cookieLang)); lang == trade.English || lang == trade.Portuguese {
		q.Lang = lang
	}
	if theme := q.CookieValue(cookieTheme); theme == "light" || theme == "dark" {
		q.theme = theme
	}
	return q
}

// May reports whether the person has a role, or a higher one.
func (q *Request) May(role trade.Role) bool { return q.Login.User.Role.May(role) }

// Person returns the person of the request, who orders something for a reason.
func (q *Request) Person(reason string) trade.Person {
	who := trade.Person{Name: "?", From: "console " + q.From, Reason: strings.TrimSpace(reason)}
	if q.Login != nil {
		who.Name, who.Role = q.Login.User.Name, q.Login.User.Role
	}
	return who
}

// Record returns an audit record of what this person did that orders nothing.
func (q *Request) Record(act, target, detail string) trade.AuditRecord {
	who := q.Person("")
	return trade.AuditRecord{
		At: q.Site.Now(), Who: who.Name, From: who.From, Act: act, Target: target, Detail: detail,
	}
}

// Voice returns the voice for this person.
func (q *Request) Voice() view.Voice { return view.NewVoice(q.Lang, q.Site.Zone) }

// Bare returns the part of a page that htmx asks for: all of it that a filter changes, or the names
// that a field proposes; "" = the page.
func (q *Request) Bare() string {
	if q.Header.Get("HX-Request") != "true" || q.Header.Get("HX-Boosted") != "" {
		return ""
	}
	switch part, _, _ := strings.Cut(q.Header.Get("HX-Target"), "-"); part {
	case "part", "names":
		return part
	}
	return ""
}

// Page answers with a page: the template with that name, in its frame.
func (q *Request) Page(status int, name string, data any) error {
	f := view.Frame{
		Voice: q.Voice(), Page: name, Name: q.Site.Name, Path: q.URL.Path, Theme: q.theme,
		Asset: view.Asset, By: q.Site.Issuer, Data: data, Now: q.Site.Now(),
		Environment: q.Site.Environment, Bare: q.Bare(),
	}
	if q.Login != nil {
		f.User, f.Token = &q.Login.User, q.token()
		f.Told, f.Titles = q.PopFlash(), q.Site.Titles(q.Lang)
		if f.Bare != "names" {
			f.Counts = q.Site.Waiting(q.Context(), f.User)
		}
	}
	var b bytes.Buffer
	if err := view.Execute(&b, f); err != nil {
		return err
	}
	q.Answered = true
	q.Writer.Header().Set("Content-Type", "text/html; charset=utf-8")
	q.Writer.WriteHeader(status)
	if q.Method != http.MethodHead {
		_, _ = q.Writer.Write(b.Bytes()) // the browser has gone
	}
	return nil
}

// Show answers with a page that was read, or returns the error of reading it.
func (q *Request) Show(name string, data any, err error) error {
	if err != nil {
		return err
	}
	return q.Page(http.StatusOK, name, data)
}

// Done tells the person something on the next page, by the key of a phrase, and sends the browser there.
func (q *Request) Done(key, path string) error {
	q.SetFlash(key)
	return q.Redirect(path)
}

// Redirect sends the browser to a path of the console after an act.
func (q *Request) Redirect(path string) error {
	q.Answered = true
	http.Redirect(q.Writer, q.Request, path, http.StatusSeeOther)
	return nil
}

// Local returns the path that a browser named as its next page, if it is a path of the console;
// otherwise "/".
func Local(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" ||
		!strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") ||
		strings.ContainsAny(next, "\\\r\n\t") || strings.HasPrefix(next, "//") {
		return "/"
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).String()
}

// Route is one thing that a browser can request. Who may use it is defined here and nowhere else.
type Route struct {
	Method string
	Path   string        // in the form of net/http
	Needs  trade.Role    // the lowest role; "" = nobody, unless Open
	Open   bool          // usable without a login
	First  bool          // usable before a first password was changed
	Free   bool          // usable before there is an administrator: files of the setup page
	Body   int64         // most bytes of a form; 0: the limit of every form
	Takes  time.Duration // time limit, if longer than AnswerWithin
	Stream bool          // the answer continues until the browser disconnects
	Handle func(*Request) error
}

// AtFirst makes a route usable before a first password was changed.
func (r Route) AtFirst() Route {
	r.First = true
	return r
}

// Get returns a route for a page that needs a role.
func Get(path string, needs trade.Role, handle func(*Request) error) Route {
	return Route{Method: http.MethodGet, Path: path, Needs: needs, Handle: handle}
}

// Post returns a route for an act that needs a role.
func Post(path string, needs trade.Role, handle func(*Request) error) Route {
	return Route{Method: http.MethodPost, Path: path, Needs: needs, Handle: handle}
}

// WithBody sets the most bytes of the form.
func (r Route) WithBody(most int64) Route {
	r.Body = most
	return r
}

// Within sets the time limit of the answer.
func (r Route) Within(most time.Duration) Route {
	r.Takes = most
	return r
}

// AnswerWithin is how long a page may take, unless its route has another limit.
const AnswerWithin = 20 * time.Second
