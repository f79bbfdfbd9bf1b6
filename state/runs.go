package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// RunsEnded calls fn for the runs of all jobs that ended at or after one time and before another,
// in the order of their ends.
func (s *Store) RunsEnded(ctx context.Context, from, before time.Time, fn func(trade.RunReport) error) error {
	const op = "reading the runs"
	var rows []string
	query := `SELECT report FROM run WHERE id >= ? AND ended_at >= ? AND ended_at < ? ORDER BY ended_at, seq`
	if err := s.db.All(ctx, op, &rows, query, IdsFrom(from.Add(-IdSlack)), from.UnixMilli(),
		before.UnixMilli()); err != nil {
		return err
	}
	for _, text := range rows {
		var report trade.RunReport
		if err := json.Unmarshal([]byte(text), &report); err != nil {
			return s.db.Fault(ctx, op, fmt.Errorf("the record of a run is damaged: %w", err))
		}
		if err := fn(report); err != nil {
			return err
		}
	}
	return nil
}

// Run returns one run by its id, or ErrNotFound.
func (s *Store) Run(ctx context.Context, id string) (trade.RunReport, error) {
	var text string
	err := s.db.Get(ctx, "reading a run", &text, `SELECT report FROM run WHERE id = ?`, id)
	if errors.Is(err, sql.ErrNoRows) {
		return trade.RunReport{}, fmt.Errorf("run %s: %w", id, sqldb.ErrNotFound)
	}
	if err != nil {
		return trade.RunReport{}, err
	}
	return runOf(text)
}

func runOf(text string) (trade.RunReport, error) {
	var report trade.RunReport
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		return report, fmt.Errorf("the record of a run is damaged: %w", err)
	}
	return report, nil
}

// RunPage returns runs of a job, or of all jobs if the name is empty, the newest first. after is
// the Next of the page before, or "".
func (s *Store) RunPage(ctx context.Context, job, after string, limit int) (trade.RunPage, error) {
	const op = "reading a page of runs"
	before := int64(1<<63 - 1)
	if after != "" {
		var err error
		if before, err = strconv.ParseInt(after, 10, 64); err != nil {
			return trade.RunPage{}, s.db.Fault(ctx, op, fmt.Errorf("no page begins after %q", after))
		}
	}
	query, args := `SELECT seq, report FROM run WHERE seq < ? ORDER BY seq DESC LIMIT ?`, []any{before, limit + 1}
	if job != "" {
		query, args = `SELECT seq, report FROM run WHERE job = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
			[]any{job, before, limit + 1}
	}
	var rows []struct {
		Seq    int64
		Report string
	}
	if err := s.db.All(ctx, op, &rows, query, args...); err != nil {
		return trade.RunPage{}, err
	}
	var page trade.RunPage
	for i, r := range rows {
		if i == limit {
			page.Next = strconv.FormatInt(rows[i-1].Seq, 10)
			break
		}
		report, err := runOf(r.Report)
		if err != nil {
			return trade.RunPage{}, s.db.Fault(ctx, op, err)
		}
		page.Runs = append(page.Runs, report)
	}
	return page, nil
}
