// The sums of a job, counted from its entries (I9).

package state

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Counts returns the sums of a job by state and unit, in the order of trade.States (I9).
func (s *Store) Counts(ctx context.Context, job string) ([]trade.Tally, error) {
	const op = "reading the counts"
	counts, err := countsOf(s.db.Reading(ctx, op), job)
	return counts, s.db.Fault(ctx, op, err)
}

// CountIn returns how many entries of a job are in a state.
func (s *Store) CountIn(ctx context.Context, job string, state trade.State) (n int, err error) {
	err = s.db.Get(ctx, "reading the counts", &n, `SELECT COUNT(*) FROM entry WHERE job = ? AND state = ?`, job,
		string(state))
	return n, err
}

// countVolumes counts the entries of a job of one state and unit after the other, which takes a third less
// than to group them: nothing is compared for each row.
var countVolumes = func() (query string) {
	for _, state := range trade.States {
		for _, unit := range trade.Units {
			query += fmt.Sprintf(`SELECT 0 AS id, '%s' AS state, '%s' AS unit, '' AS amount, COUNT(*) AS n,
				CAST(SUM(volume) AS BIGINT) AS volume FROM entry WHERE job = ? AND state = '%[1]s' AND unit = '%[2]s'
				AND volume IS NOT NULL HAVING COUNT(*) > 0 UNION ALL `, state, unit)
		}
	}
	return query
}()

// countsOf adds up the column volume in the database, and amounts that it cannot hold here, from their
// texts. One statement reads both, so that they are of one moment.
func countsOf(all sqldb.Select, job string) ([]trade.Tally, error) {
	var rows []struct {
		ID, Volume          int64
		N                   int
		State, Unit, Amount string
	}
	jobs := slices.Repeat([]any{job}, strings.Count(countVolumes, "?")+1)
	if err := all(&rows, countVolumes+`SELECT MIN(id), state, unit, amount, COUNT(*), 0
		FROM entry WHERE job = ? AND volume IS NULL GROUP BY state, unit, amount`, jobs...); err != nil {
		return nil, err
	}
	type part struct {
		state trade.State
		unit  trade.Unit
	}
	sums := map[part]trade.Tally{}
	for _, r := range rows {
		volume := trade.ListingDecimal(r.Volume)
		if r.ID != 0 {
			amount, err := trade.ParseSum(r.Amount)
			if err != nil {
				return nil, phrase.Errorf("entry %d is damaged: its amount %w", r.ID, err)
			}
			volume = amount.Mul(trade.NewDecimal(int64(r.N), 0))
		}
		p := part{trade.State(r.State), trade.Unit(r.Unit)}
		sums[p] = trade.Tally{
			State:    p.state,
			Count:    sums[p].Count + r.N,
			Quantity: trade.Quantity{Amount: sums[p].Quantity.Amount.Add(volume), Unit: p.unit},
		}
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b trade.Tally) int {
		if a.State != b.State {
			return cmp.Compare(position(a.State), position(b.State))
		}
		return cmp.Compare(a.Quantity.Unit, b.Quantity.Unit)
	}), nil
}

// volumeMost is below what the column volume holds, in 1/10,000, so that millions of rows add up.
const volumeMost = 1_000_000_000_000

// volumeOf returns an amount for the column volume; NULL if it does not fit exactly.
func volumeOf(amount trade.Decimal) sql.NullInt64 {
	n := trade.ListingNumber(amount)
	if n <= -volumeMost || n >= volumeMost || !trade.ListingDecimal(n).Equal(amount) {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: n, Valid: true}
}
