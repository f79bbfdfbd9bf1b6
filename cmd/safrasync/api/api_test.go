package api

import (
	"encoding/csv"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/trade"
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

func TestAPlanShowsAnAddressWithoutItsCredentials(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://coop.example/hook":           "https://coop.example/hook",
		"https://ana:pass@coop.example/h?k=v": "https://%2A%2A%2A@coop.example/h?***",
		"https://coop.example:x/":             "?",
	} {
		if got := ShownURL(address); got != want {
			t.Errorf("shownURL(%q) = %q, want %q", address, got, want)
		}
	}
}

func TestACSVOpensInASpreadsheetWithoutHarm(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	to := csv.NewWriter(&got)
	to.Comma = ';'
	must.Do(t, writeCells(to, []string{
		"01234567890", "=1+1", "+55", "-1", "@SUM(A1)", "*** ; \"x\"",
		"ção",
	}))
	if diff := cmp.Diff("01234567890;'=1+1;'+55;-1;'@SUM(A1);\"*** ; \"\"x\"\"\";ção\n", got.String()); diff != "" {
		t.Errorf("CSV (-want +got):\n%s", diff)
	}
}

func TestListsOfProducersAsSpreadsheetsWriteThem(t *testing.T) {
	t.Parallel()
	v := words.Voice{Lang: trade.English, Zone: time.UTC}
	want := []consentFlags{{"1", "PF", ""}, {"2", "PJ", "3"}}
	for name, text := range map[string]string{
		"commas":              "identity,person_type,corporate_identity\n1,PF,\n2,PJ,3\n",
		"semicolons and BOM":  "\xef\xbb\xbfIdentity;Person_Type;Corporate_Identity\r\n1;pf;\r\n 2 ;pj;3\r\n;;\r\n",
		"another order":       "corporate_identity,person_type,identity\n,PF,1\n3,PJ,2\n",
		"guarded and a short": "identity,person_type,corporate_identity\n1,PF\n2,PJ,3\n",
	} {
		got, err := readProducers(strings.NewReader(text), v)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(consentFlags{})); diff != "" || err != nil {
			t.Errorf("%s (-want +got):\n%s%v", name, diff, err)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "no header": "52998224725,PF\n", "a column is missing": "identity\n1\n",
		"a column twice": "identity,person_type,identity\n",
		"another column": "identity,person_type,name\n", "a broken quote": "identity,person_type\n\"52998224725,PF\n",
		"a workbook": "PK\x03\x04\xff", "in no known encoding": "identity,person_type\n\x81,PF\n",
		"more cells than the header": "identity,person_type\n52998224725,PF,x\n",
	} {
		if got, err := readProducers(strings.NewReader(text), v); err == nil ||
			strings.Contains(err.Error(), "52998224725") {
			t.Errorf("%s: %v, %v", name, got, err)
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
		"1234567890": "api.zero_lost", "1122233300018": "api.zero_lost",
		"CPF 529.982.247-26": "api.not_acpf", "x": "api.no_document",
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
