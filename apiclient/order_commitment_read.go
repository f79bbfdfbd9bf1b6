package apiclient

import (
	"context"
	"errors"

	"github.com/safrasync/safrasync/trade"
)

// ReadBack is a record of the platform as an answer has it: what endpoint 2 returns, or the echo in the
// answer of a creation. The document shows no more of them than the names of the creation fields and
// the id (chapter 2), so they are parsed tolerantly.
type ReadBack struct {
	// ID of an order commitment comes from "id" or "commitment_id", in lower case. That of a delivery is a
	// text or an integer, as received.
	ID string
	// Fields are the fields of chapter 2 that the answer has in a known shape: numbers as JSON number text,
	// dates as YYYY-MM-DD (of a timestamp the date as written; no time zone is applied).
	Fields map[string]string
	Received
}

// shapes are the shapes in which an answer may have a field, by its type; [reader.text] for others.
var shapes = map[trade.FieldType]func(*reader, string) string{
	trade.Number: (*reader).number, trade.Day: (*reader).date, trade.Text: (*reader).loose,
}

// ReadRecord reads the object in body as a record. It returns an error only if the body is not a JSON
// object.
func ReadRecord(kind trade.Kind, body []byte) (ReadBack, error) {
	r, raw, err := readObject(body)
	if err != nil {
		return ReadBack{}, err
	}
	out := ReadBack{Received: Received{Raw: raw}, Fields: map[string]string{}}
	if kind == trade.Deliveries {
		out.ID = r.anyID("id")
	} else {
		out.ID = r.uuid("id,commitment_id")
	}
	_, unit := trade.QuantityFields(kind)
	for _, rule := range trade.Rules(kind) {
		shape := (*reader).text
		if own, ok := shapes[rule.Type]; ok {
			shape = own
		} else if rule.Field == unit { // a text, or an object with "code"
			shape = (*reader).code
		}
		if text := shape(r, rule.Field); text != "" {
			out.Fields[rule.Field] = text
		}
	}
	out.Unread = r.unread
	return out, nil
}

// GetOrderCommitment reads one order commitment (endpoint 2, chapter 4). id must be a UUID. The
// error is a *CallError: Status 404 with APIForm means that the API does not know the id.
func (c *Client) GetOrderCommitment(ctx context.Context, id string) (ReadBack, error) {
	canonical, bad := pathUUID("id", id)
	return read(ctx, c, call{op: "get order commitment", path: pathOrderCommitments + "/" + canonical, bad: bad},
		func(body []byte) (ReadBack, error) {
			oc, err := ReadRecord(trade.OrderCommitments, body)
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
