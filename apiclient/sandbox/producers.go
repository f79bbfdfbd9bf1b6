package sandbox

import "net/http"

// producerRoutes are the two further endpoints that chapter 4 names. They belong to no module that can be switched off: which module the
// registrations are is not stated.
func (s *Server) producerRoutes() []route {
	return []route{
		{
			pattern: prefix + "/producers/-/documents/{social_identity}", resource: ResourceProducers,
			verbs: map[string]endpoint{http.MethodGet: {handle: s.getProducer}},
		},
		{
			pattern: prefix + "/owner-details/{id}", resource: ResourceOwnerDetails,
			verbs: map[string]endpoint{http.MethodDelete: {handle: deleteOwnerDetails}},
		},
	}
}

// getProducer looks a producer up by CPF or CNPJ, with or without punctuation. The fields of the answer are not shown; these two are what a
// client cannot do without.
func (s *Server) getProducer(rq *request) answer {
	document := rq.params["social_identity"]
	id, ok := s.world.ProducerByDocument(document)
	if !ok {
		return messages(http.StatusNotFound, keyProducerNotFound)
	}
	bare, _ := bareDocument(document)
	return jsonAnswer(http.StatusOK, struct {
		ID       string `json:"id"`
		Document string `json:"social_identity"`
	}{id, bare})
}

// deleteOwnerDetails fails on every call, whatever the id (chapter 4, chapter 7).
func deleteOwnerDetails(*request) answer {
	return messages(http.StatusInternalServerError, keyInternal)
}
