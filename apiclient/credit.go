package apiclient

import (
	"context"
	"errors"
	"net/url"
)

// pathCreditAnalysis is the path of endpoints 7 and 8 (chapter 4).
const pathCreditAnalysis = "/api/v1/integration/financial/analysis-credit"

// AuthType is how the producer's consent is authenticated (chapter 2.6).
type AuthType string

// AuthEmail is the only type that the document names.
const AuthEmail AuthType = "EMAIL"

// AuthTypes lists the types that the document names; it states that there are more (chapter 2.6).
var AuthTypes = []AuthType{AuthEmail}

// CreditAnalysisRequest is the body of endpoint 7 (chapter 2.6), with the fields in the order of
// the chapter. The last four are left out when empty.
type CreditAnalysisRequest struct {
	// RequesterID is the UUID of the requesting user (chapter 2.6).
	RequesterID string `json:"requester_id"`
	// RequesterName is the requesting user's name (chapter 2.6).
	RequesterName string `json:"requester_name"`
	// RequesterEmail is the requesting user's e-mail address (chapter 2.6).
	RequesterEmail string `json:"requester_email"`
	// Name is the analysed producer's name (chapter 2.6).
	Name string `json:"name"`
	// Identity is the analysed producer's CPF or CNPJ, with or without punctuation; checked, and
	// sent without punctuation (chapter 2.6).
	Identity string `json:"identity" check:"document"`
	// AuthType is one of AuthTypes, or another value of the platform (chapter 2.6).
	AuthType AuthType `json:"auth_type"`
	// PersonType is one of PersonTypes (chapter 2.6).
	PersonType PersonType `json:"person_type"`
	// PeriodConsult is the number of months to look back, as text (chapter 2.6).
	PeriodConsult string `json:"period_consult" check:"months"`
	// Email is the producer's e-mail address; optional (chapter 2.6).
	Email string `json:"email,omitempty"`
	// Phone is the producer's telephone number; optional (chapter 2.6).
	Phone string `json:"phone,omitempty"`
	// CorporateName is the company's name, for a PJ; optional (chapter 2.6).
	CorporateName string `json:"corporate_name,omitempty"`
	// CorporateIdentity is the company's CNPJ, for a PJ; optional, checked (chapter 2.6).
	CorporateIdentity string `json:"corporate_identity,omitempty" check:"cnpj"`
}

// checked returns the encoded body, and the request with its documents normalised.
func (r CreditAnalysisRequest) checked() ([]byte, CreditAnalysisRequest, error) {
	var in inspection
	in.fields(&r)
	body, err := in.encode(r)
	return body, r, err
}

// Encode returns the body as it is sent. See CreditScoreRequest.Encode.
func (r CreditAnalysisRequest) Encode() ([]byte, error) {
	body, _, err := r.checked()
	return body, err
}

// CreateCreditAnalysis opens a credit analysis (endpoint 7, chapter 4); its id, a UUID, is in the
// Answer. It is a POST, which may cost money: it leaves at most once, and where the outcome is
// Unknown only a person can find out. The error is nil exactly when the Answer's Known is Created;
// otherwise it is a *CallError with the same Answer.
func (c *Client) CreateCreditAnalysis(ctx context.Context, r CreditAnalysisRequest) (Answer, error) {
	body, r, bad := r.checked()
	return c.submit(ctx, body, call{
		op: "create credit analysis", path: pathCreditAnalysis, idOf: uuidFromBody, bad: bad,
		persons: documentForms(r.Identity, r.CorporateIdentity),
	})
}

// CreditAnalysis is what endpoint 8 returns. The document does not show its fields (chapter 2.6),
// so the names of the creation fields are looked up, and everything is in Raw. It is parsed
// tolerantly.
type CreditAnalysis struct {
	ID                string     `read:"uuid id"` // a lower-case UUID
	RequesterID       string     `read:"text requester_id"`
	RequesterName     string     `read:"text requester_name"`
	RequesterEmail    string     `read:"text requester_email"`
	Name              string     `read:"text name"`
	Identity          string     `read:"loose identity"`
	AuthType          AuthType   `read:"text auth_type"`
	PersonType        PersonType `read:"text person_type"`
	PeriodConsult     string     `read:"loose period_consult"` // a text or an integer, as received
	Email             string     `read:"text email"`
	Phone             string     `read:"loose phone"`
	CorporateName     string     `read:"text corporate_name"`
	CorporateIdentity string     `read:"loose corporate_identity"`
	Received
}

// GetCreditAnalysis reads one credit analysis (endpoint 8, chapter 4). id must be a UUID. Every
// error is a *CallError: Status 404 with APIForm means that the API does not know the id.
func (c *Client) GetCreditAnalysis(ctx context.Context, id string) (CreditAnalysis, error) {
	canonical, bad := pathUUID("id", id)
	return read(ctx, c, call{op: "get credit analysis", path: pathCreditAnalysis + "/" + canonical, bad: bad},
		func(body []byte) (CreditAnalysis, error) {
			analysis, err := readRecord[CreditAnalysis](body)
			if err == nil && analysis.ID != "" && analysis.ID != canonical {
				err = errors.New("the answer is about another credit analysis than the one asked for")
			}
			return analysis, err
		})
}

// pathCreditScore is the path of endpoint 6 (chapter 4).
const pathCreditScore = "/api/v1/integration/financial/credit-score"

// CreditReport is a kind of report that a credit score request asks for (chapter 2.5).
type CreditReport string

// ReportCreditScore is the only report that the document names.
const ReportCreditScore CreditReport = "CREDIT_SCORE"

// Reports lists the reports that the document names; it states that there are more (chapter 2.5).
var Reports = []CreditReport{ReportCreditScore}

// CreditScoreRequest is the body of endpoint 6 (chapter 2.5), with the fields in the order of the
// chapter.
type CreditScoreRequest struct {
	// Name is the producer's name (chapter 2.5).
	Name string `json:"name"`
	// SocialID is the producer's CPF or CNPJ, with or without punctuation; checked, and sent
	// without punctuation (chapter 2.5).
	SocialID string `json:"social_id" check:"document"`
	// Reports names at least one report (chapter 2.5).
	Reports []CreditReport `json:"reports"`
	// CarList holds rural properties, which improve the analysis; optional; nil is left out
	// (chapter 2.5).
	CarList []string `json:"car_list,omitzero"`
	// SigefList holds SIGEF parcels, which improve the analysis; optional; nil is left out, an
	// empty list is sent as [] (chapter 2.5).
	SigefList []string `json:"sigef_list,omitzero"`
}

// checked returns the encoded body, and the request with its document normalised.
func (r CreditScoreRequest) checked() ([]byte, CreditScoreRequest, error) {
	var in inspection
	in.fields(&r)
	if len(r.Reports) == 0 {
		in.fault("reports", ProblemMissing, "is missing")
	}
	for _, report := range r.Reports {
		in.required("reports", string(report))
	}
	in.list("car_list", r.CarList)
	in.list("sigef_list", r.SigefList)
	body, err := in.encode(r)
	return body, r, err
}

// Encode returns the body as it is sent: the document number without punctuation, nothing escaped
// for HTML. It refuses missing or invalid fields; its error names all of them in one line, and
// never a value. The body holds personal data.
func (r CreditScoreRequest) Encode() ([]byte, error) {
	body, _, err := r.checked()
	return body, err
}

// CreditScore is the answer of endpoint 6 (chapter 2.5). It is parsed tolerantly.
type CreditScore struct {
	// ID is a text or an integer, as received.
	ID            string `read:"anyID id"`
	IdentityID    string `read:"loose identity_id"`    // a text or an integer, as received
	CooperativeID string `read:"loose cooperative_id"` // a text or an integer, as received
	Name          string `read:"text name"`
	SocialID      string `read:"loose social_id"`
	// Type is as received; its values are not documented (chapter 2.5).
	Type string `read:"text type"`
	// CreatedAt is as received.
	CreatedAt string `read:"loose created_at"`
	Received
}

// RequestCreditScore requests a credit score report (endpoint 6, chapter 4). It is a POST, which
// may cost money and cannot be read back: it leaves at most once, and where the outcome is Unknown
// only a person can find out. The error is nil exactly when the Answer's Known is Created;
// otherwise it is a *CallError with the same Answer.
func (c *Client) RequestCreditScore(ctx context.Context, r CreditScoreRequest) (CreditScore, Answer, error) {
	body, r, bad := r.checked()
	a, err := c.submit(ctx, body, call{
		op: "request credit score", path: pathCreditScore, idOf: anyIDFromBody, bad: bad,
		persons: documentForms(r.SocialID),
	})
	if err != nil {
		return CreditScore{}, a, err
	}
	score, err := readRecord[CreditScore](a.Body)
	if err != nil {
		return CreditScore{ID: a.ID}, a, nil
	}
	return score, a, nil
}

// pathConsent is the path of endpoint 5 (chapter 4).
const pathConsent = "/api/v1/integration/financial/analysis-credit/consent"

// ConsentQuery is the query of endpoint 5 (chapter 4). The numbers are in the URL, which proxies
// and servers tend to log; this package never shows it.
type ConsentQuery struct {
	// Identity is the producer's CPF or CNPJ, with or without punctuation; checked before it is
	// sent (chapter 4).
	Identity string
	// PersonType is one of PersonTypes (chapter 4). It is not derived from Identity: a legal person
	// may be queried through a natural one.
	PersonType PersonType
	// CorporateIdentity is the CNPJ of the company when a PJ is linked to a PF; optional, checked
	// (chapter 4).
	CorporateIdentity string
}

// Consent is a producer's consent to the query of financial data (chapter 2.4). It is parsed
// tolerantly.
type Consent struct {
	// Status is as received; its values are not documented (chapter 2.4).
	Status string `read:"text status"`
	// ConsentDate is an ISO 8601 timestamp, as received (chapter 2.4).
	ConsentDate string `read:"text consent_date"`
	Received
}

// GetConsent reads a producer's consent (endpoint 5, chapter 4). A number that is not a CPF or CNPJ
// is refused unsent, with FaultRequest. Every error is a *CallError.
func (c *Client) GetConsent(ctx context.Context, q ConsentQuery) (Consent, error) {
	var in inspection
	in.document("identity", &q.Identity, anyDocument)
	in.required("personType", string(q.PersonType))
	query := url.Values{"identity": {q.Identity}, "personType": {string(q.PersonType)}}
	if q.CorporateIdentity != "" {
		in.document("corporateIdentity", &q.CorporateIdentity, ParseCNPJ)
		query.Set("corporateIdentity", q.CorporateIdentity)
	}
	return read(ctx, c, call{
		op: "get consent", path: pathConsent, query: query, bad: in.err(),
		persons: documentForms(q.Identity, q.CorporateIdentity),
	}, readRecord[Consent])
}

// pathProducerByDocument is the path of the lookup of a producer (chapter 4, after the table), up
// to the number.
const pathProducerByDocument = "/api/v1/integration/producers/-/documents/"

// Producer is what the lookup by document returns. The document does not show its fields, so the id
// and the name are looked up, and everything is in Raw. It is parsed tolerantly.
type Producer struct {
	// ID comes from "id" or "producer_id", in lower case; it is the producer_id of the other
	// requests.
	ID string `read:"uuid id,producer_id"`
	// Name comes from "name".
	Name string `read:"text name"`
	Received
}

// GetProducerByDocument looks a producer up by CPF or CNPJ (chapter 4, after the table), written
// with or without punctuation. A number that is not a CPF or CNPJ is refused unsent, with
// FaultRequest. Every error is a *CallError: 404 with message.producer.not-found means that no
// producer has the number. The number is in the URL; no error, header copy or text shows it.
func (c *Client) GetProducerByDocument(ctx context.Context, document string) (Producer, error) {
	var in inspection
	in.document("social_identity", &document, anyDocument)
	return read(ctx, c, call{
		op: "get producer by document", path: pathProducerByDocument + document, bad: in.err(),
		persons: documentForms(document),
	}, readOnly[Producer])
}
