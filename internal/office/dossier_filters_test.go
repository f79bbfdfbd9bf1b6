package office

import "testing"

func TestAFilterThatCallsAProducerIsKnown(t *testing.T) {
	t.Parallel()
	called := callings{
		names: []string{"João da Silva", "Fazenda Santana", "A. B. Ré", ""},
		codes: []string{"12345678909", "p101", "01", "42"},
	}
	for text, want := range map[string]bool{
		"João da Silva": true, "JOAO DA SILVA soja": true, "silva": true, "soja do Silva": false, "silva joao": true,
		"joãodasilva": true, "123.456.789-09": true, "soja 12345678909": true, "P1|01": true, "Sant'Ana": true,
		"": false, "a": false, "maria": false, "01": false, "contrato 42": false, "5101": false,
		"99123456789091": false,
		"ana":            false, "soja da fazenda": false, "joãodasilva soja": true, "Fazenda": true, "soja Santana Fazenda": true,
		"re": false, "Silvana": false, "a receber": false, "da": false, "Joaquim": false,
	} {
		if got := called.in(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
