package sandbox_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/apidoc"
	"github.com/safrasync/safrasync/internal/must"
)

// receiver is the cooperative's side of webhooks.
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	came []received
}

type received struct {
	Path, Type, User, Password, Body string
	Basic                            bool
}

func newReceiver(t *testing.T, status int) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		sent, _ := io.ReadAll(req.Body)
		in := received{Path: req.Method + " " + req.URL.Path, Type: req.Header.Get("Content-Type"), Body: string(sent)}
		in.User, in.Password, in.Basic = req.BasicAuth()
		r.mu.Lock()
		r.came = append(r.came, in)
		r.mu.Unlock()
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	}))
	t.Cleanup(r.Close)
	return r
}

// settled waits for the deliveries and returns them.
func (b *box) settled() []sandbox.Delivery {
	b.t.Helper()
	must.Do(b.t, b.WaitDeliveries(b.t.Context()))
	return b.Deliveries()
}

func TestChapter6_EachOfThe25EventsReachesItsWebhookOnly(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "6 receiver 1")
	if diff := cmp.Diff(apidoc.Events, sandbox.Events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	r := newReceiver(t, 200)
	b := start(t, sandbox.Options{})
	for _, event := range apidoc.Events {
		b.register(event, r.URL+"/"+event)
	}
	for i, event := range apidoc.Events {
		apidoc.Run(t, apidoc.Sandbox, "6 event "+event, func(t *testing.T) {
			if n, err := b.Send(event, json.RawMessage(`{"id":"`+someOther+`"}`)); err != nil || n != 1 {
				t.Errorf("Send = %d, %v", n, err)
			}
			d := b.settled()[i]
			if !d.OK || !d.Done || d.Status != 200 || d.Event != event || d.N != i+1 || d.Error != "" {
				t.Errorf("delivery = %+v", d)
			}
			want := received{Path: "POST /" + event, Type: "application/json", Body: `{"id":"` + someOther + `"}`}
			if diff := cmp.Diff(want, r.came[i]); diff != "" {
				t.Errorf("received (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChapter6_TheCreationOfACommitmentIsAnEvent(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, 200)
	b := start(t, sandbox.Options{}, "order_commitments:lost-after@2") // a lost answer does not cancel the event
	b.register("CREATE_ORDER_COMMITMENT", r.URL)
	b.register("UPDATE_ORDER_COMMITMENT", r.URL)
	g := b.post(body())
	_, _ = b.try(b.request("POST", orders, body()))
	b.post("{}") // refused: no event
	if n := len(b.settled()); n != 2 {
		t.Fatalf("%d deliveries, want 2", n)
	}
	bodies := []string{r.came[0].Body, r.came[1].Body}
	if bodies[0] != g.body && bodies[1] != g.body {
		t.Errorf("payloads = %q, want %s among them", bodies, g.body)
	}
}

func TestChapter6_TwoWebhooksOfOneEventBothGetIt(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, 200)
	b := start(t, sandbox.Options{})
	b.register("DELETE_WALLET", r.URL+"/one")
	b.register("DELETE_WALLET", r.URL+"/two")
	if n, err := b.Send("DELETE_WALLET", nil); n != 2 || err != nil {
		t.Errorf("Send = %d, %v", n, err)
	}
	b.settled()
	if len(r.came) != 2 {
		t.Fatalf("received %d", len(r.came))
	}
	if !strings.HasPrefix(r.came[0].Body, `{"id":"`) || r.came[0].Body != r.came[1].Body {
		t.Errorf("received %+v", r.came)
	}
}

func TestChapter5_Rule6_BasicCredentialsAreSentWhenTheyWereConfigured(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "5 rule 6", "6 receiver 4")
	r := newReceiver(t, 200)
	b := start(t, sandbox.Options{})
	k := creations[sandbox.ResourceWebhooks]
	b.creates(sandbox.ResourceWebhooks, k.with("url", quote(r.URL), "basic_authentication", `"ana:a:b ç"`))
	must.Get(b.Send("CREATE_FARM", nil))(t)
	b.settled()
	if in := r.came[0]; !in.Basic || in.User != "ana" || in.Password != "a:b ç" {
		t.Errorf("received = %+v", in)
	}
	b.call("PUT", webhooks, k.with("url", quote(r.URL), "basic_authentication", "", "hmac_secret", ""))
	b.wantRemarks("credentials_removed basic_authentication", "credentials_removed hmac_secret")
	must.Get(b.Send("CREATE_FARM", nil))(t)
	b.settled()
	if r.came[1].Basic {
		t.Error("credentials were sent after they had been removed")
	}
}

func TestChapter6_Requirement2_OnlyA200Counts(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "6 receiver 2")
	for _, status := range []int{201, 204, 302, 401, 500} {
		r := newReceiver(t, status)
		b := start(t, sandbox.Options{})
		b.register("CREATE_FARM", r.URL+"/?token=segredo")
		must.Get(b.Send("CREATE_FARM", nil))(t)
		d := b.settled()[0]
		if d.OK || d.Status != status || !strings.Contains(d.Error, "wanted is 200") ||
			strings.Contains(d.URL, "segredo") {
			t.Errorf("%d: delivery = %+v", status, d)
		}
		if len(r.came) != 1 {
			t.Errorf("%d: received %d times", status, len(r.came))
		}
	}
}

func TestChapter8_AReceiverHas30Seconds(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "8 receiver response time")
	if got := sandbox.ReceiverTimeout(start(t, sandbox.Options{}).Running); got != 30*time.Second {
		t.Errorf("a receiver has %v", got)
	}
}

func TestChapter6_Requirement2_AReceiverThatIsTooLateOrAbsentIsRecorded(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "6 receiver 2")
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(release) })
	absent := httptest.NewServer(nil)
	absent.Close()
	b := start(t, sandbox.Options{ReceiverLimit: time.Millisecond})
	b.register("CREATE_FARM", slow.URL)
	b.register("UPDATE_FARM", absent.URL+"/?token=segredo")
	for _, event := range []string{"CREATE_FARM", "UPDATE_FARM"} {
		must.Get(b.Send(event, nil))(t)
	}
	for _, d := range b.settled() {
		if d.OK || d.Status != 0 || d.Error == "" || strings.Contains(d.Error, "segredo") {
			t.Errorf("delivery = %+v", d)
		}
		if d.Event == "CREATE_FARM" && d.Error != "the receiver did not answer in time" {
			t.Errorf("error = %q", d.Error)
		}
	}
}

func TestChapter6_Requirement3_HTTPIsForThisMachineOnly(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Sandbox, "6 receiver 3")
	b := start(t, sandbox.Options{})
	b.register("CREATE_FARM", "http://receiver.example.org/hook") // the document shows no refusal
	b.wantRemarks("url_scheme url")
	must.Get(b.Send("CREATE_FARM", nil))(t)
	if d := b.settled()[0]; d.OK || !strings.HasPrefix(d.Error, "not sent") {
		t.Errorf("delivery = %+v", d)
	}
}

func TestSendRefusesWhatIsNoEventAndNoJSON(t *testing.T) {
	t.Parallel()
	b := start(t, sandbox.Options{})
	if _, err := b.Send("CREATE_CAT", nil); err == nil || !strings.Contains(err.Error(), "PRODUCER_PRODUCTION") {
		t.Errorf("Send = %v", err)
	}
	if _, err := b.Send("CREATE_FARM", json.RawMessage("{")); err == nil {
		t.Error("a payload that is no JSON was sent")
	}
	if n, err := b.Send("CREATE_FARM", nil); n != 0 || err != nil {
		t.Errorf("Send without a webhook = %d, %v", n, err)
	}
}

func TestCloseCutsADeliveryThatHangs(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}), make(chan struct{})
	r := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(arrived)
		<-release
	}))
	t.Cleanup(r.Close)
	t.Cleanup(func() { close(release) })
	delivered := make(chan sandbox.Delivery, 1)
	b := start(t, sandbox.Options{OnDelivered: func(d sandbox.Delivery) { delivered <- d }})
	sandbox.SetGrace(b.Running, time.Millisecond)
	b.register("CREATE_FARM", r.URL)
	must.Get(b.Send("CREATE_FARM", nil))(t)
	<-arrived
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.WaitDeliveries(ctx); err == nil {
		t.Error("WaitDeliveries did not wait")
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if d := <-delivered; d.OK || d.Error != "not finished: the sandbox was closed" {
		t.Errorf("delivery = %+v", d)
	}
	if n, err := b.Send("CREATE_FARM", nil); n != 0 || err != nil {
		t.Errorf("Send after Close = %d, %v", n, err)
	}
}
