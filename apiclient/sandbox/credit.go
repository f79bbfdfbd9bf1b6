package sandbox

import (
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
)

// creditScoreFields is chapter 2.5. The document does not list the reports, so any text is
// accepted.
var creditScoreFields = []field{
	{name: "name", kind: isText, odd: oddIfEmpty},
	{name: "social_id", kind: isText, odd: oddUnlessDocument},
	{name: "reports", kind: isArray, odd: oddUnless("CREDIT_SCORE")},
	{name: "car_list", kind: isArray, need: never},
	{name: "sigef_list", kind: isArray, need: never}, // may be empty
}

// creditAnalysisFields is chapter 2.6. The document does not list the values of auth_type, so any
// text is accepted. It states no shape of an e-mail address.
var creditAnalysisFields = []field{
	{name: "requester_id", kind: isText, valid: isUUID},
	{name: "requester_name", kind: isText, odd: oddIfEmpty},
	{name: "requester_email", kind: isText, odd: oddIfEmpty},
	{name: "name", kind: isText, odd: oddIfEmpty},
	{name: "identity", kind: isText, odd: oddUnlessDocument},
	{name: "auth_type", kind: isText, odd: oddUnless("EMAIL")},
	{name: "person_type", kind: isText, valid: isPersonType, unexpected: true},
	{name: "period_consult", kind: isText, odd: oddIfEmpty},
	{name: "email", kind: isText, need: never, odd: oddIfEmpty},
	{name: "phone", kind: isText, need: never, odd: oddIfEmpty},
	{name: "corporate_name", kind: isText, need: never, odd: oddIfEmpty},
	{name: "corporate_identity", kind: isText, need: never, odd: oddUnlessDocument},
}

var isPersonType = oneOf("PF", "PJ")

const (
	identityParameter   = "identity"
	personTypeParameter = "personType"
	corporateParameter  = "corporateIdentity"
)

// getConsent is a lookup by identifier, so "not found" is 404. The document shows neither the
// values of status (this one is the sandbox's own) nor the answer to a missing parameter. That
// answer is 400, as for a missing field, with the name in lower case as in format (b).
func (s *Server) getConsent(rq *request) *answer {
	query := rq.query()
	var missing []string
	for _, name := range []string{identityParameter, personTypeParameter} {
		if !query.Has(name) {
			missing = append(missing, "message."+strings.ToLower(name)+".mandatory")
		}
	}
	if kind := query.Get(personTypeParameter); query.Has(personTypeParameter) && !isPersonType(kind) {
		return unexpectedValue(rq.http, kind)
	}
	if len(missing) > 0 {
		return messages(http.StatusBadRequest, missing...)
	}
	if query.Has(corporateParameter) && oddUnlessDocument(query.Get(corporateParameter)) != "" {
		rq.remark(remarkDocument, corporateParameter)
	}
	if _, ok := s.World.ProducerByDocument(query.Get(identityParameter)); !ok {
		return messages(http.StatusNotFound, keyProducerNotFound)
	}
	return jsonAnswer(http.StatusOK, struct {
		Status string `json:"status"`
		Date   string `json:"consent_date"`
	}{"CONSENTED", s.began.UTC().Format(time.RFC3339)})
}

// createCreditScore accepts a producer that the platform does not know, because the document names
// no prerequisite.
func (s *Server) createCreditScore(rq *request, v values) *answer {
	id := s.store(rq, v)
	kind := "CREDIT_SCORE" // the document does not show the values of type
	if reports := v["reports"].texts(); len(reports) > 0 {
		kind = reports[0]
	}
	document, _ := bareDocument(v.text("social_id"))
	return jsonAnswer(http.StatusCreated, struct {
		ID          string `json:"id"`
		Identity    string `json:"identity_id"`
		Cooperative string `json:"cooperative_id"`
		Name        string `json:"name"`
		SocialID    string `json:"social_id"`
		Type        string `json:"type"`
		CreatedAt   string `json:"created_at"`
	}{
		id, madeUpID("identity", document), madeUpID("cooperative", ""), v.text("name"), v.text("social_id"), kind,
		s.opts.Now().UTC().Format(time.RFC3339),
	})
}

// getCreditAnalysis returns what was sent, because the document does not show the fields of the
// record.
func (s *Server) getCreditAnalysis(rq *request) *answer {
	id, refusal := s.pathID(rq, "id")
	if refusal != nil {
		return refusal
	}
	found, ok := s.find(ResourceCreditAnalysis, id)
	if !ok {
		return messages(http.StatusNotFound, "message.analysis-credit.not-found")
	}
	return jsonText(http.StatusOK, found.echo(id, creditAnalysisFields))
}

// madeUpID returns the same UUID for the same kind and name, in every sandbox.
func madeUpID(kind, name string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("sandbox:"+kind+":"+name)).String()
}
