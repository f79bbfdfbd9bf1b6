package apiclient_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/apiclient/sandbox"
)

// The client and the sandbox are two independent readings of one document: here they meet.
func startSandbox(t *testing.T) *apiclient.Client {
	t.Helper()
	box := sandbox.New(sandbox.Options{APIKey: testKey})
	server := httptest.NewServer(box)
	t.Cleanup(func() { box.Close(); server.Close() })
	return newClient(t, apiclient.Options{BaseURL: server.URL})
}

func TestClientAndSandboxAgreeOnWhatIsCreatedAndReadBack(t *testing.T) {
	t.Parallel()
	c, ctx := startSandbox(t), context.Background()

	a, err := c.CreateOrderCommitment(ctx, fullRequest())
	wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
	commitment := a.ID
	oc, err := c.GetOrderCommitment(ctx, commitment)
	if err != nil || oc.ID != commitment || oc.Price != "120.35" || len(oc.Unread) != 0 {
		t.Errorf("GetOrderCommitment = %+v, %v", oc, err)
	}

	request := deliveryRequest()
	d, a, err := c.CreateDelivery(ctx, request)
	wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
	sent, err := request.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if differs := apiclient.EchoDiffers(sent, a.Body); a.Status != 201 || d.ContractID != request.ContractID || differs != nil || len(d.Unread) != 0 {
		t.Errorf("CreateDelivery = %+v with status %d; the echo differs in %v", d, a.Status, differs)
	}

	trace := traceabilityRequest()
	trace.FarmID, trace.AllocatedVolume, trace.UnitOfMeasurement = otherID, "12.5", apiclient.TON
	a, err = c.CreateTraceability(ctx, commitment, trace)
	wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)

	score := scoreRequest()
	score.CarList, score.SigefList = []string{"c"}, []string{}
	report, a, err := c.RequestCreditScore(ctx, score)
	wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
	if report.ID != a.ID || report.Name != score.Name || report.SocialID != testCPF || len(report.Unread) != 0 {
		t.Errorf("RequestCreditScore = %+v", report)
	}

	a, err = c.CreateCreditAnalysis(ctx, analysisRequest())
	wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
	analysis, err := c.GetCreditAnalysis(ctx, a.ID)
	if err != nil || analysis.ID != a.ID || len(analysis.Unread) != 0 {
		t.Errorf("GetCreditAnalysis = %+v, %v", analysis, err)
	}

	consent, err := c.GetConsent(ctx, apiclient.ConsentQuery{Identity: "123.456.789-09", PersonType: apiclient.PF, CorporateIdentity: testCNPJ})
	if err != nil || consent.Status == "" || consent.ConsentDate == "" {
		t.Errorf("GetConsent = %+v, %v", consent, err)
	}
	for _, document := range []string{testCPF, testCNPJ, testAlphaDoc} {
		if p, err := c.GetProducerByDocument(ctx, document); err != nil || p.ID == "" || len(p.Unread) != 0 {
			t.Errorf("GetProducerByDocument = %+v, %v", p, err)
		}
	}
}

func TestClientAndSandboxAgreeOnTheLifeOfAWebhookForEachEvent(t *testing.T) {
	t.Parallel()
	c, ctx := startSandbox(t), context.Background()
	if hooks, err := c.Webhooks(ctx); err != nil || len(hooks) != 0 {
		t.Fatalf("Webhooks = %v, %v; want an empty list", hooks, err)
	}
	for _, event := range apiclient.WebhookEvents {
		if _, err := c.GetWebhook(ctx, event); asError(t, err).Status != 404 {
			t.Errorf("GetWebhook(%s) before the registration = %v, want 404", event, err)
		}
		r := apiclient.WebhookRequest{
			WebhookEvent: event, URL: "https://coop.example/" + strings.Repeat("x", 229), BasicAuthentication: "user:password",
			HMACSecret: apiclient.Secret(strings.Repeat("s", 120)),
		}
		a, err := c.CreateWebhook(ctx, r)
		wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
		if a.Status != 201 {
			t.Errorf("CreateWebhook(%s): status %d, want 201", event, a.Status)
		}
		r.URL = "https://coop.example/other"
		if a, err := c.UpdateWebhook(ctx, r); err != nil || a.Status != 204 {
			t.Errorf("UpdateWebhook(%s) = %d, %v", event, a.Status, err)
		}
		w, err := c.GetWebhook(ctx, event)
		if err != nil || w.ID != a.ID || w.URL != r.URL || w.WebhookEvent != event || len(w.Unread) != 0 {
			t.Errorf("GetWebhook(%s) = %+v, %v", event, w, err)
		}
	}
	hooks, err := c.Webhooks(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var events []apiclient.WebhookEvent
	for _, w := range hooks {
		events = append(events, w.WebhookEvent)
		if a, err := c.DeleteWebhook(ctx, w.ID); err != nil || a.Status != 204 {
			t.Errorf("DeleteWebhook(%s) = %d, %v", w.WebhookEvent, a.Status, err)
		}
		if _, err := c.DeleteWebhook(ctx, w.ID); asError(t, err).Status != 404 {
			t.Errorf("DeleteWebhook(%s) a second time = %v, want 404", w.WebhookEvent, err)
		}
	}
	if d := cmp.Diff(apiclient.WebhookEvents, events); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
}

func TestClientAndSandboxAgreeOnRefusals(t *testing.T) {
	t.Parallel()
	c, ctx := startSandbox(t), context.Background()

	_, err := c.GetConsent(ctx, apiclient.ConsentQuery{Identity: testCPF, PersonType: "PX"})
	if e := asError(t, err); e.Status != 403 || e.Text != "Unexpected value: PX" || !e.APIForm() {
		t.Errorf("an unknown person type: %v, %q", err, e.Text)
	}
	_, err = c.GetCreditAnalysis(ctx, otherID)
	if e := asError(t, err); e.Status != 404 || !e.APIForm() {
		t.Errorf("an unknown analysis: %v", err)
	}
	a, err := c.CreateTraceability(ctx, otherID, traceabilityRequest())
	wantKnown(t, a, err, apiclient.NotCreated, apiclient.FaultNone)
	if a.Status != 404 || !a.APIForm() {
		t.Errorf("traceability of an unknown order commitment: %v", err)
	}
	a, err = c.SubmitDelivery(ctx, []byte(`{"contract_id":`), nil)
	wantKnown(t, a, err, apiclient.NotCreated, apiclient.FaultNone)
	if !a.HasMessage("message.malformed-request") {
		t.Errorf("malformed JSON: %v", err)
	}
	a, err = c.SubmitDelivery(ctx, []byte(`{}`), nil)
	wantKnown(t, a, err, apiclient.NotCreated, apiclient.FaultNone)
	if a.Status != 400 || len(a.Messages) != 4 {
		t.Errorf("a delivery without its four required fields: %v", err)
	}
}
