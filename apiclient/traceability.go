package apiclient

import (
	"context"
	"encoding/json"
)

// PathTraceability is the path of endpoint 4 (chapter 4) up to the order commitment's id.
const PathTraceability = "/api/v1/integration/traceability/-/commitments/"

// TraceabilityRequest is the body of endpoint 4 (chapter 2.3), with the fields in the order of the
// chapter. Optional fields are left out when empty.
type TraceabilityRequest struct {
	// ProducerID is a UUID (chapter 2.3).
	ProducerID string `json:"producer_id"`
	// UserID is a UUID (chapter 2.3).
	UserID string `json:"user_id"`
	// FarmID is a UUID; optional (chapter 2.3).
	FarmID string `json:"farm_id,omitempty"`
	// AllocatedVolume is plain decimal text, in UnitOfMeasurement; optional (chapter 2.3).
	AllocatedVolume json.Number `json:"allocated_volume,omitempty"`
	// UnitOfMeasurement is SC, KG or TON; optional (chapter 2.3). Without it the platform assumes
	// TON, which overstates a volume in sacks nearly 17 times.
	UnitOfMeasurement string `json:"unit_of_measurement,omitempty"`
}

// Encode returns the body as it is sent. See DeliveryRequest.Encode.
func (r TraceabilityRequest) Encode() ([]byte, error) {
	return encodeFields(&r, false)
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
