package commands

import (
	"errors"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
)

func TestADocumentIsMaskedInItsMiddleOnly(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{
		"12345678909": "***.456.789-**", "529.982.247-25": "***.982.247-**", "11222333000181": "**.222.333/****-**",
		"12.ABC.345/01DE-35": "**.ABC.345/****-**",
		"":                   "***", "nonsense": "***",
	} {
		if got := maskDocument(number); got != want {
			t.Errorf("maskDocument(%q) = %q, want %q", number, got, want)
		}
	}
}

func TestADocumentWithItsNameBeforeItIsReadAsWhatItIsCalled(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"529.982.247-25":           "52998224725",
		"CPF 529.982.247-25":       "52998224725",
		"CPF52998224725":           "52998224725",
		"cpf: 52998224725":         "52998224725",
		"CPF nº 529.982.247-25":    "52998224725",
		"CPF\u00a0529.982.247-25":  "52998224725",
		"CNPJ 11.222.333/0001-81":  "11222333000181",
		"cnpj:11222333000181":      "11222333000181",
		"CNPJ 12.ABC.345/01DE-35":  "12ABC34501DE35",
		" 12.abc.345/01de-35":      "12ABC34501DE35",
		"CP.F52.998/2240-93":       "CPF52998224093", // a CNPJ in its own punctuation
		"CPF 529.982.247-26":       "",
		"CPF52998224093":           "", // would be a CNPJ, but who writes CPF means one
		"CPF 11.222.333/0001-81":   "",
		"CNPJ 529.982.247-25":      "",
		"CPF":                      "",
		"CPF 123":                  "",
		"":                         "",
		"CPF 529.982.247-25 (Ana)": "",
	} {
		got, wrong := readDocument(text)
		if got != want || (wrong == "") != (want != "") {
			t.Errorf("readDocument(%q) = %q, %v; want %q", text, got, wrong, want)
		}
	}
	for text, want := range map[string]i18n.Key{
		"1234567890": zeroLost, "1122233300018": zeroLost,
		"CPF 529.982.247-26": "%s begins with CPF, but what follows is not a valid CPF; give only the number", "x": "%s is not a valid CPF or CNPJ; check its digits",
	} {
		if _, wrong := readDocument(text); wrong != want {
			t.Errorf("readDocument(%q): %v, want %v", text, wrong, want)
		}
	}
}

// Whatever is refused before it is sent is a wrong call, said in the person's language with the
// flag's name.
func TestAWrongRequestIsSaidWithTheNamesOfItsFlags(t *testing.T) {
	t.Parallel()
	a := &cli.App{Env: func(string) (string, bool) { return "", false }}
	long := strings.Repeat("x", 251)
	for want, err := range map[string]error{
		"--url é longo demais: a plataforma aceita no máximo 250 caracteres": apiclient.WebhookRequest{WebhookEvent: "A", URL: long}.Check(),
		"--hmac-secret é longo demais: a plataforma aceita no máximo 120 caracteres; --basic-authentication deve ter a forma usuário:senha": swap(
			apiclient.WebhookRequest{
				WebhookEvent: "A", URL: "u", HMACSecret: apiclient.Secret(long[:121]),
				BasicAuthentication: "x",
			}.Check()),
		"falta --webhook-event": apiclient.WebhookRequest{URL: "u"}.Check(),
	} {
		var usage *cli.UsageError
		if got := usageOf(a, err); !errors.As(got, &usage) || usage.Text != want {
			t.Errorf("%v, want %q", got, want)
		}
	}
	if usageOf(a, nil) != nil {
		t.Error("nothing wrong is something wrong")
	}
}

// swap turns two faults round, to show that each is said by itself.
func swap(err error) error {
	var e *apiclient.RequestError
	if errors.As(err, &e) && len(e.Faults) == 2 {
		e.Faults[0], e.Faults[1] = e.Faults[1], e.Faults[0]
	}
	return err
}
