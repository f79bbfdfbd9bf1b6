package apiclient_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/apidoc"
	"github.com/safrasync/safrasync/internal/must"
)

// refusal is what a client is to make of one answer.
type refusal struct {
	status   int
	format   apiclient.Format
	messages []string
	known    apiclient.Known
	form     bool   // it is in a form of the API
	text     string // "" is not looked at
}

func (want refusal) check(t *testing.T, err error) {
	t.Helper()
	e := asError(t, err)
	if e.Status != want.status || e.Format != want.format || e.Known != want.known || e.APIForm() != want.form ||
		!slices.Equal(e.Messages, want.messages) {
		t.Errorf("%v\nstatus %d, format %v, messages %v, known %v, in a form of the API: %t\nwant %+v",
			err, e.Status, e.Format, e.Messages, e.Known, e.APIForm(), want)
	}
	if want.text != "" && (e.Text != want.text || strings.Contains(err.Error(), want.text)) {
		t.Errorf("text = %q, want %q, and not in %v", e.Text, want.text, err)
	}
}

// keys is a refusal in format (a).
func keys(status int, messages ...string) refusal {
	return refusal{status, apiclient.FormatA, messages, apiclient.NotCreated, true, ""}
}

func TestTogetherChapter7_StatusesAndFormats(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	submit := func(body string) func(meeting) error {
		return func(m meeting) error { _, err := m.SubmitOrderCommitment(ctx, []byte(body), nil); return err }
	}
	full := must.Get(fullRequest().Encode())(t)
	whole := submit(string(full))
	const delivery = `{"contract_id":"c","delivered_volume_unit_of_measure":"SACK","delivery_date":"2026-11-20"}`
	several := keys(400, "message.delivered_volume.mandatory", "message.delivered_volume_unit_of_measure.invalid")
	sendDelivery := func(m meeting) error { _, err := m.SubmitDelivery(ctx, []byte(delivery), nil); return err }
	consentOf := func(m meeting) error {
		_, err := m.GetConsent(ctx, apiclient.ConsentQuery{Identity: testCPF, PersonType: "PX"})
		return err
	}
	unexpected := refusal{403, apiclient.FormatC, nil, apiclient.NotCreated, true, "Unexpected value: PX"}
	passedOn := refusal{422, apiclient.FormatD, nil, apiclient.NotCreated, true, ""}
	score := func(m meeting) error { _, _, err := m.RequestCreditScore(ctx, scoreRequest()); return err }
	for row, test := range map[string]struct {
		faults []string
		call   func(meeting) error
		want   refusal
	}{
		"7 format a": {nil, sendDelivery, several},
		"7 format c": {nil, consentOf, unexpected},
		"7 format d": {[]string{`credit_score:status=422,body=["limit"]`}, score, passedOn},

		"7 status 400 validation": {nil, sendDelivery, several},
		"7 status 400 malformed":  {nil, submit(`{"amount":"12"`), keys(400, "message.malformed-request")},
		"7 status 400 duplicate":  {[]string{"duplicate"}, whole, keys(400, "message.duplicate.key")},
		"7 status 400 COMPRA": {
			nil, submit(string(without(t, full, "payday"))),
			keys(400, "message.payday.mandatory"),
		},
		"7 status 403 module": {[]string{"module"}, whole, keys(403, "message.module.not-contracted")},
		"7 status 403 enumeration": {nil, func(m meeting) error {
			r := analysisRequest()
			r.PersonType = "PX"
			_, err := m.CreateCreditAnalysis(ctx, r)
			return err
		}, unexpected},
		"7 status 404": {
			nil, func(m meeting) error { _, err := m.GetCreditAnalysis(ctx, otherID); return err },
			keys(404, "message.analysis-credit.not-found"),
		},
		"7 status 405": {
			[]string{"status=405"},
			whole,
			refusal{405, apiclient.FormatC, nil, apiclient.NotCreated, true, ""},
		},
		"7 status 409": {[]string{"status=409"}, whole, keys(409, "message.sandbox.fault")},
		"7 status 415": {
			[]string{"status=415"},
			whole,
			refusal{415, apiclient.FormatEmpty, nil, apiclient.NotCreated, true, ""},
		},
		"7 status 500": {
			[]string{"status=500,commit"},
			whole,
			refusal{500, apiclient.FormatA, []string{"message.internal.error"}, apiclient.Unknown, true, ""},
		},
		"7 status 502":   {[]string{"refused"}, whole, keys(502, "message.integration.connection.refused")},
		"7 status other": {[]string{`status=422,body={"detail":"limit"}`}, whole, passedOn},
	} {
		apidoc.Run(t, apidoc.Together, row, func(t *testing.T) {
			t.Parallel()
			m := meet(t, sandbox.Options{}, test.faults...)
			test.want.check(t, test.call(m))
			// Only after the 500 may a record exist, and here it does.
			if n := len(m.box.CreatedOf()); n != map[bool]int{true: 1}[test.want.known == apiclient.Unknown] {
				t.Errorf("%d records although the client says %v", n, test.want.known)
			}
		})
	}
	apidoc.Run(t, apidoc.Together, "7 status 401", func(t *testing.T) {
		t.Parallel()
		refusal{401, apiclient.FormatGateway401, nil, apiclient.NotCreated, true, ""}.check(t,
			whole(meet(t, sandbox.Options{APIKey: "another"})))
		refusal{401, apiclient.FormatEmpty, nil, apiclient.NotCreated, true, ""}.check(t,
			whole(meet(t, sandbox.Options{}, "status=401,empty")))
	})
	apidoc.Run(t, apidoc.Together, "7 object with messages", func(t *testing.T) {
		t.Parallel()
		for body, form := range map[string]bool{
			`{}`: true, `[]`: true, `{"messages":null}`: true, `{"messages":"x"}`: true, `{"messages":{}}`: true,
			`{"messages":[1]}`: true,
			`null`:             false, `"x"`: false, `5`: false, `{`: false, `<html>`: false,
		} {
			_, err := meet(t, sandbox.Options{}, "status=400,body="+body).SubmitOrderCommitment(ctx, full, nil)
			if e := asError(t, err); e.Status != 400 || e.Known != apiclient.NotCreated || len(e.Messages) != 0 ||
				e.APIForm() != form {
				t.Errorf("%s: %v, messages %v", body, err, e.Messages)
			}
		}
	})
	apidoc.Run(t, apidoc.Together, "7 listing", func(t *testing.T) {
		t.Parallel()
		m := meet(t, sandbox.Options{World: sandbox.NewWorld()})
		if hooks, err := m.Webhooks(ctx); err != nil || hooks == nil || len(hooks) != 0 {
			t.Errorf("Webhooks = %v, %v", hooks, err)
		}
		for _, lookup := range []string{"2", "5", "8", "11", "producers by document"} {
			if e := asError(t, m.calls()["4 endpoint "+lookup]()); e.Status != 404 || !e.NotFound() {
				t.Errorf("endpoint %s: %v", lookup, e)
			}
		}
	})
}

func TestTogetherChapter7_MessageKeys(t *testing.T) {
	t.Parallel()
	r := fullRequest()
	for key, test := range map[string]struct {
		status int
		fault  string
		before func(*sandbox.Running)
	}{
		"message.wallet.not-found": {
			404, "",
			func(b *sandbox.Running) { b.Forget(sandbox.Wallets, r.WalletID) },
		},
		"message.wallet.producer-not-linked": {
			400, "",
			func(b *sandbox.Running) { b.UnlinkWallet(r.WalletID, r.ProducerID) },
		},
		"message.producer.not-found": {
			404, "",
			func(b *sandbox.Running) { b.Forget(sandbox.Producers, r.ProducerID) },
		},
		"message.delivery-place.not-found": {
			404, "",
			func(b *sandbox.Running) { b.Forget(sandbox.DeliveryPlaces, r.DeliveryPlaceID) },
		},
		"message.module.not-contracted": {
			403, "",
			func(b *sandbox.Running) { b.SetNotContracted(sandbox.Commercial) },
		},
		// The client lets no empty name out, and no endpoint of the document registers producers:
		// these two come as faults.
		"message.name.mandatory": {
			400, `status=400,body={"messages":["message.name.mandatory"]}`,
			func(*sandbox.Running) {},
		},
		"message.producer.already-exists": {
			400, `status=400,body={"messages":["message.producer.already-exists"]}`,
			func(*sandbox.Running) {},
		},
	} {
		apidoc.Run(t, apidoc.Together, "7 key "+key, func(t *testing.T) {
			t.Parallel()
			var faults []string
			if test.fault != "" {
				faults = append(faults, test.fault)
			}
			m := meet(t, sandbox.Options{}, faults...)
			test.before(m.box)
			_, err := m.CreateOrderCommitment(context.Background(), r)
			keys(test.status, key).check(t, err)
			if !strings.Contains(err.Error(), key) {
				t.Errorf("error = %v, want the key", err)
			}
		})
	}
}

// What the sandbox answers with 500 above a limit, the client does not send; at the limit both
// agree that it goes.
func TestTogetherChapter8_Limits(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	url := func(n int) string { return "https://" + strings.Repeat("ç", n-len("https://")) }
	for _, test := range []struct {
		rows     []string
		fit, big func(*apiclient.WebhookRequest)
	}{
		{
			[]string{"8 url length", "7 known 500 url"},
			func(r *apiclient.WebhookRequest) { r.URL = url(250) },
			func(r *apiclient.WebhookRequest) { r.URL = url(251) },
		},
		{
			[]string{"8 hmac_secret length", "7 known 500 hmac_secret"},
			func(r *apiclient.WebhookRequest) { r.HMACSecret = apiclient.Secret(strings.Repeat("ç", 120)) },
			func(r *apiclient.WebhookRequest) { r.HMACSecret = apiclient.Secret(strings.Repeat("ç", 121)) },
		},
	} {
		for _, row := range test.rows {
			apidoc.Run(t, apidoc.Together, row, func(t *testing.T) {
				t.Parallel()
				m := meet(t, sandbox.Options{})
				fit, big := webhookRequest(), webhookRequest()
				test.fit(&fit)
				test.big(&big)
				a, err := m.CreateWebhook(ctx, fit)
				wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
				if _, err := m.UpdateWebhook(ctx, fit); err != nil {
					t.Errorf("UpdateWebhook at the limit: %v", err)
				}
				before := m.box.Requests()
				a, err = m.CreateWebhook(ctx, big)
				wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultRequest)
				a, err = m.UpdateWebhook(ctx, big)
				wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultRequest)
				if n := m.box.Requests(); n != before {
					t.Errorf("%d requests above the limit", n-before)
				}
			})
		}
	}
}
