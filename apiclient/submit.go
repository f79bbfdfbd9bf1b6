package apiclient

import (
	"context"
	"errors"
	"net/http"

	"github.com/safrasync/safrasync/trade"
)

// pathOrderCommitments is the path of endpoints 1 and 2 (chapter 4).
const pathOrderCommitments = "/api/v1/integration/order-commitments"

// creations are the endpoints that create records of a kind. The id of a delivery may be any text of
// at most 128 characters, or an integer: the document does not call it a UUID.
var creations = map[trade.Kind]call{
	trade.OrderCommitments: {op: "create order commitment", path: pathOrderCommitments, idOf: uuidFromBody},
	trade.Deliveries: {
		op: "create delivery", path: "/api/v1/integration/deliveries", idOf: anyIDFromBody,
	},
	trade.Traceability: {
		op: "create traceability", path: "/api/v1/integration/traceability/-/commitments/", idOf: uuidFromBody,
	},
}

// PathOf returns the path of the request that creates a record (chapter 4). target is the order
// commitment of a traceability record; "" for other kinds.
func PathOf(kind trade.Kind, target string) string { return creations[kind].path + target }

// Submit POSTs exactly these bytes to the endpoint that creates a record (endpoints 1, 3 and 4,
// chapter 4). target is the order commitment of a traceability record, which must be a UUID; "" for
// other kinds. It never repeats the request and follows no redirect.
//
// gate, if not nil, is called at most once, when a connection is ready and the first byte is about
// to leave. If it returns an error, nothing is sent: the result is NotSent with FaultWindow, and
// errors.Is finds the gate's error in the error returned. The gate runs on a goroutine of the
// transport and must return soon.
//
// The error is nil exactly when the Answer's Known is Created; otherwise it is a *CallError with the
// same Answer.
func (c *Client) Submit(ctx context.Context, kind trade.Kind, target string, body []byte,
	gate func() error,
) (Answer, error) {
	call := creations[kind]
	call.gate = gate
	if kind == trade.Traceability {
		target, call.bad = pathUUID("order_commitment_id", target)
		call.path += target
	}
	return c.submit(ctx, body, call)
}

// submit makes a POST that creates. It is sent at most once.
func (c *Client) submit(ctx context.Context, body []byte, call call) (Answer, error) {
	if len(body) == 0 && call.bad == nil {
		call.bad = errors.New("the payload is empty")
	}
	call.method, call.body = http.MethodPost, body
	return c.send(ctx, call).outcome()
}
