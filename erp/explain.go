package erp

import (
	"context"
	"strings"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/fault"
	"github.com/safrasync/safrasync/erp/sqltext"
)

// Exclusion states why a job's query does not return a key.
type Exclusion struct {
	// Asked reports that the query itself was run for the key, so that Returned is certain. If it
	// is false, nothing else is set.
	Asked bool
	// Known is false if the query is of a kind that is not understood (a UNION, a HAVING, a LIMIT),
	// or if a query to the database failed; then only Asked is set.
	Known bool
	// Returned: the query does return the key; nothing excludes it (any more).
	Returned bool
	// Exists reports whether the row exists without the conditions. It is nil if that cannot be
	// determined, because FROM itself, or a WITH, filters.
	Exists *bool
	// Conditions are the conditions, as written in the query, that exclude the row; joins that find
	// no partner are included.
	Conditions []string
	// Rows are all rows that the query returns for the key, in no order. If it returns none, Rows
	// has one row that exists without the conditions. They have only the columns of the query. Like
	// those of ByKeys, their key may differ from the given one in case or padding.
	Rows []Row
}

// Explain finds out why the query does not return a row. key is the canonical text of the key:
// trimmed parts in the order of Query.Key. It only reads, and states only what the database has
// answered. It returns an error if the database is not reachable or the like; for a query that is
// not understood it returns Exclusion{Known: false}.
func (s *Source) Explain(ctx context.Context, q Query, key []string) (Exclusion, error) {
	if len(key) != len(q.Key) {
		return Exclusion{}, forJob(q.Job,
			fault.Failf(CodeOther, "the key has %d parts; %d are configured", len(key), len(q.Key)))
	}
	st, bad := sqltext.Parse(q.SQL, s.engine.Syntax)
	if bad != nil {
		return Exclusion{}, nil //nolint:nilerr // a query that is not understood is an answer here
	}
	x := explainer{source: s, query: q, key: key}
	out, err := x.explain(ctx, st)
	switch CodeOf(err) {
	case "":
		return out, nil
	case CodeUnreachable, CodeTLS, CodeAuth, CodeCancelled, CodeNoDatabase:
		return Exclusion{}, forJob(q.Job, err)
	default:
		if ctx.Err() != nil {
			return Exclusion{}, forJob(q.Job, err)
		}
		return Exclusion{Asked: out.Asked}, nil
	}
}

type explainer struct {
	source *Source
	query  Query
	key    []string
}

func (x explainer) explain(ctx context.Context, st sqltext.Statement) (Exclusion, error) {
	rows, err := x.find(ctx, st.Body, plan.everyRow)
	if err != nil {
		return Exclusion{}, err
	}
	yes := true
	if len(rows) > 0 {
		return Exclusion{Asked: true, Known: true, Returned: true, Exists: &yes, Rows: rows}, nil
	}
	sel, ok := sqltext.SplitSelect(st)
	if !ok {
		return Exclusion{Asked: true}, nil
	}
	no := false
	out := Exclusion{Asked: true, Known: true}
	from := sel.From()
	rows, err = x.find(ctx, from.With(""), plan.oneRow)
	if err != nil {
		return out, err
	}
	if len(rows) == 0 && len(sel.Joins) > 0 {
		// Perhaps a join finds no partner: make all joins optional, then make each one strict again
		// alone.
		loose := sel.Relax(-1)
		rows, err = x.find(ctx, loose.With(""), plan.oneRow)
		if err != nil {
			return out, err
		}
		if len(rows) > 0 {
			for i := range sel.Joins {
				strict := sel.Relax(i)
				there, err := x.find(ctx, strict.With(""), plan.oneRow)
				if err != nil {
					return out, err
				}
				if len(there) == 0 {
					out.Conditions = append(out.Conditions, sel.Joins[i].Text)
				}
			}
			from = loose
		}
	}
	if len(rows) == 0 {
		if sel.PlainFrom {
			out.Exists = &no
		}
		return out, nil
	}
	out.Exists, out.Rows = &yes, rows
	for _, cond := range sel.Conditions {
		there, err := x.find(ctx, from.With(cond), plan.oneRow)
		if err != nil {
			return out, err
		}
		if len(there) == 0 {
			out.Conditions = append(out.Conditions, sqltext.Tidy(cond, sel.Syntax))
		}
	}
	if len(out.Conditions) == 0 && sel.Where != "" {
		// Each condition alone lets a row with this key through, but all together do not.
		out.Conditions = []string{sqltext.Tidy(sel.Where, sel.Syntax)}
	}
	return out, nil
}

// oneRow and everyRow return statements for the rows of a plan that match a condition.
func (p plan) oneRow(cond string) string   { return p.st.FirstRow(dialect.SelectList(p.items), cond) }
func (p plan) everyRow(cond string) string { return p.st.Wrap(dialect.SelectList(p.items), cond) }

// find searches for the key in a query: first in a way that an index can serve, then by comparing
// trimmed text. rows builds the statement for the wanted rows.
func (x explainer) find(ctx context.Context, sql string,
	rows func(p plan, cond string) string,
) (found []Row, err error) {
	err = x.inPlan(ctx, sql, func(p plan, tx dialect.Tx) error {
		for _, fast := range []bool{true, false} {
			b := dialect.NewBinder(x.source.engine.Syntax)
			all, err := tx.Fetch(ctx, rows(p, x.matches(p, b, x.key, fast)), b.Args, p.items)
			if err != nil {
				return err
			}
			for _, values := range all {
				found = append(found, p.row(values))
			}
			if len(found) > 0 {
				return nil
			}
		}
		return nil
	})
	return found, err
}

// inPlan calls fn in a transaction with the plan of another text of the query.
func (x explainer) inPlan(ctx context.Context, sql string, fn func(p plan, tx dialect.Tx) error) error {
	st, bad := sqltext.Parse(sql, x.source.engine.Syntax)
	if bad != nil {
		return bad
	}
	return x.source.inTx(ctx, func(_ dialect.Clock, tx dialect.Tx) error {
		q := x.query
		q.SQL, q.ChangedAt = st.Body, ""
		p, err := x.source.plan(ctx, tx, q)
		if err != nil {
			return err
		}
		return fn(p, tx)
	})
}

// matches returns the condition that a row has a key.
func (x explainer) matches(p plan, b *dialect.Binder, key []string, fast bool) string {
	parts := make([]string, len(p.keyCols))
	for i, col := range p.keyCols {
		parts[i] = x.source.dialect.LoosePart(b, col, key[i], fast)
	}
	return strings.Join(parts, " AND ")
}
