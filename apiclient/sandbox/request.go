package sandbox

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// request is one request that arrived whole, and its outcome. Only its own ServeHTTP uses it.
type request struct {
	http   *http.Request
	path   string // as received, without the query
	route  *route // nil: the path is not of the API
	params map[string]string
	body   []byte // at most maxBodyBytes
	tooBig bool

	create bool // a POST that would create a record
	n      int  // number among the creates, or among the GETs; otherwise 0
	// numbers are its positions in the sequences by which faults count, see [Disturbance.scope]. It is
	// empty for unknown paths and methods.
	numbers map[string]int

	records []Record // what was executed
	remarks []Remark
}

// receive reads the request to its end and numbers it. On an error the request did not arrive whole
// and must not be executed.
func (s *Server) receive(w http.ResponseWriter, r *http.Request) (*request, error) {
	rq := &request{http: r, path: r.URL.EscapedPath()}
	// Segments are split before they are unescaped, because an escaped slash belongs to a parameter.
	segments := strings.Split(rq.path, "/")
	for i := range s.routes {
		params, ok := matchSegments(strings.Split(s.routes[i].pattern, "/"), segments)
		if ok {
			rq.route, rq.params = &s.routes[i], params
			break
		}
	}
	name := rq.path
	if rq.route != nil {
		name = rq.route.pattern
	}
	s.mu.Lock()
	s.counts[r.Method+" "+name]++
	s.mu.Unlock()

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
		// The rest is read too, up to a limit: a client that is still writing would miss the
		// refusal.
		if _, err := io.CopyN(io.Discard, r.Body, maxDrainBytes); err != nil && !errors.Is(err, io.EOF) {
			return rq, err
		}
	} else {
		rq.body = body
	}
	s.number(rq)
	h := rq.http.Header
	for _, name := range []string{"Authorization", "Content-Type"} {
		if len(h.Values(name)) > 1 {
			rq.remark(remarkHeaderTwice, name) // the first counts
		}
	}
	if strings.ContainsAny(h.Get("Authorization"), " \t") {
		rq.remark(remarkKeyBlank, "Authorization") // the requests in the document show no scheme prefix (chapter 5)
	}
	if media, rest, more := strings.Cut(h.Get("Content-Type"), ";"); more && isJSON(h) {
		if p := strings.ToLower(strings.TrimSpace(rest)); p != "charset=utf-8" && p != `charset="utf-8"` {
			rq.remark(remarkContentType, strings.TrimSpace(media))
		}
	}
	if h.Get("Content-Encoding") != "" {
		rq.remark(remarkCompressed, "Content-Encoding") // the bytes are read as JSON without decoding
	}
	if h.Get("Idempotency-Key") != "" {
		rq.remark(remarkIdempotency, "Idempotency-Key")
	}
	var known []string
	if rq.route != nil {
		known = rq.route.query
	}
	for name, values := range rq.query() {
		switch {
		case !slices.Contains(known, name):
			rq.remark(remarkUnknownParameter, name)
		case len(values) > 1:
			rq.remark(remarkTwice, name)
		}
	}
	return rq, nil
}

// query returns the parameters of the query; unreadable ones are left out.
func (rq *request) query() url.Values { return rq.http.URL.Query() }

// number assigns numbers to requests with a known path and method. Only whole requests are
// numbered, so that a cut one does not shift the faults.
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

// answer refuses or executes the request, in the order of the package comment.
func (s *Server) answer(rq *request) *answer {
	if rq.route == nil {
		// The document does not mention unknown paths: as a gateway, in no form of the API.
		return jsonText(http.StatusNotFound, `{"message":"no Route matched with those values"}`)
	}
	// The first of several headers counts. The requests in the document show no scheme prefix, so with a
	// key set, "Bearer KEY" is another key. If any key is accepted, a prefix is accepted too, with a remark.
	given := rq.http.Header.Get("Authorization")
	s.mu.Lock()
	key := s.key
	contracted := !slices.Contains(s.missing, rq.route.module)
	s.mu.Unlock()
	if given == "" || key != "" && given != key {
		return unauthorized()
	}
	if !contracted {
		return messages(http.StatusForbidden, keyModule)
	}
	ep, ok := rq.route.verbs[rq.http.Method]
	if !ok {
		a := plain(rq.http, http.StatusMethodNotAllowed, "Request method '"+rq.http.Method+"' is not supported")
		a.header.Set("Allow", strings.Join(slices.Sorted(maps.Keys(rq.route.verbs)), ", "))
		return a
	}
	if needsContentType(rq.http, len(rq.body)) && !isJSON(rq.http.Header) {
		return &answer{status: http.StatusUnsupportedMediaType}
	}
	// The document sets no limit. The sandbox protects itself, so the answer is in no form of the
	// API.
	if rq.tooBig {
		return gatewayPage(http.StatusRequestEntityTooLarge)
	}
	return ep.handle(rq)
}

// isJSON checks the media type only; the document does not mention parameters.
func isJSON(h http.Header) bool {
	media, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(media), "application/json")
}
