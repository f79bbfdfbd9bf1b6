package console

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/trade"
)

// serve is what every request passes, also one for something that does not exist: headers, the
// host, and where it comes from.
func (c *Console) serve(w http.ResponseWriter, r *http.Request) {
	written := func() bool { return true }
	defer func() { written() }()
	began := sync.OnceFunc(func() { // whoever reads slowly has closeWithin once the console ends
		written = context.AfterFunc(c.ending, func() {
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(closeWithin))
		})
	})
	q := &request{Request: r, w: &leaving{w, began}, sent: w, c: c, id: newID()}
	q.lang, q.theme = q.langOf(), q.themeOf()
	headers(w.Header(), c.Secure)
	defer func() {
		if p := recover(); p != nil {
			c.Log.Error("console: a page failed", zap.String("id", q.id), zap.Any("panic", p),
				zap.ByteString("stack", debug.Stack()))
			q.fail(errInternal)
		}
	}()
	var ok bool
	if q.from, ok = c.address(r); !ok {
		q.fail(&fault{http.StatusForbidden, "proxy", nil})
		return
	}
	if from, err := netip.ParseAddr(q.from); err == nil {
		leave, ok := c.asking.Enter(from, eachMost)
		if !ok {
			q.fail(errBusy)
			return
		}
		defer leave()
	}
	if !slices.Contains(c.Hosts, hostOf(r.Host)) {
		q.fail(&fault{http.StatusMisdirectedRequest, "host", nil})
		return
	}
	handler, pattern := c.mux.Handler(r)
	if pattern == "" { // the mux would answer itself
		q.fail(c.nothing(r, w.Header()))
		return
	}
	_ = handler
	c.mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestKey{}, q)))
}

type requestKey struct{}

// nothing tells a path that does not exist from one that is not asked for in this way.
func (c *Console) nothing(r *http.Request, h http.Header) error {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := c.mux.Handler(other); pattern != "" && other.Method != r.Method {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		return errNotFound
	}
	h.Set("Allow", strings.Join(allowed, ", "))
	return &fault{http.StatusMethodNotAllowed, "method", nil}
}

// guard is the one place that decides whether a request reaches its page.
func (c *Console) guard(route route) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		q, ok := r.Context().Value(requestKey{}).(*request)
		if !ok {
			return
		}
		q.Request = r
		if err := c.pass(q, route); err != nil {
			q.fail(err)
		}
	})
}

// pass takes a place to see who asks, and again to answer, never while the browser sends its form
// or takes its answer: as long as it likes, it would keep the others out.
func (c *Console) pass(q *request, route route) error {
	q.Body = http.MaxBytesReader(q.sent, q.Body, max(route.body, bodyMost))
	if err := c.placed(q, route, func() error { return c.admit(q, route) }); err != nil || q.wrote {
		return err
	}
	if q.Method == http.MethodPost {
		if err := q.readForm(route); err != nil {
			var long *http.MaxBytesError
			if errors.As(err, &long) {
				return &fault{http.StatusRequestEntityTooLarge, "long", err}
			}
			return &fault{http.StatusBadRequest, "form", err}
		}
		if !route.open && !q.tokenFits() { // what is open changes nothing but the browser's own cookies
			return &fault{http.StatusForbidden, "token", nil}
		}
	}
	return c.placed(q, route, func() error { return route.handle(q) })
}

// placed does something at one of the places, which is free again once the answer begins.
func (c *Console) placed(q *request, route route, do func() error) error {
	if route.stream {
		return do()
	}
	request, w := q.Request, q.w
	defer func() { q.Request, q.w = request, w }()
	ctx, cancel := context.WithTimeout(q.Context(), max(answerWithin, route.takes))
	defer cancel()
	if err := c.place(ctx); err != nil {
		return err
	}
	leave := sync.OnceFunc(func() { <-c.working })
	defer leave()
	q.Request, q.w = q.WithContext(ctx), &leaving{w, leave}
	return do()
}

// leaving gives the place back, or does something else, before anything is written.
type leaving struct {
	http.ResponseWriter
	leave func()
}

// Unwrap is for http.ResponseController.
func (l *leaving) Unwrap() http.ResponseWriter { return l.ResponseWriter }

// WriteHeader begins the answer.
func (l *leaving) WriteHeader(status int) {
	l.leave()
	l.ResponseWriter.WriteHeader(status)
}

// Write goes on with it.
func (l *leaving) Write(b []byte) (int, error) {
	l.leave()
	return l.ResponseWriter.Write(b)
}

// admit tells who asks, and whether that person may.
func (c *Console) admit(q *request, route route) error {
	if !route.free {
		if administered, err := c.hasAdministrator(q.Context()); err != nil {
			return err
		} else if !administered {
			return q.page(http.StatusServiceUnavailable, "setup", nil)
		}
	}
	if err := c.cross.Check(q.Request); err != nil {
		return &fault{http.StatusForbidden, "origin", err}
	}
	if !route.free {
		if err := q.whoAsks(); err != nil {
			return err
		}
	}
	if !route.open && !route.free {
		switch {
		case q.login == nil:
			return q.toLogin()
		case !q.login.User.Role.May(route.needs):
			return errForbidden
		}
	}
	return nil
}

// place waits for one of the places at which requests are worked on.
func (c *Console) place(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, waitAtMost)
	defer cancel()
	select {
	case c.working <- struct{}{}:
		return nil
	case <-ctx.Done():
		return errBusy
	}
}

// hasAdministrator tells whether there is somebody who can look after people, whatever becomes of
// an issuer. Once there was, there always is.
func (c *Console) hasAdministrator(ctx context.Context) (bool, error) {
	if c.administered.Load() {
		return true, nil
	}
	users, err := c.Users.Users(ctx)
	if err != nil {
		return false, err
	}
	if !slices.ContainsFunc(users, func(u trade.User) bool {
		return u.Role == trade.Administrator && !u.Disabled && u.Issuer == ""
	}) {
		return false, nil
	}
	c.administered.Store(true)
	return true, nil
}

// tokenFits compares the token of a form, or of the header that scripts send, with that of the
// login (C7).
func (q *request) tokenFits() bool {
	given := q.PostFormValue("token")
	if given == "" {
		given = q.Header.Get("X-Token")
	}
	return subtle.ConstantTimeCompare([]byte(given), []byte(q.token())) == 1
}

// address is where a browser asks from. ok is false for a request that did not come through the
// proxy.
func (c *Console) address(r *http.Request) (text string, ok bool) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return "", false
	}
	if !c.Behind.IsValid() {
		return host, true
	}
	from, err := netip.ParseAddr(host)
	if err != nil || !c.Behind.Contains(from.Unmap()) {
		return "", false
	}
	// The proxy adds the address that it saw at the end; what stands before it anybody may have
	// written.
	forwarded := r.Header.Values("X-Forwarded-For")
	if len(forwarded) == 0 {
		return host, true
	}
	all := strings.Split(forwarded[len(forwarded)-1], ",")
	last := strings.TrimSpace(all[len(all)-1])
	if _, err := netip.ParseAddr(last); err != nil {
		return host, true
	}
	return last, true
}

func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// newID numbers an answer, so that a person can name it to IT.
func newID() string {
	b := make([]byte, 5)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
