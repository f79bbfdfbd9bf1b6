package apiclient

import "context"

// These methods encode a request and submit it without a gate, as tests do.

func (c *Client) CreateOrderCommitment(ctx context.Context, r OrderCommitmentRequest) (Answer, error) {
	body, err := r.Encode()
	if err != nil {
		return unsent(call{op: "create order commitment"}, FaultRequest, err).outcome()
	}
	return c.SubmitOrderCommitment(ctx, body, nil)
}

// CreateDelivery also returns the echo in the answer.
func (c *Client) CreateDelivery(ctx context.Context, r DeliveryRequest) (d Delivery, a Answer, err error) {
	body, err := r.Encode()
	if err != nil {
		a, err = unsent(call{op: "create delivery"}, FaultRequest, err).outcome()
		return d, a, err
	}
	a, err = c.SubmitDelivery(ctx, body, nil)
	if err != nil {
		return d, a, err
	}
	d, err = ReadDelivery(a.Body)
	if err != nil {
		return Delivery{ID: a.ID}, a, nil
	}
	return d, a, nil
}

func (c *Client) CreateTraceability(ctx context.Context, orderCommitmentID string,
	r TraceabilityRequest,
) (Answer, error) {
	body, err := r.Encode()
	if err != nil {
		return unsent(call{op: "create traceability"}, FaultRequest, err).outcome()
	}
	return c.SubmitTraceability(ctx, orderCommitmentID, body, nil)
}
