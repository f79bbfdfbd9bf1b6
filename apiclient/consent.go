package apiclient

import (
	"context"
	"net/url"
)

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
