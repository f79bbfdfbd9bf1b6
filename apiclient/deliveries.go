package apiclient

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
)

// PathDeliveries is the path of endpoint 3 (chapter 4).
const PathDeliveries = "/api/v1/integration/deliveries"

// DeliveryRequest is the body of endpoint 3 (chapter 2.2), with the fields in the order of the
// chapter.
type DeliveryRequest struct {
	// ContractID ties the delivery to a negotiation; any text that identifies a contract (chapter
	// 2.2).
	ContractID string `json:"contract_id"`
	// DeliveredVolume is plain decimal text, in DeliveredVolumeUnitOfMeasure (chapter 2.2).
	DeliveredVolume json.Number `json:"delivered_volume"`
	// DeliveredVolumeUnitOfMeasure is kg, sc or ton (chapter 2.2): lower case, unlike the other
	// units.
	DeliveredVolumeUnitOfMeasure string `json:"delivered_volume_unit_of_measure"`
	// DeliveryDate is YYYY-MM-DD (chapter 2.2).
	DeliveryDate string `json:"delivery_date"`
	// Car links the delivery to a rural property, in the shape <state code>-<number>-<code>;
	// optional (chapter 2.2).
	Car string `json:"car,omitempty"`
}

// Encode returns the body as it is sent; the same value always encodes to the same bytes. It
// refuses fields that are missing or cannot be encoded; its error names all of them in one line,
// and never a value. It does not check whether a value is allowed; the platform does.
func (r DeliveryRequest) Encode() ([]byte, error) {
	return encodeFields(&r, false)
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

// submit makes a POST that creates. It is sent at most once.
func (c *Client) submit(ctx context.Context, body []byte, call call) (Answer, error) {
	if len(body) == 0 && call.bad == nil {
		call.bad = errors.New("the payload is empty")
	}
	call.method, call.body = http.MethodPost, body
	return c.send(ctx, call).outcome()
}

// Delivery is the echo in the answer of endpoint 3. The document shows only id, contract_id and
// delivered_volume (chapter 2.2). All fields are parsed tolerantly, see Unread.
type Delivery struct {
	// ID is a text or an integer, as received.
	ID string `read:"anyID id"`
	// ContractID is a text or an integer, as received.
	ContractID string `read:"loose contract_id"`
	// DeliveredVolume is JSON number text.
	DeliveredVolume              json.Number `read:"number delivered_volume"`
	DeliveredVolumeUnitOfMeasure string      `read:"code delivered_volume_unit_of_measure"`
	DeliveryDate                 string      `read:"date delivery_date"` // YYYY-MM-DD; of a timestamp, the date as written
	Car                          string      `read:"text car"`
	// Unread names the known fields that had an unknown shape or appeared twice.
	Unread []string
	// Raw is the whole object as received.
	Raw json.RawMessage
}

// ReadDelivery parses the body of an answer to SubmitDelivery. It returns an error only if the body
// is not a JSON object.
func ReadDelivery(body []byte) (Delivery, error) { return readRecord[Delivery](body) }
