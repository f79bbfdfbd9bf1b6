package refs

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/reconcile/workbook"
	"github.com/safrasync/safrasync/trade"
)

// importFlags are the flags of `safrasync refs import`.
type importFlags struct {
	cli.ActFlags
	skipInvalid bool
	layout      office.ReferenceLayout
}

// importReferences shows what a file would change, asks, and imports it: all or nothing, unless
// --skip-invalid is set.
func importReferences(ctx context.Context, a *cli.App, kind, file string, f importFlags) error {
	if err := checkKind(a, kind, cli.ToWrite); err != nil {
		return err
	}
	plan, err := planImport(ctx, a, kind, file, f)
	if err != nil {
		return err
	}
	if plan.LeftOut > 0 {
		a.Tell("  not within the filter: %d {line|lines} (%s)", plan.LeftOut, cli.Listed(f.layout.Where))
	}
	cli.TellPlan(a, plan.Bad, func(bad office.BadLine) { a.Tell("  line %d: %s", bad.Line, bad.Text) })
	if len(plan.Bad) > 0 && !f.skipInvalid {
		return errors.New(file + ": " + a.Text("%d invalid {line|lines}: nothing was imported; correct the file, or import the valid lines with --skip-invalid", len(plan.Bad)))
	}
	shown := func(code string) string {
		return trade.MaskDocuments(trade.Reference{Code: code, Label: plan.Labels[code]}.Shown())
	}
	var added, changed []trade.ReferenceChange
	for _, c := range plan.Changes {
		if c.From == nil {
			added = append(added, c)
		} else {
			changed = append(changed, c)
		}
	}
	a.Tell("%s: %d new, %d changed, %d unchanged", kind, len(added), len(changed), plan.Unchanged)
	// overwritten ids matter more than new codes
	cli.TellPlan(a, changed, func(c trade.ReferenceChange) {
		a.Tell("  changed   %s: %s → %s", shown(c.Code), *c.From, *c.To)
	})
	cli.TellPlan(a, added, func(c trade.ReferenceChange) { a.Tell("  new       %s → %s", shown(c.Code), *c.To) })
	if plan.Renamed > 0 {
		a.Tell("  labels    of %d {code|codes} change", plan.Renamed)
	}
	if len(plan.Changes)+plan.Renamed == 0 {
		return tellImported(a, kind, 0, 0, plan.Unchanged)
	}
	o, err := a.ConfirmedOffice(ctx, f.Yes)
	if err != nil {
		return err
	}
	n, m, err := o.SetReferences(ctx, kind, plan.Codes, plan.Labels, "refs import", a.Person(f.ActFlags))
	if err != nil {
		return err
	}
	return tellImported(a, kind, n, m, len(plan.Codes)-n-m)
}

// planImport returns what a file would change; "-" is standard input. A plan must not create a ledger.
func planImport(ctx context.Context, a *cli.App, kind, file string, f importFlags) (plan office.ReferencePlan,
	err error,
) {
	if key, args := f.layout.Fault(); key != "" {
		return plan, a.Usage(key, args...)
	}
	f.layout.Unpacked = workbook.UnpackedHere
	if slices.Contains([]string{office.AsDocument, "cpf", "cnpj", "lower"}, f.As) { // --as is who imports
		return plan, a.Usage("--as is the name of who imports; the form of the codes is another flag, as in --code-as document")
	}
	in, name := io.NopCloser(a.Stdin), ""
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return plan, phrase.Errorf("%s: %s", file, config.PlainReason(err))
		}
		in, name = opened, file+": "
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
	if err != nil {
		return plan, err
	}
	plan, err = o.PlanReferences(ctx, kind, in, f.layout, a.Lang())
	if err == nil && plan.Fault != "" {
		err = errors.New(name + plan.Fault)
	}
	return plan, err
}
