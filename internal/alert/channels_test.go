package alert

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"

	"github.com/safrasync/safrasync/trade"
)

var sample = Message{
	ID: "0190", At: monday, Tone: Alarm, Subject: "[safrasync] Atenção: safra, preço, ação, çãéü",
	Foot: "safrasync em safrasync, America/Sao_Paulo.",
	Parts: []Paragraph{
		{
			Heading: "O que aconteceu",
			Text:    "Linha com acento: situação <b>não</b> resolvida & outra.\n.ponto no começo",
		},
		{Items: []Item{{Text: "38 × carteira sem vínculo", More: []string{"Quem resolve: TI. `safrasync refs list`"}}}},
	},
}

func TestMailArrivesByEachSecurity(t *testing.T) {
	t.Parallel()
	for _, security := range []Security{STARTTLS, TLS, NoTLS} {
		t.Run(string(security), func(t *testing.T) {
			t.Parallel()
			s := newMailServer(t, security)
			c := s.channel()
			must.Do(t, c.Send(t.Context(), c.Targets(kindRaised)[0], sample))
			m := s.take()[0]
			if m.subject != sample.Subject || m.from != "safrasync@coop.example" || m.to != "ti@coop.example" ||
				m.id != "<safrasync-0190@coop.example>" {
				t.Errorf("%+v", m)
			}
			want := "O que aconteceu\nLinha com acento: situação <b>não</b> resolvida & outra.\n.ponto no começo\n\n" +
				"  • 38 × carteira sem vínculo\n      Quem resolve: TI. `safrasync refs list`\n\nsafrasync em safrasync, America/Sao_Paulo.\n"
			if strings.TrimRight(m.text, "\n") != strings.TrimRight(want, "\n") {
				t.Errorf("text:\n%s\nwant:\n%s", m.text, want)
			}
			if !strings.Contains(m.html,
				"situação &lt;b&gt;não&lt;/b&gt; resolvida &amp; outra.<br>.ponto no começo") ||
				!strings.Contains(m.raw, "Auto-Submitted: auto-generated") {
				t.Errorf("raw:\n%s", m.raw)
			}
		})
	}
}

// Some servers offer SMTPUTF8 and refuse mail that asks for it, so only an address that needs it
// does.
func TestSMTPUTF8IsAskedForOnlyWhereAnAddressNeedsIt(t *testing.T) {
	t.Parallel()
	s := newMailServer(t, STARTTLS)
	c := s.channel()
	must.Do(t, c.Send(t.Context(), "email:ti@coop.example", sample))
	must.Do(t, c.Send(t.Context(), "email:joão@coop.example", sample))
	if diff := cmp.Diff([]bool{false, true}, s.utf8); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A greylist refuses for the moment; nobody has to correct an address.
func TestARefusalForTheMomentIsToldAsThat(t *testing.T) {
	t.Parallel()
	for steps, want := range map[string]string{"RCPT": "smtp_450_recipient", "MAIL": "smtp_450"} {
		s := newMailServer(t, STARTTLS)
		s.refuse(steps, 450, "greylisted, ti@coop.example")
		err := s.channel().Send(t.Context(), "email:ti@coop.example", sample)
		wantFault(t, err, want)
		if text := err.Error(); !strings.Contains(text, "for the moment") || strings.Contains(text, "correct") {
			t.Errorf("%s", text)
		}
	}
}

func TestMailWithoutALogin(t *testing.T) {
	t.Parallel()
	s := newMailServer(t, NoTLS)
	c := s.channel(func(o *EmailOptions) { o.User = "" })
	if err := c.Send(t.Context(), c.Targets(kindRaised)[0], sample); err != nil || len(s.take()) != 1 ||
		len(s.logins) != 0 {
		t.Errorf("%v, logins %v", err, s.logins)
	}
}

// Each failure has a code, a hint, and nothing that the server or the configuration should keep to
// itself.
func TestMailFailuresAreToldWithoutSecrets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		security Security
		server   func(*mailServer)
		options  func(*EmailOptions)
		want     string
	}{
		"wrong password": {
			STARTTLS, nil,
			func(o *EmailOptions) { o.Password = func() string { return "canary-other" } }, "login",
		},
		"no STARTTLS":          {NoTLS, nil, func(o *EmailOptions) { o.Security = STARTTLS }, "no_starttls"},
		"TLS where there none": {STARTTLS, nil, func(o *EmailOptions) { o.Security = TLS }, "no_tls"},
		"unknown authority":    {STARTTLS, nil, func(o *EmailOptions) { o.Roots = nil }, "certificate"},
		"silence": {
			STARTTLS, func(s *mailServer) { s.options.Port = silence(t) },
			func(o *EmailOptions) { o.Timeout = 50 * time.Millisecond }, "timeout",
		},
		"sender refused": {
			STARTTLS, func(s *mailServer) { s.refuse("MAIL", 553, "safrasync@coop.example may not, canary-text") },
			nil, "smtp_553",
		},
		"content refused": {
			STARTTLS, func(s *mailServer) { s.refuse("DATA", 554, "spam, canary-text") }, nil, "smtp_554",
		},
		"nobody answers": {STARTTLS, func(s *mailServer) { s.listener.Close() }, nil, "refused"},
		"no such name":   {STARTTLS, nil, func(o *EmailOptions) { o.Host = "mail.invalid" }, "dns"},
		"not an address": {STARTTLS, nil, func(o *EmailOptions) { o.To = []string{"canary at nowhere"} }, "address"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newMailServer(t, c.security)
			if c.server != nil {
				c.server(s)
			}
			channel := s.channel(func(o *EmailOptions) {
				if c.options != nil {
					c.options(o)
				}
			})
			err := channel.Send(t.Context(), channel.Targets(kindRaised)[0], sample)
			wantFault(t, err, c.want)
			if c.want == "no_starttls" && len(s.logins) > 0 {
				t.Error("the password left without TLS")
			}
		})
	}
}

// silence is a port that takes connections and says nothing.
func silence(t *testing.T) int {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().(*net.TCPAddr).Port
}

func wantFault(t *testing.T, err error, code string) {
	t.Helper()
	var fault *Fault
	if !errors.As(err, &fault) || fault.Code != code || !fault.Why.Known(trade.Portuguese) {
		t.Fatalf("error %v, want code %s", err, code)
	}
	for _, secret := range []string{"canary", smtpPassword, hookSecret, "@"} {
		if strings.Contains(fmt.Sprintf("%v %+v", err, fault), secret) {
			t.Errorf("the error has %q: %v", secret, err)
		}
	}
}

func TestAStopOfTheServiceEndsADelivery(t *testing.T) {
	t.Parallel()
	s := newMailServer(t, STARTTLS)
	s.options.Port = silence(t)
	ctx, cancel := context.WithCancel(t.Context())
	channel := s.channel()
	done := make(chan error)
	go func() { done <- channel.Send(ctx, "email:ti@coop.example", sample) }()
	cancel()
	wantFault(t, <-done, codeCancelled)
}

func TestAWebhookTakesBothForms(t *testing.T) {
	t.Parallel()
	for _, form := range []Form{Slack, Teams} {
		t.Run(string(form), func(t *testing.T) {
			t.Parallel()
			h := newHookServer(t)
			must.Do(t, h.channel(form).Send(t.Context(), webhookTarget, sample))
			body := h.take()[0]
			var decoded map[string]any
			must.Do(t, json.Unmarshal(body, &decoded))
			want := map[Form][]string{
				Slack: {
					`"text":"🔴 [safrasync] Atenção: safra, preço, ação, çãéü"`, `"type":"section"`,
					`\u0026lt;b\u0026gt;não`, "• 38 × carteira sem vínculo",
				},
				Teams: {
					`"contentType":"application/vnd.microsoft.card.adaptive"`, `"color":"attention"`,
					"\\\\[safrasync\\\\] Atenção", "• 38 × carteira sem vínculo",
				},
			}[form]
			for _, part := range want {
				if !strings.Contains(string(body), part) {
					t.Errorf("the body lacks %s:\n%s", part, body)
				}
			}
		})
	}
}

func TestWebhookFailuresAreToldWithoutTheAddress(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request,
	) {
		t.Error("a redirect was followed")
	}))
	t.Cleanup(elsewhere.Close)
	for name, c := range map[string]struct {
		server  func(*hookServer)
		options func(*WebhookOptions)
		want    string
	}{
		"gone":      {func(h *hookServer) { h.answers(status(404)) }, nil, "http_404"},
		"trouble":   {func(h *hookServer) { h.answers(status(503)) }, nil, "http_503"},
		"slow down": {func(h *hookServer) { h.answers(status(429)) }, nil, "http_429"},
		"redirect": {
			func(h *hookServer) {
				h.answers(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect).ServeHTTP)
			}, nil, "http_307",
		},
		"nobody answers":    {func(h *hookServer) { h.Close() }, nil, "refused"},
		"unknown authority": {nil, func(o *WebhookOptions) { o.Roots = nil }, "certificate"},
		"silence": {
			func(h *hookServer) { h.answers(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }) },
			func(o *WebhookOptions) { o.Timeout = 50 * time.Millisecond }, "timeout",
		},
		"no address": {
			nil,
			func(o *WebhookOptions) { o.URL = func() string { return "https://" + hookSecret + "%zz" } }, "address",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHookServer(t)
			options := h.channel(Slack).o
			if c.server != nil {
				c.server(h)
			}
			if c.options != nil {
				c.options(&options)
			}
			channel := NewWebhook(options)
			wantFault(t, channel.Send(t.Context(), webhookTarget, sample), c.want)
			if text := fmt.Sprintf("%v %+v %#v", channel, channel, channel); strings.Contains(text, hookSecret) {
				t.Errorf("the channel prints its address: %s", text)
			}
		})
	}
}

// A receiver that answers with success and refuses in its text, and a page of a proxy, are no
// delivery.
func TestAWebhookIsDeliveredOnlyWhenItsReceiverSaysSo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		form   Form
		status int
		answer string
		taken  bool
	}{
		{Slack, 200, "ok", true},
		{Slack, 200, "ok\n", true},
		{Slack, 204, "", true},
		{Slack, 200, `{"success":true}`, true},
		{Slack, 200, `{"success":false,"error":"invalid-channel"}`, false},
		{Slack, 200, "no_service", false},
		{Slack, 200, "<!DOCTYPE html><html><body>Acesso bloqueado</body></html>", false},
		{Slack, 200, "\n <html>", false},
		{Slack, 202, `{"ok":"maybe"}`, false},
		{Slack, 200, `{"ok":true}`, true},
		{Slack, 200, `{"ok":true,"ts":"1503435956.000247"}`, true},
		{Slack, 200, `{"ok":false,"error":"channel_not_found"}`, false},
		{Slack, 200, `{"ok":true,"success":false}`, false},
		{Slack, 200, `{"status":"queued"}`, false},
		{Teams, 202, "", true},
		{Teams, 202, `{"status":"accepted"}`, true},
		{Teams, 200, "1", true},
		{Teams, 200, "", true},
		{Teams, 200, "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429", false},
		{Teams, 200, "<html>", false},
		{Teams, 202, "<html>", false},
		{Teams, 200, "ok", false},
		{Telegram, 200, `{"ok":true,"result":{"message_id":7}}`, true},
		{Telegram, 200, `{"ok":false,"error_code":400,"description":"Bad Request"}`, false},
		{Telegram, 200, "ok", false},
		{PagerDuty, 202, `{"status":"success","message":"Event processed","dedup_key":"a"}`, true},
		{PagerDuty, 200, `{"status":"invalid event","errors":["x"]}`, false},
		{PagerDuty, 202, "accepted", false},
		{JSON, 200, "recebido", true},
		{JSON, 204, "", true},
		{JSON, 200, `{"id":7}`, true},
		{JSON, 200, `{"success":false}`, false},
		{JSON, 200, "<html>", false},
	} {
		t.Run(fmt.Sprintf("%s %d %.20q", c.form, c.status, c.answer), func(t *testing.T) {
			t.Parallel()
			h := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.answer)
			}))
			t.Cleanup(h.Close)
			channel := NewWebhook(WebhookOptions{
				URL: func() string { return h.URL }, Form: c.form, Timeout: 10 * time.Second,
				Key:   func() string { return "k" },
				Roots: h.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
			})
			err := channel.Send(t.Context(), webhookTarget, sample)
			if c.taken {
				must.Do(t, err)
				return
			}
			wantFault(t, err, "not_taken")
		})
	}
}

// A webhook goes through the proxy of the configuration, with its password, which no failure shows.
func TestAWebhookGoesThroughTheProxyOfTheConfiguration(t *testing.T) {
	t.Parallel()
	h := newHookServer(t)
	asked := make(chan string, 1)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user := r.Header.Get("Proxy-Authorization")
		asked <- r.Method + " " + r.Host + " " + user
		if user != "Basic "+base64.StdEncoding.EncodeToString([]byte("coop:canary@pw")) {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		there, err := net.Dial("tcp", r.Host)
		if err != nil {
			t.Error(err)
			return
		}
		w.WriteHeader(http.StatusOK)
		here, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		go func() { _, _ = io.Copy(there, here); _ = there.Close() }()
		_, _ = io.Copy(here, there)
		_ = here.Close()
	}))
	t.Cleanup(proxy.Close)
	options := h.channel(Slack).o
	through := func(password string) error {
		options.Proxy = func() string {
			// blanks around it are none of it, as with api.proxy
			return " " + strings.Replace(proxy.URL, "http://", "http://coop:"+password+"@", 1) + "\n"
		}
		return NewWebhook(options).Send(t.Context(), webhookTarget, sample)
	}
	must.Do(t, through("canary%40pw"))
	if got := <-asked; !strings.HasPrefix(got, "CONNECT "+h.Listener.Addr().String()+" Basic ") ||
		len(h.take()) != 1 {
		t.Errorf("the proxy was asked %q", got)
	}
	wantFault(t, through("canary-wrong"), "proxy_407")
	if <-asked; len(h.take()) != 0 {
		t.Error("it was delivered without the password")
	}
}

func TestLongMessagesKeepTheLimitsOfTheReceivers(t *testing.T) {
	t.Parallel()
	long := sample
	for range 100 {
		long.Parts = append(long.Parts, Paragraph{Heading: "Título", Text: strings.Repeat("ação ", 1500)})
	}
	slack := long.slack()
	if len(slack.Blocks) > 50 {
		t.Errorf("%d blocks", len(slack.Blocks))
	}
	for _, b := range slack.Blocks {
		if b.Text != nil && len(b.Text.Text) > 3000 {
			t.Errorf("a section of %d bytes", len(b.Text.Text))
		}
	}
	data, err := json.Marshal(long.teams())
	if err != nil || len(data) > 28_000 {
		t.Errorf("a card of %d bytes, %v", len(data), err)
	}
	for _, text := range cutText(strings.Repeat("ç", 5), 3) {
		if text != "ç" {
			t.Errorf("a character was cut: %q", text)
		}
	}
}
