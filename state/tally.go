package state

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// tallyKey names one kept sum. On PostgreSQL each is in as many parts as instances have written it, so that none waits for the commit of another: what counts is
// their sum.
type tallyKey struct{ job, state, unit string }

type tallySum struct {
	n      int
	volume trade.Decimal
}

// tallyChange collects what a transaction does to the sums; it is applied once, at the end, in the same transaction (I9).
type tallyChange map[tallyKey]tallySum

func (c tallyChange) add(job, state, unit string, amount trade.Decimal) {
	k := tallyKey{job, state, unit}
	sum := c[k]
	c[k] = tallySum{sum.n + 1, sum.volume.Add(amount)}
}

func (c tallyChange) remove(job, state, unit string, amount trade.Decimal) {
	k := tallyKey{job, state, unit}
	sum := c[k]
	c[k] = tallySum{sum.n - 1, sum.volume.Sub(amount)}
}

func (c tallyChange) move(e *narrowRow, state string) error {
	q, err := quantity(e.Amount, e.Unit)
	if err != nil {
		return fmt.Errorf("entry %d is damaged: its amount %w", e.ID, err)
	}
	c.remove(e.Job, e.State, e.Unit, q.Amount)
	c.add(e.Job, state, e.Unit, q.Amount)
	return nil
}

// apply reads the sums, adds the changes exactly and writes them back. The rows are locked in one order, so that two transactions do not wait for each other.
func (c tallyChange) apply(t *tx) error {
	var keys []tallyKey
	for k, sum := range c {
		if sum.n != 0 || sum.volume.Sign() != 0 {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	slices.SortFunc(keys, compareTally)
	part := t.s.part.Load()
	have, err := lockTally(t, part, keys)
	if err != nil {
		return err
	}
	if len(have) < len(keys) {
		fresh := make([][]any, 0, len(keys))
		for _, k := range keys {
			if _, ok := have[k]; !ok {
				fresh = append(fresh, []any{k.job, k.state, k.unit, part, 0, "0"})
			}
		}
		if err := t.insertRows("tally", tallyColumns, fresh, "ON CONFLICT DO NOTHING"); err != nil {
			return err
		}
		if have, err = lockTally(t, part, keys); err != nil {
			return err
		}
	}
	rows := make([][]any, len(keys))
	for i, k := range keys {
		sum := have[k].plus(c[k])
		if sum.n < 0 && t.s.d.name == SQLite { // on PostgreSQL a part may be below zero: another part has what is missing
			return fmt.Errorf("the kept count of job %s, state %s would fall below zero: run `safrasync doctor --recount`", k.job, k.state)
		}
		rows[i] = []any{k.job, k.state, k.unit, part, sum.n, sum.volume.String()}
	}
	return t.insertRows("tally", tallyColumns, rows, "ON CONFLICT (job, state, unit, part) DO UPDATE SET n = excluded.n, volume = excluded.volume")
}

var tallyColumns = []string{"job", "state", "unit", "part", "n", "volume"}

type tallyRow struct {
	Job    string         `db:"job"`
	State  string         `db:"state"`
	Unit   string         `db:"unit"`
	N      sql.NullInt64  `db:"n"` // no rule lets either be NULL, but a file that was damaged may hold anything
	Volume sql.NullString `db:"volume"`
}

func (r tallyRow) key() tallyKey { return tallyKey{r.Job, r.State, r.Unit} }

// sum is what a row keeps; errSumDamaged when that is no number.
func (r tallyRow) sum() (tallySum, error) {
	volume, err := trade.ParseSum(r.Volume.String)
	if err != nil || !r.N.Valid {
		return tallySum{}, fmt.Errorf("%w: job %s, state %s", errSumDamaged, r.Job, r.State)
	}
	return tallySum{int(r.N.Int64), volume}, nil
}

func (s tallySum) plus(o tallySum) tallySum { return tallySum{s.n + o.n, s.volume.Add(o.volume)} }

func lockTally(t *tx, part int64, keys []tallyKey) (map[tallyKey]tallySum, error) {
	out := map[tallyKey]tallySum{}
	for chunk := range slices.Chunk(keys, bulkRows) {
		var args []any
		for _, k := range chunk {
			args = append(args, k.job, k.state, k.unit)
		}
		args = append(args, part)
		var rows []tallyRow
		query := `SELECT job, state, unit, n, volume FROM tally WHERE (job, state, unit) IN (VALUES ` + values(len(chunk), 3) + `) AND part = ? ORDER BY job, state, unit`
		err := t.all(&rows, t.s.d.locked(query, "tally"), args...)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if out[r.key()], err = r.sum(); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// errSumDamaged: a kept sum is no number.
var errSumDamaged = errors.New("a kept sum is damaged: run `safrasync doctor --recount`")

func compareTally(a, b tallyKey) int {
	return cmp.Or(strings.Compare(a.job, b.job), strings.Compare(a.state, b.state), strings.Compare(a.unit, b.unit))
}

// Counts gives the kept sums of a job by state and unit, in the order of trade.States (I9). Empty ones are left out.
func (s *Store) Counts(ctx context.Context, job string) ([]trade.Tally, error) {
	const op = "reading the counts"
	var rows []tallyRow
	if err := s.read.SelectContext(ctx, &rows, s.q(`SELECT job, state, unit, n, volume FROM tally WHERE job = ?`), job); err != nil {
		return nil, s.fault(ctx, op, err)
	}
	sums := tallyChange{}
	for _, r := range rows {
		sum, err := r.sum()
		if err != nil {
			return nil, s.fault(ctx, op, err)
		}
		sums[r.key()] = sums[r.key()].plus(sum)
	}
	return sums.list(), nil
}

// Recount counts the entries themselves, in the form of Counts.
func (s *Store) Recount(ctx context.Context, job string) ([]trade.Tally, error) {
	return s.Roll(ctx, job, nil)
}

func (c tallyChange) list() []trade.Tally {
	var out []trade.Tally
	for k, sum := range c {
		if sum.n == 0 && sum.volume.Sign() == 0 {
			continue
		}
		out = append(out, trade.Tally{State: trade.State(k.state), Count: sum.n, Quantity: trade.Quantity{Amount: sum.volume, Unit: trade.Unit(k.unit)}})
	}
	slices.SortFunc(out, func(a, b trade.Tally) int {
		return cmp.Or(cmp.Compare(slices.Index(trade.States, a.State), slices.Index(trade.States, b.State)),
			strings.Compare(string(a.Quantity.Unit), string(b.Quantity.Unit)))
	})
	return out
}
