package apiclient

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzMayHoldDocument looks whether a document number can be overlooked: what is told without the
// expression is what the expression tells.
func FuzzMayHoldDocument(f *testing.F) {
	for _, s := range []string{
		"", "529.982.247-25", "52998224725", "529982247251", "x52998224725", "_52998224725", "-52998224725.",
		"12.ABC.345/01DE-35", "12ABC34501DE35", "12abc345%2f01de35", "12ABC345%2F01DE-35",
		"12.ABC.345/01DE-3", "12.ABC.345//01DE-35", "529.982.247-2x", "529.982.247-25_",
		"0190c8f4-7a1e-7000-8000-000000000001", `{"id":"11111111-1111-4111-8111-111111111111"}`, "é52998224725",
		"12.\u212aBC.345/01DE-35", "529..982.247-25", "2026-11-22T20:15:30.123Z", "AA52998224725",
		"529.982.247-25529.982.247-25", "1.529.982.247-25",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		found, may := document.MatchString(s), mayHoldDocument(s)
		ascii := strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
		if found && !may || ascii && found != may {
			t.Errorf("%q: the expression says %v, mayHoldDocument %v", s, found, may)
		}
	})
}

// Texts of what documents consist of, most of which are nearly one.
func TestNoDocumentIsOverlooked(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{
		"0", "12", "123", "A", "ab", "Ab3", ".", ".", "-", "/", "%2F", "%2f", " ", "_", "529.982.247-25",
		"12.ABC.345/01DE-35", "12.ABC.345", "01DE-35",
	}
	found := 0
	for range 200_000 {
		var s string
		for range 1 + random.IntN(8) {
			s += parts[random.IntN(len(parts))]
		}
		want := document.MatchString(s)
		if want {
			found++
		}
		if mayHoldDocument(s) != want {
			t.Fatalf("%q: the expression says %v", s, want)
		}
	}
	if found < 1000 {
		t.Errorf("only %d of the texts hold a document", found)
	}
}
