// Checked records as requests of the API.

package mapping

import (
	"encoding/json"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/trade"
)

// PathOf returns the path of an entry's request, for people; "" if the entry has no payload.
func PathOf(e trade.Entry) string {
	if e.Payload == nil {
		return ""
	}
	switch e.Sends {
	case trade.Deliveries:
		return apiclient.PathDeliveries
	case trade.Traceability:
		return apiclient.PathTraceability + e.Target
	}
	return apiclient.PathOrderCommitments
}

// orderCommitmentRequest returns the body of chapter 2.1.
func orderCommitmentRequest(c trade.OrderCommitment) apiclient.OrderCommitmentRequest {
	return apiclient.OrderCommitmentRequest{
		Amount: json.Number(c.Amount.String()), ProducerID: c.ProducerID, IssuerID: c.IssuerID,
		Product: string(c.Product), DeliveryPlaceID: c.DeliveryPlaceID, Haverst: c.Harvest,
		UnitOfMeasurement: string(c.Unit), OrderType: string(c.OrderType),
		OrderDate: c.OrderDate.String(), WalletID: c.WalletID,
		Currency: string(c.Currency), Price: numberOrNone(c.Price),
		InitialDeliveryDate: c.InitialDeliveryDate.String(),
		EndDeliveryDate:     c.EndDeliveryDate.String(), Modality: string(c.Modality),
		Payday: c.Payday.String(), PaymentType: string(c.PaymentType),
	}
}

// deliveryRequest returns the body of chapter 2.2.
func deliveryRequest(d trade.Delivery) apiclient.DeliveryRequest {
	return apiclient.DeliveryRequest{
		ContractID: d.ContractID, DeliveredVolume: json.Number(d.DeliveredVolume.String()),
		DeliveredVolumeUnitOfMeasure: string(d.Unit), DeliveryDate: d.DeliveryDate.String(), Car: d.CAR,
	}
}

// traceabilityRequest returns the body of chapter 2.3.
func traceabilityRequest(t trade.TraceabilityRecord) apiclient.TraceabilityRequest {
	return apiclient.TraceabilityRequest{
		ProducerID: t.ProducerID, UserID: t.UserID, FarmID: t.FarmID,
		AllocatedVolume: numberOrNone(t.AllocatedVolume), UnitOfMeasurement: string(t.Unit),
	}
}

// numberOrNone returns a number's exact text (I6), or "" for nil.
func numberOrNone(d *trade.Decimal) json.Number {
	if d == nil {
		return ""
	}
	return json.Number(d.String())
}
