package apiclient

import (
	"context"
	"encoding/json"
	"errors"
)

// OrderCommitment is what endpoint 2 returns. The document shows no more of it than the names of
// the creation fields and the id (chapter 2.1), so it is parsed tolerantly. A field that is absent,
// null or of an unknown shape stays empty; one of an unknown shape is named in Unread. Numbers are
// JSON number text, dates YYYY-MM-DD.
type OrderCommitment struct {
	// ID comes from "id" or "commitment_id", in lower case.
	ID                  string
	Amount              json.Number
	ProducerID          string
	IssuerID            string
	Product             string
	DeliveryPlaceID     string
	Haverst             string // spelled as in the contract (chapter 2.1)
	UnitOfMeasurement   string // a text, or an object with "code"
	OrderType           string
	OrderDate           string // of a timestamp only the date is kept, as written; no time zone is applied
	WalletID            string
	Currency            string
	Price               json.Number
	InitialDeliveryDate string
	EndDeliveryDate     string
	Modality            string
	Payday              string
	PaymentType         string
	// Unread names the known fields that had an unknown shape or appeared twice.
	Unread []string
	// Raw is the whole object as received, including all fields that this program does not know.
	Raw json.RawMessage
}

const opGetOrderCommitment = "get order commitment"

// GetOrderCommitment reads one order commitment (endpoint 2, chapter 4). id must be a UUID. The
// error is an *CallError: Status 404 with APIForm means that the API does not know the id.
func (c *Client) GetOrderCommitment(ctx context.Context, id string) (OrderCommitment, error) {
	canonical, bad := pathUUID("id", id)
	return read(ctx, c, bad, call{op: opGetOrderCommitment, path: PathOrderCommitments + "/" + canonical},
		func(body []byte) (OrderCommitment, error) {
			oc, err := readOrderCommitment(body)
			if err == nil && oc.ID != "" && oc.ID != canonical {
				err = errors.New("the answer is about another order commitment than the one asked for")
			}
			return oc, err
		})
}

// unusable returns the error for a 2xx whose body is not what the document describes.
func (r result) unusable(op string, err error) error {
	r.Text = err.Error()
	if r.credentials {
		r.Body = hideCredentials(r.Body)
	}
	return &CallError{Op: op, Answer: r.Answer, Err: err, Fault: FaultProtocol, method: r.method}
}

func readOrderCommitment(body []byte) (OrderCommitment, error) {
	r, err := readRecord(body)
	if err != nil {
		return OrderCommitment{}, err
	}
	oc := OrderCommitment{
		ID:                  r.uuid("id", "commitment_id"),
		Amount:              r.number("amount"),
		ProducerID:          r.text("producer_id"),
		IssuerID:            r.text("issuer_id"),
		Product:             r.text("product"),
		DeliveryPlaceID:     r.text("delivery_place_id"),
		Haverst:             r.text("haverst"),
		UnitOfMeasurement:   r.code("unit_of_measurement"),
		OrderType:           r.text("order_type"),
		OrderDate:           r.date("order_date"),
		WalletID:            r.text("wallet_id"),
		Currency:            r.text("currency"),
		Price:               r.number("price"),
		InitialDeliveryDate: r.date("initial_delivery_date"),
		EndDeliveryDate:     r.date("end_delivery_date"),
		Modality:            r.text("modality"),
		Payday:              r.date("payday"),
		PaymentType:         r.text("payment_type"),
	}
	oc.Unread, oc.Raw = r.unread, r.raw
	return oc, nil
}
