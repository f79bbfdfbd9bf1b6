package apiclient

import (
	"context"
	"encoding/json"
)

// pathCreditScore is the path of endpoint 6 (chapter 4).
const pathCreditScore = "/api/v1/integration/financial/credit-score"

// Report is a kind of report that a credit score request asks for (chapter 2.5).
type Report string

// ReportCreditScore is the only report that the document shows.
const ReportCreditScore Report = "CREDIT_SCORE"

// Reports lists the reports that the document shows; it says that there are more (chapter 2.5).
var Reports = []Report{ReportCreditScore}

// CreditScoreRequest is the body of endpoint 6 (chapter 2.5), fields in the order of the chapter.
type CreditScoreRequest struct {
	// Name is the producer's name (chapter 2.5).
	Name string `json:"name"`
	// SocialID is the producer's CPF or CNPJ, with or without punctuation; checked, and sent without (chapter 2.5).
	SocialID string `json:"social_id"`
	// Reports names at least one report (chapter 2.5).
	Reports []Report `json:"reports"`
	// CarList holds rural properties, which improve the analysis; optional, nil is left out (chapter 2.5).
	CarList []string `json:"car_list,omitzero"`
	// SigefList holds SIGEF parcels, which improve the analysis; optional, nil is left out, and an empty list is sent as
	// one (chapter 2.5).
	SigefList []string `json:"sigef_list,omitzero"`
}

// checked returns the body, and the request as it is sent.
func (r CreditScoreRequest) checked() ([]byte, CreditScoreRequest, error) {
	var in inspection
	in.required("name", r.Name)
	in.document("social_id", &r.SocialID, anyDocument)
	if len(r.Reports) == 0 {
		in.fault("reports", ProblemMissing, "is missing")
	}
	for _, report := range r.Reports {
		in.required("reports", string(report))
	}
	in.list("car_list", r.CarList)
	in.list("sigef_list", r.SigefList)
	if err := in.err(); err != nil {
		return nil, r, err
	}
	body, err := encode(r)
	return body, r, err
}

// Encode returns the body as it is sent: the document number without punctuation, nothing escaped for HTML. It refuses
// what is missing or wrong, all of it named in one line, values never. The body holds a person's data.
func (r CreditScoreRequest) Encode() ([]byte, error) {
	body, _, err := r.checked()
	return body, err
}

// CreditScore is the answer of endpoint 6 (chapter 2.5). It is read tolerantly.
type CreditScore struct {
	// ID is a text or an integer, as it came.
	ID            string
	IdentityID    string // a text or an integer, as it came
	CooperativeID string // a text or an integer, as it came
	Name          string
	SocialID      string
	// Type is the platform's word; its values are not documented (chapter 2.5).
	Type string
	// CreatedAt is as it came.
	CreatedAt string
	// Unread names the known fields that were there in no known shape, or twice.
	Unread []string
	// Raw is the whole object as received.
	Raw json.RawMessage
}

const opRequestCreditScore = "request credit score"

// RequestCreditScore has a credit score report made (endpoint 6, chapter 4). It is a POST, which may cost money and
// cannot be read back: it leaves at most once, and where the outcome is Unknown only a person can tell. The error is nil
// exactly when the Answer's Known is Created; otherwise it is an *Error with the same Answer.
func (c *Client) RequestCreditScore(ctx context.Context, r CreditScoreRequest) (CreditScore, Answer, error) {
	body, r, err := r.checked()
	if err != nil {
		a, err := unsent(FaultRequest, err).outcome(opRequestCreditScore)
		return CreditScore{}, a, err
	}
	a, err := c.submit(ctx, body, call{
		op: opRequestCreditScore, path: pathCreditScore, idOf: anyIDFromBody, persons: documentForms(r.SocialID),
	})
	if err != nil {
		return CreditScore{}, a, err
	}
	score, err := readCreditScore(a.Body)
	if err != nil {
		return CreditScore{ID: a.ID}, a, nil
	}
	return score, a, nil
}

var creditScoreFields = []string{"id", "identity_id", "cooperative_id", "name", "social_id", "type", "created_at"}

func readCreditScore(body []byte) (CreditScore, error) {
	r, err := readRecord(body, creditScoreFields)
	if err != nil {
		return CreditScore{}, err
	}
	s := CreditScore{
		ID:            r.anyID("id"),
		IdentityID:    r.loose("identity_id"),
		CooperativeID: r.loose("cooperative_id"),
		Name:          r.text("name"),
		SocialID:      r.loose("social_id"),
		Type:          r.text("type"),
		CreatedAt:     r.loose("created_at"),
	}
	s.Unread, s.Raw = r.unread, r.raw
	return s, nil
}
