package sandbox

import (
	"net/http"
	"net/url"
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
	handle func(*request) *answer
	// creates marks the POSTs that create a record; these are numbered, and faults act on them.
	creates bool
}

// table returns the routes of chapter 4. net/http's ServeMux is not used: it answers an unclean path
// with a redirect, which an API for contracts should not do, and which would hide a wrong address in a
// client. "consent" is a path of its own and never an id of an analysis. The last two belong to no
// module that can be switched off, because the document does not state which one.
func (s *Server) table() []route {
	get := func(h func(*request) *answer) map[string]endpoint {
		return map[string]endpoint{http.MethodGet: {handle: h}}
	}
	reading := func(h func(*request, values) *answer) endpoint {
		return endpoint{creates: true, handle: func(rq *request) *answer {
			v, refusal := rq.readBody(creatable[rq.route.resource])
			if refusal != nil {
				return refusal
			}
			return h(rq, v)
		}}
	}
	create := func(h func(*request, values) *answer) map[string]endpoint {
		return map[string]endpoint{http.MethodPost: reading(h)}
	}
	const (
		commitments = prefix + "/order-commitments"
		traced      = prefix + "/traceability/-/commitments/{" + commitmentParameter + "}"
		analysis    = prefix + "/financial/analysis-credit"
		webhooks    = prefix + "/webhooks"
	)
	consent := []string{identityParameter, personTypeParameter, corporateParameter}
	return []route{
		{commitments, ResourceOrderCommitments, Commercial, nil, create(s.createOrderCommitment)},
		{
			commitments + "/{" + commitmentParameter + "}", ResourceOrderCommitments, Commercial, nil,
			get(s.getOrderCommitment),
		},
		{prefix + "/deliveries", ResourceDeliveries, Commercial, nil, create(s.createDelivery)},
		{traced, ResourceTraceability, Commercial, nil, map[string]endpoint{
			http.MethodPost: {handle: s.createTraceability, creates: true}, // the path is read before the body
		}},
		{analysis + "/consent", ResourceConsent, Financial, consent, get(s.getConsent)},
		{prefix + "/financial/credit-score", ResourceCreditScore, Financial, nil, create(s.createCreditScore)},
		{analysis, ResourceCreditAnalysis, Financial, nil, create(s.created)},
		{analysis + "/{id}", ResourceCreditAnalysis, Financial, nil, get(s.getCreditAnalysis)},
		{webhooks, ResourceWebhooks, Webhooks, nil, map[string]endpoint{
			http.MethodPost: reading(s.registerWebhook),
			http.MethodGet:  {handle: s.listWebhooks},
			http.MethodPut:  {handle: s.updateWebhook},
		}},
		{webhooks + "/-/events/{webhook_event}", ResourceWebhooks, Webhooks, nil, get(s.getWebhook)},
		{webhooks + "/{id}", ResourceWebhooks, Webhooks, nil, map[string]endpoint{
			http.MethodDelete: {handle: s.deleteWebhook},
		}},
		{prefix + "/producers/-/documents/{social_identity}", ResourceProducers, "", nil, get(s.getProducer)},
		{prefix + "/owner-details/{id}", ResourceOwnerDetails, "", nil, map[string]endpoint{
			// fails on every call, whatever the id (chapter 4, chapter 7)
			http.MethodDelete: {handle: func(*request) *answer {
				return messages(http.StatusInternalServerError, keyInternal)
			}},
		}},
	}
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

// needsContentType reports whether the Content-Type header is required (chapter 4; chapter 7, 415:
// also on DELETE without a body).
func needsContentType(r *http.Request, bodyBytes int) bool {
	switch r.Method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return bodyBytes > 0
}
