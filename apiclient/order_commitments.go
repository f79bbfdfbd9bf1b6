package apiclient

import (
	"context"
	"encoding/json"
)

// PathOrderCommitments is the path of endpoints 1 and 2 (chapter 4).
const PathOrderCommitments = "/api/v1/integration/order-commitments"

// compra is the order type that makes the seven conditional fields required (chapter 2.1).
const compra = "COMPRA"

// OrderCommitmentRequest is the body of endpoint 1 (chapter 2.1), with the fields in the order of
// the chapter. The first ten are always sent. The other seven are left out when empty; they are
// never sent as null, "" or 0. COMPRA requires them.
type OrderCommitmentRequest struct {
	// Amount is the quantity in UnitOfMeasurement, plain decimal text such as "1250.5" (chapter
	// 2.1).
	Amount json.Number `json:"amount"`
	// ProducerID is a UUID (chapter 2.1).
	ProducerID string `json:"producer_id"`
	// IssuerID is the UUID of a user (chapter 2.1).
	IssuerID string `json:"issuer_id"`
	// Product is SOJA, TRIGO or MILHO (chapter 2.1).
	Product string `json:"product"`
	// DeliveryPlaceID is a UUID (chapter 2.1).
	DeliveryPlaceID string `json:"delivery_place_id"`
	// Haverst is the season, such as "2026/2027". The misspelling is the name in the contract
	// (chapter 2.1); if it were corrected, the API would not find the field.
	Haverst string `json:"haverst"`
	// UnitOfMeasurement is SC, KG or TON (chapter 2.1).
	UnitOfMeasurement string `json:"unit_of_measurement"`
	// OrderType is COMPRA, FIXACAO_COMPRA, FIXACAO_DEPOSITO or A_FIXAR (chapter 2.1).
	OrderType string `json:"order_type"`
	// OrderDate is YYYY-MM-DD (chapter 2.1).
	OrderDate string `json:"order_date"`
	// WalletID is the UUID of a wallet that is linked to the producer (chapter 2.1).
	WalletID string `json:"wallet_id"`
	// Currency is BRL, USD or EUR; required for COMPRA (chapter 2.1).
	Currency string `json:"currency,omitempty"`
	// Price is plain decimal text, in Currency; required for COMPRA (chapter 2.1).
	Price json.Number `json:"price,omitempty"`
	// InitialDeliveryDate is YYYY-MM-DD; required for COMPRA (chapter 2.1).
	InitialDeliveryDate string `json:"initial_delivery_date,omitempty"`
	// EndDeliveryDate is YYYY-MM-DD; required for COMPRA (chapter 2.1).
	EndDeliveryDate string `json:"end_delivery_date,omitempty"`
	// Modality is BALCAO, DISPONIVEL, FUTURO or EXPORTACAO; required for COMPRA (chapter 2.1).
	Modality string `json:"modality,omitempty"`
	// Payday is YYYY-MM-DD; required for COMPRA (chapter 2.1).
	Payday string `json:"payday,omitempty"`
	// PaymentType is DINHEIRO or TROCA; required for COMPRA (chapter 2.1).
	PaymentType string `json:"payment_type,omitempty"`
}

// Encode returns the body as it is sent; the same value always encodes to the same bytes. Fields
// are in the order of the chapter, numbers are unquoted, and nothing is escaped for HTML. It
// refuses a required field that is empty, which for COMPRA includes the seven conditional fields
// (chapter 4, rule 1), a number that is not plain decimal text, and text that is not UTF-8
// (encoding would alter it silently). Its error is a *RequestError that names all such fields, and
// never a value. It does not check whether a value is allowed; the platform does.
func (r OrderCommitmentRequest) Encode() ([]byte, error) {
	return encodeFields(&r, r.OrderType == compra)
}

// SubmitOrderCommitment POSTs exactly these bytes to endpoint 1 (chapter 4). It never repeats the
// request and follows no redirect.
//
// gate, if not nil, is called at most once, when a connection is ready and the first byte is about
// to leave. If it returns an error, nothing is sent: the result is NotSent with FaultWindow, and
// errors.Is finds the gate's error in the error returned. The gate runs on a goroutine of the
// transport and must return soon.
//
// The error is nil exactly when the Answer's Known is Created; otherwise it is an *CallError with the
// same Answer.
func (c *Client) SubmitOrderCommitment(ctx context.Context, body []byte, gate func() error) (Answer, error) {
	return c.submit(ctx, body, call{
		op: "create order commitment", path: PathOrderCommitments, gate: gate, idOf: uuidFromBody,
	})
}
