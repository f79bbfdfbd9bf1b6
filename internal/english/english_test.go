package english_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/english"
)

func TestEnglishIsFoundInPortugueseAndNothingElseIs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"não começou: the ledger x.db: it is older than its journal": "the is than its",
		"Contratos PAROU: o ERP (no answer was read)":                "was",
		"completa; %!s(int=1) por decidir":                           "%!s(int=1)",
		"registrado em 1 rows":                                       "1 rows",
		"Job contracts: the key\nsegunda linha":                      "the",
		"A linha 12 não foi enviada; use --limit 0.":                 "",
		"a plataforma disse: “the wallet is not linked”":             "",
		"rode `safrasync state new` e veja a chave `of`":             "",
		"safrasync why contracts 01|000001":                          "",
		"safrasync --config /a/b.yaml why contracts '02|1'":          "",
		"a condição que exclui: situacao IS NOT NULL AND a OR b":     "",
		`{"level":"error","msg":"the job is gone"}`:                  "",
		"message.sandbox.fault, not-contracted, delivered_by":        "",
	} {
		var got []string
		for _, line := range english.Lines(text) {
			found, _, _ := strings.Cut(line, " | ")
			got = append(got, found)
		}
		if diff := cmp.Diff(want, strings.Join(got, ";")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestOfAPageItIsWhatPeopleRead(t *testing.T) {
	t.Parallel()
	page := `<html lang="pt-BR"><style>a and b</style><!-- of --><input name="of" placeholder="the key">` +
		`<p class="the">Linha</p><pre>it is</pre><p>was&nbsp;gone</p>`
	want := []string{"the | the key", "was gone | was\u00a0gone"}
	if diff := cmp.Diff(want, english.Page(page)); diff != "" {
		t.Error(diff)
	}
	if got := english.Page(strings.Replace(page, "pt-BR", "en", 1)); got != nil {
		t.Errorf("a page in English: %q", got)
	}
}
