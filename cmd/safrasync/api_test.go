package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
)

// idIn returns the field id of a line of JSON.
func idIn(t *testing.T, line string) string {
	t.Helper()
	var record struct{ ID string }
	if err := json.Unmarshal([]byte(line), &record); err != nil || record.ID == "" {
		t.Fatalf("no id in %s: %v", line, err)
	}
	return record.ID
}

func TestWhatWasCreatedCanBeReadByHand(t *testing.T) {
	t.Parallel()
	b := setUpBench(t, sandbox.Options{})
	b.run(cli.ExitDone, "sync")
	commitment := b.box.Created()[0].ID
	out, _ := b.run(cli.ExitDone, "api", "order-commitments", "get", commitment, "--json")
	if got := idIn(t, out); got != commitment {
		t.Errorf("order commitment %s, want %s", got, commitment)
	}

	out, _ = b.run(cli.ExitDone, "api", "credit-analysis", "create", "--requester-id",
		"22222222-2222-4222-8222-222222222222", "--requester-name", "Ana",
		"--requester-email", "ana@coop.example", "--name", "Maria Silva", "--identity", "529.982.247-25", "--auth-type",
		"EMAIL", "--person-type", "PF",
		"--period-consult", "12", "--phone", "+55 65 99999-0000", "--yes", "--json")
	analysis := idIn(t, out)
	out, _ = b.run(cli.ExitDone, "api", "credit-analysis", "get", analysis, "--json")
	record := fromJSON[map[string]any](t, out)
	for field, want := range map[string]string{
		"identity": "52998224725", "person_type": "PF",
		"phone": "+55 65 99999-0000", "id": analysis,
	} {
		if record[field] != want {
			t.Errorf("%s is %v, want %s", field, record[field], want)
		}
	}

	out, _ = b.run(cli.ExitDone, "api", "webhooks", "create", "--webhook-event", "DELETE_FARM", "--url",
		"https://coop.example/hook", "--yes", "--json")
	b.run(cli.ExitDone, "api", "webhooks", "delete", idIn(t, out), "--yes")
	b.run(cli.ExitFailed, "api", "webhooks", "get", "DELETE_FARM")
}

func TestASignalDuringACallByHandLeavesItsOutcomeKnown(t *testing.T) {
	t.Parallel()
	ctx, signal := context.WithCancel(t.Context())
	defer signal()
	b := setUpBench(t, sandbox.Options{OnPost: func(int) { signal() }})
	out, _ := b.runIn(ctx, "", cli.ExitDone, "api", "webhooks", "create", "--webhook-event", "CREATE_FARM", "--url",
		"https://coop.example/hook", "--yes", "--json")
	idIn(t, out)
	if ctx.Err() == nil {
		t.Fatal("the signal did not come while the call was on its way")
	}
	records, err := b.store().Audit(t.Context(), 1)
	if err != nil || len(records) != 1 || !strings.Contains(records[0].Detail, `"outcome":"created"`) {
		t.Errorf("the last record of the audit: %+v, %v", records, err)
	}
}
