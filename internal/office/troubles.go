package office

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

// Troubles returns the rows of a job that do not go by themselves, by cause: held ones first, because
// only a person moves them. planned is the concluded result of a dry run, which has them; or nil.
func (o *Office) Troubles(ctx context.Context, job string, planned *JobForecast) ([]*pending.Group, error) {
	var err error
	causes := pending.NewCauses(o.conf.JobSpecs())
	if planned != nil {
		causes = planned.Troubles
	} else {
		err = o.Rows(ctx, trade.RowQuery{Jobs: []string{job}, States: trade.Stuck}, func(e trade.Entry) error {
			causes.Add(e)
			return nil
		})
	}
	groups := causes.Sorted()
	slices.SortStableFunc(groups, heldFirst)
	return groups, err
}

// heldFirst sorts the causes of held rows before the others.
func heldFirst(a, b *pending.Group) int {
	return trade.CompareBool(a.State != trade.Held, b.State != trade.Held)
}

// CauseText returns the text of a group's cause with the codes or values to blame, and how many
// rows each blocks.
func CauseText(v words.Voice, g *pending.Group) string {
	const most = 4
	what := g.Advice(v.Lang).What
	if len(g.Subjects) == 0 {
		return what
	}
	out := trade.Map(g.Subjects[:min(most, len(g.Subjects))], func(s pending.Subject) string {
		if g.Awaited != nil && s.Rows == 1 {
			return s.Text
		}
		return fmt.Sprintf("%s (%d)", s.Text, s.Rows)
	})
	if more := len(g.Subjects) - most; more > 0 {
		out = append(out, v.Text("… and %d more", more))
	}
	if g.Awaited != nil { // what is wrong with the parents, then their keys
		return what + " – " + strings.Join(out, ", ")
	}
	return what + ": " + strings.Join(out, ", ")
}
