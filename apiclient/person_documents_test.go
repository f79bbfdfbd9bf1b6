package apiclient_test

import (
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient"
)

const (
	testCPF      = "12345678909"
	testCNPJ     = "11222333000181"
	testAlphaDoc = "12ABC34501DE35" // the official sample
)

// F039: CPF and CNPJ, numeric and alphanumeric, with their check digits.
func TestDocumentsAreReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]struct {
		number string
		person apiclient.PersonType
	}{
		"123.456.789-09":               {testCPF, apiclient.PF},
		" 12345678909\n":               {testCPF, apiclient.PF},
		"123 456 789 09":               {testCPF, apiclient.PF},
		"123.456.789\u201309":          {testCPF, apiclient.PF},
		"22345678909":                  {"22345678909", apiclient.PF}, // a changed digit can escape
		"11.222.333/0001-81":           {testCNPJ, apiclient.PJ},
		"12.ABC.345/01DE-35":           {testAlphaDoc, apiclient.PJ},
		"12.abc.345/01de-35":           {testAlphaDoc, apiclient.PJ},
		"\u00a012ABC34501DE35\u00a0 ":  {testAlphaDoc, apiclient.PJ},
		"00.000.000/0001-91":           {"00000000000191", apiclient.PJ},
		"191.000.000-00":               {"19100000000", apiclient.PF},
		"12.345.678/0001-95":           {"12345678000195", apiclient.PJ},
		"AAAAAAAAAAAA":                 {"", ""},
		"12.ABC.345/01DE-36":           {"", ""},
		"12.ABC.345/01DE-45":           {"", ""},
		"12345678908":                  {"", ""},
		"12345678919":                  {"", ""},
		"11222333000182":               {"", ""},
		"11222333000191":               {"", ""},
		"111.111.111-11":               {"", ""},
		"00000000000":                  {"", ""},
		"00.000.000/0000-00":           {"", ""},
		"99.999.999/9999-99":           {"", ""},
		"1234567890":                   {"", ""},
		"1122233300018":                {"", ""},
		"":                             {"", ""},
		" .-/":                         {"", ""},
		"12345678909x":                 {"", ""},
		"1234567890A":                  {"", ""},
		"12ABC34501DEA5":               {"", ""},
		"12ABC34501DE3\u0661":          {"", ""},
		"12\u017fBC34501DE35":          {"", ""}, // a long s is no S
		"123_456_789_09":               {"", ""},
		"CPF 123.456.789-09":           {"", ""}, // letters are never stripped
		"12345678909\x00":              {"", ""},
		"12.345.678/0001-95 (matriz)":  {"", ""},
		strings.Repeat("1", 100_000):   {"", ""},
		"\xff2345678909":               {"", ""},
		"\uff11\uff12345678909":        {"", ""},
		"12ABC34501DE35 12ABC34501DE3": {"", ""},
	} {
		number, person, err := apiclient.ParseDocument(in)
		if number != want.number || person != want.person || (err == nil) != (want.number != "") {
			t.Errorf("ParseDocument(%.40q) = %q, %q, %v; want %q, %q", in, number, person, err, want.number,
				want.person)
		}
		if err != nil && strings.ContainsAny(strings.NewReplacer("11", "", "14", "").Replace(err.Error()),
			"0123456789") {
			t.Errorf("ParseDocument(%.40q): the error shows digits: %v", in, err)
		}
		cpf, cpfErr := apiclient.ParseCPF(in)
		if (cpfErr == nil) != (want.person == apiclient.PF) || cpfErr == nil && cpf != want.number {
			t.Errorf("ParseCPF(%.40q) = %q, %v", in, cpf, cpfErr)
		}
		cnpj, cnpjErr := apiclient.ParseCNPJ(in)
		if (cnpjErr == nil) != (want.person == apiclient.PJ) || cnpjErr == nil && cnpj != want.number {
			t.Errorf("ParseCNPJ(%.40q) = %q, %v", in, cnpj, cnpjErr)
		}
	}
}

// Every single wrong character in the official sample is found: the value of a letter is its ASCII
// code less 48.
func TestTheCheckDigitsOfTheOfficialSampleFindEveryOtherDigit(t *testing.T) {
	t.Parallel()
	for i := range 10 {
		for j := range 10 {
			s := testAlphaDoc[:12] + string(rune('0'+i)) + string(rune('0'+j))
			if _, err := apiclient.ParseCNPJ(s); (err == nil) != (s == testAlphaDoc) {
				t.Errorf("ParseCNPJ(%s) = %v", s, err)
			}
		}
	}
}

func FuzzParseDocument(f *testing.F) {
	for _, s := range []string{
		"123.456.789-09", testCNPJ, "12.abc.345/01de-35", "", "00000000000", "\xff",
		"\u017f", "1-1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		number, person, err := apiclient.ParseDocument(s)
		if err != nil {
			if number != "" || person != "" {
				t.Fatalf("ParseDocument(%q) = %q, %q beside %v", s, number, person, err)
			}
			return
		}
		if len(number) != 11 && len(number) != 14 ||
			strings.Trim(number, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			t.Fatalf("ParseDocument(%q) = %q", s, number)
		}
		if again, p, err := apiclient.ParseDocument(number); err != nil || again != number || p != person {
			t.Fatalf("ParseDocument(%q) = %q, %q, %v: not what it was", number, again, p, err)
		}
	})
}
