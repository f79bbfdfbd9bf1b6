// Checked records as requests of the API.

package mapping

import (
	"encoding/json"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/phrase"
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

func requestOf(record trade.Checked) (request, error) {
	var body []byte
	var err error
	target := ""
	switch r := record.(type) {
	case trade.OrderCommitment:
		body, err = apiclient.OrderCommitmentRequest{ // chapter 2.1
			Amount: json.Number(r.Amount.String()), ProducerID: r.ProducerID, IssuerID: r.IssuerID,
			Product: string(r.Product), DeliveryPlaceID: r.DeliveryPlaceID, Haverst: r.Harvest,
			UnitOfMeasurement: string(r.Unit), OrderType: string(r.OrderType), OrderDate: r.OrderDate.String(),
			WalletID: r.WalletID, Currency: string(r.Currency), Price: numberOrNone(r.Price),
			InitialDeliveryDate: r.InitialDeliveryDate.String(), EndDeliveryDate: r.EndDeliveryDate.String(),
			Modality: string(r.Modality), Payday: r.Payday.String(), PaymentType: string(r.PaymentType),
		}.Encode()
	case trade.Delivery:
		body, err = apiclient.DeliveryRequest{ // chapter 2.2
			ContractID: r.ContractID, DeliveredVolume: json.Number(r.DeliveredVolume.String()),
			DeliveredVolumeUnitOfMeasure: string(r.Unit), DeliveryDate: r.DeliveryDate.String(), Car: r.CAR,
		}.Encode()
	case trade.TraceabilityRecord:
		target = r.OrderCommitmentID
		body, err = apiclient.TraceabilityRequest{ // chapter 2.3
			ProducerID: r.ProducerID, UserID: r.UserID, FarmID: r.FarmID,
			AllocatedVolume: numberOrNone(r.AllocatedVolume), UnitOfMeasurement: string(r.Unit),
		}.Encode()
	default:
		err = phrase.Errorf("%T is no record that can be sent", record)
	}
	return request{target: target, body: body}, err
}

// numberOrNone returns a number's exact text (I6), or "" for nil.
func numberOrNone(d *trade.Decimal) json.Number {
	if d == nil {
		return ""
	}
	return json.Number(d.String())
}
