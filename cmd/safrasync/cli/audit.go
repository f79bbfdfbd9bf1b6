package cli

import (
	"encoding/json"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// AuditJSON is one line of `report --audit --json`.
type AuditJSON struct {
	Seq    int64           `json:"seq"`
	At     time.Time       `json:"at"`
	Who    string          `json:"who"`
	From   string          `json:"from"`
	Act    string          `json:"act"`
	Target string          `json:"target"`
	Reason string          `json:"reason"`
	Detail json.RawMessage `json:"detail"` // values before and after the act
	Prev   string          `json:"prev"`   // hash of the previous record; "" for the first
	Hash   string          `json:"hash"`

	Reduced bool `json:"reduced"` // retention has removed who, from, target, reason and detail
}

// AuditOf converts an audit record to its JSON form. A detail that is not valid JSON becomes null.
func AuditOf(r trade.AuditRecord) AuditJSON {
	detail := json.RawMessage(trade.MaskJSON([]byte(r.Detail)))
	if !json.Valid(detail) {
		detail = json.RawMessage("null")
	}
	return AuditJSON{
		r.Seq, r.At, r.Who, r.From, r.Act, trade.MaskDocuments(r.Target),
		trade.MaskDocuments(r.Because(trade.English, time.UTC)), detail,
		r.Prev, r.Hash, r.Reduced,
	}
}
