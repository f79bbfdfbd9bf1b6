// Deliveries compared with their contracts, in a temporary database.

package reconcile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/trade"
)

// delivered compares what was delivered with what was contracted. Both are stored in a database,
// not in memory, and read back in the order of the contracts. The weights are added in Go, with all
// their digits.
type delivered struct {
	folder string
	in     *scratch // nil: nothing was added
	put    *sql.Stmt
	most   func(contracted trade.Decimal) trade.Decimal
	count  int  // contracts of any type so far
	any    bool // there is a delivery
	grains int  // contracts and deliveries stored so far
}

const deliveredSchema = `CREATE TABLE grain (job TEXT, key TEXT, kind INTEGER, line INTEGER, number INTEGER, selected INTEGER, kg BLOB, PRIMARY KEY (job, key, kind, line)) WITHOUT ROWID`

// Kinds of a line in the table grain. Contracts come before their deliveries.
const (
	ofContract = iota
	ofDelivery
)

// contractRecord is a contract while its deliveries are summed.
type contractRecord struct {
	number   int
	selected bool
	grain    trade.Decimal
}

func newDelivered(s *Snapshot, t Tolerance) *delivered {
	return &delivered{folder: s.folder, most: t.most}
}

// add takes a row. Contracts must come before all deliveries.
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

// overDelivered is how many kilograms were delivered on contracts for which that exceeds the
// tolerance, by the contract's number among all contracts.
type overDelivered map[int]trade.Decimal

// sum returns the over-delivered contracts, and how many of the selected ones are among them.
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

// of returns the divergence of a contract, the row with that number, and whether more was delivered
// than its tolerance allows.
func (o overDelivered) of(r *Row, number int) (_ Divergence, over bool) {
	sum, over := o[number]
	grain, _ := weight(r.ERP)
	return Divergence{r, OverDelivered, &grain, &sum, "kg", "", false}, over
}

// contracts is what deliveries and traceability records need to know of their contracts. It is a
// database of its own, so that memory does not grow with the contracts. They are added before they
// are looked up, except for those of a job that once sent contracts and now sends something else.
type contracts struct {
	folder           string
	in               *scratch // nil: nothing was added
	put, byKey, byID *sql.Stmt
}

const contractsSchema = `CREATE TABLE contract (job TEXT, key TEXT, id TEXT, product TEXT, harvest TEXT, producer TEXT, place TEXT, wallet TEXT, day TEXT);
CREATE INDEX contract_key ON contract (job, key); CREATE INDEX contract_id ON contract (id) WHERE id <> '';`

// contractFacts is what is stored of one contract.
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

// find returns the newest contract that a statement selects.
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

// of returns the contract with one of the keys, else the one with the platform's id.
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
		return f, false, nil //nolint:nilerr // not an id: no contract has it
	}
	return c.find(c.byID, parsed.String())
}

// inherit copies the contract's data to a delivery or traceability record.
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
