package rows

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/sync/rehearse"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// diffFlags are the flags of `safrasync preview --diff`.
type diffFlags struct{ askERP, all bool }

// diffPage is how many sent rows are compared together.
const diffPage = 500

// errNoERP is the error of the ERP when it must not be read.
var errNoERP = errors.New("the ERP is not asked without --erp")

// previewDiff applies the current configuration to the rows that were sent, and prints which
// payloads would differ. It stores and sends nothing.
func previewDiff(ctx context.Context, a *cli.App, names []string, f diffFlags) error {
	config, err := a.LoadConfig()
	if err != nil {
		return err
	}
	if err := a.CheckJobNames(config, names); err != nil {
		return err
	}
	store, err := a.OpenLedger(ctx, cli.ToRead)
	if err != nil {
		return err
	}
	var source run.Source = cli.Unreachable(errNoERP)
	if f.askERP {
		if source, err = a.OpenERP(ctx); err != nil {
			return err
		}
	}
	e, err := a.OpenEngine(store, source, nil)
	if err != nil {
		return err
	}
	for _, job := range e.Jobs {
		if len(names) > 0 && !slices.Contains(names, job.Name()) {
			continue
		}
		d, err := diffJob(ctx, a, e, store, job, f)
		if err != nil {
			return config.Annotate(err)
		}
		if a.AsJSON {
			err = a.PrintJSON(d.summary())
		} else {
			printDiff(a, d, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// diffJob compares the accepted rows of one job, page by page, so that memory does not grow with
// the ledger.
func diffJob(ctx context.Context, a *cli.App, e *cli.Engine, store *state.Store, job *mapping.Job,
	f diffFlags,
) (*diffCount, error) {
	compare, err := e.Comparer(ctx, job, f.askERP)
	if err != nil {
		return nil, err
	}
	count := newDiffCount(job.Name())
	var page []trade.Entry
	flush := func() error {
		found, err := compare.Compare(ctx, page)
		page = page[:0]
		if err != nil {
			return err
		}
		for _, d := range found {
			count.add(d)
			if a.AsJSON && (f.all || d.Verdict != rehearse.WouldBeTheSame) {
				if err := a.PrintJSON(d); err != nil {
					return err
				}
			}
		}
		return nil
	}
	err = store.Rows(ctx, trade.RowFilter{Job: job.Name(), States: []trade.State{trade.Accepted}},
		func(entry trade.Entry) error {
			if page = append(page, entry); len(page) < diffPage {
				return nil
			}
			return flush()
		})
	if err == nil {
		err = flush()
	}
	return count, err
}

// diffCount sums up differences. Its memory is bounded.
type diffCount struct {
	job      string
	rows     int
	verdicts map[rehearse.DifferenceKind]int
	changes  map[rehearse.FieldChange]*diffSample
	more     map[string]int // rows by field, beyond the changes listed one by one
	unmapped map[string]int // by column
	gone     int            // rows whose payload has been removed
	problems map[[2]string]*diffSample
	waiting  map[trade.Awaited]*diffSample
	sums     map[trade.Unit]*diffSum // of the rows that can be compared
}

type diffSample struct {
	rows    int
	keys    []string
	problem trade.Problem
}

type diffSum struct {
	rows      int
	sent, now trade.Decimal
}

const (
	diffKeys = 5    // sample keys
	diffKept = 1000 // changes, problems and codes that are listed one by one
)

func newDiffCount(job string) *diffCount {
	return &diffCount{
		job: job, verdicts: map[rehearse.DifferenceKind]int{}, changes: map[rehearse.FieldChange]*diffSample{},
		more:     map[string]int{},
		unmapped: map[string]int{}, problems: map[[2]string]*diffSample{}, waiting: map[trade.Awaited]*diffSample{},
		sums: map[trade.Unit]*diffSum{},
	}
}

// sampled counts a row under a key. It returns false if there are too many keys already.
func sampled[K comparable](m map[K]*diffSample, key K, row string) bool {
	s := m[key]
	if s == nil {
		if len(m) >= diffKept {
			return false
		}
		s = &diffSample{}
		m[key] = s
	}
	s.rows++
	if len(s.keys) < diffKeys {
		s.keys = append(s.keys, row)
	}
	return true
}

func (c *diffCount) add(d rehearse.Difference) {
	c.rows++
	c.verdicts[d.Verdict]++
	for _, change := range d.Changes {
		if !sampled(c.changes, change, d.Key) {
			c.more[change.Field]++
		}
	}
	for _, p := range d.Problems {
		id := [2]string{p.Field, p.Rule}
		if sampled(c.problems, id, d.Key) {
			c.problems[id].problem = p
		}
	}
	for _, w := range d.WaitingFor {
		sampled(c.waiting, trade.Awaited{Ref: w.Ref, Code: w.Code, Job: w.Job}, d.Key)
	}
	for _, column := range d.Unmapped {
		c.unmapped[column]++
	}
	if d.Verdict == rehearse.NotComparable && len(d.Unmapped) == 0 {
		c.gone++
		return
	}
	c.sum(d.Sent, func(s *diffSum) { s.rows++; s.sent = s.sent.Add(d.Sent.Amount) })
	c.sum(d.Now, func(s *diffSum) { s.now = s.now.Add(d.Now.Amount) })
}

func (c *diffCount) sum(q trade.Quantity, add func(*diffSum)) {
	if c.sums[q.Unit] == nil {
		c.sums[q.Unit] = &diffSum{}
	}
	add(c.sums[q.Unit])
}

// diffSummary is the last line of a job in `preview --diff --json`.
type diffSummary struct {
	Job      string                          `json:"job"`
	Summary  bool                            `json:"summary"` // true: this line is about the job
	Rows     int                             `json:"rows"`
	Verdicts map[rehearse.DifferenceKind]int `json:"verdicts"`
	Changes  []changeJSON                    `json:"changes"`
	More     map[string]int                  `json:"more"`
	Unmapped map[string]int                  `json:"unmapped"`
	NoBody   int                             `json:"no_payload"`
	Sums     map[trade.Unit]sumJSON          `json:"sums"`
}

type changeJSON struct {
	rehearse.FieldChange
	Rows int      `json:"rows"`
	Keys []string `json:"keys"`
}

type sumJSON struct {
	Rows int           `json:"rows"`
	Sent trade.Decimal `json:"sent"`
	Now  trade.Decimal `json:"now"`
}

func (c *diffCount) summary() diffSummary {
	out := diffSummary{
		Job: c.job, Summary: true, Rows: c.rows, Verdicts: c.verdicts, Changes: []changeJSON{}, More: c.more,
		Unmapped: c.unmapped, NoBody: c.gone,
		Sums: map[trade.Unit]sumJSON{},
	}
	for _, change := range c.sortedChanges() {
		out.Changes = append(out.Changes, changeJSON{change, c.changes[change].rows, c.changes[change].keys})
	}
	for unit, s := range c.sums {
		out.Sums[unit] = sumJSON{s.rows, s.sent, s.now}
	}
	return out
}

// sortedChanges returns the changes sorted by field, most frequent first.
func (c *diffCount) sortedChanges() []rehearse.FieldChange {
	var out []rehearse.FieldChange
	for change := range c.changes {
		out = append(out, change)
	}
	slices.SortFunc(out, func(x, y rehearse.FieldChange) int {
		return cmp.Or(cmp.Compare(x.Field, y.Field), cmp.Compare(c.changes[y].rows, c.changes[x].rows),
			cmp.Compare(x.Old, y.Old), cmp.Compare(x.New, y.New))
	})
	return out
}

// diffShown is how many changes of one field are printed; JSON has all that are kept.
const diffShown = 10

// printDiff prints the differences for people.
func printDiff(a *cli.App, c *diffCount, f diffFlags) {
	v := c.verdicts
	a.Show("diff.title", c.job, c.rows, v[rehearse.WouldBeTheSame], v[rehearse.WouldDiffer], v[rehearse.WouldBeRefused],
		v[rehearse.WouldWait], v[rehearse.NotComparable])
	total, shown := map[string]int{}, map[string]int{}
	for change, s := range c.changes {
		total[change.Field] += s.rows
	}
	for field, rows := range c.more {
		total[field] += rows
	}
	for _, change := range c.sortedChanges() {
		if shown[change.Field]++; shown[change.Field] == 1 {
			a.Show("diff.field", total[change.Field], change.Field, trade.FieldLabel(change.Field, a.Lang()))
		}
		if shown[change.Field] <= diffShown {
			s := c.changes[change]
			a.Show("diff.change", s.rows, orAbsent(a, change.Old), orAbsent(a, change.New), strings.Join(s.keys, ", "))
		}
		if shown[change.Field] == diffShown+1 {
			a.Show("diff.more", change.Field)
		}
	}
	for _, id := range sortedSamples(c.problems, func(id [2]string) string { return id[0] + " " + id[1] }) {
		s := c.problems[id]
		a.Show("diff.refused", s.rows, s.problem.What(a.Lang()), strings.Join(s.keys, ", "))
	}
	for _, w := range sortedSamples(c.waiting, func(w trade.Awaited) string { return w.Ref + w.Code + w.Job }) {
		s := c.waiting[w]
		a.Show("diff.waits", s.rows, strings.TrimSpace(w.Ref+" "+w.Code+" "+w.Job), strings.Join(s.keys, ", "))
	}
	for _, column := range config.SortedKeys(c.unmapped) {
		a.Show("diff.unmapped", c.unmapped[column], column)
	}
	if len(c.unmapped) > 0 && !f.askERP {
		a.Show("diff.ask_erp")
	}
	if c.gone > 0 {
		a.Show("diff.no_payload", c.gone)
	}
	for _, unit := range slices.Sorted(maps.Keys(c.sums)) {
		if s := c.sums[unit]; s.rows > 0 || s.now.Sign() != 0 {
			name, v := string(unit), a.Voice()
			if name == "" {
				name = a.Text("diff.no_unit")
			} else {
				name = a.Text("diff.unit", name)
			}
			a.Show("diff.sums", name, s.rows, v.Number(s.sent), v.Number(s.now), v.Number(s.now.Sub(s.sent)))
		}
	}
}

func orAbsent(a *cli.App, text string) string {
	if text == "" {
		return a.Text("diff.absent")
	}
	return text
}

func sortedSamples[K comparable](m map[K]*diffSample, name func(K) string) []K {
	var out []K
	for k := range m {
		out = append(out, k)
	}
	slices.SortFunc(out,
		func(x, y K) int { return cmp.Or(cmp.Compare(m[y].rows, m[x].rows), cmp.Compare(name(x), name(y))) })
	return out[:min(len(out), 4*diffShown)]
}
