package sending

import (
	"strings"
	"testing"

	"github.com/safrasync/safrasync/trade"
)

func TestF113TheEchoOfADeliveryIsComparedByValue(t *testing.T) {
	t.Parallel()
	sent := []byte(`{"contract_id":"0101/001008","delivered_volume":1250.50}`)
	for echo, want := range map[string]bool{
		`{"contract_id":"0101/001008","delivered_volume":1250.50}`: false,
		`{"contract_id":"0101/001008","delivered_volume":1250.5}`:  false,
		`{"delivered_volume":"1250.500"}`:                          false,
		`{"delivered_volume":1.2505E+3}`:                           false,
		`{"delivered_volume":125050e-2}`:                           false,
		`{}`:                                                       false,
		`[]`:                                                       false,
		`{"contract_id":null,"delivered_volume":[]}`:               false,

		`{"contract_id":"0101/001009"}`:                             true,
		`{"contract_id":5}`:                                         true,
		`{"delivered_volume":1250.51}`:                              true,
		`{"delivered_volume":1250.500000000000001}`:                 true,
		`{"delivered_volume":1e999999999}`:                          true,
		`{"delivered_volume":` + strings.Repeat("9", 500_000) + `}`: true,
	} {
		if got := answerDiffers(trade.Deliveries, sent, []byte(echo)); got != want {
			t.Errorf("%.80s: %v, want %v", echo, got, want)
		}
	}
	if answerDiffers(trade.Deliveries, []byte(`x`), []byte(`{}`)) ||
		answerDiffers(trade.OrderCommitments, sent, []byte(`{"contract_id":"other"}`)) {
		t.Error("what was not sent, or another kind, differs")
	}
}

// An answer to a delivery that is no JSON says nothing of what was stored: the record exists, and
// nobody is troubled.
func TestAnEchoThatIsNone(t *testing.T) {
	t.Parallel()
	for _, body := range []string{``, `{`, `[]`, `"x"`} {
		if answerDiffers(trade.Deliveries, []byte(`{"contract_id":"a","delivered_volume":1}`), []byte(body)) {
			t.Errorf("%q differs", body)
		}
	}
}
