package apiclient

import (
	"context"
	"errors"
	"net/http"
)

// Paths of chapter 4.
const (
	PathOrderCommitments = "/api/v1/integration/order-commitments"           // endpoints 1 and 2
	PathDeliveries       = "/api/v1/integration/deliveries"                  // endpoint 3
	PathTraceability     = "/api/v1/integration/traceability/-/commitments/" // endpoint 4, up to the order commitment's id
)

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

// SubmitDelivery POSTs exactly these bytes to endpoint 3 (chapter 4). It never repeats the request;
// gate and error are as in SubmitOrderCommitment. The id may be any text of at most 128 characters,
// or an integer: the document does not call it a UUID.
func (c *Client) SubmitDelivery(ctx context.Context, body []byte, gate func() error) (Answer, error) {
	return c.submit(ctx, body, call{
		op:   "create delivery",
		path: PathDeliveries,
		gate: gate,
		idOf: anyIDFromBody,
	})
}

// SubmitTraceability POSTs exactly these bytes to endpoint 4 (chapter 4), for the order commitment
// with this id, which must be a UUID. It never repeats the request; gate and error are as in
// SubmitOrderCommitment.
func (c *Client) SubmitTraceability(ctx context.Context, orderCommitmentID string, body []byte,
	gate func() error,
) (Answer, error) {
	id, bad := pathUUID("order_commitment_id", orderCommitmentID)
	return c.submit(ctx, body, call{
		op: "create traceability", path: PathTraceability + id, gate: gate, idOf: uuidFromBody, bad: bad,
	})
}

// submit makes a POST that creates. It is sent at most once.
func (c *Client) submit(ctx context.Context, body []byte, call call) (Answer, error) {
	if len(body) == 0 && call.bad == nil {
		call.bad = errors.New("the payload is empty")
	}
	call.method, call.body = http.MethodPost, body
	return c.send(ctx, call).outcome()
}
