package state

import (
	"context"
	"fmt"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// Rows calls fn for the entries that the filter selects, by job and number. They are read page by page: fn may write, and an entry that
// changes meanwhile may be seen before or after its change. Where the parents of waiting entries stand is told as of now. It ends with the first
// error of fn.
func (s *Store) Rows(ctx context.Context, filter trade.RowFilter, fn func(trade.Entry) error) error {
	// Within one job the page begins where an index finds it; the pair would make the database go through the job again for each page.
	from, order := `WHERE (e.job, e.id) > (?, ?)`, ` ORDER BY e.job, e.id LIMIT ?`
	job, after := "", int64(0)
	if filter.Job != "" {
		from, order, job, filter.Job = `WHERE e.job = ? AND e.id > ?`, ` ORDER BY e.id LIMIT ?`, filter.Job, ""
	}
	where, args := conditions(filter)
	for given := 0; filter.Limit <= 0 || given < filter.Limit; {
		limit := entryPage
		if filter.Limit > 0 {
			limit = min(limit, filter.Limit-given)
		}
		page, err := s.entries(ctx, "reading rows", from+where+order,
			append(append([]any{job, after}, args...), limit)...)
		if err != nil {
			return err
		}
		if err := s.tellParents(ctx, page); err != nil {
			return err
		}
		for _, e := range page {
			if err := fn(e); err != nil {
				return err
			}
			job, after = e.Job, e.ID
			given++
		}
		if len(page) < limit {
			return nil
		}
	}
	return nil
}

func conditions(f trade.RowFilter) (text string, args []any) {
	var b strings.Builder
	add := func(condition string, values ...any) {
		b.WriteString(" AND " + condition)
		args = append(args, values...)
	}
	if f.Job != "" {
		add(`e.job = ?`, f.Job)
	}
	if len(f.States) > 0 {
		add(`e.state IN (`+marks(len(f.States))+`)`, anys(f.States)...)
	}
	if len(f.Causes) > 0 {
		add(`e.cause <> '' AND e.cause IN (`+marks(len(f.Causes))+`)`, anys(f.Causes)...)
	}
	if len(f.Flags) > 0 {
		alternatives := make([]string, len(f.Flags))
		var values []any
		for i, flag := range f.Flags {
			alternatives[i] = `e.flags LIKE ?`
			values = append(values, `%"`+string(flag)+`"%`)
		}
		add(`e.flags <> '[]' AND (`+strings.Join(alternatives, " OR ")+`)`, values...)
	}
	if f.Key != "" {
		add(`e.key = ?`, f.Key)
	}
	if !f.Since.IsZero() {
		add(`e.updated_at >= ?`, f.Since.UnixMilli())
	}
	return b.String(), args
}

// Entry gives one entry by job and key, or ErrNotFound.
func (s *Store) Entry(ctx context.Context, job, key string) (trade.Entry, error) {
	found, err := s.entries(ctx, "reading a row", `WHERE e.job = ? AND e.key = ?`, job, key)
	if err != nil {
		return trade.Entry{}, err
	}
	if len(found) == 0 {
		return trade.Entry{}, fmt.Errorf("job %s: %w", job, ErrNotFound)
	}
	return found[0], s.tellParents(ctx, found)
}

// Attempts gives all attempts of an entry in their order.
func (s *Store) Attempts(ctx context.Context, entryID int64) ([]trade.Attempt, error) {
	const op = "reading the attempts of a row"
	var rows []attemptRow
	query := `SELECT ` + strings.Join(attemptColumns, ", ") + ` FROM attempt WHERE entry_id = ? ORDER BY no`
	if err := s.read.SelectContext(ctx, &rows, s.q(query), entryID); err != nil {
		return nil, s.fault(ctx, op, err)
	}
	out := make([]trade.Attempt, len(rows))
	for i := range rows {
		var err error
		if out[i], err = rows[i].attempt(); err != nil {
			return nil, s.fault(ctx, op, err)
		}
	}
	return out, nil
}

// FlagCounts counts the entries of a job that have each flag; flags that no entry has are left out.
func (s *Store) FlagCounts(ctx context.Context, job string) (map[trade.Flag]int, error) {
	const op = "counting flags"
	var rows []struct {
		Flags string `db:"flags"`
		N     int    `db:"n"`
	}
	if err := s.read.SelectContext(ctx, &rows, s.q(`SELECT flags, COUNT(*) AS n FROM entry WHERE job = ? AND flags <> '[]' GROUP BY flags`), job); err != nil {
		return nil, s.fault(ctx, op, err)
	}
	out := map[trade.Flag]int{}
	for _, r := range rows {
		flags, err := flagsOf(r.Flags)
		if err != nil {
			return nil, s.fault(ctx, op, err)
		}
		for _, f := range flags {
			out[f] += r.N
		}
	}
	return out, nil
}
