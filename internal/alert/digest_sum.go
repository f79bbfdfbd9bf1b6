package alert

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// body holds the fields of a request's body that the sums need, by the API's names (chapter 2).
type body struct {
	Product   string         `json:"product"`
	OrderType string         `json:"order_type"`
	Currency  string         `json:"currency"`
	Price     *trade.Decimal `json:"price"`
	Contract  string         `json:"contract_id"`

	Amount    *trade.Decimal `json:"amount"`
	Unit      string         `json:"unit_of_measurement"`
	Delivered *trade.Decimal `json:"delivered_volume"`
	DelivUnit string         `json:"delivered_volume_unit_of_measure"`
	Allocated *trade.Decimal `json:"allocated_volume"`
}

// quantity returns the amount of a body of this kind; ok is false if there is none.
func (b body) quantity(sends trade.Kind) (q trade.Quantity, ok bool) {
	amount, unit := b.Amount, b.Unit
	switch sends {
	case trade.Deliveries:
		amount, unit = b.Delivered, b.DelivUnit
	case trade.Traceability:
		amount = b.Allocated
	}
	if amount == nil {
		return q, false
	}
	return trade.Quantity{Amount: *amount, Unit: trade.Unit(unit)}, true
}

// childPage is how many deliveries and traceability records are collected before the products of
// their contracts are read.
const childPage = 500

// digestSent sums up what the platform confirmed. The product of a delivery is that of its
// contract.
func (s *Service) digestSent(ctx context.Context, d *Digest) error {
	var children []trade.Sent
	err := s.Ledger.Sent(ctx, d.From, d.Until, func(sent trade.Sent) error {
		if sent.Sends == trade.OrderCommitments {
			d.add(sent, bodyOf(sent), "")
			return nil
		}
		children = append(children, sent)
		if len(children) < childPage {
			return nil
		}
		full := children
		children = nil
		return s.addChildren(ctx, d, full)
	})
	if err == nil {
		err = s.addChildren(ctx, d, children)
	}
	for i := range d.Jobs {
		slices.SortFunc(d.Jobs[i].Sent, func(a, b SentSum) int {
			return cmp.Or(unknownLast(a.Product)-unknownLast(b.Product), cmp.Compare(a.Product, b.Product),
				cmp.Compare(slices.Index(orderTypes, a.OrderType), slices.Index(orderTypes, b.OrderType)))
		})
	}
	return err
}

func unknownLast(product string) int {
	if product == "" {
		return 1
	}
	return 0
}

// orderTypes lists the types of contracts in the order in which they are shown.
var orderTypes = []string{
	string(trade.Compra), string(trade.AFixar), string(trade.FixacaoCompra),
	string(trade.FixacaoDeposito),
}

func bodyOf(sent trade.Sent) body {
	var b body
	if sent.Payload == nil || json.Unmarshal(sent.Payload, &b) != nil {
		return body{} // removed by retention, or of a form that this program does not write: a row without a weight
	}
	return b
}

func (s *Service) addChildren(ctx context.Context, d *Digest, children []trade.Sent) error {
	if len(children) == 0 {
		return nil
	}
	bodies := make([]body, len(children))
	var ids []string
	for i, c := range children {
		bodies[i] = bodyOf(c)
		if c.Sends == trade.Traceability {
			bodies[i].Contract = c.Target
		}
		if id := bodies[i].Contract; id != "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	contracts, err := s.Ledger.PayloadsOf(ctx, trade.OrderCommitments, slices.Compact(ids))
	if err != nil {
		return err
	}
	for i, c := range children {
		d.add(c, bodies[i], bodyOf(trade.Sent{Payload: contracts[bodies[i].Contract]}).Product)
	}
	return nil
}

// add counts one record; product is that of its contract, if it has one.
func (d *Digest) add(sent trade.Sent, b body, product string) {
	at, ok := d.index[sent.Job]
	if !ok {
		return
	}
	if sent.Sends == trade.OrderCommitments {
		product = b.Product
	} else {
		b.OrderType = ""
	}
	list := &d.Jobs[at].Sent
	i := slices.IndexFunc(*list, func(o SentSum) bool { return o.Product == product && o.OrderType == b.OrderType })
	if i < 0 {
		i = len(*list)
		*list = append(*list, SentSum{Product: product, OrderType: b.OrderType, Values: map[string]trade.Decimal{}})
	}
	sum := &(*list)[i]
	sum.Rows++
	q, ok := b.quantity(sent.Sends)
	kg, weighed := q.Kilograms()
	if !ok || !weighed {
		sum.Unweighed++
	} else {
		sum.Kilograms = sum.Kilograms.Add(kg)
	}
	switch {
	case sent.Sends != trade.OrderCommitments:
	case !ok || b.Price == nil || b.Currency == "": // the price is for one unit of the contract
		sum.Unpriced++
	default:
		sum.Values[b.Currency] = sum.Values[b.Currency].Add(q.Amount.Mul(*b.Price))
	}
}
