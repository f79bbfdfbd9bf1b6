// Whether an answer repeats other values than were sent.

package sending

import (
	"encoding/json"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/trade"
)

// answerDiffers reports whether the answer to a delivery repeats another contract or volume than
// was sent (chapter 2.2). If so, the record exists, and a person should check it. What the answer
// leaves out, or has in an undocumented form, is ignored.
func answerDiffers(kind trade.Kind, payload json.RawMessage, body []byte) bool {
	if kind != trade.Deliveries {
		return false
	}
	var sent struct {
		ContractID      string      `json:"contract_id"`
		DeliveredVolume json.Number `json:"delivered_volume"`
	}
	echo, err := apiclient.ReadDelivery(body)
	if err != nil || json.Unmarshal(payload, &sent) != nil {
		return false
	}
	return echo.ContractID != "" && !sameID(echo.ContractID, sent.ContractID) ||
		otherNumber(echo.DeliveredVolume, sent.DeliveredVolume)
}

func sameID(a, b string) bool {
	idA, errA := trade.ParseID(a)
	idB, errB := trade.ParseID(b)
	return a == b || errA == nil && errB == nil && idA == idB
}

// otherNumber reports whether an answer has another number than was sent; a text that is not a
// valid number counts as another one.
func otherNumber(answered, sent json.Number) bool {
	x, errX := trade.ParseDecimal(answered.String())
	y, errY := trade.ParseDecimal(sent.String())
	return answered != "" && errY == nil && (errX != nil || !x.Equal(y))
}
