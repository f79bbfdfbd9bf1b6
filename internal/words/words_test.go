package words

import (
	"errors"
	"testing"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// What the engine says of an outcome, and of what it holds, is told in the person's language; what
// the platform said stays as it is.
func TestOutcomesAreToldInThePersonsLanguage(t *testing.T) {
	t.Parallel()
	v := Voice{Lang: trade.Portuguese, Zone: time.UTC}
	for _, c := range []struct {
		status   int
		messages []string
		text     string
		want     string
	}{
		{
			404, nil, "404 came in no form of the API: something on the road answered, and a record may exist or not",
			"resposta HTTP 404, em nenhuma forma da API: algo no caminho respondeu, e o registro pode existir ou não",
		},
		{
			0, nil, "the connection broke after bytes had left: no complete answer within 2m0s (api.timeout)",
			"a conexão caiu depois que parte do pedido saiu: nenhuma resposta completa em 2m0s (api.timeout)",
		},
		{
			413, nil, "the API found the request too large (413): a page of HTML: something between this host and the API " +
				"answered; it came in no form of the API, so only a person moves the row",
			"a API achou a requisição grande demais (413): uma página HTML: algo entre esta máquina e a API " +
				"respondeu; não tem nenhuma forma da API, e só uma pessoa move a linha",
		},
		{422, nil, `the API refused it (422): {"detail":"pre"}`, `resposta HTTP 422 {"detail":"pre"}`},
		{
			400,
			[]string{"message.x.invalid"},
			"the API refused it: message.x.invalid",
			"resposta HTTP 400 message.x.invalid",
		},
		{
			0, nil, trade.DoubleText("01|7", 2),
			"a chave 01|7 aparece 2 vezes no ERP; corrija o ERP para que apareça uma só vez, ou acrescente uma coluna à chave",
		},
		{
			0, nil, "the same or nearly the same went out under key 01|3 with the id e09d, which has another row in the ERP now: " +
				"a record that was re-typed or renumbered must not go twice",
			"o mesmo documento, ou quase igual, saiu com a chave 01|3 e tem o id e09d; essa chave agora é de outra linha no ERP: " +
				"um registro redigitado ou renumerado não pode ir duas vezes",
		},
	} {
		if got := v.OutcomeReason(c.status, c.messages, c.text); got != c.want {
			t.Errorf("%q is told as\n%q, want\n%q", c.text, got, c.want)
		}
		if got := Machine.OutcomeReason(c.status, c.messages, c.text); got != c.text {
			t.Errorf("%q is told in English as %q", c.text, got)
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
