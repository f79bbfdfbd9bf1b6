package sandbox

import "net/http"

// traceabilityFields is chapter 2.3. Volume without a unit is taken: the document has a default, TON.
var traceabilityFields = []field{
	{name: "producer_id", kind: isText, valid: isUUID},
	{name: "user_id", kind: isText, valid: isUUID},
	{name: "farm_id", kind: isText, valid: isUUID, need: never},
	{name: "allocated_volume", kind: isNumber, need: never, odd: oddNumber},
	{name: "unit_of_measurement", kind: isText, valid: isUnit, need: never},
}

// traceabilityRoutes is endpoint 4 (chapter 4).
func (s *Server) traceabilityRoutes() []route {
	return []route{{
		pattern:  prefix + "/traceability/-/commitments/{" + commitmentParameter + "}",
		resource: ResourceTraceability, module: Commercial,
		verbs: map[string]endpoint{http.MethodPost: {handle: s.createTraceability, creates: true}},
	}}
}

// createTraceability requires an existing order commitment (chapter 1). What it does with a producer, user or farm that the platform does not know is
// not stated: chapter 1 calls these registrations prerequisites of the commercial flow, of which traceability is a part, and chapter 7 has 404 for
// a lookup that finds nothing, so that is chosen, with keys by the pattern of chapter 7; only a world that forgets one of them can bring it about.
// Whether the producer must be that of the commitment is not stated, so any will do; so may the volume exceed that of the commitment.
func (s *Server) createTraceability(rq *request) answer {
	commitment, refusal := s.pathID(rq, commitmentParameter)
	if refusal != nil {
		return *refusal
	}
	v, refusal := rq.readBody(traceabilityFields)
	if refusal != nil {
		return *refusal
	}
	farm, hasFarm := v["farm_id"]
	_, exists := s.find(ResourceOrderCommitments, commitment)
	switch {
	case !exists:
		return messages(http.StatusNotFound, keyCommitmentNotFound)
	case !s.world.Knows(Producers, v.text("producer_id")):
		return messages(http.StatusNotFound, keyProducerNotFound)
	case !s.world.Knows(Users, v.text("user_id")):
		return messages(http.StatusNotFound, keyUserNotFound)
	case hasFarm && !s.world.Knows(Farms, farm.text):
		return messages(http.StatusNotFound, "message.farm.not-found")
	}
	return s.created(rq, ResourceTraceability, v)
}
