package apiclient_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
)

// meeting is a client before a sandbox of its own, over real HTTP. The two are independent readings
// of one document: here, and in the files agreement_chapter*_test.go, they meet.
type meeting struct {
	*apiclient.Client
	box *sandbox.Running
	t   *testing.T
}

func meet(t *testing.T, opts sandbox.Options, faults ...string) meeting {
	t.Helper()
	opts.Faults = must.Get(sandbox.ParseFaults(faults))(t)
	if opts.APIKey == "" {
		opts.APIKey = testKey
	}
	box := must.Get(sandbox.Start(opts, "127.0.0.1:0"))(t)
	t.Cleanup(func() { must.Do(t, box.Close()) })
	return meeting{newClient(t, apiclient.Settings{BaseURL: box.URL}), box, t}
}

// last is the newest request as the sandbox saw it, without the two remarks that are about the
// world of these tests.
func (m meeting) last() sandbox.Request {
	requests := m.box.Report().Requests
	r := requests[len(requests)-1]
	r.Remarks = slices.DeleteFunc(r.Remarks, func(r sandbox.Remark) bool {
		return r.Code == "contract_unknown_here" || r.Code == "event_again"
	})
	return r
}

// commitment makes an order commitment and gives its id.
func (m meeting) commitment() string {
	m.t.Helper()
	a, err := m.CreateOrderCommitment(context.Background(), fullRequest())
	wantKnown(m.t, a, err, apiclient.Created, apiclient.FaultNone)
	return a.ID
}

func TestClientAndSandboxAgreeOnWhatIsCreatedAndReadBack(t *testing.T) {
	t.Parallel()
	m, ctx := meet(t, sandbox.Options{}), context.Background()

	a, err := m.CreateOrderCommitment(ctx, fullRequest())
	wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
	commitment := a.ID
	oc, err := m.GetOrderCommitment(ctx, commitment)
	if err != nil || oc.ID != commitment || oc.Fields["price"] != "120.35" || len(oc.Unread) != 0 {
		t.Errorf("GetOrderCommitment = %+v, %v", oc, err)
	}

	request := deliveryRequest()
	d, a, err := m.CreateDelivery(ctx, request)
	wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
	if a.Status != 201 || d.Fields["contract_id"] != request.ContractID ||
		d.Fields["delivered_volume"] != string(request.DeliveredVolume) ||
		len(d.Unread) != 0 {
		t.Errorf("CreateDelivery = %+v with status %d", d, a.Status)
	}

	trace := traceabilityRequest()
	trace.FarmID, trace.AllocatedVolume, trace.UnitOfMeasurement = otherID, "12.5", "TON"
	a, err = m.CreateTraceability(ctx, commitment, trace)
	wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)

	score := scoreRequest()
	score.CarList, score.SigefList = []string{"c"}, []string{}
	report, a, err := m.RequestCreditScore(ctx, score)
	wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
	if report.ID != a.ID || report.Name != score.Name || report.SocialID != testCPF || len(report.Unread) != 0 {
		t.Errorf("RequestCreditScore = %+v", report)
	}

	a, err = m.CreateCreditAnalysis(ctx, analysisRequest())
	wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
	analysis, err := m.GetCreditAnalysis(ctx, a.ID)
	if err != nil || analysis.ID != a.ID || len(analysis.Unread) != 0 {
		t.Errorf("GetCreditAnalysis = %+v, %v", analysis, err)
	}

	consent, err := m.GetConsent(ctx, apiclient.ConsentQuery{
		Identity: "123.456.789-09", PersonType: apiclient.PF,
		CorporateIdentity: testCNPJ,
	})
	if err != nil || consent.Status == "" || consent.ConsentDate == "" {
		t.Errorf("GetConsent = %+v, %v", consent, err)
	}
	for _, document := range []string{testCPF, testCNPJ, testAlphaDoc} {
		if p, err := m.GetProducerByDocument(ctx, document); err != nil || p.ID == "" || len(p.Unread) != 0 {
			t.Errorf("GetProducerByDocument = %+v, %v", p, err)
		}
	}
}

func TestClientAndSandboxAgreeOnTheLifeOfAWebhookForEachEvent(t *testing.T) {
	t.Parallel()
	m, ctx := meet(t, sandbox.Options{}), context.Background()
	if hooks, err := m.Webhooks(ctx); err != nil || len(hooks) != 0 {
		t.Fatalf("Webhooks = %v, %v; want an empty list", hooks, err)
	}
	for _, event := range apiclient.WebhookEvents {
		if _, err := m.GetWebhook(ctx, event); asError(t, err).Status != 404 {
			t.Errorf("GetWebhook(%s) before the registration = %v, want 404", event, err)
		}
		r := apiclient.WebhookRequest{
			WebhookEvent: event, URL: "https://coop.example/" + strings.Repeat("x", 229),
			BasicAuthentication: "user:password",
			HMACSecret:          apiclient.Secret(strings.Repeat("s", 120)),
		}
		a, err := m.CreateWebhook(ctx, r)
		wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
		if a.Status != 201 {
			t.Errorf("CreateWebhook(%s): status %d, want 201", event, a.Status)
		}
		r.URL = "https://coop.example/other"
		if a, err := m.UpdateWebhook(ctx, r); err != nil || a.Status != 204 {
			t.Errorf("UpdateWebhook(%s) = %d, %v", event, a.Status, err)
		}
		w, err := m.GetWebhook(ctx, event)
		if err != nil || w.ID != a.ID || w.URL != r.URL || w.WebhookEvent != event || len(w.Unread) != 0 {
			t.Errorf("GetWebhook(%s) = %+v, %v", event, w, err)
		}
	}
	hooks := must.Get(m.Webhooks(ctx))(t)
	var events []apiclient.WebhookEvent
	for _, w := range hooks {
		events = append(events, w.WebhookEvent)
		if a, err := m.DeleteWebhook(ctx, w.ID); err != nil || a.Status != 204 {
			t.Errorf("DeleteWebhook(%s) = %d, %v", w.WebhookEvent, a.Status, err)
		}
		if _, err := m.DeleteWebhook(ctx, w.ID); asError(t, err).Status != 404 {
			t.Errorf("DeleteWebhook(%s) a second time = %v, want 404", w.WebhookEvent, err)
		}
	}
	if d := cmp.Diff(apiclient.WebhookEvents, events); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
}
