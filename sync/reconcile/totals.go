// Totals by producer, season and place.

package reconcile

import (
	"cmp"
	"maps"
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// By is a dimension of the totals.
type By string

// The dimensions.
const (
	ByAll      By = "all"
	BySeason   By = "season"
	ByProducer By = "producer"
	ByPlace    By = "place"
)

// Dimensions lists the dimensions in the order in which they are shown.
var Dimensions = []By{ByAll, BySeason, ByProducer, ByPlace}

// Total is the sum of one product for one season, producer or place, or for everything. Weights are
// exact, in kilograms. Figures of the ERP are of rows that exist and are not cancelled; sent ones
// are of records that the platform confirmed.
type Total struct {
	TotalKey
	Amounts // of the ERP
	Sent    Amounts
	Deposit trade.Decimal // FIXACAO_DEPOSITO, included in Fixed
	ToFix   trade.Decimal // A_FIXAR − FIXACAO_COMPRA

	// of Contracted, Delivered and fixations from deposit: what people dismissed
	Dismissed trade.Decimal
	Rows      int
	Unweighed int // rows without a unit or a positive amount, or with a negative price: in no weight
	Unpriced  int // fixed rows without a price or currency: in no value
}

// Amounts are what the accounts of a total's rows add up to.
type Amounts struct {
	Contracted trade.Decimal
	Delivered  trade.Decimal
	Fixed      trade.Decimal
	Values     map[string]trade.Decimal // by currency
}

func (a *Amounts) add(one amount) {
	switch one.Measure {
	case Contracted:
		a.Contracted = a.Contracted.Add(one.is)
	case Delivered:
		a.Delivered = a.Delivered.Add(one.is)
	case Fixed:
		a.Fixed = a.Fixed.Add(one.is)
	case Worth:
		a.Values[one.Currency] = a.Values[one.Currency].Add(one.is)
	}
}

// ToDeliver returns what is contracted and not delivered.
func (t Total) ToDeliver() trade.Decimal { return t.Contracted.Sub(t.Delivered) }

// Currencies returns the currencies of the values, sorted.
func (t Total) Currencies() []string {
	all := map[string]trade.Decimal{}
	maps.Copy(all, t.Values)
	maps.Copy(all, t.Sent.Values)
	return slices.Sorted(maps.Keys(all))
}

// TotalKey identifies a total.
type TotalKey struct {
	By      By
	Name    string // the season, producer or place; "" = unknown, or everything
	Product string // "" = unknown
}

type totals map[TotalKey]*Total

// add adds a row of a contract or delivery: as the ERP has it, and as it was sent.
func (t totals) add(r *Row) {
	if r.Sends == trade.Traceability {
		return
	}
	for _, by := range Dimensions {
		if r.counts() {
			of := t.of(by, r.Document)
			of.Rows++
			of.erp(r)
		}
		if !r.onPlatform() || r.Sent == nil {
			continue
		}
		of := t.of(by, r.sentAs())
		for _, one := range amountsOf(r.Sends, r.sentAs(), *r.Sent) {
			if one.ok {
				of.Sent.add(one)
			}
		}
		if !r.counts() {
			of.Rows++
		}
	}
}

// of returns the total to which a document belongs.
func (t totals) of(by By, d Document) *Total {
	key := TotalKey{by, map[By]string{BySeason: d.Harvest, ByProducer: d.Producer, ByPlace: d.Place}[by], d.Product}
	if t[key] == nil {
		t[key] = &Total{TotalKey: key}
		t[key].Values, t[key].Sent.Values = map[string]trade.Decimal{}, map[string]trade.Decimal{}
	}
	return t[key]
}

// erp adds what the ERP has.
func (t *Total) erp(r *Row) {
	kg, ok := weight(r.ERP)
	if !ok {
		t.Unweighed++
	}
	for _, one := range amountsOf(r.Sends, r.Document, r.ERP) {
		switch {
		case r.outside(one) == "":
			t.add(one)
		case one.Measure == Worth:
			t.Unpriced++
		}
	}
	kind := trade.OrderType(r.OrderType)
	switch {
	case r.Sends == trade.Deliveries:
	case kind == trade.AFixar:
		t.ToFix = t.ToFix.Add(kg)
	case kind == trade.FixacaoCompra:
		t.ToFix = t.ToFix.Sub(kg)
	case kind == trade.FixacaoDeposito:
		t.Deposit = t.Deposit.Add(kg)
	}
	if r.State == trade.Dismissed &&
		(r.Sends == trade.Deliveries || contracted(r.OrderType) || kind == trade.FixacaoDeposito) {
		t.Dismissed = t.Dismissed.Add(kg)
	}
}

// contracted reports whether an order type contracts new grain: a fixation is for grain of its
// contract, or of a deposit.
func contracted(orderType string) bool {
	return orderType == string(trade.Compra) || orderType == string(trade.AFixar)
}

// fixed reports whether an order type has a final price.
func fixed(orderType string) bool {
	switch trade.OrderType(orderType) {
	case trade.Compra, trade.FixacaoCompra, trade.FixacaoDeposito:
		return true
	}
	return false
}

// sorted returns the totals by dimension, then by name in the order of codes, then by product;
// unknown names come last.
func (t totals) sorted() []Total {
	out := trade.ValuesOf(t)
	slices.SortFunc(out, func(a, b Total) int {
		return cmp.Or(cmp.Compare(slices.Index(Dimensions, a.By), slices.Index(Dimensions, b.By)),
			trade.CompareBool(a.Name == "", b.Name == ""), trade.CompareCodes(a.Name, b.Name),
			trade.CompareBool(a.Product == "", b.Product == ""), cmp.Compare(a.Product, b.Product))
	})
	return out
}
