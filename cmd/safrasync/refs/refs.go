package refs

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// NewCommand makes the command refs.
func NewCommand(a *cli.App) *cobra.Command {
	group := a.Group("refs", "the de-para tables: ERP codes and platform ids")

	list := a.Command("list [KIND]", "list the de-para, missing codes first", cli.Arity{Least: 0, Most: 1},
		func(ctx context.Context, args []string) error {
			return listReferences(ctx, a, args)
		})

	var imported importFlags
	importing := a.Command("import KIND FILE", "import a CSV with the header code,id, or with the columns that are named; all or nothing", cli.Exactly(2),
		func(ctx context.Context, args []string) error {
			return importReferences(ctx, a, args[0], args[1], imported)
		})
	imported.Add(importing)
	importing.Flags().BoolVar(&imported.skipInvalid, "skip-invalid", false,
		"import the other lines when some are invalid")
	l := &imported.layout
	flags := importing.Flags()
	flags.StringSliceVar(&l.Code, "code", nil,
		"the `COLUMNS` of the code, in the order of its parts, as the header names them")
	flags.StringVar(&l.ID, "id", "", "the `COLUMN` of the platform's id")
	flags.StringVar(&l.Label, "label", "", "the `COLUMN` of the name that people know")
	flags.StringArrayVar(&l.Where, "where", nil,
		"`COLUMN=VALUE`: only these lines; again for another value or another column")
	flags.IntSliceVar(&l.Pad, "pad", nil, "`DIGITS` of each part of the code, whose leading zeros were lost; 0 = as it is")
	flags.StringVar(&l.As, "code-as", "",
		"the code is a `FORM`: cpf, cnpj or document (either), without regard to punctuation and lost zeros; "+
			"lower: in lower case")
	flags.StringVar(&l.Sheet, "sheet", "", "the `SHEET` of a workbook; the first without it")

	export := a.Command("export KIND", "write the de-para as CSV; values that a spreadsheet would read as a formula get a leading ', which refs import removes", cli.Exactly(1),
		func(ctx context.Context, args []string) error {
			kind := args[0]
			if err := checkKind(a, kind, cli.ToRead); err != nil {
				return err
			}
			o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
			if err != nil {
				return err
			}
			if !a.AsJSON {
				return o.WriteReferences(ctx, kind, a.Out)
			}
			table, err := o.ListReferences(ctx, kind)
			if err != nil {
				return err
			}
			return cli.PrintEach(a, table)
		})

	var set cli.ActFlags
	setting := a.Command("set KIND CODE ID --reason TEXT", "store one code", cli.Exactly(3),
		func(ctx context.Context, args []string) error {
			return changeReference(ctx, a, args[0], args[1], &args[2], set)
		})
	set.Add(setting)

	var remove cli.ActFlags
	removing := a.Command("remove KIND CODE --reason TEXT", "remove one code", cli.Exactly(2),
		func(ctx context.Context, args []string) error {
			return changeReference(ctx, a, args[0], args[1], nil, remove)
		})
	remove.Add(removing)

	group.AddCommand(list, importing, export, setting, removing)
	return group
}

// checkKind returns an error for an unknown kind of reference and, for changes, for a kind that the
// next run would read from the ERP again.
func checkKind(a *cli.App, kind string, how cli.Access) error {
	config, err := a.LoadConfig()
	if err != nil {
		return err
	}
	if !slices.Contains(trade.ReferenceKinds, kind) {
		return a.Usage("there is no kind of reference %q; the kinds are %s", kind, cli.Listed(trade.ReferenceKinds))
	}
	if _, fromERP := config.References[kind]; fromERP && how == cli.ToWrite {
		return a.Usage("the references %s are read from the ERP in each run (references.%s in the configuration); change them there", kind, kind)
	}
	return nil
}

// changeReference stores one code with its id, or removes it if id is nil. Rows that need a removed
// code wait from the next run on.
func changeReference(ctx context.Context, a *cli.App, kind, code string, id *string, f cli.ActFlags) error {
	if err := checkKind(a, kind, cli.ToWrite); err != nil {
		return err
	}
	if err := a.NeedReason(f); err != nil {
		return err
	}
	o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
	if err != nil {
		return err
	}
	plan, err := o.PlanReference(ctx, kind, code, id)
	if fault, bad := errors.AsType[*office.ReferenceFault](err); bad {
		return a.Usage("code %q or id %q is not valid: the code must not be blank, the id must be a UUID", fault.Code, fault.ID)
	}
	switch {
	case err != nil:
		return err
	case id == nil && plan.From == nil:
		return a.Error("the references %s have no code %s", kind, plan.Code)
	case id == nil:
		a.Tell("  removed   %s → %s", plan.Code, *plan.From)
	case plan.From == nil:
		a.Tell("  new       %s → %s", plan.Code, *plan.To)
	case *plan.From == *plan.To:
		a.Tell("%s already has this value; nothing to do", plan.Code)
		return nil
	default:
		a.Tell("  changed   %s: %s → %s", plan.Code, *plan.From, *plan.To)
	}
	o, err = a.ConfirmedOffice(ctx, f.Yes)
	if err != nil {
		return err
	}
	if id != nil {
		codes := map[string]string{plan.Code: *plan.To}
		added, changed, err := o.SetReferences(ctx, kind, codes, nil, acts.ActSetCode, a.Person(f))
		if err != nil {
			return err
		}
		return tellImported(a, kind, added, changed, 0)
	}
	done, err := o.RemoveReference(ctx, kind, plan.Code, a.Person(f))
	if err != nil {
		return err
	}
	removed := 0
	if done {
		removed = 1
	}
	return a.Answer(map[string]any{"kind": kind, "removed": removed}, "%s: %d removed", kind, removed)
}

func tellImported(a *cli.App, kind string, added, changed, unchanged int) error {
	return a.Answer(struct {
		Kind      string `json:"kind"`
		Added     int    `json:"added"`
		Changed   int    `json:"changed"`
		Unchanged int    `json:"unchanged"`
	}{kind, added, changed, unchanged}, "%s: %d added, %d changed, %d unchanged; the rows that waited are sent in the next run.", kind, added, changed, unchanged)
}
