package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

func TestTheLanguageIsThatOfTheConfigurationThenOfTheEnvironmentThenPortuguese(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config string
		env    map[string]string
		want   trade.Lang
	}{
		"nothing is said": {"", nil, trade.Portuguese},
		"LANG":            {"", map[string]string{"LANG": "en_US.UTF-8"}, trade.English},
		"LC_ALL before LANG": {
			"",
			map[string]string{"LC_ALL": "pt_BR.UTF-8", "LANG": "en_US.UTF-8"},
			trade.Portuguese,
		},
		"an empty LC_ALL says none": {"", map[string]string{"LC_ALL": "", "LANG": "en_US.UTF-8"}, trade.English},
		"C is no language":          {"", map[string]string{"LANG": "C.UTF-8"}, trade.Portuguese},
		"the configuration wins":    {"pt-BR", map[string]string{"LANG": "en_US.UTF-8"}, trade.Portuguese},
	} {
		a := &App{Env: func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }}
		if c.config != "" {
			a.Config = &config.Config{Language: c.config}
		}
		if got := a.Lang(); got != c.want {
			t.Errorf("%s: lang() = %s, want %s", name, got, c.want)
		}
	}
}

func TestABarShowsEachJobAndEnds(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	b := newBar(&App{Stderr: &out, Env: func(string) (string, bool) { return "", false }})
	b.Observe(run.Progress{Job: "contracts", Phase: run.Reading, Read: 10})
	b.Observe(run.Progress{Job: "contracts", Phase: run.Sending, Done: 1, Total: 3})
	b.Observe(run.Progress{Job: "fixations", Phase: run.Reading, Read: 2})
	b.Observe(run.Progress{Job: "contracts", Phase: run.Done})
	b.Close()
	for _, job := range []string{"contracts", "fixations"} {
		if !strings.Contains(out.String(), job) {
			t.Errorf("the bar does not show %s: %q", job, out.String())
		}
	}
}

func TestABarThatNeverMovedEndsToo(t *testing.T) {
	t.Parallel()
	newBar(&App{Stderr: &bytes.Buffer{}, Env: func(string) (string, bool) { return "", false }}).Close()
}

func TestPlainLinesComeNowAndThen(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	passed := time.Duration(0)
	app := &App{Stderr: &out, Env: func(string) (string, bool) { return "", false }}
	w := &plainWatcher{app: app, since: func(time.Time) time.Duration { return passed }}
	see := func(after time.Duration, p run.Progress) {
		passed = after
		p.Job = "contracts"
		w.Observe(p)
	}
	see(time.Second, run.Progress{Phase: run.Reading, Read: 10})
	see(plainInterval, run.Progress{Phase: run.Sending, Done: 4, Total: 100})
	see(plainInterval, run.Progress{Phase: run.Sending, Done: 9, Total: 100}) // the same tenth
	see(time.Second, run.Progress{Phase: run.Sending, Done: 50, Total: 100})  // too soon
	see(plainInterval, run.Progress{Phase: run.Sending, Done: 51, Total: 100})
	for range 3 {
		see(time.Second, run.Progress{Phase: run.Resting, Note: "2026-11-21T10:38:21Z"})
	}
	see(plainInterval, run.Progress{Phase: run.Resting, Note: "2026-11-21T10:38:21Z"})
	see(plainInterval, run.Progress{Phase: run.Done})
	want := fmt.Sprintln("contracts: enviando, 4 de 100") + fmt.Sprintln("contracts: enviando, 51 de 100") +
		fmt.Sprintln("contracts: aguardando até "+app.restsUntil("2026-11-21T10:38:21Z"))
	if out.String() != want {
		t.Errorf("lines %q, want %q", out.String(), want)
	}
	if strings.Contains(out.String(), "T10") {
		t.Error("a time for machines is shown to people")
	}
}

func TestSinceIsAnAgeADayOrATime(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", -3*60*60)
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2h": at.Add(-2 * time.Hour), "7d": at.AddDate(0, 0, -7),
		"2026-11-20":           time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC),
		"20/11/2026":           time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC),
		"2026-11-20T09:00:00Z": time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC),
	} {
		if got, ok := ParseSince(text, at, zone); !ok || !got.Equal(want) {
			t.Errorf("parseSince(%q) = %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "d", "-1d", "-2h", "ontem", "2026-13-01"} {
		if got, ok := ParseSince(text, at, zone); ok {
			t.Errorf("parseSince(%q) = %v, want none", text, got)
		}
	}
}
