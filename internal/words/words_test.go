package words

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// What a row lacked when it was last read says nothing once a sweep has not found it.
func TestARowThatASweepDidNotFindTellsNoOldCause(t *testing.T) {
	t.Parallel()
	for _, lang := range []trade.Lang{trade.Portuguese, trade.English} {
		v := Voice{Lang: lang}
		lacks := trade.Entry{
			State: trade.Waiting, Cause: "ref:producers", WaitingFor: []trade.Awaited{{Ref: "producers", Code: "4711"}},
		}
		away := lacks
		away.GoneSweeps = 1
		if here, gone := v.Reason(lacks), v.Reason(away); !strings.Contains(here, "4711") || gone == "" ||
			strings.Contains(gone, "4711") || v.Advice(away).Do == v.Advice(lacks).Do {
			t.Errorf("%q and %q, %+v", here, gone, v.Advice(away))
		}
	}
}

// A moment that is past is no next attempt: it waits for the next run.
func TestANextAttemptIsNeverInThePast(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	v := Voice{Lang: trade.Portuguese, Zone: time.FixedZone("", -3*3600), Now: now}
	row := trade.Entry{State: trade.Rejected, Cause: "message.wallet.not-found"}
	for next, want := range map[time.Time]string{
		now.Add(time.Minute): "; nova tentativa em 30/11/2026 09:01", now: "; nova tentativa na próxima execução",
		now.Add(-time.Hour): "; nova tentativa na próxima execução", {}: "",
	} {
		row.NextAttemptAt = next
		got := v.Reason(row)
		if !strings.HasSuffix(got, want) || want == "" && strings.Contains(got, "tentativa") {
			t.Errorf("a next attempt of %v is told as %q", next, got)
		}
	}
}

func TestFaultsOfFilesAndAddressesAreToldInThePersonsLanguage(t *testing.T) {
	t.Parallel()
	v := Voice{Lang: trade.Portuguese, Zone: time.UTC}
	_, notThere := os.Open("x.zip")
	for want, err := range map[string]error{
		"o arquivo x.zip não existe": notThere,
		"ele foi começado antes":     errors.New("a ledger stands there already; nothing was changed"),
		`endereço do sandbox: "0.0.0.0:1"; escreva um desta máquina, como 127.0.0.1:0`: phrase.Errorf("sandbox address %q: want a loopback address, as in 127.0.0.1:0", "0.0.0.0:1"),
		"na conferência da cópia: “disk on fire”":                                      phrase.Errorf("checking the copy: %w", errors.New("disk on fire")),
	} {
		if got := v.Fault(err); got != want {
			t.Errorf("%q is told as %q, want %q", err, got, want)
		}
	}
}

func TestTextsOfOthersCannotSteerTheTerminal(t *testing.T) {
	t.Parallel()
	if got, want := Printable("a\x1b[31mb\u009bc\td\n✓ e\u202ef\u200fg\u2066h\r\ni"),
		"a\ufffd[31mb\ufffdc d↵✓ e\ufffdf\ufffdg\ufffdh↵i"; got != want {
		t.Errorf("printable = %q, want %q", got, want)
	}
	if got, want := Lines("a\x1b\nb\u202e"), "a\ufffd\nb\ufffd"; got != want {
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

// Each refusal of an act has a sentence for people, of the command line and of the console.
func TestEachRefusalOfAnActIsSaid(t *testing.T) {
	t.Parallel()
	file := must.Get(os.ReadFile("../../sync/acts/act_refusal.go"))(t)
	found := regexp.MustCompile(`(?m)^\t\w+ +Refusal = "(\w+)"`).FindAllStringSubmatch(string(file), -1)
	if len(found) < 40 {
		t.Fatalf("%d refusals", len(found))
	}
	ofMove := []string{"configured", "not_configured", "other_kind", "no_entries", "name_taken"} // only a command moves
	for _, m := range found {
		parts := []i18n.Part{i18n.CLI, i18n.Console}
		if slices.Contains(ofMove, m[1]) {
			parts = parts[:1]
		}
		for _, part := range parts {
			if !slices.ContainsFunc([]string{"refusal.", "decision.refused.", "approval.refused.", "told.approvals."},
				func(prefix string) bool { return part.Has(prefix + m[1]) }) {
				t.Errorf("%s: nothing is said of the refusal %s", part, m[1])
			}
		}
	}
}
