package trade_test

import (
	"strings"
	"testing"

	"github.com/safrasync/safrasync/trade"
)

// What ledgers keep of a text must stay what it is: a hash that was kept in one neighbourhood is not looked for in another.
func TestTheNeighbourhoodOfATextStays(t *testing.T) {
	for text, want := range map[string]int64{
		``:           0,
		`2026-01-31`: 20484,
		`20260131`:   20484,
		`31/01/2026`: 20484,
		`{"order_date":"2026-01-31","payday":"2026-02-28","amount":20260131}`: 20484 + 20512 + 20484,
		`2026-01-31T12:00:00-03:00`:                      20484,
		`2026-01-31 12:00:00`:                            20484,
		`{"id":"20260131-2026-0131-8000-2026013120260"}`: 0, // part of an id
		`MT-5107602-20260131`:                            0,
		`202601311`:                                      0,
		`2026-13-01`:                                     0,
		`2026-00-10`:                                     0,
		`1970-01-02`:                                     0,
		`2100-01-01`:                                     0,
		`2099-12-31`:                                     47481,
		`01-31-2026`:                                     0,
		`20-60-31`:                                       0,
		`2026/01/31`:                                     0,
		`202a0131`:                                       0,
	} {
		if got := trade.NearOf(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
		if got := trade.NearOf([]byte(text)); got != want {
			t.Errorf("%q as bytes: %d, want %d", text, got, want)
		}
	}
}

// What ledgers keep of a payload must stay what it is, or what was sent is not found.
func TestTheContentNumberOfAPayloadStays(t *testing.T) {
	const contract = `{"amount":10,"producer_id":"p","issuer_id":"i","product":"SOJA","delivery_place_id":"d","haverst":"2025/2026",` +
		`"unit_of_measurement":"SC","order_type":"COMPRA","order_date":"2026-01-31","wallet_id":"w","price":120.5,"payday":"2026-02-28"}`
	const delivery = `{"contract_id":"c","delivered_volume":1.5,"delivered_volume_unit_of_measure":"kg","delivery_date":"2026-01-31"}`
	const share = `{"producer_id":"p","user_id":"u","allocated_volume":3}`
	number := trade.ContentNumber
	for name, c := range map[string]struct{ got, want int64 }{
		"contract": {number(trade.OrderCommitments, 0, "", []byte(contract)), 22522616995866905},
		"delivery": {number(trade.Deliveries, 0, "", []byte(delivery)), 22523466231483421},
		"share":    {number(trade.Traceability, 0, "order", []byte(share)), 69006910134651683},
		"nothing":  {number(trade.OrderCommitments, 0, "", []byte(`{}`)), 0},
		"no JSON":  {number(trade.OrderCommitments, 0, "", nil), 0},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", name, c.got, c.want)
		}
	}
	if day := number(trade.OrderCommitments, 0, "", []byte(contract)) >> 40; day != 20484 {
		t.Errorf("the contract stands at day %d", day)
	}
	same := func(kind trade.Kind, a, b, from, to string) {
		t.Helper()
		other := strings.Replace(a, from, to, 1)
		x, y := trade.Hash{Sum: "x", Near: number(kind, 0, b, []byte(a))}, trade.Hash{Sum: "y", Near: number(kind, 0, b, []byte(other))}
		if other == a || !x.SameContent(y) {
			t.Errorf("%s and %s are not the same content", a, other)
		}
	}
	differs := func(kind trade.Kind, a, b, from, to string) {
		t.Helper()
		other := strings.Replace(a, from, to, 1)
		x, y := trade.Hash{Sum: "x", Near: number(kind, 0, b, []byte(a))}, trade.Hash{Sum: "y", Near: number(kind, 0, b, []byte(other))}
		if x.SameContent(y) {
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
	if number(trade.Traceability, 0, "order", []byte(share)) == number(trade.Traceability, 0, "another", []byte(share)) {
		t.Error("the order commitment does not count")
	}
	other := strings.Replace(delivery, `"c"`, `"the same contract under another id"`, 1)
	for kind, of := range map[trade.Kind][3]string{trade.Deliveries: {delivery, "", other}, trade.Traceability: {share, "another", share}} {
		if number(kind, 7, "order", []byte(of[0])) != number(kind, 7, of[1], []byte(of[2])) {
			t.Errorf("%s: under parents of one content the id of the parent counts", kind)
		}
		if number(kind, 7, "", []byte(of[0])) == number(kind, 8, "", []byte(of[0])) {
			t.Errorf("%s: the content of the parent does not count", kind)
		}
	}
}

func TestAHashWithoutANeighbourhoodIsTheSame(t *testing.T) {
	if a := (trade.Hash{Sum: "a", Near: 7}); !a.Same(trade.Hash{Sum: "a"}) || a.Same(trade.Hash{Sum: "b", Near: 7}) {
		t.Error("only the content decides")
	}
	if a := (trade.Hash{Sum: "a", Near: 7}); !a.SameContent(trade.Hash{Sum: "a"}) || a.SameContent(trade.Hash{Sum: "b"}) || (trade.Hash{}).SameContent(trade.Hash{}) {
		t.Error("without a number only the same payload is the same content, and nothing is no content")
	}
}

func FuzzNearOf(f *testing.F) {
	f.Add("2026-01-31 20260131 31/01/2026")
	f.Fuzz(func(t *testing.T, text string) {
		if got := trade.NearOf(text); got < 0 || got != trade.NearOf([]byte(text)) || got > int64(len(text))*47481 {
			t.Errorf("%q: %d", text, got)
		}
	})
}
