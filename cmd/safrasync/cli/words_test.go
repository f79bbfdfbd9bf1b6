package cli

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/cmd/safrasync/config"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

func TestEveryReasonToStopHasWords(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../../sync/outcome/stop.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`StopCode = "([a-z_]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 10 {
		t.Fatalf("only %d codes were found: does the test still read them?", len(codes))
	}
	for _, c := range codes {
		if !i18n.CLI.Has(i18n.Key("stop." + c[1])) {
			t.Errorf("stop code %s has no words in Portuguese", c[1])
		}
	}
}

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

func TestTextsOfOthersCannotSteerTheTerminal(t *testing.T) {
	t.Parallel()
	if got, want := Printable("a\x1b[31mb\u009bc\td\n✓ e\u202ef\u200fg\u2066h\r\ni"),
		"a\ufffd[31mb\ufffdc d↵✓ e\ufffdf\ufffdg\ufffdh↵i"; got != want {
		t.Errorf("printable = %q, want %q", got, want)
	}
	if got, want := lines("a\x1b\nb\u202e"), "a\ufffd\nb\ufffd"; got != want {
		t.Errorf("lines = %q, want %q", got, want)
	}
}

func TestSchedulesInWords(t *testing.T) {
	t.Parallel()
	v := Voice{Lang: trade.Portuguese, Zone: time.UTC}
	for text, want := range map[string]string{
		"*/10 * * * *":                           "a cada 10 minutos",
		"@every 15m":                             "a cada 15m, a partir da última execução",
		"0 3 * * *":                              "todo dia às 03:00",
		"5 * * * *":                              "toda hora, no minuto 5",
		"5-55/10 * * * *":                        "a cada 10 minutos, do minuto 5 ao 55 de cada hora",
		"CRON_TZ=America/Cuiaba */10 6-20 * * *": "a cada 10 minutos, das 6h às 20h59, no fuso America/Cuiaba",
		"0 3 1 * 1-5":                            "minuto, hora, dia, mês, dia da semana",
	} {
		if got := v.ExplainCron(text); got != want {
			t.Errorf("explainCron(%q) = %q, want %q", text, got, want)
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
