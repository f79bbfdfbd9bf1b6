package rows

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/trade"
)

// explainSent applies the current configuration to the rows that were sent, and prints which
// payloads would differ. It stores and sends nothing.
func explainSent(ctx context.Context, a *cli.App, names []string, f explainFlags) error {
	if err := a.CheckJobNames(names...); err != nil {
		return err
	}
	use := cli.ERPUnasked
	if f.askERP {
		use = cli.ERPNeeded
	}
	o, err := a.Office(ctx, cli.ToRead, use)
	if err != nil {
		return err
	}
	each := func(d dryrun.Difference) error {
		if !a.AsJSON || d.Verdict == dryrun.WouldBeTheSame && !f.all {
			return nil
		}
		return a.PrintJSON(d)
	}
	for _, job := range o.Jobs() {
		if len(names) > 0 && !slices.Contains(names, job.Name) {
			continue
		}
		sent, err := o.Sent(ctx, job.Name, f.askERP, each)
		if err != nil {
			return a.Config.Annotate(err)
		}
		if a.AsJSON {
			err = a.PrintJSON(sent)
		} else {
			printSent(a, sent, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sentShown is how many changes of one field are printed; JSON has all that are kept.
const sentShown = 10

// printSent prints the differences for people.
func printSent(a *cli.App, c *office.Sent, f explainFlags) {
	v := c.Verdicts
	a.Show("%s: %d {row|rows} sent; with the current configuration: %d the same, %d different, %d would be refused, %d would wait, %d not comparable", c.Job, c.Rows, v[dryrun.WouldBeTheSame], v[dryrun.WouldDiffer], v[dryrun.WouldBeRefused],
		v[dryrun.WouldWait], v[dryrun.NotComparable])
	total, shown := map[string]int{}, map[string]int{}
	absent := a.Text("(absent)")
	for _, change := range c.Changes {
		total[change.Field] += change.Rows
	}
	for field, rows := range c.More {
		total[field] += rows
	}
	for _, change := range c.Changes {
		shown[change.Field]++
		if shown[change.Field] == 1 {
			a.Show("  %d × %s (%s)", total[change.Field], change.Field, trade.FieldLabel(change.Field, a.Lang()))
		}
		if shown[change.Field] <= sentShown {
			a.Show("      %d × %s → %s   rows: %s", change.Rows, cmp.Or(change.Old, absent), cmp.Or(change.New, absent),
				strings.Join(change.Keys, ", "))
		}
		if shown[change.Field] == sentShown+1 {
			a.Show("      … and others; --json shows more of %s", change.Field)
		}
	}
	for _, id := range sortedSamples(c.Problems, func(id [2]string) string { return id[0] + " " + id[1] }) {
		s := c.Problems[id]
		a.Show("  ✗ %d × %s   rows: %s", s.Rows, s.Problem.What(a.Lang()), strings.Join(s.Keys, ", "))
	}
	for _, w := range sortedSamples(c.Waiting, func(w trade.Awaited) string { return w.Ref + w.Code + w.Job }) {
		s := c.Waiting[w]
		a.Show("  … %d × would wait for %s   rows: %s", s.Rows, strings.TrimSpace(w.Ref+" "+w.Code+" "+w.Job),
			strings.Join(s.Keys, ", "))
	}
	for _, column := range config.SortedKeys(c.Unmapped) {
		a.Show("  not comparable in %d {row|rows}: column %s was not mapped when they were sent", c.Unmapped[column], column)
	}
	if len(c.Unmapped) > 0 && !f.askERP {
		a.Show("    with --erp these columns are read from the ERP as they are now")
	}
	if c.NoBody > 0 {
		a.Show("  not comparable in %d {row|rows}: the request that was sent is no longer kept", c.NoBody)
	}
	for _, unit := range slices.Sorted(maps.Keys(c.Sums)) {
		if s := c.Sums[unit]; s.Rows > 0 || s.Now.Sign() != 0 {
			name, v := string(unit), a.Voice()
			if name == "" {
				name = a.Text("without a unit")
			} else {
				name = a.Text("in %s", name)
			}
			a.Show("  sum %s: %d {row|rows} sent with %s; it would be %s (difference %s)", name, s.Rows, v.Number(s.Sent), v.Number(s.Now), v.Number(s.Now.Sub(s.Sent)))
		}
	}
}

func sortedSamples[K comparable](m map[K]*office.SentSample, name func(K) string) []K {
	out := slices.SortedFunc(maps.Keys(m),
		func(x, y K) int { return cmp.Or(cmp.Compare(m[y].Rows, m[x].Rows), cmp.Compare(name(x), name(y))) })
	return out[:min(len(out), 4*sentShown)]
}
