package reconcile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/trade"
)

// contracts is what deliveries and traceability records must know of their contracts. They are in a database of their own: memory does not grow with them. They come before they are looked up,
// but for those of a job that sent contracts once and sends something else now.
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
	if _, err := c.put.ExecContext(context.Background(), r.Job, r.Key, text, r.Product, r.Harvest, r.Producer, r.Place, r.Wallet, r.Day); err != nil {
		return fmt.Errorf(temporaryWrite, err)
	}
	return nil
}

// find gives the newest contract of a statement.
func (c *contracts) find(by *sql.Stmt, args ...any) (f contractFacts, ok bool, err error) {
	err = by.QueryRowContext(context.Background(), args...).Scan(&f.job, &f.key, &f.product, &f.harvest, &f.producer, &f.place, &f.wallet, &f.day)
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
	r.Parent, r.Contract, r.Product, r.Harvest, r.Place, r.Wallet = of.job, of.key, of.product, of.harvest, of.place, of.wallet
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
