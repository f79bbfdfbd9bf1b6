package runs

import (
	"strings"
	"time"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/clock"
)

// nextJSON is one line of `status --next --json`.
type nextJSON struct {
	Job      string      `json:"job"`
	What     string      `json:"what"` // run or sweep
	Schedule string      `json:"schedule"`
	Next     []time.Time `json:"next"`
}

// printNext prints the next times of each schedule, as the service computes them.
func printNext(a *cli.App) error {
	config, err := a.LoadConfig()
	if err != nil {
		return err
	}
	for _, spec := range config.JobSpecs() {
		for _, s := range []nextJSON{
			{Job: spec.Name, What: "run", Schedule: spec.Schedule},
			{Job: spec.Name, What: "sweep", Schedule: spec.Sweep},
		} {
			schedule, err := clock.ParseSchedule(s.Schedule, config.Zone())
			if err != nil {
				return err
			}
			s.Next = office.NextTimes(schedule, office.Now())
			if err := printSchedule(a, s); err != nil {
				return err
			}
		}
	}
	return nil
}

func printSchedule(a *cli.App, s nextJSON) error {
	if a.AsJSON {
		return a.PrintJSON(s)
	}
	v := a.Voice()
	what := i18n.Key("cron.run")
	if s.What == "sweep" {
		what = "cron.sweep"
	}
	a.Show("cron.line", s.Job, v.Text(what), s.Schedule, v.ExplainCron(s.Schedule),
		strings.Join(v.ShortTimes(s.Next), "  "), v.Zone)
	return nil
}
