package erp

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/erp/dialect"
	"github.com/safrasync/safrasync/erp/sqltext"
)

// firstDay matches a condition that leaves out rows before a date.
var firstDay = regexp.MustCompile(
	`>=?\s*(?i:date\s*|timestamp\s*|to_date\s*\(\s*)?'(\d{4}-?\d\d-?\d\d|\d\d/\d\d/\d{4})`)

// CutOver returns the date, as written, before which a condition of a query leaves rows out: the
// day from which on the cooperative sends. It returns "" for any other condition.
func CutOver(condition string) string {
	date := firstDay.FindStringSubmatch(condition)
	if date == nil {
		return ""
	}
	return date[1]
}

// looseKeys is how many keys BeforeCutOver asks for in one statement. A part may have several
// parameters, and a server takes some 2,000.
const looseKeys = 50

// BeforeCutOver returns the rows with these keys that only the cut-over of the query leaves out:
// without it the query returns them. A key is as in [Source.Explain]. Of a query that is not
// understood, or has no cut-over, it returns none.
func (s *Source) BeforeCutOver(ctx context.Context, q Query, keys [][]string) ([]Row, error) {
	st, bad := sqltext.Parse(q.SQL, s.engine.Syntax)
	if bad != nil {
		return nil, nil //nolint:nilerr // a query that is not understood is an answer here
	}
	sel, ok := sqltext.SplitSelect(st)
	kept := slices.DeleteFunc(slices.Clone(sel.Conditions), func(c string) bool { return CutOver(c) != "" })
	if !ok || len(kept) == len(sel.Conditions) {
		return nil, nil
	}
	var found []Row
	x := explainer{source: s, query: q}
	for chunk := range slices.Chunk(keys, looseKeys) {
		sql := sel.From().With(strings.Join(kept, "\nAND "))
		err := x.inPlan(ctx, sql, func(p plan, tx dialect.Tx) error {
			b := dialect.NewBinder(x.source.engine.Syntax)
			var one []string
			for _, key := range chunk {
				one = append(one, x.matches(p, b, key, true)) // in a way that an index can serve
			}
			all, err := tx.Fetch(ctx, p.everyRow(strings.Join(one, " OR ")), b.Args, p.items)
			for _, values := range all {
				found = append(found, p.row(values))
			}
			return err
		})
		if err != nil {
			return nil, forJob(q.Job, err)
		}
	}
	return found, nil
}
