package words

import (
	"errors"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/trade"
)

// What the engine says of an outcome, and of what it holds, is told in the person's language; what the
// platform said stays as it is.
func TestOutcomesAreToldInThePersonsLanguage(t *testing.T) {
	t.Parallel()
	v := Voice{Lang: trade.Portuguese, Zone: time.UTC}
	for want, s := range map[string]trade.Sentence{
		"a API achou a requisição grande demais (413): uma página HTML: algo entre esta máquina e a API " +
			"respondeu; não tem nenhuma forma da API, e só uma pessoa move a linha": outcome.Decide(apiclient.Answer{
			Known: apiclient.NotCreated, Status: 413, Format: apiclient.FormatHTML,
		}, apiclient.FaultNone, false).Reason,
		`a API recusou (422): “{"detail":"pre"}”`: outcome.Decide(apiclient.Answer{
			Known: apiclient.NotCreated, Status: 422, Format: apiclient.FormatD, Text: `{"detail":"pre"}`,
		}, apiclient.FaultNone, false).Reason,
		"a API recusou: message.x.invalid": outcome.Decide(apiclient.Answer{
			Known: apiclient.NotCreated, Status: 400, Format: apiclient.FormatA, Messages: []string{"message.x.invalid"},
		}, apiclient.FaultNone, false).Reason,
		"a chave 01|7 aparece 2 vezes no ERP; corrija o ERP para que apareça uma só vez, ou acrescente uma coluna à chave": trade.Double(
			"01|7", 2),
		"a rotina a já tem esta chave, 01|3: sem confirmação (verificar) (id e09d); uma linha não pode ir duas vezes": trade.Say(
			"held.other_job", "job", "a", "key", "01|3", "state", trade.InDoubt, "id", trade.Say("held.id", "id", "e09d")),
	} {
		if got := v.Say(s); got != want {
			t.Errorf("%s is told as\n%q, want\n%q", s, got, want)
		}
	}
}

func TestFaultsOfFilesAndAddressesAreToldInThePersonsLanguage(t *testing.T) {
	t.Parallel()
	v := Voice{Lang: trade.Portuguese, Zone: time.UTC}
	for text, want := range map[string]string{
		"open x.zip: no such file or directory":              "o arquivo x.zip não existe",
		"a ledger stands there already; nothing was changed": "ele foi começado antes",
		`sandbox address "0.0.0.0:1": want a loopback address, as in 127.0.0.1:0`: `endereço do sandbox: "0.0.0.0:1"; ` +
			`escreva um desta máquina, como 127.0.0.1:0`,
	} {
		if got := v.Fault(errors.New(text)); got != want {
			t.Errorf("%q is told as %q, want %q", text, got, want)
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
