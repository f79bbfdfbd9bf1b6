package apiclient_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/apidoc"
	"github.com/safrasync/safrasync/internal/must"
)

// Chapters 5 and 6: the client against the sandbox, and the sandbox against a receiver that the
// client registered.

func TestTogetherChapter5_Authentication(t *testing.T) {
	t.Parallel()
	apidoc.Run(t, apidoc.Together, "5 rule 1", func(t *testing.T) {
		t.Parallel()
		m := meet(t, sandbox.Options{}) // takes exactly this key, and "Bearer KEY" is another
		m.commitment()
		m.box.SetAPIKey("renewed")
		if err := m.calls()["4 endpoint 10"](); asError(t, err).Status != 401 {
			t.Errorf("with the old key: %v", err)
		}
		m.box.SetAPIKey(testKey)
		if err := m.calls()["4 endpoint 10"](); err != nil {
			t.Errorf("with the key: %v", err)
		}
	})
	for row, test := range map[string]struct {
		opts   sandbox.Options
		faults []string
		status int
		format apiclient.Format
		form   bool
	}{
		"5 rule 2": {sandbox.Options{APIKey: "another"}, nil, 401, apiclient.FormatGateway401, true},
		"5 rule 3": {sandbox.Options{}, []string{"any:status=401,empty"}, 401, apiclient.FormatEmpty, true},
		"5 rule 5": {sandbox.Options{}, []string{"any:status=403"}, 403, apiclient.FormatD, true},
	} {
		apidoc.Run(t, apidoc.Together, row, func(t *testing.T) {
			t.Parallel()
			m := meet(t, test.opts, test.faults...)
			for endpoint, call := range m.calls() {
				e := asError(t, call())
				if e.Status != test.status || e.Format != test.format || e.APIForm() != test.form ||
					e.Known != apiclient.NotCreated {
					t.Errorf("%s: %v, format %v; want %d in %v", endpoint, e, e.Format, test.status, test.format)
				}
			}
			if n := len(m.box.CreatedOf()); n != 0 {
				t.Errorf("%d records", n)
			}
		})
	}
	apidoc.Run(t, apidoc.Together, "5 rule 4", func(t *testing.T) {
		t.Parallel()
		m := meet(t, sandbox.Options{NotContracted: []sandbox.Module{
			sandbox.Commercial, sandbox.Financial,
			sandbox.Webhooks,
		}})
		for endpoint, call := range m.calls() {
			err := call()
			if strings.Contains(endpoint, "producers") { // belongs to no module that is named
				if err != nil {
					t.Errorf("%s: %v", endpoint, err)
				}
				continue
			}
			if e := asError(t, err); e.Status != 403 || !e.HasMessage("message.module.not-contracted") ||
				e.Known != apiclient.NotCreated {
				t.Errorf("%s: %v", endpoint, e)
			}
		}
	})
}

// hook is what a receiver was sent.
type hook struct{ request, contentType, authorization, body string }

// receive starts a receiver that answers status, and gives what came.
func receive(t *testing.T, status int) (url string, came func() []hook) {
	t.Helper()
	var mu sync.Mutex
	var hooks []hook
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		hooks = append(hooks, hook{
			r.Method + " " + r.URL.Path, r.Header.Get("Content-Type"),
			r.Header.Get("Authorization"), string(body),
		})
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []hook {
		mu.Lock()
		defer mu.Unlock()
		return hooks
	}
}

// fires registers a webhook through the client, sends its event, and gives the delivery.
func (m meeting) fires(r apiclient.WebhookRequest) sandbox.Delivery {
	m.t.Helper()
	a, err := m.CreateWebhook(context.Background(), r)
	wantKnown(m.t, a, err, apiclient.Created, apiclient.FaultNone)
	if n, err := m.box.Send(string(r.WebhookEvent), []byte(`{"a":1}`)); n != 1 || err != nil {
		m.t.Fatalf("Send = %d, %v", n, err)
	}
	must.Do(m.t, m.box.WaitDeliveries(m.t.Context()))
	all := m.box.Deliveries()
	return all[len(all)-1]
}

func TestTogetherChapter6_Events(t *testing.T) {
	t.Parallel()
	for _, event := range apidoc.Events {
		apidoc.Run(t, apidoc.Together, "6 event "+event, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			m := meet(t, sandbox.Options{})
			url, came := receive(t, 200)
			e := apiclient.WebhookEvent(event)
			if _, err := m.GetWebhook(ctx, e); asError(t, err).Status != 404 {
				t.Errorf("GetWebhook before = %v", err)
			}
			if d := m.fires(apiclient.WebhookRequest{WebhookEvent: e, URL: url + "/" + event}); !d.OK ||
				d.Event != event {
				t.Errorf("delivery = %+v", d)
			}
			if got := came(); len(got) != 1 || got[0].request != "POST /"+event {
				t.Errorf("received %+v", got)
			}
			if a, err := m.UpdateWebhook(ctx,
				apiclient.WebhookRequest{WebhookEvent: e, URL: "https://coop.example/"}); err != nil ||
				a.Status != 204 {
				t.Errorf("UpdateWebhook = %d, %v", a.Status, err)
			}
			if w, err := m.GetWebhook(ctx, e); err != nil || w.WebhookEvent != e || w.URL != "https://coop.example/" {
				t.Errorf("GetWebhook = %+v, %v", w, err)
			}
		})
	}
}

func TestTogetherChapter6_TheReceiver(t *testing.T) {
	t.Parallel()
	apidoc.Run(t, apidoc.Together, "6 receiver 1", func(t *testing.T) {
		t.Parallel()
		url, came := receive(t, 200)
		r := webhookRequest()
		r.URL = url + "/x"
		meet(t, sandbox.Options{}).fires(r)
		if got := came(); len(got) != 1 || got[0] != (hook{"POST /x", "application/json", "", `{"a":1}`}) {
			t.Errorf("received %+v", got)
		}
	})
	apidoc.Run(t, apidoc.Together, "6 receiver 2", func(t *testing.T) {
		t.Parallel()
		for status, ok := range map[int]bool{200: true, 201: false, 204: false, 302: false, 500: false} {
			r := webhookRequest()
			r.URL, _ = receive(t, status)
			if d := meet(t, sandbox.Options{}).fires(r); d.OK != ok || d.Status != status {
				t.Errorf("%d: delivery = %+v", status, d)
			}
		}
	})
	apidoc.Run(t, apidoc.Together, "6 receiver 3", func(t *testing.T) {
		t.Parallel()
		r := webhookRequest()
		r.URL = "http://coop.example/hook" // taken, no refusal is shown; but nothing is sent there
		if d := meet(t, sandbox.Options{}).fires(r); d.OK || d.Status != 0 || !strings.Contains(d.Error, "https") {
			t.Errorf("delivery = %+v", d)
		}
	})
	for _, row := range []string{"6 receiver 4", "5 rule 6"} {
		apidoc.Run(t, apidoc.Together, row, func(t *testing.T) {
			t.Parallel()
			m := meet(t, sandbox.Options{})
			url, came := receive(t, 200)
			r := webhookRequest()
			r.URL, r.BasicAuthentication = url, "ana:a:b ç"
			m.fires(r)
			if got := came(); len(got) != 1 || got[0].authorization != "Basic YW5hOmE6YiDDpw==" {
				t.Errorf("received %+v", got)
			}
		})
	}
}
