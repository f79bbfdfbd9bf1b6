// The stored sums of a job, which change with its entries (I9).

package state

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// tallyKey identifies one stored sum. On PostgreSQL each sum is stored in parts, one for each
// instance that has written it, so that no instance waits for the commit of another. The value is
// the sum of the parts.
type tallyKey struct{ Job, State, Unit string }

// tallySum is a number of entries and their volume.
type tallySum struct {
	N      int
	Volume trade.Decimal
}

// tallyChange collects the changes of a transaction to the sums. They are applied once, at the end
// of the same transaction (I9).
type tallyChange map[tallyKey]tallySum

// Add adds an entry to the sums.
func (c tallyChange) Add(job, state, unit string, amount trade.Decimal) {
	k := tallyKey{job, state, unit}
	c[k] = c[k].plus(tallySum{1, amount})
}

// Remove subtracts an entry from the sums.
func (c tallyChange) Remove(job, state, unit string, amount trade.Decimal) {
	k := tallyKey{job, state, unit}
	c[k] = c[k].plus(tallySum{-1, amount.Neg()})
}

// Move moves an entry from its state to another in the sums.
func (c tallyChange) Move(e *narrowRow, state string) error {
	q, err := quantityOf(e.Amount, e.Unit)
	if err != nil {
		return phrase.Errorf("entry %d is damaged: its amount %w", e.ID, err)
	}
	c.Remove(e.Job, e.State, e.Unit, q.Amount)
	c.Add(e.Job, state, e.Unit, q.Amount)
	return nil
}

// Apply reads the sums, adds the changes exactly and writes them back. It locks the rows in a fixed
// order, so that two transactions do not deadlock.
func (c tallyChange) Apply(t *sqldb.Tx) error {
	var keys []tallyKey
	for k, sum := range c {
		if sum.N != 0 || sum.Volume.Sign() != 0 {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	slices.SortFunc(keys, compareTally)
	part := t.S.Part.Load()
	have, err := lockTally(t, part, keys)
	if err != nil {
		return err
	}
	if len(have) < len(keys) {
		fresh := make([][]any, 0, len(keys))
		for _, k := range keys {
			if _, ok := have[k]; !ok {
				fresh = append(fresh, []any{k.Job, k.State, k.Unit, part, 0, "0"})
			}
		}
		if err := t.InsertRows("tally", tallyColumns, fresh, "ON CONFLICT DO NOTHING"); err != nil {
			return err
		}
		have, err = lockTally(t, part, keys)
		if err != nil {
			return err
		}
	}
	rows := make([][]any, len(keys))
	for i, k := range keys {
		sum := have[k].plus(c[k])
		// on PostgreSQL a part may be below zero: another part makes up for it
		if sum.N < 0 && t.S.D.Name == sqldb.SQLite {
			return phrase.Errorf(
				"the kept count of job %s, state %s would fall below zero: run `safrasync doctor --recount`",
				k.Job, k.State)
		}
		rows[i] = []any{k.Job, k.State, k.Unit, part, sum.N, sum.Volume.String()}
	}
	return t.InsertRows("tally", tallyColumns, rows,
		"ON CONFLICT (job, state, unit, part) DO UPDATE SET n = excluded.n, volume = excluded.volume")
}

var tallyColumns = []string{"job", "state", "unit", "part", "n", "volume"}

// tallyRow is a row of the table tally.
type tallyRow struct {
	Job, State, Unit string
	N                sql.NullInt64 // neither may be NULL, but a damaged file may hold anything
	Volume           sql.NullString
}

func (r tallyRow) key() tallyKey { return tallyKey{r.Job, r.State, r.Unit} }

// sum returns the sum of a row, or errSumDamaged if it is not a number.
func (r tallyRow) sum() (tallySum, error) {
	volume, err := trade.ParseSum(r.Volume.String)
	if err != nil || !r.N.Valid {
		return tallySum{}, phrase.Errorf("%w: job %s, state %s", errSumDamaged, r.Job, r.State)
	}
	return tallySum{int(r.N.Int64), volume}, nil
}

// plus adds two sums.
func (s tallySum) plus(o tallySum) tallySum { return tallySum{s.N + o.N, s.Volume.Add(o.Volume)} }

func lockTally(t *sqldb.Tx, part int64, keys []tallyKey) (map[tallyKey]tallySum, error) {
	out := map[tallyKey]tallySum{}
	for chunk := range slices.Chunk(keys, sqldb.BulkRows) {
		var args []any
		for _, k := range chunk {
			args = append(args, k.Job, k.State, k.Unit)
		}
		args = append(args, part)
		var rows []tallyRow
		query := `SELECT job, state, unit, n, volume FROM tally WHERE (job, state, unit) IN (VALUES ` +
			sqldb.Values(len(chunk), 3) + `) AND part = ? ORDER BY job, state, unit`
		err := t.All(&rows, t.S.D.Locked(query, "tally"), args...)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			out[r.key()], err = r.sum()
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// errSumDamaged is returned if a stored sum is not a number.
var errSumDamaged = errors.New("a kept sum is damaged: run `safrasync doctor --recount`")

func compareTally(a, b tallyKey) int {
	return cmp.Or(strings.Compare(a.Job, b.Job), strings.Compare(a.State, b.State), strings.Compare(a.Unit, b.Unit))
}

// Counts returns the stored sums of a job by state and unit, in the order of trade.States (I9).
// Empty sums are left out.
func (s *Store) Counts(ctx context.Context, job string) ([]trade.Tally, error) {
	const op = "reading the counts"
	counts, err := countsOf(s.db.Reading(ctx, op), job)
	return counts, s.db.Fault(ctx, op, err)
}

func countsOf(all sqldb.Select, job string) ([]trade.Tally, error) {
	var rows []tallyRow
	if err := all(&rows, `SELECT job, state, unit, n, volume FROM tally WHERE job = ?`, job); err != nil {
		return nil, err
	}
	sums := tallyChange{}
	for _, r := range rows {
		sum, err := r.sum()
		if err != nil {
			return nil, err
		}
		sums[r.key()] = sums[r.key()].plus(sum)
	}
	return sums.list(), nil
}

// list returns the sums that are not zero, in the order of trade.States, then by unit.
func (c tallyChange) list() []trade.Tally {
	var out []trade.Tally
	for k, sum := range c {
		if sum.N == 0 && sum.Volume.Sign() == 0 {
			continue
		}
		out = append(out, trade.Tally{
			State: trade.State(k.State), Count: sum.N,
			Quantity: trade.Quantity{Amount: sum.Volume, Unit: trade.Unit(k.Unit)},
		})
	}
	slices.SortFunc(out, func(a, b trade.Tally) int {
		return cmp.Or(cmp.Compare(slices.Index(trade.States, a.State), slices.Index(trade.States, b.State)),
			strings.Compare(string(a.Quantity.Unit), string(b.Quantity.Unit)))
	})
	return out
}
