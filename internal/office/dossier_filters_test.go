package office

import "testing"

func TestAFilterThatCallsAProducerIsKnown(t *testing.T) {
	t.Parallel()
	called := callings{
		names: []string{
			"João da Silva", "Fazenda Santana", "A. B. Ré", "Eva Sá", "Li Wu", "NUNES,RITA", "Kruger",
			"Pradoso Prado", "",
		},
		codes: []string{"12345678909", "p101", "01", "42"},
	}
	for text, want := range map[string]bool{
		"João da Silva": true, "JOAO DA SILVA soja": true, "silva": true, "soja do Silva": false, "silva joao": true,
		"joãodasilva": true, "123.456.789-09": true, "soja 12345678909": true, "P1|01": true, "Sant'Ana": true,
		"": false, "a": false, "maria": false, "01": false, "contrato 42": false, "5101": false,
		"99123456789091": false,
		"ana":            false, "soja da fazenda": false, "joãodasilva soja": true, "Fazenda": true,
		"soja Santana Fazenda": true,
		// as the console finds it: run together, after signs, and with the beginning of the last word
		"João Silv": true, "silv": true, "fazenda sant": true, "soja João da Silv": true, "joãoda silva soja": true,
		"joão dasilva": true, "João da Silvasoja": true, "soja/joão da silva": true, "silva,joão": true, "li wu": true,
		"sojajoãodasilva": false, "rita nunes": true, "nun rita": false, "krug": true, "jo": false, "soja silv": false,
		"silv soja": false, "leva safra": false, "krugerite": false, "leo krug": true,
		"pradoso soja prado": true, "/": false, " . ": false,
		"re": false, "Silvana": false, "a receber": false, "da": false, "Joaquim": false,
	} {
		if got := called.in(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
