package trade_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/trade"
)

// printed are requests with every field of their kind.
var printed = map[trade.Kind]map[string]any{
	trade.OrderCommitments: {
		"amount": 60, "producer_id": "p", "issuer_id": "i", "product": "SOJA", "delivery_place_id": "d",
		"haverst": "2025/2026", "unit_of_measurement": "SC", "order_type": "COMPRA", "order_date": "2026-01-31",
		"wallet_id": "w", "currency": "BRL", "price": 120.5, "initial_delivery_date": "2026-02-01",
		"end_delivery_date": "2026-02-28", "modality": "FUTURO", "payday": "2026-03-31", "payment_type": "DINHEIRO",
	},
	trade.Deliveries: {
		"contract_id": "c", "delivered_volume": 60, "delivered_volume_unit_of_measure": "sc",
		"delivery_date": "2026-01-31", "car": "MT-1",
	},
	trade.Traceability: {
		"producer_id": "p", "user_id": "u", "farm_id": "f", "allocated_volume": 60, "unit_of_measurement": "SC",
	},
}

func printsOf(t *testing.T, kind trade.Kind, target string, set map[string]any) trade.Prints {
	t.Helper()
	fields := maps.Clone(printed[kind])
	maps.Copy(fields, set)
	maps.DeleteFunc(fields, func(_ string, value any) bool { return value == nil })
	payload, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return trade.PrintsOf(kind, "cells", target, payload)
}

// changes names the prints that differ, the strongest first.
func changes(a, b trade.Prints) string {
	out := []string{}
	for _, p := range []struct {
		name string
		is   bool
	}{
		{"cells", a.Cells != b.Cells},
		{"payload", a.Payload != b.Payload},
		{"business", a.Business != b.Business},
		{"frame", a.Frame != b.Frame},
		{"document", a.Document != b.Document},
		{"near", a.Near != b.Near},
	} {
		if p.is {
			out = append(out, p.name)
		}
	}
	return strings.Join(out, " ")
}

// Each field of a request changes these prints, and only these.
func TestWhichFieldsAPrintIsOf(t *testing.T) {
	t.Parallel()
	for kind, want := range map[trade.Kind]map[string]string{
		trade.OrderCommitments: {
			"amount": "payload business", "producer_id": "payload business frame document near", "issuer_id": "payload",
			"product": "payload business frame document near", "delivery_place_id": "payload frame",
			"haverst": "payload business frame near", "unit_of_measurement": "payload business",
			"order_type": "payload",
			"order_date": "payload frame", "wallet_id": "payload", "currency": "payload", "price": "",
			"initial_delivery_date": "payload", "end_delivery_date": "payload", "modality": "payload",
			"payday": "payload", "payment_type": "payload",
		},
		trade.Deliveries: {
			"contract_id": "payload business frame near", "delivered_volume": "payload business",
			"delivered_volume_unit_of_measure": "payload business", "delivery_date": "payload business frame near",
			"car": "payload",
		},
		trade.Traceability: {
			"order_commitment_id": "payload business frame near", "producer_id": "payload business frame near",
			"user_id": "payload business frame near", "farm_id": "payload", "allocated_volume": "payload business",
			"unit_of_measurement": "payload business",
		},
	} {
		got := map[string]string{}
		base := printsOf(t, kind, "", nil)
		for _, rule := range trade.Rules(kind) {
			var other any = "other"
			switch rule.Field {
			case "amount", "delivered_volume", "allocated_volume", "price":
				other = 7
			case "unit_of_measurement", "delivered_volume_unit_of_measure":
				other = "TON"
			case "order_commitment_id": // in the path
				got[rule.Field] = changes(base, printsOf(t, kind, "other", nil))
				continue
			}
			got[rule.Field] = changes(base, printsOf(t, kind, "", map[string]any{rule.Field: other}))
			if _, optional := printed[kind][rule.Field]; optional && rule.Field != "price" {
				without := changes(base, printsOf(t, kind, "", map[string]any{rule.Field: nil}))
				if without != got[rule.Field] {
					t.Errorf("%s: without %s these change: %q", kind, rule.Field, without)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
}

// The same weight in another unit is the same business.
func TestPrintsWeighInKilograms(t *testing.T) {
	t.Parallel()
	for kind, fields := range map[trade.Kind][2]string{
		trade.OrderCommitments: {"amount", "unit_of_measurement"},
		trade.Deliveries:       {"delivered_volume", "delivered_volume_unit_of_measure"},
		trade.Traceability:     {"allocated_volume", "unit_of_measurement"},
	} {
		base := printsOf(t, kind, "", nil) // 60 SC
		for _, c := range []struct {
			amount json.Number
			unit   string
			want   string
		}{
			{"3600", "KG", "payload"},
			{"3600.00", "kg", "payload"},
			{"3.6", "TON", "payload"},
			{"3600.01", "KG", "payload business"},
			{"60", "KG", "payload business"},
			{"60", "LITRE", "payload business"},
		} {
			got := changes(base, printsOf(t, kind, "", map[string]any{fields[0]: c.amount, fields[1]: c.unit}))
			if got != c.want {
				t.Errorf("%s: %s %s differs from 60 SC in %q, want %q", kind, c.amount, c.unit, got, c.want)
			}
		}
	}
}

// A print that is not known is zero, and equals nothing.
func TestPrintsOfWhatCannotBeSent(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{"", "null", "{}", "[1]", "{"} {
		got := trade.PrintsOf(trade.OrderCommitments, "cells", "", []byte(payload))
		if diff := cmp.Diff(trade.Prints{Cells: "cells"}, got); diff != "" || got.Known() {
			t.Errorf("%q (-want +got):\n%s", payload, diff)
		}
	}
	for kind := range printed {
		if p := printsOf(t, kind, "", nil); !p.Known() || p.Frame == 0 || p.Document == 0 || p.Near == 0 {
			t.Errorf("%s: a print is not known: %+v", kind, p)
		}
	}
}

// Ledgers store prints: a print that changes for the same request finds no record any more.
func TestPrintsStay(t *testing.T) {
	t.Parallel()
	for kind, want := range map[trade.Kind]trade.Prints{
		trade.OrderCommitments: {
			Cells: "cells", Payload: "a7558acac8e1efbdf6f984a835716721", Business: -8808309336911401157,
			Frame: -89861744787942277, Document: 2303238426261332543, Near: -1314610175058599737,
		},
		trade.Deliveries: {
			Cells: "cells", Payload: "5b494ce5a590600888fbabae7e5a1b5b", Business: -8171361224408664879,
			Frame: -4111482003242697915, Document: 1, Near: -4111482003242697915,
		},
		trade.Traceability: {
			Cells: "cells", Payload: "6c7d8395584fe30a893ca5cf9fa2b83e", Business: -3808307259065083053,
			Frame: -7272346634927310035, Document: 1, Near: -7272346634927310035,
		},
	} {
		if diff := cmp.Diff(want, printsOf(t, kind, "order", nil)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
}

func TestTheParentOfARequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind                  trade.Kind
		target, payload, want string
	}{
		{trade.OrderCommitments, "", `{"contract_id":"c"}`, ""},
		{trade.Deliveries, "", `{"contract_id":"c"}`, "c"},
		{trade.Deliveries, "", `no object`, ""},
		{trade.Traceability, "order", `{}`, "order"},
	} {
		if got := trade.ParentOf(c.kind, c.target, []byte(c.payload)); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.kind, c.payload, got, c.want)
		}
	}
}

// The fingerprints of an entry are computed once, and are those of its content whatever becomes of it.
func TestTheFingerprintsOfAnEntryAreThoseOfItsContent(t *testing.T) {
	t.Parallel()
	e := trade.Entry{Sends: trade.OrderCommitments, SourceHash: trade.HashOf([]byte("row"))}
	for _, payload := range []string{
		"", `{"producer_id":"a","product":"SOJA","haverst":"25/26","amount":1,"unit_of_measurement":"SC"}`,
		`{"producer_id":"b","product":"SOJA","haverst":"25/26","amount":1,"unit_of_measurement":"SC"}`, "",
	} {
		e.TakePayload(trade.Entry{Payload: []byte(payload), PayloadHash: trade.PayloadHash("", []byte(payload))})
		for _, source := range []string{"row", "changed"} {
			e.SourceHash = trade.HashOf([]byte(source))
			for range 2 {
				if got, want := e.Prints(), trade.PrintsOf(e.Sends, e.SourceHash, e.Target, e.Payload); got != want {
					t.Errorf("%s of %q: %+v, want %+v", source, payload, got, want)
				}
			}
		}
	}
}
