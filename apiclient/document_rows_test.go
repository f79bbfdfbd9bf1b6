package apiclient_test

import (
	"context"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/apidoc"
)

// Chapters 4 to 7 on the client alone, against answers written by hand. Subtests are named after
// the rows.

func TestClientChapter4_RefusalsOfPutWebhooks(t *testing.T) {
	t.Parallel()
	for row, test := range map[string]struct {
		answer answerFunc
		want   refusal
	}{
		"4 PUT webhooks 400": {
			always(400, `{"timestamp":"2026-11-21T09:00:00Z","status":400,"error":"Bad Request"}`),
			refusal{400, apiclient.FormatB, nil, apiclient.NotCreated, true, ""},
		},
		// Their bodies are not shown. An empty one may be anybody's.
		"4 PUT webhooks 401": {
			always(401, `{"any":1}`),
			refusal{401, apiclient.FormatD, nil, apiclient.NotCreated, true, ""},
		},
		"4 PUT webhooks 404": {always(404, ``), refusal{404, apiclient.FormatEmpty, nil, apiclient.Unknown, false, ""}},
	} {
		apidoc.Run(t, apidoc.Client, row, func(t *testing.T) {
			t.Parallel()
			s := startRaw(t, test.answer)
			_, err := s.client(t).UpdateWebhook(context.Background(), webhookRequest())
			test.want.check(t, err)
			if n := len(s.requests()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

func TestClientChapter4_Rules(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	apidoc.Run(t, apidoc.Client, "4 rule 3", func(t *testing.T) {
		t.Parallel()
		s := startRaw(t, always201)
		c := s.client(t)
		a, err := c.CreateTraceability(ctx, namedID,
			apiclient.TraceabilityRequest{ProducerID: namedID, UserID: otherID})
		wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
		for _, r := range []apiclient.TraceabilityRequest{{ProducerID: testID}, {UserID: otherID}} {
			a, err := c.CreateTraceability(ctx, testID, r)
			wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultRequest)
		}
	})
	apidoc.Run(t, apidoc.Client, "4 rule 4", func(t *testing.T) {
		t.Parallel()
		for _, order := range [][]any{{scoreRequest(), analysisRequest()}, {analysisRequest(), scoreRequest()}} {
			s := startRaw(t, always201)
			c := s.client(t)
			for _, r := range order {
				a, err := send(t, c, "", r)
				wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
			}
			if n := len(s.requests()); n != 2 {
				t.Errorf("%d requests, want one for each", n)
			}
		}
	})
}

func TestClientChapter5_Refusals(t *testing.T) {
	t.Parallel()
	for row, test := range map[string]struct {
		answers map[string]apiclient.Format // bodies, and the forms in which they come
		status  int
		message string
	}{
		"5 rule 2": {map[string]apiclient.Format{
			`{"data":[],"error":{}}`:                       apiclient.FormatGateway401,
			`{"data":[],"error":{"text":"of any plugin"}}`: apiclient.FormatGateway401,
		}, 401, ""},
		"5 rule 3": {map[string]apiclient.Format{"": apiclient.FormatEmpty}, 401, ""},
		"5 rule 4": {
			map[string]apiclient.Format{`{"messages":["message.module.not-contracted"]}`: apiclient.FormatA},
			403, "message.module.not-contracted",
		},
		"5 rule 5": {map[string]apiclient.Format{
			`{"message":"no"}`: apiclient.FormatD, "": apiclient.FormatEmpty,
			"<html>": apiclient.FormatHTML,
		}, 403, ""},
	} {
		apidoc.Run(t, apidoc.Client, row, func(t *testing.T) {
			t.Parallel()
			for body, format := range test.answers {
				s := startRaw(t, always(test.status, body))
				c := s.client(t)
				for _, e := range endpoints {
					_, err := e.call(context.Background(), c, namedID)
					failure := asError(t, err)
					known := apiclient.NotCreated
					// the document shows no such 403
					if test.status == 403 && format != apiclient.FormatA && format != apiclient.FormatD {
						known = apiclient.Unknown
					}
					if failure.Status != test.status || failure.Format != format || failure.Known != known {
						t.Errorf("%s: %v, format %v; want %v", e.name, err, failure.Format, format)
					}
					if module := failure.HasMessage("message.module.not-contracted"); module != (test.message != "") {
						t.Errorf("%s: %v", e.name, err)
					}
				}
				if n := len(s.requests()); n != len(endpoints) {
					t.Errorf("%d requests, want one for each endpoint", n)
				}
			}
		})
	}
}

func TestClientChapter6_Events(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	if n := len(apiclient.WebhookEvents); n != len(apidoc.Events) {
		t.Errorf("%d events, want %d", n, len(apidoc.Events))
	}
	for i, event := range apidoc.Events {
		apidoc.Run(t, apidoc.Client, "6 event "+event, func(t *testing.T) {
			t.Parallel()
			e := apiclient.WebhookEvents[i]
			if string(e) != event {
				t.Fatalf("the event number %d is %s, want %s", i+1, e, event)
			}
			s := startRaw(t, always(201, `{"id":"`+testID+`","webhook_event":"`+event+`"}`))
			c := s.client(t)
			r := apiclient.WebhookRequest{WebhookEvent: e, URL: "https://coop.example/hook"}
			_, createErr := c.CreateWebhook(ctx, r)
			_, updateErr := c.UpdateWebhook(ctx, r)
			w, getErr := c.GetWebhook(ctx, e)
			if createErr != nil || updateErr != nil || getErr != nil || w.WebhookEvent != e {
				t.Errorf("%v, %v, %v; read %q", createErr, updateErr, getErr, w.WebhookEvent)
			}
			seen := s.requests()
			for _, written := range seen[:2] {
				if got := members(t, written.body)["webhook_event"]; string(got) != `"`+event+`"` {
					t.Errorf("%s: webhook_event = %s", written.Method, got)
				}
			}
			if want := hooksPath + "/-/events/" + event; seen[2].RequestURI != want {
				t.Errorf("GET %s, want %s", seen[2].RequestURI, want)
			}
		})
	}
}

// F126: the two kinds of 401 are told apart. F128: the text of an unknown value is kept, and is in
// no error.
func TestClientChapter7_StatusesAndFormats(t *testing.T) {
	t.Parallel()
	type one struct {
		status int
		body   string
		want   refusal
	}
	unexpected := func(text string) refusal {
		return refusal{403, apiclient.FormatC, nil, apiclient.NotCreated, true, text}
	}
	form := func(status int, format apiclient.Format, known apiclient.Known) refusal {
		api := format == apiclient.FormatD || format == apiclient.FormatGateway401 || format == apiclient.FormatEmpty &&
			(status == 401 || status == 415)
		return refusal{status, format, nil, known, api, ""}
	}
	const invalid = `{"timestamp":"2026-11-21T09:00:00.000+00:00","status":400,"error":"Bad Request","message":"message.id.invalid"}`
	for row, answers := range map[string][]one{
		"7 format a": {
			{400, `{"messages":["message.a.invalid"]}`, keys(400, "message.a.invalid")},
			{
				400, `{"messages":["message.a.invalid","message.b.mandatory"]}`,
				keys(400, "message.a.invalid", "message.b.mandatory"),
			},
		},
		"7 format b": {{400, invalid, refusal{
			400, apiclient.FormatB,
			[]string{"message.id.invalid"},
			apiclient.NotCreated, true, "",
		}}},
		"7 format c": {
			{403, `Unexpected value: X`, unexpected("Unexpected value: X")},
			{403, `"Unexpected value: X"`, unexpected("Unexpected value: X")},
		},
		"7 format d": {
			{400, `{"detail":{"code":17}}`, form(400, apiclient.FormatD, apiclient.NotCreated)},
			{400, `[{"code":17}]`, form(400, apiclient.FormatD, apiclient.NotCreated)},
			{422, `{"messages":["limit"]}`, keys(422, "limit")},
		},
		"7 object with messages": {
			{400, `{}`, form(400, apiclient.FormatD, apiclient.NotCreated)},
			{400, `[]`, form(400, apiclient.FormatD, apiclient.NotCreated)},
			{400, `null`, form(400, apiclient.FormatOther, apiclient.NotCreated)},
			{400, `5`, form(400, apiclient.FormatOther, apiclient.NotCreated)},
			{400, `{"messages":null}`, form(400, apiclient.FormatD, apiclient.NotCreated)},
			{400, `{"messages":"x"}`, form(400, apiclient.FormatD, apiclient.NotCreated)},
			{400, `{"messages":[{}]}`, form(400, apiclient.FormatD, apiclient.NotCreated)},
		},
		"7 status 400 validation": {{
			400, `{"messages":["message.producer.social-identity.invalid"]}`,
			keys(400, "message.producer.social-identity.invalid"),
		}},
		"7 status 400 malformed": {{
			400, `{"messages":["message.malformed-request"]}`,
			keys(400, "message.malformed-request"),
		}},
		"7 status 400 duplicate": {{
			400, `{"messages":["message.duplicate.key"]}`,
			keys(400, "message.duplicate.key"),
		}},
		"7 status 400 COMPRA": { // the key is not shown, nor that there is one
			{400, `{"messages":["message.payday.mandatory"]}`, keys(400, "message.payday.mandatory")},
			{400, ``, form(400, apiclient.FormatEmpty, apiclient.NotCreated)},
		},
		"7 status 401": {
			{401, `{"data":[],"error":{"m":"x"}}`, form(401, apiclient.FormatGateway401, apiclient.NotCreated)},
			{401, ``, form(401, apiclient.FormatEmpty, apiclient.NotCreated)},
		},
		"7 status 403 module": {{
			403, `{"messages":["message.module.not-contracted"]}`,
			keys(403, "message.module.not-contracted"),
		}},
		"7 status 403 enumeration": {{403, `Unexpected value: PX`, unexpected("Unexpected value: PX")}},
		"7 status 404": {{
			404, `{"messages":["message.entidade.not-found"]}`,
			keys(404, "message.entidade.not-found"),
		}},
		"7 status 405": {
			{
				405, `Request method 'POST' not supported`,
				refusal{
					405, apiclient.FormatC, nil, apiclient.NotCreated, true,
					"Request method 'POST' not supported",
				},
			},
			{405, `"POST refused"`, refusal{405, apiclient.FormatC, nil, apiclient.NotCreated, true, "POST refused"}},
		},
		"7 status 409": {{409, `{"messages":["the contract exists"]}`, keys(409, "the contract exists")}},
		"7 status 415": {{415, ``, form(415, apiclient.FormatEmpty, apiclient.NotCreated)}},
		"7 status 500": { // a record may exist
			{
				500, `{"messages":["message.internal.error"]}`,
				refusal{500, apiclient.FormatA, []string{"message.internal.error"}, apiclient.Unknown, true, ""},
			},
			{
				500, `{"messages":["NullPointerException"]}`,
				refusal{500, apiclient.FormatA, []string{"NullPointerException"}, apiclient.Unknown, true, ""},
			},
		},
		"7 status 502": {
			{
				502, `{"messages":["message.integration.connection.refused"]}`,
				keys(502, "message.integration.connection.refused"),
			},
			{502, `<html>`, form(502, apiclient.FormatHTML, apiclient.Unknown)},
		},
		"7 status other": {
			{422, `{"detail":"limit"}`, form(422, apiclient.FormatD, apiclient.NotCreated)},
			{500, `["x"]`, form(500, apiclient.FormatD, apiclient.Unknown)},
			// not described, so not assumed
			{418, `{"detail":"limit"}`, form(418, apiclient.FormatD, apiclient.Unknown)},
		},
	} {
		apidoc.Run(t, apidoc.Client, row, func(t *testing.T) {
			t.Parallel()
			for _, a := range answers {
				_, _, err := submit(t, always(a.status, a.body))
				a.want.check(t, err)
			}
		})
	}
	apidoc.Run(t, apidoc.Client, "7 listing", func(t *testing.T) {
		t.Parallel()
		ctx := context.Background()
		hooks, err := startRaw(t, always(200, `[]`)).client(t).Webhooks(ctx)
		if err != nil || hooks == nil || len(hooks) != 0 {
			t.Errorf("Webhooks = %v, %v", hooks, err)
		}
		s := startRaw(t, always(404, `{"messages":["message.entidade.not-found"]}`))
		c := s.client(t)
		for _, e := range endpoints {
			if e.verb() != "GET" {
				continue
			}
			_, err := e.call(ctx, c, namedID)
			keys(404, "message.entidade.not-found").check(t, err)
		}
	})
}

func TestClientChapter7_MessageKeys(t *testing.T) {
	t.Parallel()
	for key, status := range map[string]int{
		"message.wallet.not-found": 404, "message.wallet.producer-not-linked": 400, "message.producer.not-found": 404,
		"message.producer.already-exists":  409,
		"message.delivery-place.not-found": 404, "message.name.mandatory": 400, "message.module.not-contracted": 403,
	} {
		apidoc.Run(t, apidoc.Client, "7 key "+key, func(t *testing.T) {
			t.Parallel()
			_, _, err := submit(t, always(status, `{"messages":["`+key+`"]}`))
			keys(status, key).check(t, err)
			if e := asError(t, err); !e.HasMessage(key) || e.HasMessage(strings.ToUpper(key)) ||
				!strings.HasSuffix(err.Error(), " "+key) {
				t.Errorf("error = %v, want the key in it", err)
			}
		})
	}
}
