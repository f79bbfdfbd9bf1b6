package books

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// Acts counts the acts of the audit in a period, by name.
func (s *Books) Acts(ctx context.Context, from, before time.Time) (map[string]int, error) {
	return s.db.Counts(ctx, "counting acts",
		`SELECT act AS name, COUNT(*) AS n FROM audit WHERE at >= ? AND at < ? GROUP BY act`, from.UnixMilli(),
		before.UnixMilli())
}

// AuditPage returns one page of the acts that match a query, the newest first. It goes backwards
// through the record numbers from where the page before ended.
func (s *Books) AuditPage(ctx context.Context, q trade.AuditQuery) (trade.AuditPage, error) {
	where, args := []string{`seq < ?`}, []any{sqldb.OrAll(int(q.Before))}
	add := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if q.Who != "" {
		// People type a name in another case, or without accents; acts of several people have all names.
		all, err := s.AuditNames(ctx)
		var names []any
		for _, who := range all {
			if slices.ContainsFunc(strings.Split(who, trade.Together),
				func(one string) bool { return trade.Joined(one) == trade.Joined(q.Who) }) {
				names = append(names, who)
			}
		}
		if err != nil || len(names) == 0 {
			return trade.AuditPage{}, err
		}
		add(`who IN (?`+strings.Repeat(`, ?`, len(names)-1)+`)`, names...)
	}
	for _, act := range q.Not {
		add(`act <> ?`, act)
	}
	if q.Act != "" {
		add(`act = ?`, q.Act)
	}
	if q.Target != "" {
		add(s.db.D.Within+`(target, ?) > 0`, q.Target)
	}
	if !q.From.IsZero() {
		add(`at >= ?`, q.From.UnixMilli())
	}
	if !q.Until.IsZero() {
		add(`at < ?`, q.Until.UnixMilli())
	}
	var page trade.AuditPage
	if err := s.db.All(ctx, "reading a page of the audit", &page.Records,
		SelectAudit+`WHERE `+strings.Join(where, ` AND `)+` ORDER BY seq DESC LIMIT ?`,
		append(args, q.Limit+1)...); err != nil {
		return trade.AuditPage{}, err
	}
	if len(page.Records) > q.Limit {
		page.Records = page.Records[:q.Limit]
		page.Next = page.Records[q.Limit-1].Seq
	}
	return page, nil
}

// AuditNames returns who acted, alone or together with others, as the audit writes it, sorted. It steps
// from name to name, and does not read the acts.
func (s *Books) AuditNames(ctx context.Context) (all []string, err error) {
	err = s.db.All(ctx, "reading the names of the audit", &all,
		`WITH RECURSIVE n (who) AS (SELECT MIN(who) FROM audit UNION ALL
			SELECT (SELECT MIN(a.who) FROM audit a WHERE a.who > n.who) FROM n WHERE n.who IS NOT NULL)
		SELECT who FROM n WHERE who IS NOT NULL ORDER BY who`)
	return all, err
}

// ActsBetween calls fn for the audit records of some acts from one time on and before another, in
// order. A zero time is no limit.
func (s *Books) ActsBetween(ctx context.Context, acts []string, from, before time.Time,
	fn func(trade.AuditRecord) error,
) error {
	where, args := []string{`act IN (` + sqldb.Placeholders(len(acts)) + `)`}, sqldb.Anys(acts)
	if !from.IsZero() {
		where, args = append(where, `at >= ?`), append(args, from.UnixMilli())
	}
	if !before.IsZero() {
		where, args = append(where, `at < ?`), append(args, before.UnixMilli())
	}
	query := SelectAudit + `WHERE ` + strings.Join(where, " AND ") + ` AND seq > ? ORDER BY seq LIMIT ?`
	read := func(after int64) ([]trade.AuditRecord, error) {
		return sqldb.List[trade.AuditRecord](ctx, s.db, "reading the audit", query,
			append(slices.Clone(args), after, auditPage)...)
	}
	return sqldb.InPages(auditPage, read, func(r trade.AuditRecord) (int64, error) { return r.Seq, fn(r) })
}

// AuditOf returns at most limit acts on a target, the newest first.
func (s *Books) AuditOf(ctx context.Context, target string, limit int) ([]trade.AuditRecord, error) {
	return sqldb.List[trade.AuditRecord](ctx, s.db, "reading the acts on a row",
		SelectAudit+`WHERE target = ? ORDER BY seq DESC LIMIT ?`, target, sqldb.OrAll(limit))
}
