package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/must"
)

// A platform that does not show addresses, as the document does not promise them, tells by the
// id that another registration has taken the place of ours meanwhile.
func TestWhatOthersRegisterIsKnownByItsIDWhereNoAddressIsShown(t *testing.T) {
	t.Parallel()
	var id atomic.Value // of what the platform has; "" = it shows everything
	id.Store("")
	var armed atomic.Bool
	b := setUpBench(t, sandbox.Options{
		Intercept: func(r *http.Request, _ int) *sandbox.Disturbance {
			there := id.Load().(string)
			switch {
			case there == "":
			case strings.HasSuffix(r.URL.Path, "/events/CREATE_PRODUCER"):
				if armed.Load() {
					id.Store(uuid.NewString())
				}
				armed.Store(true) // the plan was made with what it has now
				return &sandbox.Disturbance{
					Do: sandbox.Reply, Status: http.StatusOK,
					Body: fmt.Sprintf(`{"id":%q,"webhook_event":"CREATE_PRODUCER"}`, id.Load()),
				}
			}
			return nil
		},
	})
	b.edit("\njobs:\n", "\nwebhooks: {public_url: \"https://eventos.example.coop.br\", "+
		"listen: \"127.0.0.1:8443\", events: [CREATE_PRODUCER]}\njobs:\n")
	b.run(cli.ExitDone, "webhooks", "apply", "--reason", "go-live", "--yes")
	client := must.Get(apiclient.New(apiclient.Settings{BaseURL: b.box.URL, APIKey: platformCanary}))(t)
	t.Cleanup(client.Close)
	ours := must.Get(client.GetWebhook(t.Context(), "CREATE_PRODUCER"))(t)
	id.Store(ours.ID)
	b.run(cli.ExitFailed, "webhooks", "delete", "CREATE_PRODUCER", "--reason", "enough", "--yes")
	id.Store("")
	if there, err := client.GetWebhook(t.Context(), "CREATE_PRODUCER"); err != nil || there.ID != ours.ID {
		t.Errorf("the platform has %v, %v; want it untouched", there, err)
	}
}
