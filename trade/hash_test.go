package trade_test

import (
	"strings"
	"testing"

	"github.com/safrasync/safrasync/trade"
)

func TestAHashIsStoredAsItsBytes(t *testing.T) {
	h := trade.HashOf("a")
	if h != "ca978112ca1bbdcafac231b39a23dc4d" {
		t.Errorf("HashOf = %q", h)
	}
	stored, err := h.Value()
	bytes, ok := stored.([]byte)
	if err != nil || !ok || len(bytes) != 16 {
		t.Errorf("Value = %v, %v", stored, err)
	}
	var read trade.Hash
	if err := read.Scan(bytes); err != nil || read != h {
		t.Errorf("Scan = %q, %v", read, err)
	}
	if err := read.Scan("text"); err == nil {
		t.Error("a text is taken for the bytes of a hash")
	}
	if _, err := trade.Hash("no hash").Value(); err == nil {
		t.Error("what is not hexadecimal is stored")
	}
}

// The content number in existing ledgers must not change, or sent content is not found again.
func TestTheContentNumberOfAPayloadStays(t *testing.T) {
	const contract = `{"amount":10,"producer_id":"p","issuer_id":"i","product":"SOJA","delivery_place_id":"d","haverst":"2025/2026",` +
		`"unit_of_measurement":"SC","order_type":"COMPRA","order_date":"2026-01-31","wallet_id":"w","price":120.5,"payday":"2026-02-28"}`
	const delivery = `{"contract_id":"c","delivered_volume":1.5,"delivered_volume_unit_of_measure":"kg","delivery_date":"2026-01-31"}`
	const share = `{"producer_id":"p","user_id":"u","allocated_volume":3}`
	number := trade.ContentNumber
	for name, c := range map[string]struct{ got, want int64 }{
		"contract": {number(trade.OrderCommitments, 0, "", []byte(contract)), 3704619063724593587},
		"delivery": {number(trade.Deliveries, 0, "", []byte(delivery)), -494315636818966161},
		"share":    {number(trade.Traceability, 0, "order", []byte(share)), 7732011555189156589},
		"nothing":  {number(trade.OrderCommitments, 0, "", []byte(`{}`)), 4905387166444775307},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", name, c.got, c.want)
		}
	}
	if number(trade.OrderCommitments, 0, "", []byte(`{}`)) == number(trade.OrderCommitments, 0, "",
		[]byte(`{"remark":1}`)) {
		t.Error("payloads without any of the fields that count are the same content")
	}
	same := func(kind trade.Kind, a, b, from, to string) {
		t.Helper()
		other := strings.Replace(a, from, to, 1)
		x, y := number(kind, 0, b, []byte(a)), number(kind, 0, b, []byte(other))
		if other == a || x != y {
			t.Errorf("%s and %s are not the same content", a, other)
		}
	}
	differs := func(kind trade.Kind, a, b, from, to string) {
		t.Helper()
		other := strings.Replace(a, from, to, 1)
		x, y := number(kind, 0, b, []byte(a)), number(kind, 0, b, []byte(other))
		if x == y {
			t.Errorf("%s and %s are the same content", a, other)
		}
	}
	same(trade.OrderCommitments, contract, "", `120.5`, `130`)
	same(trade.OrderCommitments, contract, "", `,"payday":"2026-02-28"`, ``)
	differs(trade.OrderCommitments, contract, "", `"amount":10`, `"amount":11`)
	differs(trade.OrderCommitments, contract, "", `2026-01-31`, `2026-02-01`)
	same(trade.Deliveries, delivery, "", `}`, `,"car":"MT-1"}`)
	differs(trade.Deliveries, delivery, "", `1.5`, `1.6`)
	differs(trade.Traceability, share, "order", `3`, `4`)
	if number(trade.Traceability, 0, "order", []byte(share)) == number(trade.Traceability, 0, "another",
		[]byte(share)) {
		t.Error("the order commitment does not count")
	}
	other := strings.Replace(delivery, `"c"`, `"the same contract under another id"`, 1)
	for kind, of := range map[trade.Kind][3]string{
		trade.Deliveries:   {delivery, "", other},
		trade.Traceability: {share, "another", share},
	} {
		if number(kind, 7, "order", []byte(of[0])) != number(kind, 7, of[1], []byte(of[2])) {
			t.Errorf("%s: under parents of one content the id of the parent counts", kind)
		}
		if number(kind, 7, "", []byte(of[0])) == number(kind, 8, "", []byte(of[0])) {
			t.Errorf("%s: the content of the parent does not count", kind)
		}
	}
}
