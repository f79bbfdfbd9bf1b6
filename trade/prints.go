package trade

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"strings"
)

// Prints are the fingerprints by which a row and a record are compared, the strongest first. A
// print that is not known is zero, and equals nothing. Ledgers store them, so none of them may ever
// change for what it is computed from.
type Prints struct {
	Cells   Hash `json:"cells,omitempty"`   // the mapped cells as the ERP wrote them; survives another mapping or de-para
	Payload Hash `json:"payload,omitempty"` // everything that is sent, the price aside
	// The business: a contract's producer, product, harvest and kilograms; a delivery's contract,
	// day and kilograms; a traceability record's order commitment, producer, user and kilograms.
	Business int64 `json:"business,omitempty"`
	// What a corrected quantity leaves: a contract's producer, product, harvest, order date and
	// place; of deliveries and traceability records the business without the kilograms.
	Frame int64 `json:"frame,omitempty"`
	// Which document it is at all: a contract's producer and product. A ticket or share that goes to
	// another contract is still the same one.
	Document int64 `json:"document,omitempty"`
	// Near is equal wherever Payload, Business or Frame is, and often beside: the ledger looks up
	// what may be alike by it.
	Near int64 `json:"near,omitempty"`
}

// sameDocument is the document of every delivery and traceability record.
const sameDocument = 1

// Known reports whether the business is known: the row could be mapped as a whole.
func (p Prints) Known() bool { return p.Business != 0 }

// ParentOf returns the platform id of the record under which a request goes; "" for a contract.
func ParentOf(kind Kind, target string, payload []byte) string {
	if kind != Deliveries {
		return target
	}
	var sent struct {
		ContractID string `json:"contract_id"`
	}
	_ = json.Unmarshal(payload, &sent) // what is no object has no contract
	return sent.ContractID
}

// PrintsOf returns the fingerprints of a row with these cells, which sends this request (chapters
// 2.1 to 2.3). Without a payload only that of the cells is known, and that a delivery or share is
// still the same one.
func PrintsOf(kind Kind, cells Hash, target string, payload []byte) Prints {
	out := Prints{Cells: cells}
	if kind != OrderCommitments {
		out.Document = sameDocument
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(payload, &fields) != nil || len(fields) == 0 {
		return out
	}
	all := append(make([]byte, 0, 512), target...)
	for _, rule := range Rules(kind) {
		if raw, ok := fields[rule.Field]; ok && rule.Field != "price" {
			all = append(append(append(append(all, 0), rule.Field...), '='), raw...)
		}
	}
	out.Payload = HashOf(all)
	number := func(what string, names ...string) int64 {
		text := append(append(make([]byte, 0, 256), kind...), what...)
		text = append(append(text, 0), target...)
		for _, name := range names {
			if fields[name] == nil {
				return 0 // it is no request of this kind
			}
			text = append(append(text, 0), fields[name]...)
		}
		sum := sha256.Sum256(text)
		return int64(binary.BigEndian.Uint64(sum[:])) | 1
	}
	amount, unit := QuantityFields(kind)
	fields["kg"] = kilogramsOf(fields[amount], fields[unit])
	switch kind {
	case OrderCommitments:
		out.Business = number("business", "producer_id", "product", "haverst", "kg")
		out.Frame = number("frame", "producer_id", "product", "haverst", "order_date", "delivery_place_id")
		out.Document = number("document", "producer_id", "product")
		out.Near = number("near", "producer_id", "product", "haverst")
	case Deliveries:
		out.Business = number("business", "contract_id", "delivery_date", "kg")
		out.Frame = number("frame", "contract_id", "delivery_date")
		out.Near = out.Frame
	case Traceability:
		out.Business = number("business", "producer_id", "user_id", "kg")
		out.Frame = number("frame", "producer_id", "user_id")
		out.Near = out.Frame
	}
	return out
}

// Printed are the fingerprints of a payload, with its hash. They are computed once.
type Printed struct {
	Of     Hash
	Prints Prints
}

// Prints returns the fingerprints of what an entry sends, with its newest row.
func (e *Entry) Prints() Prints {
	if len(e.Payload) == 0 {
		return PrintsOf(e.Sends, e.SourceHash, e.Target, nil)
	}
	if e.Printed.Of == "" || e.Printed.Of != e.PayloadHash {
		e.Printed = Printed{e.PayloadHash, PrintsOf(e.Sends, "", e.Target, e.Payload)}
	}
	out := e.Printed.Prints
	out.Cells = e.SourceHash
	return out
}

// kilogramsOf returns the weight of an amount and its unit as they stand in a request. Without a
// unit that is known it is both texts.
func kilogramsOf(amount, unit json.RawMessage) json.RawMessage {
	n, err := ParseDecimal(string(amount))
	kg, ok := Quantity{Amount: n, Unit: Unit(strings.Trim(string(unit), `"`))}.Kilograms()
	if err != nil || !ok {
		return append(append(json.RawMessage{}, amount...), unit...)
	}
	return json.RawMessage(kg.String())
}
