package console

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/console/web"
	"github.com/safrasync/safrasync/internal/connlimit"
)

// serve handles every request, even for a path that does not exist: it sets headers, and checks the
// host and the origin of the request. It calls began when it begins to write the answer.
func (c *Console) serve(w http.ResponseWriter, r *http.Request, began func()) {
	if r.Method != http.MethodPost { // nothing else has a body, for which a page could wait
		if r.ContentLength != 0 {
			w.Header().Set("Connection", "close")
		}
		r.Body, r.Form, r.PostForm = http.NoBody, r.URL.Query(), url.Values{}
	}
	number := make([]byte, 5) // of the answer, which a person can give to IT
	_, _ = rand.Read(number)  // never fails
	q := web.NewRequest(&c.Site, &leaving{w, began}, r, hex.EncodeToString(number))
	q.Ending = c.ending.Done()
	h := w.Header() // of every answer, including errors
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Frame-Options", "DENY")
	if c.Site.Secure {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			panic(p)
		default:
			c.Site.Log.Error("console: a page failed", zap.String("id", q.ID), zap.Any("panic", p),
				zap.ByteString("stack", debug.Stack()))
			q.Fail(web.ErrInternal)
		}
	}()
	q.From = c.address(r)
	if q.From == "" {
		q.Fail(&web.Fault{Status: http.StatusForbidden, Code: "proxy"})
		return
	}
	if from, err := netip.ParseAddr(q.From); err == nil {
		leave, ok := c.asking.Enter(from, maxPerAddress)
		if !ok {
			q.Fail(web.ErrBusy)
			return
		}
		defer leave()
	}
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	if !slices.Contains(c.Hosts, strings.ToLower(strings.Trim(host, "[]"))) {
		q.Fail(&web.Fault{Status: http.StatusMisdirectedRequest, Code: "host"})
		return
	}
	if _, pattern := c.mux.Handler(r); pattern == "" { // otherwise the mux would answer by itself
		var allowed []string
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, pattern := c.mux.Handler(other); pattern != "" && other.Method != r.Method {
				allowed = append(allowed, method)
			}
		}
		if len(allowed) == 0 {
			nowhere := web.Route{Open: true, Handle: func(*web.Request) error { return web.ErrNotFound }}
			c.guard(nowhere).ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, q)))
			return
		}
		h.Set("Allow", strings.Join(allowed, ", "))
		q.Fail(&web.Fault{Status: http.StatusMethodNotAllowed, Code: "method"})
		return
	}
	c.mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, q)))
}

// policy allows a page to load only its own parts. connect-src is for the live parts of a
// page, which htmx requests.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

type requestKey struct{}

// guard is the one place that decides whether a request reaches its page.
func (c *Console) guard(route web.Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q, ok := r.Context().Value(requestKey{}).(*web.Request)
		if !ok {
			return
		}
		q.Request = r
		if err := c.pass(q, w, route); err != nil {
			q.Fail(err)
		}
	})
}

// pass takes a place to identify the person, and again to answer. It holds none while the browser
// sends its form or reads its answer, because a slow browser would keep others out.
func (c *Console) pass(q *web.Request, w http.ResponseWriter, route web.Route) error {
	q.Body = http.MaxBytesReader(w, q.Body, max(route.Body, maxFormBytes))
	switch {
	case !readable(q.URL.Path):
		return web.ErrNotFound
	case !allReadable(q.URL.Query()):
		return web.BadRequest("filter")
	}
	refused := c.placed(q, route, func() error { return c.admit(q, route) })
	switch {
	case q.Answered:
		return refused
	case q.Method == http.MethodPost && refused != nil: // its page shows again what was typed
		q.Body = http.MaxBytesReader(w, q.Body, maxFormBytes)
		_ = readForm(q, web.Route{})
		return refused
	case refused != nil:
		return refused
	case q.Method == http.MethodPost:
		if err := readForm(q, route); err != nil {
			if _, long := errors.AsType[*http.MaxBytesError](err); long {
				return &web.Fault{Status: http.StatusRequestEntityTooLarge, Code: "long", Cause: err}
			}
			return &web.Fault{Status: http.StatusBadRequest, Code: "form", Cause: err}
		}
		switch {
		case !allReadable(q.PostForm):
			return web.BadRequest("form")
		case !route.Open && !q.TokenFits(): // open routes change only the browser's own cookies
			return &web.Fault{Status: http.StatusForbidden, Code: "token"}
		}
	}
	return c.placed(q, route, func() error { return route.Handle(q) })
}

// readable reports whether both databases accept a text; PostgreSQL accepts only valid UTF-8
// without NUL.
func readable(text string) bool { return utf8.ValidString(text) && !strings.Contains(text, "\x00") }

func allReadable(form url.Values) bool {
	texts := slices.Concat(slices.Collect(maps.Values(form))...)
	return !slices.ContainsFunc(texts, func(text string) bool { return !readable(text) })
}

// placed calls do while it holds a place, which is released when the answer begins.
func (c *Console) placed(q *web.Request, route web.Route, do func() error) error {
	if route.Stream {
		return do()
	}
	request, w := q.Request, q.Writer
	defer func() { q.Request, q.Writer = request, w }()
	ctx, cancel := context.WithTimeout(q.Context(), max(web.AnswerWithin, route.Takes))
	defer cancel()
	sender, most := "address "+connlimit.Key(q.From), maxAnonymousRequests
	if q.Login != nil {
		sender, most = "person "+q.Login.User.Name, maxPersonRequests
	}
	leave, err := c.working.Enter(ctx, sender, most)
	if err != nil {
		return web.ErrBusy
	}
	defer leave()
	q.Request, q.Writer = q.WithContext(ctx), &leaving{w, leave}
	return do()
}

// leaving calls leave before the first byte of the answer is written.
type leaving struct {
	http.ResponseWriter
	leave func()
}

// Unwrap is for http.ResponseController.
func (l *leaving) Unwrap() http.ResponseWriter { return l.ResponseWriter }

// WriteHeader calls leave and writes the header.
func (l *leaving) WriteHeader(status int) {
	l.leave()
	l.ResponseWriter.WriteHeader(status)
}

// Write calls leave and writes to the answer.
func (l *leaving) Write(b []byte) (int, error) {
	l.leave()
	return l.ResponseWriter.Write(b)
}

// admit identifies the person, and checks whether the person may use the route.
func (c *Console) admit(q *web.Request, route web.Route) error {
	if !route.Free {
		if administered, err := c.Sessions.Administered(q.Context()); err != nil {
			return err
		} else if !administered {
			return q.Page(http.StatusServiceUnavailable, "setup", nil)
		}
	}
	if err := c.cross.Check(q.Request); err != nil {
		return &web.Fault{Status: http.StatusForbidden, Code: "origin", Cause: err}
	}
	if !route.Free {
		if err := c.Sessions.Identify(q); err != nil {
			return err
		}
		if q.Login != nil {
			connlimit.Know(q.Context())
		}
	}
	if !route.Open && !route.Free {
		switch {
		case q.Login == nil:
			return c.Sessions.ToLogin(q)
		case q.Login.User.FirstPassword && !route.First && q.Method == http.MethodPost:
			return &web.Fault{Status: http.StatusForbidden, Code: "first_password"}
		case q.Login.User.FirstPassword && !route.First:
			return q.Redirect("/account")
		case !q.May(route.Needs):
			return web.ErrForbidden
		}
	}
	return nil
}

// readForm reads the form of a request, wholly in memory. It accepts files only if the route does.
func readForm(q *web.Request, route web.Route) error {
	if kind, _, err := mime.ParseMediaType(q.Header.Get("Content-Type")); route.Body > 0 && err == nil &&
		kind == "multipart/form-data" {
		return q.ParseMultipartForm(route.Body)
	}
	return q.ParseForm()
}

// address returns the browser's address; "" if the request did not come through the proxy.
func (c *Console) address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || !c.Behind.IsValid() {
		return host
	}
	from, err := netip.ParseAddr(host)
	if err != nil || !c.Behind.Contains(from.Unmap()) {
		return ""
	}
	if told, ok := connlimit.Forwarded(r.Header); ok {
		return told.String()
	}
	return host
}
