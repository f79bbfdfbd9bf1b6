package commands

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/sync/reconcile/workbook"
	"github.com/safrasync/safrasync/trade"
)

// NewRefsCommand makes the command refs.
func NewRefsCommand(a *cli.App) *cobra.Command {
	group := a.Group("refs", "the de-para tables: ERP codes and platform ids")

	list := a.Command("list [KIND]", "list the de-para, missing codes first", cli.Arity{Least: 0, Most: 1},
		func(ctx context.Context, args []string) error {
			// first the missing codes, those that block most rows at the top, then the stored codes
			kind := ""
			if len(args) > 0 {
				kind = args[0]
			}
			if kind != "" && kind != trade.ProducerByDocument {
				if err := checkKind(a, kind, cli.ToRead); err != nil {
					return err
				}
			}
			o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
			if err != nil {
				return err
			}
			all, err := o.Shortages(ctx)
			if err != nil {
				return err
			}
			var missing []trade.Shortage
			for _, s := range all {
				if kind == "" || s.Kind == kind {
					missing = append(missing, s)
				}
			}
			stored, err := o.ListReferences(ctx, kind)
			if err != nil {
				return err
			}
			if !a.AsJSON {
				return printReferences(ctx, a, o, missing, stored)
			}
			return cli.PrintEach(a, o.ReferenceLines(missing, stored))
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
		return printImported(a, kind, added, changed, 0)
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

func printImported(a *cli.App, kind string, added, changed, unchanged int) error {
	return a.Answer(struct {
		Kind      string `json:"kind"`
		Added     int    `json:"added"`
		Changed   int    `json:"changed"`
		Unchanged int    `json:"unchanged"`
	}{kind, added, changed, unchanged}, "%s: %d added, %d changed, %d unchanged; the rows that waited are sent in the next run.", kind, added, changed, unchanged)
}

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
	cli.PrintPlan(a, plan.Bad, func(bad office.BadLine) { a.Tell("  line %d: %s", bad.Line, bad.Text) })
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
	cli.PrintPlan(a, changed, func(c trade.ReferenceChange) {
		a.Tell("  changed   %s: %s → %s", shown(c.Code), *c.From, *c.To)
	})
	cli.PrintPlan(a, added, func(c trade.ReferenceChange) { a.Tell("  new       %s → %s", shown(c.Code), *c.To) })
	if plan.Renamed > 0 {
		a.Tell("  labels    of %d {code|codes} change", plan.Renamed)
	}
	if len(plan.Changes)+plan.Renamed == 0 {
		return printImported(a, kind, 0, 0, plan.Unchanged)
	}
	o, err := a.ConfirmedOffice(ctx, f.Yes)
	if err != nil {
		return err
	}
	n, m, err := o.SetReferences(ctx, kind, plan.Codes, plan.Labels, "refs import", a.Person(f.ActFlags))
	if err != nil {
		return err
	}
	return printImported(a, kind, n, m, len(plan.Codes)-n-m)
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
	defer phrase.Join(&err, in.Close)
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

func printReferences(ctx context.Context, a *cli.App, o *office.Office, missing []trade.Shortage,
	stored []trade.Reference,
) error {
	if len(missing)+len(stored) == 0 {
		a.Tell("no references are stored, and no row in the ledger waits for one; to see which codes ERP rows lack before the first sending: `safrasync explain JOB`")
		return nil
	}
	if len(missing) > 0 {
		// the kinds of records that occur, in their order, and at least one
		kinds := slices.DeleteFunc(slices.Clone(trade.Kinds), func(k trade.Kind) bool {
			blocked := func(s trade.Shortage) bool { return trade.ByKind(s.Blocked)[k] != nil }
			return !slices.ContainsFunc(missing, blocked)
		})
		if len(kinds) == 0 {
			kinds = trade.Kinds[:1]
		}
		head := []i18n.Key{"Kind", "Code without id"}
		for _, k := range kinds {
			head = append(head, "record."+string(k)+".head")
		}
		t := a.NewTable(append(head, "Weight (t)", "Also invalid", "refs.head_from")...)
		var right []table.ColumnConfig
		for n := 3; n <= len(kinds)+4; n++ {
			right = append(right, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
		t.SetColumnConfigs(right)
		samples := trade.Map(missing, func(s trade.Shortage) []int64 { return s.Sample })
		rows, err := o.Entries(ctx, slices.Concat(samples...))
		if err != nil {
			return err
		}
		names := trade.NamesOf(rows, samples)
		codes := map[string]int{}
		for i, s := range missing {
			if s.Code == "" {
				continue
			}
			codes[s.Kind]++
			code := s.Code
			if name := names[i].Labelled(); name != "" {
				code += " (" + name + ")"
			}
			row, blocked := table.Row{s.Kind, words.Printable(code)}, trade.ByKind(s.Blocked)
			for _, k := range kinds {
				n := 0
				if l := blocked[k]; l != nil {
					n = l.Rows
				}
				row = append(row, n)
			}
			invalid := 0
			for _, l := range s.Invalid {
				invalid += l.Rows
			}
			t.AppendRow(append(row, weight(a.Voice(), blocked), invalid,
				a.Text("refs.from."+o.ReferenceSource(s.Kind))))
		}
		t.Render()
		for _, s := range missing {
			if s.Code == "" {
				a.Show("%s: %d {code without an id blocks|codes without an id block} %s", s.Kind, codes[s.Kind], load(a.Voice(), trade.ByKind(s.Blocked)))
			}
		}
		a.Show("Add what is missing with `safrasync refs import`; for kinds that come from the ERP or the platform, add it there.")
		a.Line("")
	}
	if len(stored) == 0 {
		return nil
	}
	head := []i18n.Key{"Kind", "ERP code", "Platform id", "refs.head_from"}
	return cli.PrintTable(a, stored, head, func(r trade.Reference) []any {
		return []any{r.Kind, r.Shown(), r.ID, a.Text("refs.from." + o.ReferenceSource(r.Kind))}
	})
}

// load returns what is blocked as text: "38 contratos, 112 entregas, 4.310 t".
func load(v words.Voice, blocked map[trade.Kind]*trade.Load) string {
	var parts []string
	for _, k := range trade.Kinds {
		if l := blocked[k]; l != nil {
			parts = append(parts, v.Text("record."+string(k)+".count", l.Rows))
		}
	}
	if len(parts) == 0 {
		return v.Text("no row that could be sent with that alone")
	}
	parts = append(parts, weight(v, blocked)+" t")
	unweighed := 0
	for _, l := range blocked {
		unweighed += l.Unweighed
	}
	if unweighed > 0 {
		parts = append(parts, v.Text("%d {row|rows} without a readable amount or unit", unweighed))
	}
	return strings.Join(parts, ", ")
}

// weight returns the sum of all kinds of records in tonnes, to the kilogram. The same grain counts
// in a contract and in its deliveries: it is the weight of the records that cannot go.
func weight(v words.Voice, blocked map[trade.Kind]*trade.Load) string {
	var kg trade.Decimal
	for _, l := range blocked {
		kg = kg.Add(l.Kilograms)
	}
	return v.Number(kg.Round(0).Tonnes())
}
