package trade_test

import (
	"testing"

	"github.com/safrasync/safrasync/trade"
)

func TestEveryFormOfADocumentIsMasked(t *testing.T) {
	t.Parallel()
	const hidden = "***.982.247-**"
	for text, want := range map[string]string{
		"52998224725":                          hidden,
		"529.982.247-25":                       hidden,
		"00052998224725":                       hidden,
		"P52998224725":                         "P" + hidden,
		"01_529.982.247-25":                    "01_" + hidden,
		"01|52998224725|7":                     "01|" + hidden + "|7",
		"529 982 247 25":                       hidden,
		"529.982-247/25":                       hidden,
		"529 . 982 . 247 - 25":                 hidden,
		"529.982.247.25":                       hidden,
		"529982247-25":                         hidden,
		"529\u00a0982\u00a0247\u201325":        hidden,
		"52998224725X":                         hidden + "X",
		"de 52998224725 a 529.982.247-25":      "de " + hidden + " a " + hidden,
		"João: CPF 529.982.247-25, telefone 3": "João: CPF " + hidden + ", telefone 3",
		"529\u2010982\u2011247\u201225":        hidden, // the hyphens of Word
		"529\u2014982\u2212247\u201525":        hidden,
		"529\u202f982\u2009247\u200b25":        hidden,
		"5\u200b2\u00ad9982\u206024725":        hidden,
		`529\u2011982\u202f247\u200b25`:        hidden, // in JSON
		"529\ufffd982\u202f247\u221225":        hidden, // the first was invisible, and was replaced
		"529·982·247·25":                       hidden,
		"529,982,247-25":                       hidden,
		"529:982:247:25":                       hidden,
		"529    982    247    25":              hidden,
		"52.998.224.725":                       hidden,
		"５２９９８２２４７２５":                          hidden,
		"é ５２９．９８２．２４７－２５ ã":                   "é " + hidden + " ã",
		"٥٢٩٩٨٢٢٤٧٢٥":                          hidden,
		"12.345.678-90":                        "***.345.678-**",
		"529;982;247;25":                       hidden,
		"529~982~247~25":                       hidden,
		"529*982*247*25":                       hidden,
		"(529)982-24725":                       "(" + hidden,
		"5 2 9 9 8 2 2 4 7 2 5":                hidden,
		"529\u2043982\u2043247\u204325":        hidden,
		"529\u3002982\u3002247\u300225":        hidden,
		"529%2E982%2E247%2D25":                 hidden,
		"10%22345678909":                       "10%***.456.789-**", // a percentage, nothing escaped
		"529982247|25":                         hidden,              // base and check digits in two columns
		"0152998224725":                        hidden,              // branch and CPF in one code
		"001.52998224725":                      "001." + hidden,
		"000152998224725":                      hidden,
	} {
		if got := trade.MaskDocuments(text); got != want {
			t.Errorf("%q is shown as %q, not as %q", text, got, want)
		}
	}
}

func TestWhatIsNoDocumentOfAPersonStays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "52998224726", "11111111111", "123529982247259", "529,982,247.25", "529.982.247,25", "529982247.25",
		"529982247,25",
		"12.345.678/0001-95", "12345678000195", "a1b2c3d4-0000-7000-8000-052998224725", "2026-11-23T15:04:05Z",
		"01|1234/2026", "000123|00045", "001|00012345", "7891234567895",
		"12345683000106", // a CNPJ, whose last digits look like a CPF
		// the hash of a file, in which 59501a45a69898306629d has a valid CPF
		`{"sha256":"4431ed99fceb3ca10b17a659501a45a69898306629d65288c8d8c4b0083dc0e8"}`,
	} {
		if got := trade.MaskDocuments(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// A numeric column has lost the zeros at the beginning of a CPF: its name tells what it holds.
func TestAColumnNamedAfterADocumentIsMasked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ column, text, want string }{
		{"nr_cpf", "1234567890", "***.345.678-**"},
		{"A2_CGC", "1234567890", "***.345.678-**"},
		{"CPF/CNPJ", "1234567890", "***.345.678-**"},
		{"cpf", "1234567890.00", "1234567890.00"},
		{"cpf", "3", "***.000.000-**"},
		{"cpf", "52998224726", "***.982.247-**"}, // mistyped
		{"cnpj", "12345678000195", "12345678000195"},
		{"A2_CGC", "38174000143", "38174000143"}, // 00.038.174/0001-43 without its zeros
		{"cpf", "isento", "isento"},
		{"cpf", "0", "0"},
		{"contrato", "1234567890", "1234567890"},
		{"produtor", "José 529.982.247-25", "José ***.982.247-**"},
	} {
		if got := trade.MaskColumn(c.column, c.text); got != c.want {
			t.Errorf("%s %q is shown as %q, not as %q", c.column, c.text, got, c.want)
		}
	}
}

// A numeric column has lost the zeros with which a CPF begins: of ten, one begins so.
func TestADocumentInAKeyIsMaskedByTheNameOfItsColumn(t *testing.T) {
	const key, hidden = "01|1234567890", "01|***.345.678-**"
	if got := trade.MaskDocuments(key); got != key {
		t.Fatalf("%s is shown as %s although no key has a document", key, got)
	}
	trade.NameKey([]string{"filial", "nr_cpf"})
	trade.NameKey([]string{"filial", "nr_cpf_base", "seq"})
	for text, want := range map[string]string{
		key:                hidden,
		"SUL 2|1234567890": "SUL 2|***.345.678-**",
		"a linha (" + key + ", que saiu como " + key + ") espera": "a linha (" + hidden +
			", que saiu como " + hidden + ") espera",
		"01|1234567890|7": "01|***.345.678-**|7",
		"1234567890|01":   "1234567890|01",
		"01|1234567891":   "01|1234567891", // no CPF: the key of another job of two columns
	} {
		if got := trade.MaskDocuments(text); got != want {
			t.Errorf("%q is shown as %q, not as %q", text, got, want)
		}
	}
	line := `{"row":7,"key":"` + key + `"}`
	if got := string(trade.MaskJSON([]byte(line))); got != `{"row":7,"key":"`+hidden+`"}` {
		t.Errorf("%s is logged as %s", line, got)
	}
}
