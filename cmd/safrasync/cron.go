package main

import (
	"regexp"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/internal/i18n"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

func newCronCommand(a *App) *cobra.Command {
	return a.command("cron", "help.cron", exactly(0), func(*cobra.Command, []string) error { return a.cron() })
}

// cronTimes is how many of the next times are shown.
const cronTimes = 5

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

// nextTimes are the next times of a schedule after a moment.
func nextTimes(schedule cron.Schedule, at time.Time) []time.Time {
	out := []time.Time{}
	for range cronTimes {
		if at = schedule.Next(at); at.IsZero() {
			break
		}
		out = append(out, at.UTC())
	}
	return out
}

// shortTimes writes times that are near without their year.
func (v voice) shortTimes(times []time.Time) []string {
	form := "02/01 15:04"
	if v.lang == trade.English {
		form = "01-02 15:04"
	}
	out := make([]string, len(times))
	for i, t := range times {
		out[i] = t.In(v.zone).Format(form)
	}
	return out
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

var (
	everyMinutes = regexp.MustCompile(`^\*/(\d+) \* \* \* \*$`)
	everyHour    = regexp.MustCompile(`^(\d+) \* \* \* \*$`)
	everyDay     = regexp.MustCompile(`^(\d+) (\d+) \* \* \*$`)
	someMinutes  = regexp.MustCompile(`^\*/(\d+) (\d+)-(\d+) \* \* \*$`)
)

// explainCron says the usual schedules in words; for others the times that follow have to do.
func (v voice) explainCron(text string) string {
	zone := ""
	if name, rest, ok := strings.Cut(text, " "); ok &&
		(strings.HasPrefix(name, "CRON_TZ=") || strings.HasPrefix(name, "TZ=")) {
		_, place, _ := strings.Cut(name, "=")
		zone, text = v.text("cron.in", place), strings.TrimSpace(rest)
	}
	if d, ok := strings.CutPrefix(text, "@every "); ok {
		return v.text("cron.every", d) + zone
	}
	text = strings.Join(strings.Fields(text), " ")
	if m := everyMinutes.FindStringSubmatch(text); m != nil {
		return v.text("cron.minutes", m[1]) + zone
	}
	if m := someMinutes.FindStringSubmatch(text); m != nil {
		return v.text("cron.some_minutes", m[1], m[2], m[3]) + zone
	}
	if m := everyHour.FindStringSubmatch(text); m != nil {
		return v.text("cron.hourly", m[1]) + zone
	}
	if m := everyDay.FindStringSubmatch(text); m != nil {
		return v.text("cron.daily", twoDigits(m[2]), twoDigits(m[1])) + zone
	}
	return v.text("cron.as_written") + zone
}

func twoDigits(text string) string {
	if len(text) < 2 {
		return "0" + text
	}
	return text
}
