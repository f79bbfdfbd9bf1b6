package trade

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// Prints are the fingerprints by which a row and a record are compared. A print that is not known is
// empty, and equals nothing. Ledgers store them, so none of them may ever change for what it is
// computed from.
type Prints struct {
	Cells   Hash `json:"cells,omitempty"`   // the mapped cells as the ERP wrote them; survives another mapping or de-para
	Payload Hash `json:"payload,omitempty"` // everything that is sent, the price aside
	// a mark for each identifying field, in the order of their groups; they are known together
	Fields Hash `json:"fields,omitempty"`
}

// fieldMark is the length of the mark of one field, in the form of a Hash.
const fieldMark = 8

// identifying are the rules of the fields by which a document is known, in their groups.
var identifying = func() map[Kind][3][]FieldRule {
	out := map[Kind][3][]FieldRule{}
	for kind, table := range rules {
		var groups [3][]FieldRule
		for _, rule := range table {
			if rule.IdentityGroup > 0 {
				groups[rule.IdentityGroup-1] = append(groups[rule.IdentityGroup-1], rule)
			}
		}
		out[kind] = groups
	}
	return out
}()

// Known reports whether the identifying fields are known: the row could be mapped as a whole.
func (p Prints) Known() bool { return p.Fields != "" }

// Differ returns how many identifying fields of two contents of one kind differ; Unlike if those of
// one are not known.
func (p Prints) Differ(o Prints) (n int) {
	if p.Fields == "" || len(p.Fields) != len(o.Fields) {
		return Unlike
	}
	for at := 0; at < len(p.Fields); at += fieldMark {
		if p.Fields[at:at+fieldMark] != o.Fields[at:at+fieldMark] {
			n++
		}
	}
	return n
}

// Unlike is more fields than any kind has.
const Unlike = 99

// SameDocument reports whether two contents of a kind are the same document at all: a contract of the
// same producer and product. A ticket or share that goes to another contract is still the same one.
func (p Prints) SameDocument(kind Kind, o Prints) bool {
	const document = 2 * fieldMark
	return kind != OrderCommitments || p.Known() && o.Known() && p.Fields[:document] == o.Fields[:document]
}

// Pairs returns a number for each two of the three groups of identifying fields, by which the ledger finds
// what may be alike. If one field differs, one of the numbers is equal; if the first two are equal, no
// field differs. 0 = not known.
func (p Prints) Pairs(kind Kind) (out [3]int64) {
	if !p.Known() {
		return out
	}
	groups, at := [3]string{}, 0
	for i, fields := range identifying[kind] {
		end := at + len(fields)*fieldMark
		if end > len(p.Fields) {
			return [3]int64{} // a damaged ledger has it
		}
		groups[i], at = string(p.Fields[at:end]), end
	}
	for i, pair := range [3][2]int{{0, 1}, {0, 2}, {1, 2}} {
		sum := sha256.Sum256([]byte(groups[pair[0]] + groups[pair[1]]))
		out[i] = int64(binary.BigEndian.Uint64(sum[:])) | 1
	}
	return out
}

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
// 2.1 to 2.3). Without a payload only that of the cells is known. A field that is absent is a value
// of its own.
func PrintsOf(kind Kind, cells Hash, target string, payload []byte) Prints {
	out := Prints{Cells: cells}
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
	amount, unit := QuantityFields(kind)
	if fields[amount] == nil {
		return out // it is no request of this kind
	}
	marks := make([]byte, 0, 6*fieldMark/2)
	for _, group := range identifying[kind] {
		for _, rule := range group {
			name := rule.Field
			raw, ok := fields[name]
			switch { // the names are part of stored marks
			case rule.Unit != "":
				name, raw, ok = "kg", kilogramsOf(fields[amount], fields[unit]), true
			case rule.InPath:
				name, raw, ok = "target", json.RawMessage(target), true
			}
			text := append(append(make([]byte, 0, 64), kind...), name...)
			if ok {
				text = append(append(text, 0), raw...)
			}
			sum := sha256.Sum256(text)
			marks = append(marks, sum[:fieldMark/2]...)
		}
	}
	out.Fields = Hash(hex.EncodeToString(marks))
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
