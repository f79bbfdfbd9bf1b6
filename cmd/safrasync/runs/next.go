package runs

import (
	"context"
	"strings"
	"time"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
)

// nextJSON is one line of `status --next --json`.
type nextJSON struct {
	Job      string      `json:"job"`
	What     string      `json:"what"` // run or sweep
	Schedule string      `json:"schedule"`
	Next     []time.Time `json:"next"`
}

// printNext prints the next times of each schedule, as the service computes them.
func printNext(ctx context.Context, a *cli.App) error {
	o, err := a.Office(ctx, cli.ToRead, cli.NoERP)
	if err != nil {
		return err
	}
	jobs, err := o.Schedules(ctx, a.Lang())
	if err != nil {
		return err
	}
	v := a.Voice()
	for _, job := range jobs {
		for _, s := range job.Times {
			what := "run"
			if s.Sweep {
				what = "sweep"
			}
			if a.AsJSON {
				if err := a.PrintJSON(nextJSON{job.Job, what, s.Text, s.Next}); err != nil {
					return err
				}
				continue
			}
			a.Show("cron.line", job.Job, v.Text(i18n.Key("cron."+what)), s.Text, s.Words,
				strings.Join(v.ShortTimes(s.Next), "  "), v.Zone)
		}
	}
	return nil
}
