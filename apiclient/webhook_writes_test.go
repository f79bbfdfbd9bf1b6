package apiclient_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/apidoc"
	"github.com/safrasync/safrasync/internal/must"
)

// F165: a url or hmac_secret that the API would answer with 500 is refused here.
func TestTheLimitsOfChapter8AreCheckedBeforeSending(t *testing.T) {
	t.Parallel()
	apidoc.Covers(t, apidoc.Client, "8 url length", "8 hmac_secret length", "7 known 500 url",
		"7 known 500 hmac_secret")
	url := func(n int) string { return ("https://coop.example/" + strings.Repeat("x", 300))[:n] }
	for name, tc := range map[string]struct {
		url, secret string
		want        string // empty: sent
	}{
		"url 250":            {url(250), "", ""},
		"url 251":            {url(251), "", "url has 251 characters; the platform takes at most 250"},
		"url of 250 accents": {strings.Repeat("é", 250), "", ""},
		"url of 126 characters twofold": {
			strings.Repeat("\U0001F33E", 126), "",
			"url has 252 characters; the platform takes at most 250",
		},
		"hmac_secret 120": {url(30), strings.Repeat("s", 120), ""},
		"hmac_secret 121": {
			url(30), strings.Repeat("s", 121),
			"hmac_secret has 121 characters; the platform takes at most 120",
		},
		"both": {
			url(300), strings.Repeat("s", 200),
			"url has 300 characters; the platform takes at most 250; hmac_secret has 200 characters; the platform takes at most 120",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startRaw(t, always(201, created))
			c := s.client(t)
			r := apiclient.WebhookRequest{
				WebhookEvent: "UPDATE_FARM", URL: tc.url,
				HMACSecret: apiclient.Secret(tc.secret),
			}
			_, createErr := c.CreateWebhook(context.Background(), r)
			_, updateErr := c.UpdateWebhook(context.Background(), r)
			for _, err := range []error{createErr, updateErr} {
				switch {
				case tc.want == "" && err != nil:
					t.Errorf("error = %v, want none", err)
				case tc.want != "" && (err == nil || !strings.HasSuffix(err.Error(), ": not sent: "+tc.want)):
					t.Errorf("error = %v, want %s", err, tc.want)
				}
			}
			if n := len(s.requests()); tc.want == "" && n != 2 || tc.want != "" && n != 0 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestTheSecretsOfAWebhookGoOnTheWireAndNowhereElse(t *testing.T) {
	t.Parallel()
	const credentials, secret = "hookuser:hook/pass+word", "hmac-secret-value"
	r := apiclient.WebhookRequest{
		WebhookEvent: "CREATE_FARM", URL: "https://coop.example/h", BasicAuthentication: credentials,
		HMACSecret: secret,
	}
	hides := func(where, s string) {
		t.Helper()
		for _, bad := range []string{credentials, "hook/pass+word", `hook\/pass+word`, secret} {
			if strings.Contains(s, bad) {
				t.Errorf("%s shows %q: %.300s", where, bad, s)
			}
		}
	}
	hides("the request", printed(t, r))
	echo := `{"id":"` + testID + `","basic_authentication":"` + credentials +
		`","password":"hook\/pass+word","hmac_secret":"` + secret + `"}`
	for name, answer := range map[string]string{
		"201":     reply(201, echo, "X-Echo: "+credentials),
		"400 a":   reply(400, `{"messages":["`+credentials+` `+secret+`"]}`),
		"500 d":   reply(500, echo),
		"403 c":   reply(403, "Unexpected value: "+secret),
		"garbage": "HTTP/1.1 " + secret + "\r\n\r\n",
	} {
		s := startRaw(t, raw(answer))
		c := s.client(t)
		c.SetReadBackoff(time.Millisecond)
		a, err := c.CreateWebhook(context.Background(), r)
		b, updateErr := c.UpdateWebhook(context.Background(), r)
		for _, v := range []any{a, b, err, updateErr} {
			hides(name, printed(t, v))
		}
		hides(name, string(a.Body)+string(b.Body)+a.Text+b.Text+a.Excerpt())
		if name == "201" && a.ID != testID {
			t.Errorf("ID = %q", a.ID)
		}
		want := `{"webhook_event":"CREATE_FARM","url":"https://coop.example/h","basic_authentication":"` + credentials +
			`","hmac_secret":"` + secret + `"}`
		if d := cmp.Diff(want, string(s.requests()[0].body)); d != "" {
			t.Errorf("body (-want +got):\n%s", d)
		}
	}
	s := startRaw(t, always(200, `[{"x":1,"id":"`+testID+`","basicAuthentication":{"a":"`+credentials+`"},"hmac_secret":"`+secret+`","url":"u"},5,
		{"hmac_secret":null}]`))
	hooks := must.Get(s.client(t).Webhooks(context.Background()))(t)
	want := []apiclient.Webhook{
		{
			ID: testID, URL: "u", HMACSecret: secret,
			Received: apiclient.Received{Raw: json.RawMessage(`{"x":1,"id":"` + testID +
				`","basicAuthentication":"[secret]","hmac_secret":"[secret]","url":"u"}`)},
		},
		{Received: apiclient.Received{Raw: json.RawMessage(`5`)}},
		{Received: apiclient.Received{Raw: json.RawMessage(`{"hmac_secret":null}`)}},
	}
	if d := cmp.Diff(want, hooks); d != "" {
		t.Errorf("Webhooks (-want +got):\n%s", d)
	}
	hides("the webhooks", printed(t, hooks))
}

func TestADeletionWhoseAnswerWasLostIsDoneWhenTheRepetitionFindsNothing(t *testing.T) {
	t.Parallel()
	notFound := `{"messages":["message.webhook.not-found"]}`
	lost := func() answerFunc { return raw("") }
	for name, tc := range map[string]struct {
		answer   answerFunc
		ok       bool
		status   int
		requests int
	}{
		"first try":           {always(404, notFound), false, 404, 1},
		"after a lost answer": {thenAnswer(1, lost(), reply(404, notFound)), true, 404, 2},
		"after a 500":         {thenAnswer(1, always(500, ""), reply(404, "")), true, 404, 2},
		"after two":           {thenAnswer(2, lost(), reply(404, notFound)), true, 404, 3},
		"after 429 nothing was done": {
			thenAnswer(1, always(429, "", "Retry-After: 0"), reply(404, notFound)),
			false, 404, 2,
		},
		"after 502 refused neither": {
			thenAnswer(1,
				always(502, `{"messages":["message.integration.connection.refused"]}`), reply(404, notFound)),
			false, 404, 2,
		},
		"a page is no answer": {thenAnswer(1, lost(), reply(404, "<html>")), false, 404, 2},
		"done":                {thenAnswer(1, lost(), "HTTP/1.1 204 No Content\r\n\r\n"), true, 204, 2},
		"lost for good":       {lost(), false, 0, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startRaw(t, tc.answer)
			c := s.client(t)
			c.SetReadBackoff(time.Millisecond)
			a, err := c.DeleteWebhook(context.Background(), testID)
			if (err == nil) != tc.ok || a.Status != tc.status {
				t.Errorf("DeleteWebhook = %d, %v; want success %v with %d", a.Status, err, tc.ok, tc.status)
			}
			if n := len(s.requests()); n != tc.requests {
				t.Errorf("%d requests, want %d", n, tc.requests)
			}
		})
	}
}

func TestAnAnswerAboutAnotherEventOrAnalysisIsAnError(t *testing.T) {
	t.Parallel()
	s := startRaw(t, always(200, `{"id":"`+otherID+`","webhook_event":"DELETE_FARM"}`))
	c := s.client(t)
	_, err := c.GetWebhook(context.Background(), "CREATE_FARM")
	if e := asError(t, err); e.Fault != apiclient.FaultProtocol || e.Status != 200 {
		t.Errorf("GetWebhook = %v", err)
	}
	_, err = c.GetCreditAnalysis(context.Background(), testID)
	if e := asError(t, err); e.Fault != apiclient.FaultProtocol || e.Status != 200 {
		t.Errorf("GetCreditAnalysis = %v", err)
	}
}
