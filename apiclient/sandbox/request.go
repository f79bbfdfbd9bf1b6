package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// request is one request that arrived whole, and what became of it. Owned by its own ServeHTTP.
type request struct {
	http   *http.Request
	path   string // as in flight, without the query
	route  *route // nil: the path is not of the API
	params map[string]string
	body   []byte // at most maxBodyBytes
	tooBig bool

	create bool // a POST that would leave a record
	n      int  // its number among the creates, or among the GETs; else 0
	// numbers are its places in the orders that faults count by, see [Fault.scope]. Empty for
	// unknown paths and verbs.
	numbers map[string]int

	records []Record // what was executed
	remarks []Remark
}

// receive reads the request to its end and numbers it. On an error the request was cut and must not
// be executed.
func (s *Server) receive(w http.ResponseWriter, r *http.Request) (*request, error) {
	rq := &request{http: r, path: r.URL.EscapedPath()}
	rq.route, rq.params = match(s.routes, rq.path)
	s.count(rq)

	// A client that stalls in the middle of its body must not keep Close waiting.
	control := http.NewResponseController(w)
	release := context.AfterFunc(s.stopping, func() { _ = control.SetReadDeadline(time.Unix(1, 0)) })
	defer release()

	body, err := io.ReadAll(io.LimitReader(r.Body, maxBodyBytes+1))
	if err != nil {
		return rq, err
	}
	if len(body) > maxBodyBytes {
		rq.body, rq.tooBig = body[:maxBodyBytes], true
		// The rest is read too, within reason: a client that is still writing would miss the
		// refusal.
		if _, err := io.CopyN(io.Discard, r.Body, maxDrainBytes); err != nil && !errors.Is(err, io.EOF) {
			return rq, err
		}
	} else {
		rq.body = body
	}
	s.number(rq)
	rq.remarkHeaders()
	return rq, nil
}

// shownPath is the path for people: without the document number that one of them holds.
func (rq *request) shownPath() string {
	if rq.route != nil && rq.route.resource == ResourceProducers {
		return rq.route.pattern
	}
	return rq.path
}

// query is the query's parameters; what cannot be read is left out.
func (rq *request) query() url.Values { return rq.http.URL.Query() }

func (s *Server) count(rq *request) {
	name := rq.path
	if rq.route != nil {
		name = rq.route.pattern
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[rq.http.Method+" "+name]++
}

// number gives requests of known paths and verbs their numbers. Only whole requests are numbered,
// so that a cut one does not shift the faults.
func (s *Server) number(rq *request) {
	if rq.route == nil {
		return
	}
	ep, ok := rq.route.verbs[rq.http.Method]
	if !ok {
		return
	}
	class := classChange
	switch {
	case ep.creates:
		class, rq.create = classCreate, true
	case rq.http.Method == http.MethodGet:
		class = classGet
	}
	rq.numbers = map[string]int{}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, scope := range []string{
		scopeOf(class, ""), scopeOf(class, rq.route.resource), scopeOf(classAny, ""),
		scopeOf(classAny, rq.route.resource),
	} {
		s.numbers[scope]++
		rq.numbers[scope] = s.numbers[scope]
	}
	if class != classChange {
		rq.n = rq.numbers[scopeOf(class, "")]
	}
}

// answer refuses or executes, in the order of the package comment.
func (s *Server) answer(rq *request) answer {
	if rq.route == nil {
		return noRoute()
	}
	if !s.authorized(rq.http) {
		return unauthorized()
	}
	if !s.contracted(rq.route.module) {
		return messages(http.StatusForbidden, keyModule)
	}
	ep, ok := rq.route.verbs[rq.http.Method]
	if !ok {
		return methodNotAllowed(rq.http, rq.route.allowed())
	}
	if needsContentType(rq.http, len(rq.body)) && !isJSON(rq.http.Header) {
		return answer{status: http.StatusUnsupportedMediaType}
	}
	// no ground in the document, which sets no limit: the sandbox protects itself, and says so in
	// no form of the API
	if rq.tooBig {
		return gatewayPage(http.StatusRequestEntityTooLarge)
	}
	return ep.handle(rq)
}

// authorized compares the Authorization header with the key (chapter 5), the first if there are
// several. No scheme prefix is used in the shown requests; with a key set, "Bearer KEY" is
// therefore another key. With any key accepted a prefix passes, and is remarked on.
func (s *Server) authorized(r *http.Request) bool {
	given := r.Header.Get("Authorization")
	s.mu.Lock()
	key := s.key
	s.mu.Unlock()
	return given != "" && (key == "" || given == key)
}

// isJSON looks at the media type alone: parameters are not spoken of.
func isJSON(h http.Header) bool {
	media, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(media), "application/json")
}

// forHook gives a hook a request whose body it can read.
func (rq *request) forHook() *http.Request {
	r := rq.http.Clone(rq.http.Context())
	r.Body = io.NopCloser(bytes.NewReader(rq.body))
	return r
}
