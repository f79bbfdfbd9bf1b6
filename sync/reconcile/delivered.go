// What was delivered against what was contracted, in a temporary database.

package reconcile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/trade"
)

// delivered holds what was delivered against what was contracted. Neither is in memory: both are in
// a database, which gives them back in the order of the contract. Weights are added here, with all
// their digits.
type delivered struct {
	folder string
	in     *scratch // nil: there are none
	put    *sql.Stmt
	most   func(contracted trade.Decimal) trade.Decimal
	count  int  // rows of contracts so far
	any    bool // there is a delivery
	grains int  // contracts and deliveries so far
}

const deliveredSchema = `CREATE TABLE grain (job TEXT, key TEXT, kind INTEGER, line INTEGER, number INTEGER, selected INTEGER, kg BLOB, PRIMARY KEY (job, key, kind, line)) WITHOUT ROWID`

// What a line of the table grain is. Contracts come before their deliveries.
const (
	ofContract = iota
	ofDelivery
)

// contractRecord is a contract whose deliveries are added.
type contractRecord struct {
	number   int
	selected bool
	grain    trade.Decimal
}

func newDelivered(s *Snapshot, t Tolerance) *delivered {
	return &delivered{folder: s.folder, most: t.most}
}

// add takes a row. Contracts come before all deliveries.
func (d *delivered) add(r *Row, selected bool) (err error) {
	kind, of, number := ofContract, trade.ParentKey{Job: r.Job, Key: r.Key}, 0
	switch r.Sends {
	case trade.OrderCommitments:
		number = d.count
		d.count++
		if !contracted(r.OrderType) {
			return nil
		}
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
	if d.in == nil {
		if d.in, err = newScratch(d.folder, deliveredSchema); err != nil {
			return err
		}
		if err := d.in.prepare(map[**sql.Stmt]string{
			&d.put: `INSERT INTO grain VALUES (?, ?, ?, ?, ?, ?, ?)`,
		}); err != nil {
			return err
		}
	}
	d.any = d.any || kind == ofDelivery
	d.grains++
	text, err := kg.AppendBinary(nil)
	if err == nil {
		_, err = d.put.ExecContext(context.Background(), of.Job, of.Key, kind, d.grains, number, selected, text)
	}
	if err != nil {
		return fmt.Errorf(temporaryWrite, err)
	}
	return nil
}

// overDelivered is what was delivered on contracts on which that is more than their tolerance lets,
// by where the contract stands among all rows of contracts.
type overDelivered map[int]trade.Decimal

// sum finds on which contracts more was delivered, and for how many selected ones that is so.
func (d *delivered) sum() (over overDelivered, selected int, err error) {
	over = overDelivered{}
	if !d.any {
		return over, 0, nil
	}
	var group trade.ParentKey
	var of []contractRecord
	var sum trade.Decimal
	some := false
	end := func() {
		for _, c := range of {
			if !some || sum.Cmp(d.most(c.grain)) <= 0 {
				continue
			}
			if c.selected {
				selected++
			}
			over[c.number] = sum
		}
	}
	rows, err := d.in.tx.QueryContext(context.Background(),
		`SELECT job, key, kind, number, selected, kg FROM grain ORDER BY job, key, kind, line`)
	if err != nil {
		return nil, 0, fmt.Errorf(temporaryRead, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var at trade.ParentKey
		var kind int
		var c contractRecord
		var text sql.RawBytes
		if err = rows.Scan(&at.Job, &at.Key, &kind, &c.number, &c.selected, &text); err == nil {
			err = c.grain.UnmarshalBinary(text)
		}
		if err != nil {
			return nil, 0, fmt.Errorf(temporaryRead, err)
		}
		if at != group {
			end()
			group, of, sum, some = at, of[:0], trade.Decimal{}, false
		}
		if kind == ofContract {
			of = append(of, c)
		} else {
			sum, some = sum.Add(c.grain), true
		}
	}
	if err := rows.Err(); err != nil {
		return nil, 0, fmt.Errorf(temporaryRead, err)
	}
	end()
	return over, selected, nil
}

// close removes the temporary file.
func (d *delivered) close() error { return d.in.close() }

// of reports whether more was delivered on a contract, the row of that number, than its tolerance
// lets.
func (o overDelivered) of(r *Row, number int) (_ Divergence, over bool) {
	sum, over := o[number]
	grain, _ := weight(r.ERP)
	return Divergence{r, OverDelivered, &grain, &sum, "kg", "", false}, over
}

// contracts is what deliveries and traceability records must know of their contracts. They are in a
// database of their own: memory does not grow with them. They come before they are looked up, but
// for those of a job that sent contracts once and sends something else now.
type contracts struct {
	folder           string
	in               *scratch // nil: there are none
	put, byKey, byID *sql.Stmt
}

const contractsSchema = `CREATE TABLE contract (job TEXT, key TEXT, id TEXT, product TEXT, harvest TEXT, producer TEXT, place TEXT, wallet TEXT, day TEXT);
CREATE INDEX contract_key ON contract (job, key); CREATE INDEX contract_id ON contract (id) WHERE id <> '';`

// contractFacts are those of one contract.
type contractFacts struct{ job, key, product, harvest, producer, place, wallet, day string }

func newContracts(folder string) *contracts { return &contracts{folder: folder} }

func (c *contracts) add(e trade.Entry, r *Row) (err error) {
	if c.in == nil {
		if c.in, err = newScratch(c.folder, contractsSchema); err != nil {
			return err
		}
		const facts = `SELECT job, key, product, harvest, producer, place, wallet, day FROM contract WHERE `
		if err := c.in.prepare(map[**sql.Stmt]string{
			&c.put:   `INSERT INTO contract VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			&c.byKey: facts + `job = ? AND key = ? ORDER BY rowid DESC LIMIT 1`,
			&c.byID:  facts + `id = ? AND id <> '' ORDER BY rowid DESC LIMIT 1`,
		}); err != nil {
			return err
		}
	}
	text := ""
	if id, err := uuid.Parse(e.RemoteID); err == nil {
		text = id.String()
	}
	if _, err := c.put.ExecContext(context.Background(), r.Job, r.Key, text, r.Product, r.Harvest, r.Producer, r.Place,
		r.Wallet, r.Day); err != nil {
		return fmt.Errorf(temporaryWrite, err)
	}
	return nil
}

// find returns the newest contract of a statement.
func (c *contracts) find(by *sql.Stmt, args ...any) (f contractFacts, ok bool, err error) {
	err = by.QueryRowContext(context.Background(), args...).Scan(&f.job, &f.key, &f.product, &f.harvest, &f.producer,
		&f.place, &f.wallet, &f.day)
	if errors.Is(err, sql.ErrNoRows) {
		return f, false, nil
	} else if err != nil {
		return f, false, fmt.Errorf(temporaryRead, err)
	}
	return f, true, nil
}

// of finds the contract with one of the keys, else the one that the platform knows by the id.
func (c *contracts) of(parents []trade.ParentKey, id string) (f contractFacts, ok bool, err error) {
	if c.in == nil {
		return f, false, nil
	}
	for _, p := range parents {
		if f, ok, err = c.find(c.byKey, p.Job, p.Key); ok || err != nil {
			return f, ok, err
		}
	}
	parsed, err := uuid.Parse(id)
	if err != nil {
		return f, false, nil //nolint:nilerr // it is no id: no contract has it
	}
	return c.find(c.byID, parsed.String())
}

// inherit gives a delivery or traceability record what it has of its contract.
func (c *contracts) inherit(r *Row, parents []trade.ParentKey, id string) error {
	of, ok, err := c.of(parents, id)
	if err != nil {
		return err
	}
	if !ok {
		if len(parents) > 0 {
			r.Parent, r.Contract = parents[0].Job, parents[0].Key
		}
		return nil
	}
	r.Parent, r.Contract, r.Product, r.Harvest, r.Place, r.Wallet = of.job, of.key, of.product, of.harvest,
		of.place, of.wallet
	if r.Producer == "" {
		r.Producer = of.producer
	}
	if r.Sends == trade.Traceability {
		r.Day = of.day
	}
	return nil
}

// close removes the temporary file.
func (c *contracts) close() error { return c.in.close() }
