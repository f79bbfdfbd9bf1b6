package sandbox

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// prefix begins every path of the API (chapter 9).
const prefix = "/api/v1/integration"

// route is one path of the API with its methods. A segment in braces is a parameter.
type route struct {
	pattern  string
	resource string   // one of the Resource constants
	module   Module   // "" for routes that belong to no module
	query    []string // the parameters of the query
	verbs    map[string]endpoint
}

// endpoint is one row of the table in chapter 4.
type endpoint struct {
	handle func(*request) answer
	// creates marks the POSTs that create a record; these are numbered, and faults act on them.
	creates bool
}

// match returns the first route that matches an escaped path, and the parameters in the path.
// Segments are split before they are unescaped, because an escaped slash belongs to a parameter.
func match(routes []route, escapedPath string) (*route, map[string]string) {
	have := strings.Split(escapedPath, "/")
	for i := range routes {
		want := strings.Split(routes[i].pattern, "/")
		if params, ok := matchSegments(want, have); ok {
			return &routes[i], params
		}
	}
	return nil, nil
}

func matchSegments(want, have []string) (map[string]string, bool) {
	if len(want) != len(have) {
		return nil, false
	}
	params := map[string]string{}
	for i, w := range want {
		if name, ok := strings.CutPrefix(w, "{"); ok {
			value, err := url.PathUnescape(have[i])
			if err != nil || value == "" {
				return nil, false
			}
			params[strings.TrimSuffix(name, "}")] = value
			continue
		}
		if w != have[i] {
			return nil, false
		}
	}
	return params, true
}

func (rt *route) allowed() string {
	verbs := make([]string, 0, len(rt.verbs))
	for v := range rt.verbs {
		verbs = append(verbs, v)
	}
	slices.Sort(verbs)
	return strings.Join(verbs, ", ")
}

// needsContentType reports whether the Content-Type header is required (chapter 4; chapter 7, 415:
// also on DELETE without a body).
func needsContentType(r *http.Request, bodyBytes int) bool {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return bodyBytes > 0
}
