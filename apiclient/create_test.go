package apiclient

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// The requests of chapters 2.1 to 2.3, as tests write them.

type OrderCommitmentRequest struct {
	Amount              json.Number `json:"amount"`
	ProducerID          string      `json:"producer_id"`
	IssuerID            string      `json:"issuer_id"`
	Product             string      `json:"product"`
	DeliveryPlaceID     string      `json:"delivery_place_id"`
	Haverst             string      `json:"haverst"`
	UnitOfMeasurement   string      `json:"unit_of_measurement"`
	OrderType           string      `json:"order_type"`
	OrderDate           string      `json:"order_date"`
	WalletID            string      `json:"wallet_id"`
	Currency            string      `json:"currency,omitempty"`
	Price               json.Number `json:"price,omitempty"`
	InitialDeliveryDate string      `json:"initial_delivery_date,omitempty"`
	EndDeliveryDate     string      `json:"end_delivery_date,omitempty"`
	Modality            string      `json:"modality,omitempty"`
	Payday              string      `json:"payday,omitempty"`
	PaymentType         string      `json:"payment_type,omitempty"`
}

type DeliveryRequest struct {
	ContractID                   string      `json:"contract_id"`
	DeliveredVolume              json.Number `json:"delivered_volume"`
	DeliveredVolumeUnitOfMeasure string      `json:"delivered_volume_unit_of_measure"`
	DeliveryDate                 string      `json:"delivery_date"`
	Car                          string      `json:"car,omitempty"`
}

type TraceabilityRequest struct {
	ProducerID        string      `json:"producer_id"`
	UserID            string      `json:"user_id"`
	FarmID            string      `json:"farm_id,omitempty"`
	AllocatedVolume   json.Number `json:"allocated_volume,omitempty"`
	UnitOfMeasurement string      `json:"unit_of_measurement,omitempty"`
}

func (r OrderCommitmentRequest) Encode() ([]byte, error) {
	return encodeStruct(trade.OrderCommitments, r)
}

func (r DeliveryRequest) Encode() ([]byte, error) { return encodeStruct(trade.Deliveries, r) }

func (r TraceabilityRequest) Encode() ([]byte, error) { return encodeStruct(trade.Traceability, r) }

func encodeStruct(kind trade.Kind, request any) ([]byte, error) {
	from, fields := reflect.ValueOf(request), map[string]string{}
	for i := range from.NumField() {
		name, _, _ := strings.Cut(from.Type().Field(i).Tag.Get("json"), ",")
		fields[name] = from.Field(i).String()
	}
	return Encode(kind, fields)
}

// SubmitOrderCommitment, SubmitDelivery and SubmitTraceability are Submit for one kind.

func (c *Client) SubmitOrderCommitment(ctx context.Context, body []byte, gate func() error) (Answer, error) {
	return c.Submit(ctx, trade.OrderCommitments, "", body, gate)
}

func (c *Client) SubmitDelivery(ctx context.Context, body []byte, gate func() error) (Answer, error) {
	return c.Submit(ctx, trade.Deliveries, "", body, gate)
}

func (c *Client) SubmitTraceability(ctx context.Context, id string, body []byte, gate func() error) (Answer, error) {
	return c.Submit(ctx, trade.Traceability, id, body, gate)
}

// These methods encode a request and submit it without a gate, as tests do.

func (c *Client) CreateOrderCommitment(ctx context.Context, r OrderCommitmentRequest) (Answer, error) {
	body, err := r.Encode()
	if err != nil {
		return unsent(call{op: "create order commitment"}, FaultRequest, err).outcome()
	}
	return c.SubmitOrderCommitment(ctx, body, nil)
}

// CreateDelivery also returns the echo in the answer.
func (c *Client) CreateDelivery(ctx context.Context, r DeliveryRequest) (d ReadBack, a Answer, err error) {
	body, err := r.Encode()
	if err != nil {
		a, err = unsent(call{op: "create delivery"}, FaultRequest, err).outcome()
		return d, a, err
	}
	a, err = c.SubmitDelivery(ctx, body, nil)
	if err != nil {
		return d, a, err
	}
	d, err = ReadRecord(trade.Deliveries, a.Body)
	if err != nil {
		return ReadBack{ID: a.ID}, a, nil
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
