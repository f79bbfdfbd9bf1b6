package acts

import (
	"context"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/words"
)

// auditShown is how many records are printed without --limit; --json prints all.
const auditShown = 50

// NewAuditCommand makes the command audit.
func NewAuditCommand(a *cli.App) *cobra.Command {
	group := a.Group("audit", "help.audit")
	var limit int
	list := a.Command("list", "help.audit_list", cli.Exactly(0), func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("limit") && !a.AsJSON {
			limit = auditShown
		}
		if limit < 0 {
			return a.Usage("says.limit")
		}
		return listAudit(cmd.Context(), a, limit)
	})
	list.Flags().IntVar(&limit, "limit", 0, "the latest `N` records, 0 = all; default 50, with --json all")
	verify := a.Command("verify", "help.audit_verify", cli.Exactly(0),
		func(cmd *cobra.Command, _ []string) error { return verifyAudit(cmd.Context(), a) })
	group.AddCommand(list, verify)
	return group
}

// listAudit prints the latest acts, oldest first.
func listAudit(ctx context.Context, a *cli.App, limit int) error {
	store, err := a.OpenLedger(ctx, cli.ToRead)
	if err != nil {
		return err
	}
	records, err := store.Audit(ctx, limit)
	if err != nil {
		return err
	}
	slices.Reverse(records)
	if a.AsJSON {
		return cli.PrintEach(a, records, cli.AuditOf)
	}
	t, v := a.NewTable("audit.head_no", "audit.head_at", "audit.head_who", "audit.head_from", "audit.head_act",
		"audit.head_target", "audit.head_reason"), a.Voice()
	for _, r := range records {
		t.AppendRow(table.Row{
			r.Seq, v.Moment(r.At), words.Printable(r.Who), words.Printable(r.From), r.Act, words.Printable(r.Target),
			words.Printable(r.Reason),
		})
	}
	t.Render()
	return nil
}

// verifyAudit checks the audit's chain of hashes and reports the first record that does not match.
func verifyAudit(ctx context.Context, a *cli.App) error {
	store, err := a.OpenLedger(ctx, cli.ToRead)
	if err != nil {
		return err
	}
	p, err := store.VerifyAudit(ctx)
	if err != nil {
		return err
	}
	switch {
	case a.AsJSON:
		err = a.PrintJSON(struct {
			OK          bool  `json:"ok"`           // false also if there was nothing to compare with
			FirstBroken int64 `json:"first_broken"` // 0 if every record is unchanged
			Journals    int   `json:"journals"`     // how many it was compared with
			Through     int64 `json:"through"`      // the last record that a journal has
			Last        int64 `json:"last"`
			Unproved    int64 `json:"first_unproved"` // reduced, without a retention that a journal knows
		}{p.Proved(), p.Broken, p.Journals, p.Through, p.Last, p.Reduced})
	case p.Broken != 0:
		a.Show("audit.broken", p.Broken)
	case p.Journals == 0:
		a.Show("audit.unproved")
	case p.Reduced != 0:
		a.Show("audit.reduced", p.Reduced)
	default:
		a.Show("audit.whole", p.Through, p.Last)
	}
	if err == nil && !p.Proved() {
		return &cli.ExitError{Code: cli.ExitFailed}
	}
	return err
}
