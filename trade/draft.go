package trade

import "slices"

// Draft is a mapped row before it is checked: for each field of the API the text that the mapping made, and where it came from.
type Draft struct {
	Sends    Kind
	Fields   map[string]DraftField // by the API's field name; a field that the configuration does not map is not in it
	Problems []Problem             // what the mapping could not read
	Missing  []Awaited             // references (de-para) without an id: the row waits for them
}

// DraftField is one mapped field.
type DraftField struct {
	Text   string // canonical text: digits with a point, YYYY-MM-DD, a lower-case UUID, an enumeration's value; "" = the ERP has none
	Origin Origin
	Failed bool // the mapping failed: a problem or a missing reference says why, and the checks have nothing to add
}

// Origin says where a field's value came from, for people.
type Origin struct {
	Columns []string `json:"columns,omitempty"` // columns of the query
	Value   string   `json:"value"`             // what the ERP has in them, trimmed; several parts joined with |
	Via     string   `json:"via,omitempty"`     // what was applied: "const", "values products", "ref wallets", "date YYYYMMDD", "default"
}

// Text is a field's canonical text, "" when it is absent or could not be mapped.
func (d Draft) Text(field string) string {
	f := d.Fields[field]
	if f.Failed {
		return ""
	}
	return f.Text
}

// Quantity is the draft's amount and unit as far as they are readable, for sums; an unreadable amount is zero, and what is no unit is none.
func (d Draft) Quantity() Quantity {
	amount, err := ParseDecimal(d.Text("amount"))
	if err != nil {
		return Quantity{}
	}
	unit := Unit(d.Text("unit_of_measurement"))
	if !slices.Contains([]Unit{SC, KG, TON}, unit) {
		unit = ""
	}
	return Quantity{Amount: amount, Unit: unit}
}

// Quantity is an amount of grain in a unit. Quantities of different units are never added.
type Quantity struct {
	Amount Decimal `json:"amount"`
	Unit   Unit    `json:"unit"`
}
