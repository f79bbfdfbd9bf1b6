package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/internal/i18n"
	engine "github.com/safrasync/safrasync/sync"
)

func newCronCommand(a *App) *cobra.Command {
	return a.command("cron", "help.cron", exactly(0), func(*cobra.Command, []string) error { return a.cron() })
}

type cronJSON struct {
	Job      string      `json:"job"`
	What     string      `json:"what"` // run or sweep
	Schedule string      `json:"schedule"`
	Next     []time.Time `json:"next"`
}

// cron shows the next times of each schedule, as the daemon will keep them.
func (a *App) cron() error {
	config, err := a.loadConfig()
	if err != nil {
		return err
	}
	for _, spec := range config.JobSpecs() {
		for _, s := range []cronJSON{
			{Job: spec.Name, What: "run", Schedule: spec.Schedule},
			{Job: spec.Name, What: "sweep", Schedule: spec.Sweep},
		} {
			schedule, err := engine.ParseSchedule(s.Schedule, config.Zone())
			if err != nil {
				return err
			}
			s.Next = nextTimes(schedule, now())
			if err := a.printSchedule(s); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *App) printSchedule(s cronJSON) error {
	if a.asJSON {
		return a.printJSON(s)
	}
	v := a.voice()
	what := i18n.Key("cron.run")
	if s.What == "sweep" {
		what = "cron.sweep"
	}
	a.show("cron.line", s.Job, v.text(what), s.Schedule, v.explainCron(s.Schedule),
		strings.Join(v.shortTimes(s.Next), "  "), v.zone)
	return nil
}
