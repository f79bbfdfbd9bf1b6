package report

import (
	"context"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/words"
)

// auditShown is how many records are printed without --limit; --json prints all.
const auditShown = 50

// listAudit prints the latest acts, oldest first.
func listAudit(ctx context.Context, a *cli.App, limit int) error {
	o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
	if err != nil {
		return err
	}
	records, err := o.Acts(ctx, limit)
	if err != nil {
		return err
	}
	if a.AsJSON {
		return cli.PrintEach(a, records, cli.AuditOf)
	}
	t, v := a.NewTable("audit.head_no", "audit.head_at", "audit.head_who", "audit.head_from", "audit.head_act",
		"audit.head_target", "audit.head_reason"), a.Voice()
	for _, r := range records {
		t.AppendRow(table.Row{
			r.Seq, v.Moment(r.At), words.Printable(r.Who), words.Printable(r.From), r.Act, words.Printable(r.Target),
			words.Printable(r.Because(v.Lang, v.Zone)),
		})
	}
	t.Render()
	return nil
}
