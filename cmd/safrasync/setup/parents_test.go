package setup

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/words"
)

// A delivery names its contract by the contract's key: the branch by its own name, the number by
// what the child calls its contract.
func TestTheColumnsOfAChildThatHoldItsParentsKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		columns, key, want []string
	}{
		{[]string{"filial", "ticket", "contrato"}, []string{"filial", "numero"}, []string{"filial", "contrato"}},
		{[]string{"id", "contrato_id", "volume"}, []string{"id"}, []string{"contrato_id"}},
		// Another row's number may be this row's id
		{[]string{"filial", "contrato_id", "volume"}, []string{"filial", "numero"}, []string{"filial", config.FillIn}},
		{
			[]string{"NJJ_FILIAL", "NJJ_CODROM", "NJJ_CODCTR", "NJJ_PSLIQU", "NJJ_DATA"},
			[]string{"NJR_FILIAL", "NJR_CODCTR"},
			[]string{"NJJ_FILIAL", "NJJ_CODCTR"},
		},
		{[]string{"ticket", "peso"}, []string{"filial", "numero"}, []string{config.FillIn, config.FillIn}},
	} {
		var names []string
		s := &survey{driver: "sqlite"}
		prefix := commonPrefix(c.columns)
		for _, name := range c.columns {
			names = append(names, name)
			s.columns = append(s.columns, &surveyed{name: name, words: nameWords(bareName(name, prefix))})
		}
		if diff := cmp.Diff(c.want, parentColumns(s, c.key)); diff != "" {
			t.Errorf("%v for the key %v (-want +got):\n%s", names, c.key, diff)
		}
	}
}

func TestValuesAreProposedOnlyWhereTheyCanBeTold(t *testing.T) {
	t.Parallel()
	units := []string{"SC", "KG", "TON"}
	for _, c := range []struct {
		value   string
		allowed []string
		want    string
		how     int
	}{
		{"SOJA EM GRAOS", []string{"SOJA", "TRIGO", "MILHO"}, "SOJA", likely},
		{"Soja", []string{"SOJA", "TRIGO", "MILHO"}, "SOJA", sure},
		{"001", []string{"SOJA", "TRIGO", "MILHO"}, config.FillIn, unknown},
		{"tonelada", units, "TON", sure},
		{"tl", []string{"kg", "sc", "ton"}, "ton", likely},
		{"bag", units, config.FillIn, unknown},
		{"FIXAÇÃO DE DEPÓSITO", words.OrderTypes(), "FIXACAO_DEPOSITO", sure},
		{"F", words.OrderTypes(), config.FillIn, unknown}, // two begin with it
		{"D", []string{"DINHEIRO", "TROCA"}, "DINHEIRO", likely},
		{"", units, config.FillIn, unknown},
	} {
		if got, how := proposeValue(c.value, c.allowed); got != c.want || how != c.how {
			t.Errorf("proposeValue(%q) = %s, %d, want %s, %d", c.value, got, how, c.want, c.how)
		}
	}
	for value, want := range map[string]string{
		"25/26": "2025/2026", "2025/26": "2025/2026", "2526": "2025/2026", "26/26": "2026/2026",
		"2025/2026": "2025/2026", "25/27": config.FillIn, "TRIGO 26": config.FillIn, "2026": config.FillIn,
	} {
		if got, _ := proposeHarvest(value); got != want {
			t.Errorf("proposeHarvest(%q) = %s, want %s", value, got, want)
		}
	}
}

func TestFormsAreGuessedFromSamples(t *testing.T) {
	t.Parallel()
	texts := func(list ...string) []erp.Value {
		var out []erp.Value
		for _, text := range list {
			out = append(out, erp.Value{Kind: erp.Text, Text: text})
		}
		return out
	}
	for _, c := range []struct {
		samples []erp.Value
		form    string
		empty   []string
		ok      bool
	}{
		{texts("20260310", "00000000", "20260311  ", "x"), "YYYYMMDD", []string{"00000000"}, true},
		{texts("10/03/2026", "31/12/2025"), "DD/MM/YYYY", nil, true},
		{texts("2026-03-10", "2026-03-10 10:00:00"), "", nil, true},
		{
			[]erp.Value{{Kind: erp.Date, Text: "1899-12-30"}, {Kind: erp.Date, Text: "2026-01-01"}},
			"",
			[]string{"1899-12-30"},
			true,
		},
		{texts("soja", "milho"), "", nil, false},
	} {
		form, empty, ok := guessDate(c.samples)
		if form != c.form || ok != c.ok || cmp.Diff(c.empty, empty) != "" {
			t.Errorf("guessDate(%v) = %q, %v, %v", c.samples, form, empty, ok)
		}
	}
	for _, c := range []struct {
		samples []erp.Value
		form    string
		zeros   bool
		ok      bool
	}{
		{texts("129,50", "1.129,50", "A COMBINAR"), "1.234,56", false, true},
		{texts("129.50", "0.00"), "", true, true},
		{texts("10", "20,5"), "1234,56", false, true},
		{texts("1,129.50", "129"), "1,234.56", false, true},
		{[]erp.Value{{Kind: erp.Number, Text: "10.00"}}, "", false, true},
		{texts("dois"), "", false, false},
	} {
		form, zeros, ok := guessNumber(c.samples)
		if form != c.form || zeros != c.zeros || ok != c.ok {
			t.Errorf("guessNumber(%v) = %q, %v, %v", c.samples, form, zeros, ok)
		}
	}
}
