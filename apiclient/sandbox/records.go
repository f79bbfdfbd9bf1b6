package sandbox

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// The resources, as named in [Record.Resource] and in faults. The last three can only be read or
// deleted, so no record has them.
const (
	ResourceOrderCommitments = "order_commitments"
	ResourceDeliveries       = "deliveries"
	ResourceTraceability     = "traceability"
	ResourceCreditScore      = "credit_score"
	ResourceCreditAnalysis   = "credit_analysis"
	ResourceWebhooks         = "webhooks"
	ResourceConsent          = "consent"
	ResourceProducers        = "producers"
	ResourceOwnerDetails     = "owner_details"
)

// creatable holds the resources with a creating POST, and their fields.
var creatable = map[string][]field{
	ResourceOrderCommitments: orderCommitmentFields,
	ResourceDeliveries:       deliveryFields,
	ResourceTraceability:     traceabilityFields,
	ResourceCreditScore:      creditScoreFields,
	ResourceCreditAnalysis:   creditAnalysisFields,
	ResourceWebhooks:         webhookFields,
}

// Record is one executed creation.
type Record struct {
	// N is the number of the creating POST, from 1.
	N int
	// ID is the id assigned by the sandbox, a UUID in lower case.
	ID string
	// Resource is one of ResourceOrderCommitments, ResourceDeliveries, ResourceTraceability,
	// ResourceCreditScore, ResourceCreditAnalysis, ResourceWebhooks.
	Resource string
	// At is the time of execution, by [Options.Now].
	At time.Time
	// Params are the parameters of the path, such as order_commitment_id of a traceability record;
	// nil if there are none.
	Params map[string]string
	// Header is the header of the request without Authorization.
	Header http.Header
	// Body is the body as received, byte for byte. The body of a webhook contains its secrets.
	Body json.RawMessage
	// Fields is the decoded body: string, []string, or json.Number with the digits as sent. It
	// leaves out members that the document does not know and members that are null.
	Fields map[string]any
}

func (r Record) clone() Record {
	r.Header = r.Header.Clone()
	r.Params = maps.Clone(r.Params)
	r.Body = slices.Clone(r.Body)
	r.Fields = maps.Clone(r.Fields)
	return r
}

type recordKey struct{ resource, id string }

// Created returns every order commitment created, in order. The caller owns the slice and its
// contents.
func (s *Server) Created() []Record { return s.CreatedOf(ResourceOrderCommitments) }

// CreatedOf returns every record of these resources, in order of creation; without arguments, of
// all resources. See [Server.Created].
func (s *Server) CreatedOf(resources ...string) []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Record
	for _, r := range s.records {
		if len(resources) == 0 || slices.Contains(resources, r.Resource) {
			out = append(out, r.clone())
		}
	}
	return out
}

// created stores the record and answers with its id and the fields that were sent.
func (s *Server) created(rq *request, v values) *answer {
	id := s.store(rq, v)
	return jsonText(http.StatusCreated, v.echo(id, creatable[rq.route.resource]))
}

// store executes the creation: from here on the record exists, whatever answer the client receives.
func (s *Server) store(rq *request, v values) string {
	header := rq.http.Header.Clone()
	header.Del("Authorization")
	fields := make(map[string]any, len(v))
	for name, n := range v {
		switch n.kind {
		case isNumber:
			fields[name] = json.Number(n.text)
		case isArray:
			fields[name] = n.texts()
		default:
			fields[name] = n.text
		}
	}
	rec := Record{
		N: rq.n, ID: uuid.NewString(), Resource: rq.route.resource, At: s.opts.Now(),
		Header: header, Body: rq.body, Fields: fields,
	}
	if len(rq.params) > 0 {
		rec.Params = rq.params
	}
	rec = rec.clone()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = append(s.records, rec)
	s.byID[recordKey{rec.Resource, rec.ID}] = v
	rq.records = append(rq.records, rec)
	return rec.ID
}

func (s *Server) find(resource, id string) (values, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.byID[recordKey{resource, strings.ToLower(id)}]
	return v, ok
}

// newestID returns the id that a caching proxy would answer with.
func (s *Server) newestID(resource string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rec := range slices.Backward(s.records) {
		if rec.Resource == resource {
			return rec.ID, true
		}
	}
	return "", false
}

// MadeTwice returns the records of equal content in groups of two or more, in the order of each
// group's first record. Records are equal if they have the same resource, the same path, and the
// same fields with the same values: 1500.5 equals 1500.50, and the case of a UUID does not matter.
// Blanks, the order of members and unknown members do not matter. The API has no idempotency, so
// each is a separate record: a group means money or grain counted twice, unless the cooperative
// really has two such contracts.
func (s *Server) MadeTwice() [][]Record {
	records := s.CreatedOf()
	groups := map[string][]Record{}
	for _, rec := range records {
		k := rec.content()
		groups[k] = append(groups[k], rec)
	}
	var out [][]Record
	for _, rec := range records {
		if k := rec.content(); len(groups[k]) > 1 {
			out = append(out, groups[k])
			delete(groups, k)
		}
	}
	return out
}

// content returns the part that is the same in equal records.
func (r *Record) content() string {
	fields := make(map[string]any, len(r.Fields))
	for name, value := range r.Fields {
		switch v := value.(type) {
		case json.Number:
			digits := string(v)
			if strings.Contains(digits, ".") && !strings.ContainsAny(digits, "eE") {
				digits = strings.TrimSuffix(strings.TrimRight(digits, "0"), ".")
			}
			value = digits // one with an exponent could fill the memory if it was written in full
		case string:
			if isUUID(v) {
				value = strings.ToLower(v)
			}
		}
		fields[name] = value
	}
	params := make(map[string]string, len(r.Params))
	for name, value := range r.Params {
		params[name] = strings.ToLower(value)
	}
	return string(encode([]any{r.Resource, params, fields})) // encoding/json sorts the members of maps
}
