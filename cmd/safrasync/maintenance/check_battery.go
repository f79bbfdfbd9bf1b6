package maintenance

import (
	"context"
	"errors"
	"strings"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/erp"
)

// battery queries the configured ERP for what every engine must answer, and prints line by line
// what differs. It writes nothing and opens no ledger.
func battery(ctx context.Context, a *cli.App) error {
	source, err := a.OpenERP(ctx)
	if err != nil {
		return err
	}
	facts, err := source.Facts(ctx)
	if err != nil {
		return err
	}
	differ := 0
	show := func(f erp.Finding) {
		if f.Result == erp.Differs {
			differ++
		}
		if a.AsJSON {
			err = errors.Join(err, a.PrintJSON(f))
			return
		}
		line, key := strings.CutPrefix(f.Line, "key ")
		name := a.Text("battery.line." + line)
		if key {
			name = a.Text("found again by %s", name)
		}
		var got any = f.Got
		if f.Err != nil {
			got = f.Err
		}
		switch f.Result {
		case erp.Passed:
			a.Show("✓ %s: %s", name, got)
		case erp.Differs:
			a.Show("✗ %s: expected “%s”, got “%s”", name, f.Want, got)
		default:
			a.Show("- %s: this kind of database does not have it, or does not report it", name)
		}
		err = errors.Join(err, a.Out.Flush())
	}
	show(erp.Finding{
		Line: "database", Result: erp.Passed,
		Got: strings.TrimSpace(facts.Product+" "+facts.Version) + ", " + facts.Charset + ", " + source.Target(),
	})
	if err := errors.Join(source.Battery(ctx, show), err); err != nil {
		return err
	}
	if differ > 0 {
		return a.Error("%d {check fails|checks fail}: send nothing from this ERP before you have contacted safrasync support", differ)
	}
	if !a.AsJSON {
		a.Show("The ERP is read correctly. Nothing was written.")
	}
	return nil
}
