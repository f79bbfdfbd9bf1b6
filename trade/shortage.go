package trade

import (
	"strings"

	"github.com/shopspring/decimal"
)

// Shortage is a reference (de-para) without an id, and what it keeps from going.
type Shortage struct {
	Kind    string         // de-para kind
	Code    string         // the ERP's code; "" in the total of a kind, which counts each row once however many of its codes are missing
	Blocked map[Kind]*Load // rows that wait for it, and rows that wait for such a row, by kind of record
	Invalid map[Kind]*Load // rows that need it and are invalid besides: they would not go with it alone
}

// Rows is the number of rows that wait.
func (s Shortage) Rows() int {
	n := 0
	for _, l := range s.Blocked {
		n += l.Rows
	}
	return n
}

// Load is a number of rows with their weight.
type Load struct {
	Rows      int     `json:"rows"`
	Kilograms Decimal `json:"kg"`           // of the rows with a unit, exactly
	Unweighed int     `json:"without_unit"` // rows whose amount or unit cannot be read; they are not in Kilograms
}

// Add counts one row.
func (l *Load) Add(q Quantity) {
	l.Rows++
	kg, ok := q.Kilograms()
	if !ok {
		l.Unweighed++
		return
	}
	l.Kilograms = l.Kilograms.Add(kg)
}

// inKilograms are the units of grain: a saca is 60 kg by law of the trade, whatever it holds.
var inKilograms = map[Unit]decimal.Decimal{KG: decimal.NewFromInt(1), SC: decimal.NewFromInt(60), TON: decimal.NewFromInt(1000)}

// Kilograms converts exactly; ok is false without a unit. The unit is taken in both of the API's spellings, upper and lower case.
func (q Quantity) Kilograms() (kg Decimal, ok bool) {
	factor, ok := inKilograms[Unit(strings.ToUpper(string(q.Unit)))]
	return Decimal{q.Amount.d.Mul(factor)}, ok
}

// Sacas gives a weight in kilograms as sacas of 60 kg, to scale digits after the point, and whether that is exact: 100 kg are no round number of sacas.
func (d Decimal) Sacas(scale int32) (sacas Decimal, exact bool) {
	out := Decimal{d.d.DivRound(inKilograms[SC], scale)}
	return out, out.d.Mul(inKilograms[SC]).Equal(d.d)
}

// Tonnes gives a weight in kilograms as tonnes, exactly.
func (d Decimal) Tonnes() Decimal { return Decimal{d.d.Shift(-3)} }
