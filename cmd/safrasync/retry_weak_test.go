package main

import (
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/state"
)

// A filter never chooses rows that were refused in no form of the API; the plan says how many.
func TestARetryByFilterSaysHowManyRowsItLeavesOut(t *testing.T) {
	t.Parallel()
	b := newCoop(t, state.SQLite, sandbox.Options{})
	b.env["LANG"] = "pt_BR.UTF-8"
	b.faults("order_commitments:status=422,empty@1-2")
	b.run(0, "sync")
	retry := []string{"retry", "contracts", "--state", "rejected", "--reason", "tentar de novo", "--yes"}
	for _, args := range [][]string{retry, append(retry, "--json")} {
		_, told := b.run(0, args...)
		if !strings.Contains(told, "2 ficam de fora: recusa sem forma da API; uma a uma, com --checked") {
			t.Errorf("%v:\n%s", args, told)
		}
	}
}
