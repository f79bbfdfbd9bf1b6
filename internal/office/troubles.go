package office

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/alert"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

// Trouble is one cause and all rows that it blocks. It is one task for a person, however many rows
// there are.
type Trouble struct {
	Key      string      // of the cause, as in pending.Group
	State    trade.State // of the first row that is not waiting; waiting only if all rows wait
	Cause    string      // as in trade.Entry
	Problem  *trade.Problem
	Awaited  *trade.Awaited // parent of the first row, if the rows wait for parents
	Rows     int
	Oldest   time.Time      // when the oldest row was first seen
	Samples  []trade.Entry  // the first few
	Volumes  []alert.Volume // by product
	Subjects []subject      // codes or values to blame, most frequent first; may be empty
	subjects map[string]int
}

// troubleSamples is how many rows each trouble keeps as samples.
const troubleSamples = 3

// subject is a code or value of the ERP that is to blame.
type subject struct {
	Text string
	Rows int
}

// Troubles groups rows by the cause that blocks them. It keeps the groups and a few samples, not
// the rows.
type Troubles struct {
	specs  map[string]mapping.JobSpec
	byKey  map[string]*Trouble
	groups []*Trouble
}

// NewTroubles returns an empty set of groups for the rows of some jobs.
func NewTroubles(jobs []mapping.JobSpec) *Troubles {
	t := &Troubles{specs: map[string]mapping.JobSpec{}, byKey: map[string]*Trouble{}}
	for _, spec := range jobs {
		t.specs[spec.Name] = spec
	}
	return t
}

// Add counts a row and returns its group. A row is in one group only, by its first problem, so that
// the groups add up to the number of rows.
func (t *Troubles) Add(e trade.Entry) *Trouble {
	key, problem := pending.CauseOf(e)
	g := t.byKey[key]
	if g == nil {
		g = &Trouble{
			Key: key, State: e.State, Cause: e.Cause, Problem: problem, Awaited: pending.ParentOf(e),
			subjects: map[string]int{},
		}
		t.byKey[key] = g
		t.groups = append(t.groups, g)
	}
	g.Rows++
	if g.Oldest.IsZero() || e.FirstSeenAt.Before(g.Oldest) {
		g.Oldest = e.FirstSeenAt
	}
	if g.State == trade.Waiting {
		g.State = e.State // rows that wait for a platform record follow the row that asked for it
	}
	if g.Awaited != nil && g.Awaited.ParentState == trade.Waiting {
		g.Awaited = pending.ParentOf(e) // likewise for parents
	}
	if len(g.Samples) < troubleSamples {
		g.Samples = append(g.Samples, e)
	}
	product := pending.ProductOf(e, t.specs[e.Job])
	i := slices.IndexFunc(g.Volumes, func(v alert.Volume) bool { return v.Product == product })
	if i < 0 {
		i, g.Volumes = len(g.Volumes), append(g.Volumes, alert.Volume{Product: product})
	}
	v := &g.Volumes[i]
	v.Rows++
	if kg, weighed := e.Quantity.Kilograms(); weighed {
		v.Kilograms = v.Kilograms.Add(kg)
	} else {
		v.Unweighed++
	}
	if text := pending.SubjectOf(e, problem, t.specs[e.Job]); text != "" {
		if g.subjects[text] == 0 {
			text = strings.Clone(text) // it may be part of a row, all of which it would keep in memory
		}
		g.subjects[text]++
	}
	return g
}

// Sorted returns the groups, those with the most rows first.
func (t *Troubles) Sorted() []*Trouble {
	for _, g := range t.groups {
		g.Subjects = trade.Map(slices.Sorted(maps.Keys(g.subjects)), func(text string) subject {
			return subject{text, g.subjects[text]}
		})
		slices.SortStableFunc(g.Subjects, func(a, b subject) int { return cmp.Compare(b.Rows, a.Rows) })
		slices.SortFunc(g.Volumes, func(a, b alert.Volume) int { return cmp.Compare(a.Product, b.Product) })
	}
	slices.SortStableFunc(t.groups, func(a, b *Trouble) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Cause, b.Cause))
	})
	return t.groups
}

// Troubles returns the rows of a job that do not go by themselves, by cause: held ones first, because
// only a person moves them. planned is the concluded result of a dry run, which has them; or nil.
func (o *Office) Troubles(ctx context.Context, job string, planned *JobForecast) ([]*Trouble, error) {
	var err error
	t := NewTroubles(o.conf.JobSpecs())
	if planned != nil {
		t = planned.Troubles
	} else {
		err = o.Rows(ctx, trade.RowFilter{Job: job, States: trade.Stuck}, func(e trade.Entry) error {
			t.Add(e)
			return nil
		})
	}
	groups := t.Sorted()
	slices.SortStableFunc(groups, heldFirst)
	return groups, err
}

// Causes returns the causes that block rows of some jobs now, in order; of all if none is named.
func (o *Office) Causes(ctx context.Context, jobs []string) ([]string, error) {
	known := map[string]bool{}
	if len(jobs) == 0 {
		var err error
		jobs, err = o.store.Jobs(ctx)
		if err != nil {
			return nil, err
		}
	}
	for _, job := range jobs {
		causes, err := o.store.Causes(ctx, job)
		if err != nil {
			return nil, err
		}
		for _, cause := range causes {
			known[cause] = true
		}
	}
	return slices.Sorted(maps.Keys(known)), nil
}

// heldFirst sorts the causes of held rows before the others.
func heldFirst(a, b *Trouble) int {
	return trade.CompareBool(a.State != trade.Held, b.State != trade.Held)
}

// Advice returns what the group's cause means, who can cure it and how.
func (g *Trouble) Advice(v words.Voice) trade.Advice {
	return trade.ExplainTask(g.State, g.Cause, g.Problem, g.Awaited, v.Lang)
}

// CauseText returns the text of a trouble's cause with the codes or values to blame, and how many rows
// each blocks.
func CauseText(v words.Voice, g *Trouble) string {
	const most = 4
	what := g.Advice(v).What
	if len(g.Subjects) == 0 {
		return what
	}
	out := trade.Map(g.Subjects[:min(most, len(g.Subjects))], func(s subject) string {
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
