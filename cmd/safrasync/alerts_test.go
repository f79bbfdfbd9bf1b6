package main

import (
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/alert"
	"github.com/safrasync/safrasync/internal/english"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// receiver is where a webhook ends.
func receiver(t *testing.T, status int) (url string, bodies <-chan string) {
	t.Helper()
	got := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		found, err := english.JSON(body)
		if err != nil || found != nil {
			t.Errorf("English in a message in Portuguese: %q, %v", found, err)
		}
		w.WriteHeader(status)
		got <- string(body)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/canary-webhook-11e2", got
}

// The service tells once of what it finds, also when it is started again, and says when it is over.
func TestTheServiceTellsPeopleOnce(t *testing.T) {
	onEither(t, func(t *testing.T, on string) {
		url, bodies := receiver(t, http.StatusOK)
		s := newService(t, on, false)
		s.env["HOOK"] = url
		s.edit("jobs:\n", "language: pt-BR\nalerts:\n  rejected_above: 0\n  webhook: {url: \"${env:HOOK}\"}\n"+
			"console: {public_url: \"https://safrasync.coop.example/\"}\njobs:\n")
		s.box.Forget(sandbox.Wallets, "33333333-3333-4333-8333-333333333310")
		s.must(0, "sync")
		s.start()
		body := received(t, bodies)
		for _, want := range []string{
			"muitas rejeições da plataforma em Contratos",
			"carteira não encontrada na plataforma (1 código)", "Soja: 1 linha",
			`https://safrasync.coop.example/rows?job=contracts\u0026amp;state=rejected|Abrir `,
		} {
			if !strings.Contains(body, want) {
				t.Errorf("the message lacks %q:\n%s", want, body)
			}
		}
		s.line("the delivery", func(l logLine) bool { return l.Msg == "message delivered" })
		s.stop()
		s.start()
		s.ran()
		s.stop()
		select {
		case again := <-bodies:
			t.Errorf("it was told again: %s", again)
		default:
		}
		if out := s.must(0, "status", "--digest"); !strings.Contains(out,
			"Muitas rejeições da plataforma em Contratos, desde") || !strings.Contains(out, "Posição: ") {
			t.Errorf("the digest lacks the open alert:\n%s", out)
		}
	})
}

// A service whose ledger gave no sign of life for hours records, sends nothing, also after another
// start, and tells somebody; it goes on by itself as soon as a person has released it.
func TestAServiceThatWasAbsentWaitsForAPerson(t *testing.T) {
	onBoth(t, func(t *testing.T, on string) {
		url, bodies := receiver(t, http.StatusOK)
		s := newService(t, on, false)
		s.env["HOOK"] = url
		s.edit("jobs:\n", "language: pt-BR\nalerts:\n  webhook: {url: \"${env:HOOK}\"}\njobs:\n")
		s.must(0, "sync", "--record-only")
		db := must.Get(sql.Open(on, s.ledger.DSN))(t)
		must.Get(db.Exec(fmt.Sprintf(`UPDATE task SET name = 'life', ran_at = %d WHERE name = 'pass'`,
			time.Now().Add(-3*time.Hour).UnixMilli())))(t)
		must.Do(t, db.Close())
		for start := range 2 {
			s.start()
			if start == 1 { // conditions are judged at a start, and then each minute
				if body := received(t, bodies); !strings.Contains(body, "ninguém deu sinal de vida por horas") {
					t.Errorf("the message: %s", body)
				}
			}
			s.line("a run that only records", func(l logLine) bool { return l.Stopped == "brake_absent" })
			if job := s.job("contracts"); job.State != trade.Paused || job.Stop.Code != "brake_absent" || len(s.posts) > 0 {
				t.Errorf("the job: %+v, %d requests", job, len(s.posts))
			}
			if start == 0 {
				s.stop()
			}
		}
		s.must(0, "release", "contracts", "--reason", "só ficou desligado", "--as", "Ana", "--yes", "--checked")
		s.posted()
		s.stop()
	})
}

func received(t *testing.T, bodies <-chan string) string {
	t.Helper()
	select {
	case body := <-bodies:
		return body
	case <-time.After(giveUp):
		t.Fatal("no message came")
		return ""
	}
}

func TestCheckSendsATestMessageOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status, code int
		want         string
	}{
		"it arrives": {200, cli.ExitDone, "✓ alertas: teste entregue: webhook slack (127.0.0.1)"},
		"it does not": {
			404, cli.ExitFailed,
			"✗ alertas: teste não entregue: webhook slack (127.0.0.1) (http_404: quem recebe não conhece mais este endereço: " +
				"crie um webhook novo e ponha-o em alerts.webhook.url)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, bodies := receiver(t, c.status)
			b := setUpBench(t, sandbox.Options{})
			b.edit("jobs:\n", "language: pt-BR\nalerts:\n  webhook: {url: \"${file:hook}\"}\njobs:\n")
			b.write("hook", url+"\n")
			out, errs := b.run(cli.ExitDone, "check", "--offline")
			if len(bodies) != 0 || !strings.Contains(out, "alertas: webhook slack (127.0.0.1), 1 destinatário") {
				t.Errorf("check without --alert: %d messages\n%s", len(bodies), out)
			}
			out2, errs2 := b.run(c.code, "check", "--offline", "--alert")
			if !strings.Contains(out2, c.want) {
				t.Errorf("check --alert:\n%s\nwant %s", out2, c.want)
			}
			if body := received(t, bodies); !strings.Contains(body, "Mensagem de teste") {
				t.Errorf("the message: %s", body)
			}
			if strings.Contains(out+errs+out2+errs2, "canary") {
				t.Errorf("the address is shown:\n%s%s", out2, errs2)
			}
		})
	}
}

func TestCheckSaysWhenNobodyCanBeTold(t *testing.T) {
	t.Parallel()
	b := setUpBench(t, sandbox.Options{})
	if out, _ := b.run(cli.ExitDone, "check", "--offline"); strings.Contains(out, "alerts") {
		t.Errorf("check speaks of alerts:\n%s", out)
	}
	if out, _ := b.run(cli.ExitFailed, "check", "--offline", "--alert"); !strings.Contains(out,
		"✗ alertas: ninguém recebe alertas") {
		t.Errorf("check --alert:\n%s", out)
	}
}

func TestTheDigestIsShownAndNothingIsSentOrStored(t *testing.T) {
	t.Parallel()
	b := setUpBench(t, sandbox.Options{})
	b.run(cli.ExitDone, "sync")
	b.edit("jobs:\n", "language: pt-BR\nalerts:\n  name: Cooperativa Modelo\njobs:\n")
	out, _ := b.run(cli.ExitDone, "status", "--digest")
	for _, want := range []string{
		"[Cooperativa Modelo] Resumo de ", ": enviados 2 contratos; por resolver: 2",
		"Contratos (rotina contracts)\nEnviado à plataforma: 2 contratos.",
		"  • 1 × carteira sem de-para (1 código) [aguardando]",
		"Posição: 4 linhas conhecidas = 1 aguardando + 1 com erro (dados do ERP) + 2 na plataforma.",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the digest lacks %q:\n%s", want, out)
		}
	}
	text, _ := b.run(cli.ExitDone, "status", "--digest", "--json")
	d := fromJSON[alert.Digest](t, text)
	if len(d.Jobs) != 1 || d.Jobs[0].States[trade.Accepted] != 2 || d.Jobs[0].Sends != trade.OrderCommitments {
		t.Errorf("JSON: %s", text)
	}
	if until, err := b.store().DigestedUntil(t.Context()); err != nil || !until.IsZero() {
		t.Errorf("the digest was stored: %v, %v", until, err)
	}
}
