package view_test

import (
	"testing"

	"github.com/safrasync/safrasync/console/view"
)

func TestDocumentsOfPersonsAreMasked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"529.982.247-25":                       "***.982.247-**",
		"CPF 52998224725 do produtor":          "CPF ***.982.247-** do produtor",
		"contrato 52998224724":                 "contrato 52998224724",
		"12.345.678/0001-95":                   "12.345.678/0001-95",
		"11111111111":                          "11111111111",
		"1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c01": "1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c01",
	} {
		if got := view.Mask(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
