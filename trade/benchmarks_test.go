package trade

import "testing"

var benchDelivery = map[string]string{
	"contract_id": parentID, "delivered_volume": "27480.125", "delivered_volume_unit_of_measure": "kg",
	"delivery_date": "2026-05-10", "car": aCAR,
}

var benchCommitment = map[string]string{
	"amount": "1000.5", "producer_id": parentID, "issuer_id": parentID, "product": "SOJA",
	"delivery_place_id": parentID, "haverst": "2025/2026", "unit_of_measurement": "SC",
	"order_type": "COMPRA", "order_date": "2026-03-10", "wallet_id": parentID, "currency": "BRL", "price": "120.5",
	"initial_delivery_date": "2026-06-01",
	"end_delivery_date":     "2026-07-01", "modality": "BALCAO", "payday": "2026-08-01", "payment_type": "DINHEIRO",
}

// BenchmarkCheck checks a draft with every field.
func BenchmarkCheck(b *testing.B) {
	for _, kind := range []struct {
		sends  Kind
		fields map[string]string
	}{{OrderCommitments, benchCommitment}, {Deliveries, benchDelivery}} {
		b.Run(string(kind.sends), func(b *testing.B) {
			draft := changed(kind.sends, kind.fields, nil)
			b.ReportAllocs()
			for b.Loop() {
				if _, problems := Check(draft, Checks{}, Date{2026, 7, 1}); len(problems) > 0 {
					b.Fatal(verdicts(problems))
				}
			}
		})
	}
}

// BenchmarkParseDecimal parses an amount and formats it as it is sent.
func BenchmarkParseDecimal(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		d, err := ParseDecimal("27480.125")
		if err != nil || d.String() == "" {
			b.Fatal(err)
		}
	}
}
