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

// The resources, as [Record.Resource] and the faults name them. The last three are read or deleted
// only: no record has them.
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

// creatable are the resources with a creating POST, and their fields.
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
	// N is the number of the creating POST, from 1. It begins anew when a sandbox starts again on
	// its state file.
	N int
	// ID is the id given out, a UUID in lower case.
	ID string
	// Resource is one of ResourceOrderCommitments, ResourceDeliveries, ResourceTraceability,
	// ResourceCreditScore, ResourceCreditAnalysis, ResourceWebhooks.
	Resource string
	// At is the time of execution, by [Options.Now].
	At time.Time
	// Params are the parameters of the path, such as order_commitment_id of a traceability record;
	// nil without any.
	Params map[string]string
	// Header is the header of the request without Authorization.
	Header http.Header
	// Body is the body as it arrived, byte for byte. That of a webhook holds its secrets.
	Body json.RawMessage
	// Fields is the decoded body: string, []string, or json.Number with the digits as sent. Members
	// that the document does not know and members that are null are not among them.
	Fields map[string]any
}

func (r Record) clone() Record {
	r.Header = r.Header.Clone()
	r.Params = maps.Clone(r.Params)
	r.Body = slices.Clone(r.Body)
	r.Fields = maps.Clone(r.Fields)
	return r
}

// recordKey is where a record is found again.
type recordKey struct{ resource, id string }

// Created is every order commitment executed, in order; with a state file also those of earlier
// runs. The slice and what it holds are the caller's.
func (s *Server) Created() []Record { return s.CreatedOf(ResourceOrderCommitments) }

// CreatedOf is every record of these resources that was executed, in order; without arguments of
// all. See [Server.Created].
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

// created stores the record and answers with it: the id, and what was sent.
func (s *Server) created(rq *request, resource string, v values) answer {
	id := s.store(rq, resource, v)
	return newAnswer(http.StatusCreated, "application/json", v.echo(id, creatable[resource]))
}

// store executes: from here on the record exists, whatever the client gets to see.
func (s *Server) store(rq *request, resource string, v values) string {
	header := rq.http.Header.Clone()
	header.Del("Authorization")
	rec := Record{
		N: rq.n, ID: uuid.NewString(), Resource: resource, At: s.opts.Now(),
		Header: header, Body: rq.body, Fields: v.decoded(),
	}
	if len(rq.params) > 0 {
		rec.Params = rq.params
	}
	rec = rec.clone()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(rec, v)
	s.state.note(change{Record: newKeptRecord(rec)})
	rq.records = append(rq.records, rec)
	return rec.ID
}

// keep puts a record where it is found. The caller holds mu.
func (s *Server) keep(rec Record, v values) {
	s.records = append(s.records, rec)
	s.byID[recordKey{rec.Resource, rec.ID}] = v
}

func (s *Server) find(resource, id string) (values, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.byID[recordKey{resource, strings.ToLower(id)}]
	return v, ok
}

// newestID is the id that a cache would answer with.
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

// MadeTwice are the records of equal content, each group with two or more, in the order of their
// first. Equal means: the same resource, the same path, and the same fields with the same values:
// 1500.5 is 1500.50, and the case of a UUID does not matter. Blanks, the order of members and what
// the document does not know do not count. The API has no idempotency, so each is a record of its
// own: what stands here is money or grain counted twice, unless the cooperative really has two such
// contracts.
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

// content is what two equal records have in common.
func (r *Record) content() string {
	fields := make(map[string]any, len(r.Fields))
	for name, value := range r.Fields {
		switch v := value.(type) {
		case json.Number:
			value = plainNumber(string(v))
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

// plainNumber takes zeros at the end of a fraction away. A number with an exponent stays as it is:
// written out it could fill the memory.
func plainNumber(digits string) string {
	if !strings.Contains(digits, ".") || strings.ContainsAny(digits, "eE") {
		return digits
	}
	return strings.TrimSuffix(strings.TrimRight(digits, "0"), ".")
}
