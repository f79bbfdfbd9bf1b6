package sending

import (
	"strings"
	"testing"

	"github.com/safrasync/safrasync/trade"
)

// F113: the fields of an answer that were sent are compared by value.
func TestF113AnAnswerIsMineByItsFields(t *testing.T) {
	t.Parallel()
	payloads := map[trade.Kind]string{
		trade.Deliveries: `{"contract_id":"0101/001008","delivered_volume":1250.50,"delivered_volume_unit_of_measure":"kg","delivery_date":"2026-05-02"}`,
		trade.OrderCommitments: `{"amount":1200,"producer_id":"0b3ab6a5-9c5e-4d8e-8a55-0a3f5a1c0001","haverst":"2025/2026","unit_of_measurement":"SC",
			"order_date":"2026-03-10","price":120.50,"product":"SOJA"}`,
		trade.Traceability: `{"producer_id":"0b3ab6a5-9c5e-4d8e-8a55-0a3f5a1c0001","allocated_volume":7}`,
	}
	for kind, answers := range map[trade.Kind]map[string]string{
		trade.Deliveries: {
			`{"contract_id":"0101/001008","delivered_volume":1250.50}`:  "",
			`{"contract_id":"0101/001008","delivered_volume":1250.5}`:   "",
			`{"delivered_volume":"1250.500"}`:                           "",
			`{"delivered_volume":1.2505E+3}`:                            "",
			`{"delivered_volume":125050e-2}`:                            "",
			`{"contract_id":null,"delivered_volume":[]}`:                "",
			`{"delivered_volume_unit_of_measure":"KG"}`:                 "",
			`{"delivery_date":"2026-05-02T00:00:00-03:00"}`:             "",
			`{"car":"MT-1", "contract":"another"}`:                      "", // not sent, or not a field
			`{"contract_id":"0101/001009"}`:                             "contract_id",
			`{"contract_id":5}`:                                         "contract_id",
			`{"delivery_date":"2026-05-03T00:00:00Z"}`:                  "delivery_date",
			`{"delivered_volume":1250.51}`:                              "delivered_volume",
			`{"delivered_volume":1250.500000000000001}`:                 "delivered_volume",
			`{"delivered_volume":1e999999999}`:                          "delivered_volume",
			`{"delivered_volume":` + strings.Repeat("9", 500_000) + `}`: "delivered_volume",
			``:    "",
			`{`:   "",
			`{}`:  "",
			`[]`:  "",
			`"x"`: "",
		},
		trade.OrderCommitments: {
			`{"id":"7"}`: "",
			`{"amount":"1200.0","producer_id":"{0B3AB6A5-9C5E-4D8E-8A55-0A3F5A1C0001}","unit_of_measurement":{"code":"SC"},"price":120.5}`: "",
			"\xef\xbb\xbf" + `{"order_date":"2026-03-10T03:00:00Z","product":"soja"}`:                                                      "",
			`{"amount":1200,"producer_id":"0b3ab6a5-9c5e-4d8e-8a55-0a3f5a1c0002"}`:                                                         "producer_id",
			`{"amount":1201}`:                       "amount",
			`{"unit_of_measurement":{"code":"KG"}}`: "unit_of_measurement",
			`{"haverst":"2026/2027"}`:               "haverst",
			`{"order_date":"2026-03-11"}`:           "order_date",
			`{"price":120.51}`:                      "price",
		},
		trade.Traceability: {`{"allocated_volume":7.0}`: "", `{"allocated_volume":8}`: "allocated_volume"},
	} {
		for answer, want := range answers {
			if got := otherField(kind, []byte(payloads[kind]), []byte(answer)); got != want {
				t.Errorf("%s, %.100s: %q differs, want %q", kind, answer, got, want)
			}
		}
	}
	if field := otherField(trade.Deliveries, []byte(`x`), []byte(`{"contract_id":"a"}`)); field != "" {
		t.Errorf("of what was not sent, %s differs", field)
	}
}
