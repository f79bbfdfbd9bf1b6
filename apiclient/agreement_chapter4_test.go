package apiclient_test

import (
	"context"
	"slices"
	"testing"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/apidoc"
	"github.com/safrasync/safrasync/internal/must"
)

func TestTogetherChapter1_WhatMustExistBefore(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	apidoc.Run(t, apidoc.Together, "1 order commitment", func(t *testing.T) {
		t.Parallel()
		m := meet(t, sandbox.Options{World: sandbox.NewWorld()})
		r := fullRequest()
		for _, step := range []struct {
			key  string
			know func()
		}{
			{"message.producer.not-found", func() { m.box.Know(sandbox.Producers, r.ProducerID) }},
			{"message.user.not-found", func() { m.box.Know(sandbox.Users, r.IssuerID) }},
			{"message.wallet.not-found", func() { m.box.Know(sandbox.Wallets, r.WalletID) }},
			{"message.wallet.producer-not-linked", func() { m.box.LinkWallet(r.WalletID, r.ProducerID) }},
			{"message.delivery-place.not-found", func() { m.box.Know(sandbox.DeliveryPlaces, r.DeliveryPlaceID) }},
		} {
			a, err := m.CreateOrderCommitment(ctx, r)
			wantKnown(t, a, err, apiclient.NotCreated, apiclient.FaultNone)
			if !slices.Equal(a.Messages, []string{step.key}) {
				t.Errorf("messages = %v, want %s", a.Messages, step.key)
			}
			step.know()
		}
		m.commitment()
	})
	apidoc.Run(t, apidoc.Together, "1 delivery", func(t *testing.T) {
		t.Parallel()
		m := meet(t, sandbox.Options{World: sandbox.NewWorld()})
		r := deliveryRequest()
		m.box.Know(sandbox.Contracts, "another")
		_, a, err := m.CreateDelivery(ctx, r)
		wantKnown(t, a, err, apiclient.NotCreated, apiclient.FaultNone)
		m.box.Know(sandbox.Contracts, r.ContractID) // and nothing else
		_, a, err = m.CreateDelivery(ctx, r)
		wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
	})
	apidoc.Run(t, apidoc.Together, "1 traceability", func(t *testing.T) {
		t.Parallel()
		m := meet(t, sandbox.Options{})
		a, err := m.CreateTraceability(ctx, otherID, traceabilityRequest())
		wantKnown(t, a, err, apiclient.NotCreated, apiclient.FaultNone)
		a, err = m.CreateTraceability(ctx, m.commitment(), traceabilityRequest())
		wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
	})
}

// calls is a call of each endpoint that the client offers, by its row. Those that need a record get
// the first of those made before; testID is as good as any where the call is to be refused.
func (m meeting) calls() map[string]func() error {
	calls := map[string]func() error{}
	for _, e := range endpoints {
		id := testID
		if made := m.box.CreatedOf(map[string]string{
			"4 endpoint 2": sandbox.ResourceOrderCommitments, "4 endpoint 4": sandbox.ResourceOrderCommitments,
			"4 endpoint 8": sandbox.ResourceCreditAnalysis, "4 endpoint 13": sandbox.ResourceWebhooks,
		}[e.row()]); len(made) > 0 {
			id = made[0].ID
		}
		calls[e.row()] = func() error { _, err := e.call(context.Background(), m.Client, id); return err }
	}
	return calls
}

// routes are the verb and the path of each endpoint, and where chapter 4 gives it, the status of
// success.
var routes = map[string]struct {
	route  string
	status int
}{
	"4 endpoint 1":  {"POST " + postPath, 0},
	"4 endpoint 2":  {"GET " + postPath + "/{order_commitment_id}", 0},
	"4 endpoint 3":  {"POST " + apiPath + "/deliveries", 201},
	"4 endpoint 4":  {"POST " + apiPath + "/traceability/-/commitments/{order_commitment_id}", 0},
	"4 endpoint 5":  {"GET " + apiPath + "/financial/analysis-credit/consent", 0},
	"4 endpoint 6":  {"POST " + apiPath + "/financial/credit-score", 0},
	"4 endpoint 7":  {"POST " + apiPath + "/financial/analysis-credit", 0},
	"4 endpoint 8":  {"GET " + apiPath + "/financial/analysis-credit/{id}", 0},
	"4 endpoint 9":  {"POST " + hooksPath, 201},
	"4 endpoint 10": {"GET " + hooksPath, 200},
	"4 endpoint 11": {"GET " + hooksPath + "/-/events/{webhook_event}", 0},
	"4 endpoint 12": {"PUT " + hooksPath, 204},
	"4 endpoint 13": {"DELETE " + hooksPath + "/{id}", 204},

	"4 endpoint producers by document": {"GET " + apiPath + "/producers/-/documents/{social_identity}", 0},
}

func TestTogetherChapter4_Endpoints(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Together, "9 prefix", "9 test environment") // every path, at an address of its own
	for row, want := range routes {
		apidoc.Run(t, apidoc.Together, row, func(t *testing.T) {
			t.Parallel()
			m := meet(t, sandbox.Options{})
			for _, before := range []string{"4 endpoint 1", "4 endpoint 7", "4 endpoint 9"} {
				must.Do(t, m.calls()[before]())
			}
			before := m.box.Counts()[want.route]
			if err := m.calls()[row](); err != nil {
				t.Errorf("%s: %v", want.route, err)
			}
			if n := m.box.Counts()[want.route]; n != before+1 {
				t.Errorf("%d requests of %s", n-before, want.route)
			}
			if last := m.last(); want.status != 0 && last.Status != want.status || len(last.Remarks) != 0 {
				t.Errorf("%s = %d, remarks %v; want %d and none", want.route, last.Status, last.Remarks, want.status)
			}
		})
	}
}

func TestTogetherChapter4_RefusalsOfPutWebhooks(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	unknown := webhookRequest()
	unknown.WebhookEvent = "CREATE_CAT"
	for row, test := range map[string]struct {
		key     string
		request apiclient.WebhookRequest
		status  int
		format  apiclient.Format
	}{
		"4 PUT webhooks 400": {testKey, unknown, 400, apiclient.FormatB},
		"4 PUT webhooks 401": {"another-key", webhookRequest(), 401, apiclient.FormatGateway401},
		"4 PUT webhooks 404": {testKey, webhookRequest(), 404, apiclient.FormatA},
	} {
		apidoc.Run(t, apidoc.Together, row, func(t *testing.T) {
			t.Parallel()
			m := meet(t, sandbox.Options{APIKey: test.key})
			a, err := m.UpdateWebhook(ctx, test.request)
			if e := asError(t, err); e.Status != test.status || a.Format != test.format {
				t.Errorf("UpdateWebhook = %v, format %v; want %d in format %v", err, a.Format, test.status, test.format)
			}
		})
	}
}

func TestTogetherChapter4_Rules(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	apidoc.Run(t, apidoc.Together, "4 rule 1", func(t *testing.T) {
		t.Parallel()
		m := meet(t, sandbox.Options{})
		whole := must.Get(fullRequest().Encode())(t)
		var keys []string
		for _, field := range []string{
			"currency", "price", "initial_delivery_date", "end_delivery_date", "modality",
			"payday", "payment_type",
		} {
			whole = without(t, whole, field)
			keys = append(keys, "message."+field+".mandatory")
		}
		a, err := m.SubmitOrderCommitment(ctx, whole, nil)
		wantKnown(t, a, err, apiclient.NotCreated, apiclient.FaultNone)
		if a.Status != 400 || !slices.Equal(a.Messages, keys) {
			t.Errorf("%d %v, want 400 %v", a.Status, a.Messages, keys)
		}
	})
	apidoc.Run(t, apidoc.Together, "4 rule 2", func(t *testing.T) {
		t.Parallel()
		m := meet(t, sandbox.Options{})
		r := fullRequest()
		for _, step := range []struct {
			key          string
			before, back func()
		}{
			{
				"message.wallet.not-found",
				func() { m.box.Forget(sandbox.Wallets, r.WalletID) },
				func() { m.box.Know(sandbox.Wallets, r.WalletID) },
			},
			{
				"message.wallet.producer-not-linked",
				func() { m.box.UnlinkWallet(r.WalletID, r.ProducerID) },
				func() { m.box.LinkWallet(r.WalletID, r.ProducerID) },
			},
			{
				"message.producer.not-found",
				func() { m.box.Forget(sandbox.Producers, r.ProducerID) },
				func() { m.box.Know(sandbox.Producers, r.ProducerID) },
			},
			{
				"message.delivery-place.not-found",
				func() { m.box.Forget(sandbox.DeliveryPlaces, r.DeliveryPlaceID) }, func() {},
			},
		} {
			step.before()
			a, err := m.CreateOrderCommitment(ctx, r)
			wantKnown(t, a, err, apiclient.NotCreated, apiclient.FaultNone)
			if !slices.Equal(a.Messages, []string{step.key}) || a.Status != 400 && a.Status != 404 {
				t.Errorf("%d %v, want %s", a.Status, a.Messages, step.key)
			}
			step.back()
		}
	})
	apidoc.Run(t, apidoc.Together, "4 rule 3", func(t *testing.T) {
		t.Parallel()
		m := meet(t, sandbox.Options{})
		commitment := m.commitment()
		a, err := m.CreateTraceability(ctx, commitment,
			apiclient.TraceabilityRequest{ProducerID: testID, UserID: otherID})
		wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
		a, err = m.SubmitTraceability(ctx, commitment, []byte(`{}`), nil)
		wantKnown(t, a, err, apiclient.NotCreated, apiclient.FaultNone)
		if want := []string{
			"message.producer_id.mandatory",
			"message.user_id.mandatory",
		}; !slices.Equal(a.Messages, want) {
			t.Errorf("messages = %v, want %v", a.Messages, want)
		}
	})
	apidoc.Run(t, apidoc.Together, "4 rule 4", func(t *testing.T) {
		t.Parallel()
		for _, order := range [][]string{{"4 endpoint 6", "4 endpoint 7"}, {"4 endpoint 7", "4 endpoint 6"}} {
			m := meet(t, sandbox.Options{World: sandbox.NewWorld()})
			for _, row := range order {
				if err := m.calls()[row](); err != nil {
					t.Errorf("%v: %v", order, err)
				}
			}
		}
	})
}
