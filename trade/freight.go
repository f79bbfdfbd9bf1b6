package trade

import (
	"bytes"
	"encoding/json"
	"maps"
)

// Freight is what leaves in a run: rows with their weight, and their value by currency. Values of different currencies are never added.
type Freight struct {
	Load
	Value map[string]Decimal `json:"value,omitempty"` // of the rows with an amount, a price and a currency, exactly
}

// Add counts one row.
func (f *Freight) Add(e Entry) {
	f.Load.Add(e.Quantity)
	currency, value, ok := e.Value()
	if !ok {
		return
	}
	if f.Value == nil {
		f.Value = map[string]Decimal{}
	}
	f.Value[currency] = f.Value[currency].Add(value)
}

// Less is what is left of it when another freight is taken away; nothing is less than zero.
func (f Freight) Less(o Freight) Freight {
	left := Freight{Load: Load{Rows: max(0, f.Rows-o.Rows), Kilograms: f.Kilograms.Sub(o.Kilograms), Unweighed: max(0, f.Unweighed-o.Unweighed)}, Value: maps.Clone(f.Value)}
	if left.Kilograms.Sign() < 0 {
		left.Kilograms = Decimal{}
	}
	for currency, value := range left.Value {
		if left.Value[currency] = value.Sub(o.Value[currency]); left.Value[currency].Sign() <= 0 {
			delete(left.Value, currency)
		}
	}
	return left
}

// Within tells whether it is no more than another freight in anything that the other one limits: no rows, no weight and no value of a currency there are no limit.
func (f Freight) Within(most Freight) bool {
	if most.Rows > 0 && f.Rows > most.Rows || most.Kilograms.Sign() > 0 && f.Kilograms.Cmp(most.Kilograms) > 0 {
		return false
	}
	for currency, value := range most.Value {
		if f.Value[currency].Cmp(value) > 0 {
			return false
		}
	}
	return true
}

// And adds another freight to what it limits.
func (f Freight) And(o Freight) Freight {
	out := Freight{Load: f.Load, Value: maps.Clone(f.Value)}
	if f.Rows > 0 {
		out.Rows += o.Rows
	}
	if f.Kilograms.Sign() > 0 {
		out.Kilograms = f.Kilograms.Add(o.Kilograms)
	}
	for currency, value := range f.Value {
		out.Value[currency] = value.Add(o.Value[currency])
	}
	return out
}

// Value is what an entry is worth: amount times price, in the currency of its payload. ok is false where one of the three is not there; deliveries and
// traceability have no price.
func (e Entry) Value() (currency string, value Decimal, ok bool) {
	if e.Sends != OrderCommitments || len(e.Payload) == 0 {
		return "", Decimal{}, false
	}
	var body struct {
		Amount   json.Number `json:"amount"`
		Price    json.Number `json:"price"`
		Currency string      `json:"currency"`
	}
	d := json.NewDecoder(bytes.NewReader(e.Payload))
	d.UseNumber()
	if d.Decode(&body) != nil || body.Currency == "" {
		return "", Decimal{}, false
	}
	amount, err := ParseDecimal(body.Amount.String())
	if err != nil {
		return "", Decimal{}, false
	}
	price, err := ParseDecimal(body.Price.String())
	return body.Currency, amount.Mul(price), err == nil
}
