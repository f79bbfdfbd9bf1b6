package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
)

// request is one request that arrived whole, and what became of it. Owned by its own ServeHTTP.
type request struct {
	http   *http.Request
	path   string // as on the wire, without the query
	route  *route // nil: the path is not of the API
	params map[string]string
	body   []byte // at most maxBodyBytes
	tooBig bool

	create bool // a POST that would leave a record
	n      int  // its number among the creates, or among the GETs; else 0

	records []Record // what was executed
}

// receive reads the request to its end and numbers it. On an error the request was cut and must not be executed.
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
		// The rest is read too, within reason: a client that is still writing would miss the refusal.
		if _, err := io.CopyN(io.Discard, r.Body, maxDrainBytes); err != nil && !errors.Is(err, io.EOF) {
			return rq, err
		}
	} else {
		rq.body = body
	}
	s.number(rq)
	return rq, nil
}

func (s *Server) count(rq *request) {
	name := rq.path
	if rq.route != nil {
		name = rq.route.pattern
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[rq.http.Method+" "+name]++
}

// number gives creates and GETs of known paths their number. Only whole requests are numbered, so that a cut one does not shift the faults.
func (s *Server) number(rq *request) {
	if rq.route == nil {
		return
	}
	ep, ok := rq.route.verbs[rq.http.Method]
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case ep.creates:
		s.posts++
		rq.create, rq.n = true, s.posts
	case rq.http.Method == http.MethodGet:
		s.gets++
		rq.n = s.gets
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
	ep, ok := rq.route.verbs[rq.http.Method]
	if !ok {
		return methodNotAllowed(rq.http, rq.route.allowed())
	}
	if needsContentType(rq.http, len(rq.body)) && !isJSON(rq.http.Header) {
		return answer{status: http.StatusUnsupportedMediaType}
	}
	if rq.tooBig {
		return gatewayPage(http.StatusRequestEntityTooLarge)
	}
	return ep.handle(rq)
}

// authorized compares the one Authorization header with the key (chapter 5). No scheme prefix is shown there, so a blank inside the value
// is a client's mistake.
func (s *Server) authorized(r *http.Request) bool {
	values := r.Header.Values("Authorization")
	if len(values) != 1 || values[0] == "" {
		return false
	}
	s.mu.Lock()
	key := s.key
	s.mu.Unlock()
	if key == "" {
		return !strings.ContainsAny(values[0], " \t")
	}
	return values[0] == key
}

func isJSON(h http.Header) bool {
	values := h.Values("Content-Type")
	if len(values) != 1 || h.Get("Content-Encoding") != "" {
		return false
	}
	media, params, err := mime.ParseMediaType(values[0])
	if err != nil || media != "application/json" {
		return false
	}
	charset, given := params["charset"]
	return !given || strings.EqualFold(charset, "utf-8")
}

// forHook gives a hook a request whose body it can read.
func (rq *request) forHook() *http.Request {
	r := rq.http.Clone(rq.http.Context())
	r.Body = io.NopCloser(bytes.NewReader(rq.body))
	return r
}
