package alert

import (
	"cmp"
	"context"
	"slices"

	"github.com/safrasync/safrasync/trade"
)

// childPage is how many deliveries and traceability records are collected before the products of
// their contracts are read.
const childPage = 500

// digestSent sums up what the platform confirmed. The product of a delivery is that of its
// contract.
func (s *Service) digestSent(ctx context.Context, d *Digest) error {
	var children []trade.Sent
	err := s.Ledger.Sent(ctx, d.From, d.Until, func(sent trade.Sent) error {
		if sent.Sends == trade.OrderCommitments {
			fields := trade.SentFields(sent.Payload)
			d.add(sent, fields, fields["product"], fields["order_type"])
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

func (s *Service) addChildren(ctx context.Context, d *Digest, children []trade.Sent) error {
	if len(children) == 0 {
		return nil
	}
	sent := make([]map[string]string, len(children)) // nil: removed by retention, a row without a weight
	contract := make([]string, len(children))
	var ids []string
	for i, c := range children {
		sent[i] = trade.SentFields(c.Payload)
		contract[i] = sent[i]["contract_id"]
		if c.Sends == trade.Traceability {
			contract[i] = c.Target
		}
		if contract[i] != "" {
			ids = append(ids, contract[i])
		}
	}
	slices.Sort(ids)
	contracts, err := s.Ledger.PayloadsOf(ctx, trade.OrderCommitments, slices.Compact(ids))
	if err != nil {
		return err
	}
	for i, c := range children {
		d.add(c, sent[i], trade.SentFields(contracts[contract[i]])["product"], "")
	}
	return nil
}

// add counts one record; product is that of its contract, orderType only of contracts.
func (d *Digest) add(sent trade.Sent, fields trade.Fields, product, orderType string) {
	job := d.job(sent.Job)
	if job == nil {
		return
	}
	i := slices.IndexFunc(job.Sent, func(o SentSum) bool { return o.Product == product && o.OrderType == orderType })
	if i < 0 {
		i = len(job.Sent)
		job.Sent = append(job.Sent, SentSum{Product: product, OrderType: orderType, Values: map[string]trade.Decimal{}})
	}
	sum, figures := &job.Sent[i], trade.FiguresOf(sent.Sends, fields.Text)
	sum.Rows++
	kg, weighed := figures.Kilograms()
	sum.Kilograms = sum.Kilograms.Add(kg)
	if !weighed {
		sum.Unweighed++
	}
	value, priced := figures.Value()
	switch {
	case sent.Sends != trade.OrderCommitments:
	case !priced:
		sum.Unpriced++
	default:
		sum.Values[figures.Currency] = sum.Values[figures.Currency].Add(value)
	}
}
