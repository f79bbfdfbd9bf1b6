package maintenance

import (
	"context"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
)

// verifyAudit checks the audit's chain of hashes and reports the first record that does not match.
func verifyAudit(ctx context.Context, a *cli.App) error {
	o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
	if err != nil {
		return err
	}
	p, err := o.VerifyAudit(ctx)
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
		a.Show("The audit was altered: record %d is missing or was changed. Compare it with a backup.", p.Broken)
	case p.Journals == 0:
		a.Show("audit.unproved")
	case p.Reduced != 0:
		a.Show("audit.reduced", p.Reduced)
	default:
		a.Show("The audit is unaltered. The journal confirms it up to record %d; the last one is %d.", p.Through, p.Last)
	}
	if err == nil && !p.Proved() {
		return &cli.ExitError{Code: cli.ExitFailed}
	}
	return err
}
