package readmodel

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/safrasync/safrasync/state/audit"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Run returns one run by its id, or ErrNotFound.
func (s *Reader) Run(ctx context.Context, id string) (trade.RunReport, error) {
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
func (s *Reader) RunPage(ctx context.Context, job, after string, limit int) (trade.RunPage, error) {
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

// AuditPage returns one page of the acts that match a query, the newest first. It goes backwards
// through the record numbers from where the page before ended.
func (s *Reader) AuditPage(ctx context.Context, q trade.AuditQuery) (trade.AuditPage, error) {
	b := &branch{}
	b.add(`seq < ?`, audit.OrAll(int(q.Before)))
	if q.Who != "" {
		names, err := s.namesLike(ctx, q.Who)
		if err != nil || len(names) == 0 {
			return trade.AuditPage{}, err
		}
		b.add(`who IN (?`+strings.Repeat(`, ?`, len(names)-1)+`)`, names...)
	}
	for _, act := range q.Not {
		b.add(`act <> ?`, act)
	}
	if q.Act != "" {
		b.add(`act = ?`, q.Act)
	}
	if q.Target != "" {
		b.add(s.db.D.Within+`(target, ?) > 0`, q.Target)
	}
	if !q.From.IsZero() {
		b.add(`at >= ?`, q.From.UnixMilli())
	}
	if !q.Until.IsZero() {
		b.add(`at < ?`, q.Until.UnixMilli())
	}
	var rows []audit.Row
	if err := s.db.All(ctx, "reading a page of the audit", &rows,
		audit.SelectAudit+`WHERE `+strings.Join(b.where, ` AND `)+` ORDER BY seq DESC LIMIT ?`,
		append(b.args, q.Limit+1)...); err != nil {
		return trade.AuditPage{}, err
	}
	var page trade.AuditPage
	if len(rows) > q.Limit {
		rows = rows[:q.Limit]
		page.Next = rows[q.Limit-1].Seq
	}
	for _, r := range rows {
		page.Records = append(page.Records, r.Record())
	}
	return page, nil
}

// namesLike returns who acted under a name, alone or together with others, as the audit writes it:
// people type it in another case, or without accents.
func (s *Reader) namesLike(ctx context.Context, name string) (found []any, err error) {
	var all []string
	if err := s.db.All(ctx, "reading the names of the audit", &all, `SELECT DISTINCT who FROM audit`); err != nil {
		return nil, err
	}
	for _, who := range all {
		if slices.ContainsFunc(strings.Split(who, trade.Together),
			func(one string) bool { return joined(one) == joined(name) }) {
			found = append(found, who)
		}
	}
	return found, nil
}
