package main

import (
	"context"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
)

func TestAnInterruptedRunIsReportedLikeAnyOther(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	b := setUpBench(t, sandbox.Options{OnPost: func(int) { interrupt() }}) // while the first contract is on its way
	b.edit("rate_limit: 0", "rate_limit: 0\n  max_in_flight: 1")
	out, messages := b.runIn(ctx, "", cli.ExitFailed, "sync")
	for _, want := range []string{
		"1  enviado", "1  pendente", "COMPRA exige data de pagamento",
		"Contratos (contracts) PAROU: interrompida",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the report does not say %q:\n%s", want, out)
		}
	}
	if strings.Contains(out+messages, "erro:") {
		t.Errorf("an interruption is no error:\n%s", out)
	}
}
