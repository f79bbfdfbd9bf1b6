package trade_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/trade"
)

func TestTheTitleOfAJobIsItsOwnElseThatOfItsKindElseItsName(t *testing.T) {
	jobs := []trade.TitledJob{
		{Job: "purchases", Sends: trade.OrderCommitments, Title: "Compras"},
		{Job: "fixations", Sends: trade.OrderCommitments},
		{Job: "loads", Sends: trade.Deliveries},
		{Job: "farms", Sends: trade.Traceability},
	}
	for lang, want := range map[trade.Lang]trade.Titles{
		trade.Portuguese: {
			"purchases": "Compras", "fixations": "fixations", "loads": "Entregas", "farms": "Rastreabilidade",
		},
		trade.English: {
			"purchases": "Compras", "fixations": "fixations", "loads": "Deliveries", "farms": "Traceability",
		},
	} {
		got := trade.TitlesOf(jobs, lang)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", lang, diff)
		}
		if got.Of("gone") != "gone" {
			t.Errorf("a job that is gone is called %q", got.Of("gone"))
		}
	}
}
