package trade_test

import (
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
	if a, b := trade.PayloadNear("order-a", []byte(`{"a":1}`)), trade.PayloadNear("order-b", []byte(`{"a":1}`)); a == b || a == 0 || a != trade.PayloadNear("order-a", []byte(`{}`)) {
		t.Errorf("the records of an order commitment stand at %d, those of another at %d", a, b)
	}
	if got := trade.PayloadNear("order-a", []byte(`{"delivery_date":"2026-01-31"}`)); got != 20484 {
		t.Errorf("a date counts before a parent: %d", got)
	}
}

func TestAHashWithoutANeighbourhoodIsTheSame(t *testing.T) {
	if a := (trade.Hash{Sum: "a", Near: 7}); !a.Same(trade.Hash{Sum: "a"}) || a.Same(trade.Hash{Sum: "b", Near: 7}) {
		t.Error("only the content decides")
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
