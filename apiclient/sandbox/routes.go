package sandbox

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// prefix stands before every path of the API (chapter 9).
const prefix = "/api/v1/integration"

// route is one path of the API with its verbs. A segment in braces is a parameter.
type route struct {
	pattern  string
	resource string   // one of the Resource constants
	module   Module   // "" belongs to none that can be switched off
	query    []string // the parameters of the query
	verbs    map[string]endpoint
}

// endpoint is one row of the table in chapter 4.
type endpoint struct {
	handle func(*request) answer
	// creates marks the POSTs that leave a record behind: these are numbered and meet the faults.
	creates bool
}

// allRoutes is the table of chapter 4, each resource with its own file. Not net/http's ServeMux:
// that answers an unclean path with a redirect, which no API in front of money should do, and which
// would hide a client's wrong address.
func (s *Server) allRoutes() []route {
	return slices.Concat(
		s.orderCommitmentRoutes(), s.deliveryRoutes(), s.traceabilityRoutes(), s.creditRoutes(), s.webhookRoutes(),
		s.producerRoutes(),
	)
}

// match finds the first route of a path as it stands in flight, and the parameters in it.
// Segments are split before they are unescaped: an escaped slash belongs to a parameter.
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

// allowed lists the verbs of the route for the header Allow.
func (rt *route) allowed() string {
	verbs := make([]string, 0, len(rt.verbs))
	for v := range rt.verbs {
		verbs = append(verbs, v)
	}
	slices.Sort(verbs)
	return strings.Join(verbs, ", ")
}

// needsContentType says whether the Content-Type header is required (chapter 4; chapter 7, 415:
// also on DELETE without a body).
func needsContentType(r *http.Request, bodyBytes int) bool {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return bodyBytes > 0
}
