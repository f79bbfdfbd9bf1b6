package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

func TestWhatPeopleAreShownKeepsItsOrderAndLoadsAgain(t *testing.T) {
	t.Parallel()
	text := strings.Replace(goodConfig, "    key: [filial, num]",
		"    key: [filial, num]\n    title: Compras de grãos\n"+
			"    show: {produtor: nome, contrato: num, data da fixação: desc filial}", 1)
	want := []mapping.ShowSpec{
		{Label: "produtor", Column: "nome"},
		{Label: "contrato", Column: "num"},
		{Label: "data da fixação", Column: "desc filial"},
	}
	for _, c := range []*Config{mustLoad(t, text), mustLoad(t, mustLoad(t, text).Show())} {
		if diff := cmp.Diff(want, c.JobSpecs()[0].Show); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if title := c.Titles(trade.English).Of("contracts"); title != "Compras de grãos" {
			t.Errorf("the job is called %q", title)
		}
	}
	if title := mustLoad(t, goodConfig).Titles(trade.Portuguese).Of("contracts"); title != "Contratos" {
		t.Errorf("without a title of its own the job is called %q", title)
	}
}
