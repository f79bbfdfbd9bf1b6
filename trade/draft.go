package trade

import (
	"slices"
	"strings"
)

// Draft is a mapped row before it is checked: for each field of the API the text that the mapping
// made, and its origin.
type Draft struct {
	Sends    Kind
	Fields   map[string]DraftField // by the API's field name; only mapped fields
	Problems []Problem             // what the mapping could not read
	Missing  []Awaited             // references (de-para) and parents without an id: the row waits for them
}

// DraftField is one mapped field.
type DraftField struct {
	// canonical text: digits with a point, YYYY-MM-DD, a lower-case UUID, an enum value; "" = the
	// ERP has none
	Text   string
	Origin Origin
	Failed bool // the mapping failed, and a problem or a missing reference states why; the checks skip the field
}

// Origin is where a field's value came from, for people.
type Origin struct {
	Columns []string `json:"columns,omitempty"` // columns of the query
	Value   string   `json:"value"`             // the ERP's values in them, trimmed, joined with |
	// what was applied: "const", "values products", "ref wallets", "date YYYYMMDD", "default"
	Via string `json:"via,omitempty"`
}

// Text returns a field's canonical text; "" if it is absent or could not be mapped.
func (d Draft) Text(field string) string {
	f := d.Fields[field]
	if f.Failed {
		return ""
	}
	return f.Text
}

// QuantityFields returns the API's fields with the quantity of a record and its unit (chapter 2).
func QuantityFields(sends Kind) (amount, unit string) {
	for _, rule := range rules[sends] {
		if rule.Unit != "" {
			return rule.Field, rule.Unit
		}
	}
	return "", ""
}

// Quantity returns the draft's quantity and unit as far as they are readable, for sums. An
// unreadable quantity is zero, and an unknown unit is "".
func (d Draft) Quantity() Quantity {
	amountField, unitField := QuantityFields(d.Sends)
	amount, err := ParseDecimal(d.Text(amountField))
	if err != nil {
		return Quantity{}
	}
	unit := Unit(strings.ToUpper(d.Text(unitField)))
	if !slices.Contains(Units, unit) {
		unit = ""
	}
	return Quantity{Amount: amount, Unit: unit}
}

// Quantity is an amount of grain in a unit. Quantities of different units are never added.
type Quantity struct {
	Amount Decimal `json:"amount"`
	Unit   Unit    `json:"unit"`
}

// Unit is a unit of measurement (chapter 2.1): a saca of 60 kg, a kilogram, a tonne.
type Unit string

// The units of chapter 2.1, in upper case as order commitments write them.
const (
	SC  Unit = "SC"
	KG  Unit = "KG"
	TON Unit = "TON"
)

// Units are the units of a quantity that is stored: "" = not known.
var Units = []Unit{"", SC, KG, TON}

// OrderType is the kind of a negotiation (chapter 2.1).
type OrderType string

// The order types of chapter 2.1.
const (
	Compra          OrderType = "COMPRA"
	FixacaoCompra   OrderType = "FIXACAO_COMPRA"
	FixacaoDeposito OrderType = "FIXACAO_DEPOSITO"
	AFixar          OrderType = "A_FIXAR"
)
