package main

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/must"
)

// What another system registers between the plan and its doing is left alone, also where ours
// was there before.
func TestWhatOthersRegisterMeanwhileIsLeftAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, before, after string }{
		{"to be removed", "[CREATE_PRODUCER, CREATE_FARM]", "[CREATE_FARM]"},
		{
			"to be changed", "[CREATE_PRODUCER, CREATE_FARM]",
			"[CREATE_PRODUCER, CREATE_FARM], hmac_secret: \"${env:SAFRASYNC_API_KEY}\"",
		},
		{"to be registered", "[CREATE_FARM]", "[CREATE_PRODUCER, CREATE_FARM]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var armed atomic.Bool
			var others *apiclient.Client
			b := setUpBench(t, sandbox.Options{
				Intercept: func(r *http.Request, _ int) *sandbox.Disturbance {
					// the plan asked about CREATE_PRODUCER before
					if strings.HasSuffix(r.URL.Path, "/events/CREATE_FARM") && armed.CompareAndSwap(true, false) {
						request := apiclient.WebhookRequest{
							WebhookEvent: "CREATE_PRODUCER",
							URL:          "https://other.example/hook",
						}
						if _, err := others.UpdateWebhook(t.Context(), request); err != nil {
							if _, err := others.CreateWebhook(t.Context(), request); err != nil {
								t.Error(err)
							}
						}
					}
					return nil
				},
			})
			var err error
			others = must.Get(apiclient.New(apiclient.Settings{BaseURL: b.box.URL, APIKey: platformCanary}))(t)
			t.Cleanup(others.Close)
			declare := func(events string) {
				t.Helper()
				text := b.read("config.yaml")
				_, jobs, _ := strings.Cut(text, "\njobs:\n")
				head, _, _ := strings.Cut(text, "\nwebhooks:")
				head, _, _ = strings.Cut(head, "\njobs:\n")
				b.write("config.yaml", head+"\nwebhooks: {public_url: \"https://eventos.example.coop.br\", "+
					"listen: \"127.0.0.1:8443\", events: "+events+"}\njobs:\n"+jobs)
			}
			declare(c.before)
			b.run(cli.ExitDone, "webhooks", "apply", "--reason", "go-live", "--yes")
			declare(c.after)
			armed.Store(true)
			b.run(cli.ExitFailed, "webhooks", "apply", "--reason", "another plan", "--yes")
			there, err := others.GetWebhook(t.Context(), "CREATE_PRODUCER")
			if err != nil || there.URL != "https://other.example/hook" {
				t.Errorf("the platform has %q, %v; want what another system registered meanwhile", there.URL, err)
			}
		})
	}
}

// A page of something between us and the platform is no word of the platform that a
// registration is gone.
func TestAPageOfAProxyRemovesNoRegistration(t *testing.T) {
	t.Parallel()
	b := setUpBench(t, sandbox.Options{})
	b.edit("\njobs:\n", "\nwebhooks: {public_url: \"https://eventos.example.coop.br\", "+
		"listen: \"127.0.0.1:8443\", events: [CREATE_FARM]}\njobs:\n")
	b.run(cli.ExitDone, "webhooks", "apply", "--reason", "go-live", "--yes")
	b.faults("change:webhooks:status=404,body=<html>not found</html>")
	b.run(cli.ExitFailed, "webhooks", "delete", "CREATE_FARM", "--reason", "enough", "--yes")
	b.box.SetFaults()
	out, _ := b.run(cli.ExitDone, "webhooks", "plan", "--json")
	if !strings.Contains(out, `"action":"none"`) || !strings.Contains(out, `"ours":true`) {
		t.Errorf("after a removal that did not happen the plan is %s", out)
	}
}
