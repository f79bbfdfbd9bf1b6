package apiclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// OrderCommitment is what endpoint 2 returns. The document does not show its shape beyond the names of the creation
// fields and the id (chapter 2.1), so it is read tolerantly: a field that is absent, null or in no known shape stays
// empty, and the latter is named in Unread. Numbers are JSON number text, dates YYYY-MM-DD.
type OrderCommitment struct {
	// ID comes from "id" or "commitment_id", in lower case.
	ID                  string
	Amount              json.Number
	ProducerID          string
	IssuerID            string
	Product             Product
	DeliveryPlaceID     string
	Haverst             string // spelled as in the contract (chapter 2.1)
	UnitOfMeasurement   Unit   // a text, or an object with "code"
	OrderType           OrderType
	OrderDate           string // of a timestamp only the date part is kept, as written: no time zone is applied
	WalletID            string
	Currency            Currency
	Price               json.Number
	InitialDeliveryDate string
	EndDeliveryDate     string
	Modality            Modality
	Payday              string
	PaymentType         PaymentType
	// Unread names the known fields that were there in no known shape, or twice.
	Unread []string
	// Raw is the whole object as received, with all fields this program does not know.
	Raw json.RawMessage
}

const opGetOrderCommitment = "get order commitment"

// GetOrderCommitment reads one order commitment (endpoint 2, chapter 4). id must be a UUID; nothing else ever becomes
// part of a path. The error is an *Error: Status 404 with APIForm means that the API does not know the id.
func (c *Client) GetOrderCommitment(ctx context.Context, id string) (OrderCommitment, error) {
	canonical, err := parseUUID(strings.TrimSpace(id))
	if err != nil {
		_, err = unsent(FaultRequest, fmt.Errorf("the id %w", err)).outcome(opGetOrderCommitment)
		return OrderCommitment{}, err
	}
	res := c.get(ctx, opGetOrderCommitment, pathOrderCommitments+"/"+canonical)
	if _, err := res.outcome(opGetOrderCommitment); err != nil {
		return OrderCommitment{}, err
	}
	oc, err := readOrderCommitment(res.Body)
	if err == nil && oc.ID != "" && oc.ID != canonical {
		err = errors.New("the answer is about another order commitment than the one asked for")
	}
	if err != nil {
		return OrderCommitment{}, res.unusable(opGetOrderCommitment, err)
	}
	return oc, nil
}

// unusable is the error for a 2xx whose body is not what the document describes.
func (r result) unusable(op string, err error) error {
	r.Text = err.Error()
	return &Error{Op: op, Answer: r.Answer, Err: err, Fault: FaultProtocol}
}

// reader collects the fields of a tolerantly read object.
type reader struct {
	values map[string]json.RawMessage
	unread []string
}

func readOrderCommitment(body []byte) (OrderCommitment, error) {
	doc := bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	if !json.Valid(doc) {
		return OrderCommitment{}, errors.New("the answer is not one JSON document")
	}
	r := reader{values: map[string]json.RawMessage{}}
	err := eachMember(doc, func(key string, v json.RawMessage) {
		if _, twice := r.values[key]; twice {
			r.unread = append(r.unread, key)
		}
		r.values[key] = v
	})
	if err != nil {
		return OrderCommitment{}, errors.New("the answer is not a JSON object")
	}
	// A doubled name says two things: neither is believed. Doubles among unknown names do not matter.
	doubled := r.unread
	r.unread = nil
	for _, key := range doubled {
		if slices.Contains(orderCommitmentFields, key) {
			r.values[key] = json.RawMessage(`[]`)
		}
	}
	oc := OrderCommitment{
		ID:                  r.id(),
		Amount:              r.number("amount"),
		ProducerID:          r.text("producer_id"),
		IssuerID:            r.text("issuer_id"),
		Product:             Product(r.text("product")),
		DeliveryPlaceID:     r.text("delivery_place_id"),
		Haverst:             r.text("haverst"),
		UnitOfMeasurement:   Unit(r.code("unit_of_measurement")),
		OrderType:           OrderType(r.text("order_type")),
		OrderDate:           r.date("order_date"),
		WalletID:            r.text("wallet_id"),
		Currency:            Currency(r.text("currency")),
		Price:               r.number("price"),
		InitialDeliveryDate: r.date("initial_delivery_date"),
		EndDeliveryDate:     r.date("end_delivery_date"),
		Modality:            Modality(r.text("modality")),
		Payday:              r.date("payday"),
		PaymentType:         PaymentType(r.text("payment_type")),
	}
	oc.Unread = r.unread
	oc.Raw = json.RawMessage(bytes.TrimSpace(doc))
	return oc, nil
}

var orderCommitmentFields = []string{
	"id", "commitment_id", "amount", "producer_id", "issuer_id", "product", "delivery_place_id", "haverst",
	"unit_of_measurement", "order_type", "order_date", "wallet_id", "currency", "price", "initial_delivery_date",
	"end_delivery_date", "modality", "payday", "payment_type",
}

// value returns the field, nil when it is absent or null.
func (r *reader) value(name string) json.RawMessage {
	v := r.values[name]
	if string(v) == "null" {
		return nil
	}
	return v
}

func (r *reader) odd(name string) string {
	r.unread = append(r.unread, name)
	return ""
}

func (r *reader) text(name string) string {
	v := r.value(name)
	if v == nil {
		return ""
	}
	s, ok := text(v)
	if !ok {
		return r.odd(name)
	}
	return s
}

// id reads "id" and "commitment_id"; when both are there they must agree.
func (r *reader) id() string {
	var found string
	for _, name := range []string{"id", "commitment_id"} {
		s := r.text(name)
		if s == "" {
			continue
		}
		id, err := parseUUID(s)
		if err != nil || found != "" && found != id {
			return r.odd(name)
		}
		found = id
	}
	return found
}

// number accepts a JSON number, or one in quotes.
func (r *reader) number(name string) json.Number {
	v := r.value(name)
	if v == nil {
		return ""
	}
	s, ok := text(v)
	if !ok {
		s = string(v)
	}
	if !anyNumber.MatchString(s) {
		return json.Number(r.odd(name))
	}
	return json.Number(s)
}

// anyNumber is JSON number text.
var anyNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// code accepts a text, or an object with the text "code".
func (r *reader) code(name string) string {
	v := r.value(name)
	if kind(v) != '{' {
		return r.text(name)
	}
	var code json.RawMessage
	n := 0
	err := eachMember(v, func(key string, value json.RawMessage) {
		if key == "code" {
			code = value
			n++
		}
	})
	s, ok := text(code)
	if err != nil || n != 1 || !ok {
		return r.odd(name)
	}
	return s
}

// dateText is a date, alone or before a time.
var dateText = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})(?:[T ].*)?$`)

func (r *reader) date(name string) string {
	s := r.text(name)
	if s == "" {
		return ""
	}
	m := dateText.FindStringSubmatch(s)
	if m == nil {
		return r.odd(name)
	}
	return m[1]
}
