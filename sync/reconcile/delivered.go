package reconcile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"github.com/safrasync/safrasync/trade"
)

// delivered holds what was delivered against what was contracted. Neither is in memory: contracts and deliveries are sorted by the contract, then those of which more was delivered by where
// their contract stands among all rows.
type delivered struct {
	by    *sorter // records of contracts and deliveries, those of one contract together
	most  func(contracted trade.Decimal) trade.Decimal
	over  *sorter // number and weight of contracts of which more was delivered than that
	count int     // rows of contracts so far
	any   bool    // there is a delivery
	text  []byte
}

// What a record of a contract or delivery is. Contracts come before their deliveries.
const (
	ofContract = iota
	ofDelivery
)

// contractRecord is what a contract's record says.
type contractRecord struct {
	number   uint64
	selected bool
	grain    trade.Decimal
}

func newDelivered(s *Snapshot, t Tolerance) *delivered {
	return &delivered{by: newSorter(s.folder, s.holds), over: newSorter(s.folder, s.holds), most: t.most}
}

// add takes a row. Contracts come before all deliveries.
func (d *delivered) add(r *Row, selected bool) error {
	var kind byte
	of := trade.ParentKey{Job: r.Job, Key: r.Key}
	number := 0
	switch r.Sends {
	case trade.OrderCommitments:
		number = d.count
		d.count++
		if !contracted(r.OrderType) {
			return nil
		}
		kind = ofContract
	case trade.Deliveries:
		if r.Contract == "" {
			return nil
		}
		kind, of = ofDelivery, trade.ParentKey{Job: r.Parent, Key: r.Contract}
	default:
		return nil
	}
	kg, ok := weight(r.ERP)
	if !ok || !r.counts() || r.State == trade.Dismissed {
		return nil
	}
	d.any = d.any || kind == ofDelivery
	d.text = d.text[:0]
	for _, part := range []string{of.Job, of.Key} { // with their lengths, so that the records of one contract are together whatever is in its key
		d.text = append(binary.BigEndian.AppendUint32(d.text, uint32(len(part))), part...)
	}
	d.text = append(d.text, kind)
	if kind == ofContract {
		d.text = append(binary.BigEndian.AppendUint64(d.text, uint64(number)), flagByte(selected))
	}
	var err error
	if d.text, err = kg.AppendBinary(d.text); err != nil { // unreachable: a number has a binary form
		return err
	}
	return d.by.add(d.text)
}

func flagByte(set bool) byte {
	if set {
		return 1
	}
	return 0
}

// sum tells for how many selected contracts more was delivered than contracted, and keeps which they are.
func (d *delivered) sum() (selected int, err error) {
	defer func() { err = errors.Join(err, d.by.close()) }()
	if !d.any {
		return 0, nil
	}
	var group []byte // what the records of one contract begin with
	var of []contractRecord
	var sum trade.Decimal
	some := false
	end := func() error {
		for _, c := range of {
			if !some || sum.Cmp(d.most(c.grain)) <= 0 {
				continue
			}
			if c.selected {
				selected++
			}
			text, err := sum.AppendBinary(binary.BigEndian.AppendUint64(nil, c.number))
			if err == nil {
				err = d.over.add(text)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	for record, err := range d.by.all() {
		if err != nil {
			return 0, err
		}
		at := 4 + int(binary.BigEndian.Uint32(record))
		at += 4 + int(binary.BigEndian.Uint32(record[at:]))
		if string(record[:at]) != string(group) {
			if err := end(); err != nil {
				return 0, err
			}
			group, of, sum, some = append(group[:0], record[:at]...), of[:0], trade.Decimal{}, false
		}
		rest := record[at+1:]
		if record[at] == ofContract {
			c := contractRecord{number: binary.BigEndian.Uint64(rest), selected: rest[8] == 1}
			if err := c.grain.UnmarshalBinary(rest[9:]); err != nil {
				return 0, fmt.Errorf("read a temporary file of the report: %w", err)
			}
			of = append(of, c)
			continue
		}
		var kg trade.Decimal
		if err := kg.UnmarshalBinary(rest); err != nil {
			return 0, fmt.Errorf("read a temporary file of the report: %w", err)
		}
		sum, some = sum.Add(kg), true
	}
	return selected, end()
}

// close removes the temporary files.
func (d *delivered) close() error { return errors.Join(d.by.close(), d.over.close()) }

// reading goes through the rows of a snapshot again, and says of which contract more was delivered. The caller stops it.
func (d *delivered) reading() *deliveredReading {
	next, stop := iter.Pull2(d.over.all())
	return &deliveredReading{next: next, stop: stop, at: -1}
}

type deliveredReading struct {
	next   func() ([]byte, error, bool)
	stop   func()
	seen   int // rows of contracts
	at     int // contract of the record that is held; -1: none is
	sum    trade.Decimal
	closed bool
}

// of tells whether more was delivered on a contract than its tolerance lets.
func (d *deliveredReading) of(r *Row) (_ Divergence, over bool, err error) {
	if r.Sends != trade.OrderCommitments {
		return Divergence{}, false, nil
	}
	number := d.seen
	d.seen++
	if d.at < number && !d.closed {
		record, err, ok := d.next()
		if err != nil {
			return Divergence{}, false, err
		}
		if d.closed = !ok; ok {
			d.at = int(binary.BigEndian.Uint64(record))
			if err := d.sum.UnmarshalBinary(record[8:]); err != nil {
				return Divergence{}, false, fmt.Errorf("read a temporary file of the report: %w", err)
			}
		}
	}
	if d.closed || d.at != number {
		return Divergence{}, false, nil
	}
	grain, _ := weight(r.ERP)
	sum := d.sum
	return Divergence{r, OverDelivered, &grain, &sum, "kg", "", false}, true, nil
}
