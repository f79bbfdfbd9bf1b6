package trade_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
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

// changes names the prints that differ, and how many identifying fields do.
func changes(a, b trade.Prints) string {
	out := []string{}
	if a.Cells != b.Cells {
		out = append(out, "cells")
	}
	if a.Payload != b.Payload {
		out = append(out, "payload")
	}
	if n := a.Differ(b); n > 0 {
		out = append(out, strconv.Itoa(n))
	}
	if !a.SameDocument(trade.OrderCommitments, b) {
		out = append(out, "document")
	}
	return strings.Join(out, " ")
}

// Ledgers store fingerprints, so those of a request are what they were.
func TestPrintsAreWhatTheyWere(t *testing.T) {
	t.Parallel()
	got := map[trade.Kind]string{}
	for kind := range printed {
		p := printsOf(t, kind, "order", nil)
		got[kind] = fmt.Sprint(p.Payload, p.Fields, p.Pairs(kind))
	}
	want := map[trade.Kind]string{
		trade.OrderCommitments: "a7558acac8e1efbdf6f984a8357167214c2db57aae122ecdaa895dcb04bc026308a6f2baf7ef0514" +
			"[-8595613012504062605 509257096972347971 -1104594976008983689]",
		trade.Deliveries: "5b494ce5a590600888fbabae7e5a1b5bf831a7fe5fe805a11cf9fc07" +
			"[-5814205663724300331 2051594192494991697 -206604790826073371]",
		trade.Traceability: "6c7d8395584fe30a893ca5cf9fa2b83e5deceb2c168663fa619212d723739a72" +
			"[7235200543199900571 -9114898912712396167 -1298614378474219501]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("prints (-want +got):\n%s", diff)
	}
}

// Each field of a request changes these prints, and only these.
func TestWhichFieldsAPrintIsOf(t *testing.T) {
	t.Parallel()
	for kind, want := range map[trade.Kind]map[string]string{
		trade.OrderCommitments: {
			"amount": "payload 1", "producer_id": "payload 1 document", "issuer_id": "payload",
			"product": "payload 1 document", "delivery_place_id": "payload 1",
			"haverst": "payload 1", "unit_of_measurement": "payload 1", "order_type": "payload",
			"order_date": "payload 1", "wallet_id": "payload", "currency": "payload", "price": "",
			"initial_delivery_date": "payload", "end_delivery_date": "payload", "modality": "payload",
			"payday": "payload", "payment_type": "payload",
		},
		trade.Deliveries: {
			"contract_id": "payload 1", "delivered_volume": "payload 1",
			"delivered_volume_unit_of_measure": "payload 1", "delivery_date": "payload 1", "car": "payload",
		},
		trade.Traceability: {
			"order_commitment_id": "payload 1", "producer_id": "payload 1", "user_id": "payload 1",
			"farm_id":          "payload",
			"allocated_volume": "payload 1", "unit_of_measurement": "payload 1",
		},
	} {
		got := map[string]string{}
		base := printsOf(t, kind, "", nil)
		differ := func(other trade.Prints) string {
			out := changes(base, other)
			if kind != trade.OrderCommitments { // it is always the same document
				out = strings.TrimSuffix(out, " document")
			}
			return out
		}
		for _, rule := range trade.Rules(kind) {
			var other any = "other"
			switch rule.Field {
			case "amount", "delivered_volume", "allocated_volume", "price":
				other = 7
			case "unit_of_measurement", "delivered_volume_unit_of_measure":
				other = "TON"
			case "order_commitment_id": // in the path
				got[rule.Field] = differ(printsOf(t, kind, "other", nil))
				continue
			}
			got[rule.Field] = differ(printsOf(t, kind, "", map[string]any{rule.Field: other}))
			amount, _ := trade.QuantityFields(kind) // without it, it is no request
			if _, optional := printed[kind][rule.Field]; optional && rule.Field != "price" && rule.Field != amount {
				without := differ(printsOf(t, kind, "", map[string]any{rule.Field: nil}))
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

// If one identifying field differs, one number of two groups is equal; if none does, all are.
func TestAPairOfGroupsIsWholeIfOneFieldDiffers(t *testing.T) {
	t.Parallel()
	for kind, fields := range map[trade.Kind][]string{
		trade.OrderCommitments: {"producer_id", "product", "haverst", "order_date", "amount", "delivery_place_id"},
		trade.Deliveries:       {"contract_id", "delivery_date", "delivered_volume"},
		trade.Traceability:     {"", "producer_id", "user_id", "allocated_volume"},
	} {
		base := printsOf(t, kind, "order", nil)
		with := func(set map[string]any) trade.Prints {
			target := "order"
			if _, ok := set[""]; ok {
				target = "other"
			}
			delete(set, "")
			return printsOf(t, kind, target, set)
		}
		equal := func(p trade.Prints) (n int) {
			for i, pair := range p.Pairs(kind) {
				if pair == base.Pairs(kind)[i] {
					n++
				}
			}
			return n
		}
		for i, field := range fields {
			if n := equal(with(map[string]any{field: 7})); n != 1 {
				t.Errorf("%s: with another %q %d numbers are equal, expected 1", kind, field, n)
			}
			for _, other := range fields[:i] {
				p := with(map[string]any{field: 7, other: 7})
				if n := p.Differ(base); n != 2 {
					t.Errorf("%s: with another %q and %q %d fields differ", kind, field, other, n)
				}
			}
		}
		if n := equal(with(map[string]any{})); n != 3 {
			t.Errorf("%s: of the same request %d numbers are equal", kind, n)
		}
	}
}

// The same weight in another unit is the same quantity.
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
			{"3600.01", "KG", "payload 1"},
			{"60", "KG", "payload 1"},
			{"60", "LITRE", "payload 1"},
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
		if p := printsOf(t, kind, "", nil); !p.Known() || p.Pairs(kind)[0] == 0 || p.Pairs(kind)[2] == 0 {
			t.Errorf("%s: a print is not known: %+v", kind, p)
		}
	}
}

// Ledgers store prints: a print that changes for the same request finds no record any more.
func TestPrintsStay(t *testing.T) {
	t.Parallel()
	for kind, want := range map[trade.Kind]trade.Prints{
		trade.OrderCommitments: {
			Cells: "cells", Payload: "a7558acac8e1efbdf6f984a835716721", Fields: "4c2db57aae122ecdaa895dcb04bc026308a6f2baf7ef0514",
		},
		trade.Deliveries: {
			Cells: "cells", Payload: "5b494ce5a590600888fbabae7e5a1b5b", Fields: "f831a7fe5fe805a11cf9fc07",
		},
		trade.Traceability: {
			Cells: "cells", Payload: "6c7d8395584fe30a893ca5cf9fa2b83e", Fields: "5deceb2c168663fa619212d723739a72",
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
