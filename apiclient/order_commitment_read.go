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
	ID                  string      `read:"uuid id,commitment_id"`
	Amount              json.Number `read:"number amount"`
	ProducerID          string      `read:"text producer_id"`
	IssuerID            string      `read:"text issuer_id"`
	Product             string      `read:"text product"`
	DeliveryPlaceID     string      `read:"text delivery_place_id"`
	Haverst             string      `read:"text haverst"`             // spelled as in the contract (chapter 2.1)
	UnitOfMeasurement   string      `read:"code unit_of_measurement"` // a text, or an object with "code"
	OrderType           string      `read:"text order_type"`
	OrderDate           string      `read:"date order_date"` // of a timestamp only the date is kept, as written; no time zone is applied
	WalletID            string      `read:"text wallet_id"`
	Currency            string      `read:"text currency"`
	Price               json.Number `read:"number price"`
	InitialDeliveryDate string      `read:"date initial_delivery_date"`
	EndDeliveryDate     string      `read:"date end_delivery_date"`
	Modality            string      `read:"text modality"`
	Payday              string      `read:"date payday"`
	PaymentType         string      `read:"text payment_type"`
	// Unread names the known fields that had an unknown shape or appeared twice.
	Unread []string
	// Raw is the whole object as received, including all fields that this program does not know.
	Raw json.RawMessage
}

// GetOrderCommitment reads one order commitment (endpoint 2, chapter 4). id must be a UUID. The
// error is an *CallError: Status 404 with APIForm means that the API does not know the id.
func (c *Client) GetOrderCommitment(ctx context.Context, id string) (OrderCommitment, error) {
	canonical, bad := pathUUID("id", id)
	return read(ctx, c, call{op: "get order commitment", path: PathOrderCommitments + "/" + canonical, bad: bad},
		func(body []byte) (OrderCommitment, error) {
			oc, err := readRecord[OrderCommitment](body)
			if err == nil && oc.ID != "" && oc.ID != canonical {
				err = errors.New("the answer is about another order commitment than the one asked for")
			}
			return oc, err
		})
}

// unusable returns the error for a 2xx whose body is not what the document describes.
func (r result) unusable(err error) error {
	r.Text = err.Error()
	if r.call.credentials {
		r.Body = hideCredentials(r.Body)
	}
	r.err, r.fault = err, FaultProtocol
	_, err = r.outcome()
	return err
}
