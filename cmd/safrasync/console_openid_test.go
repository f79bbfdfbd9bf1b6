package main

import (
	"encoding/pem"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/oidctest"
	"github.com/safrasync/safrasync/trade"
)

// issuer starts one that knows an accountant, by which the consoles that are made from now on let
// people in.
func (d *deskWorld) issuer() *oidctest.Issuer {
	d.t.Helper()
	issuer := oidctest.Start(d.t, office.Now)
	issuer.Person(map[string]any{"sub": "1", "preferred_username": "rui", "groups": "contabil"})
	d.write("issuer.pem", string(pem.EncodeToMemory(&pem.Block{
		Type:  "CERTIFICATE",
		Bytes: issuer.Server.Certificate().Raw,
	})))
	plain := d.read("config.yaml")
	d.edit("console: {", fmt.Sprintf(`console: {oidc: {issuer: %q, client_id: %q,
  client_secret: "${env:OIDC}", roles_claim: groups, roles: {contabil: accountant}}, `,
		issuer.URL, oidctest.ClientID))
	d.edit("api:\n", "api:\n  ca_file: issuer.pem\n")
	d.env["OIDC"] = oidctest.Secret
	loaded := must.Get(config.Load(d.file, d.host.App.Env))(d.t)
	d.write("config.yaml", plain)
	d.host.App.Config.Console.OIDC, d.host.App.Config.API.CAFile = loaded.Console.OIDC, loaded.API.CAFile
	return issuer
}

// An issuer that has a session lets people in without asking. Before a second sending they give
// the password there all the same, and only that counts.
func TestWhoCameWithoutThePasswordGivesItBeforeASecondSending(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "lost-before,reset@1")
	issuer := d.issuer()
	c := d.host.Console()
	server := httptest.NewServer(c)
	t.Cleanup(func() {
		c.Close()
		server.Close()
	})
	b := (&consoletest.World{T: t, Server: server}).Browser()
	b.Client.CheckRedirect = nil
	goes := func(path string, form url.Values) *consoletest.Browser { // to the issuer and back
		t.Helper()
		m := regexp.MustCompile(`content="0;url=(https://[^"]+)"`).FindStringSubmatch(b.Post(path,
			form).Wants(http.StatusOK, "127.0.0.1").Body)
		client := issuer.Server.Client()
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, html.UnescapeString(m[1]), nil))(t)
		answer, err := client.Do(request)
		must.Do(t, err)
		defer answer.Body.Close()
		back := must.Get(url.Parse(answer.Header.Get("Location")))(t)
		return b.Get(back.RequestURI())
	}

	issuer.Fault(oidctest.OldProof)
	doubt, _ := d.inDoubt()
	desk := "/doubts/" + strconv.FormatInt(doubt.ID, 10)
	// from now on this host knows of the doubt
	goes("/login/openid", url.Values{"next": {desk}}).Wants(http.StatusOK, doubt.Key)
	d.sql("state.db", fmt.Sprintf(`UPDATE quarantine SET ticks = ticks - %d`, time.Hour))
	order := func() *consoletest.Browser {
		t.Helper()
		decision(b, doubt, "resend").Wants(http.StatusOK, "se já existir lá, ficará duplicado")
		return b
	}
	form := with(order().Wants(http.StatusOK, "Confirmar em 127.0.0.1").Form("/act/resend"), "reason", "não está lá",
		"checked", "1")
	b.Post("/act/resend", form).Wants(http.StatusUnprocessableEntity, "Confirme primeiro quem você é")
	goes("/account/prove", form).Wants(http.StatusForbidden, "não pediu sua senha de novo")
	b.Post("/act/resend", form).Wants(http.StatusUnprocessableEntity, "Confirme primeiro quem você é")
	if e := d.entry("contracts", doubt.Key); e.State != trade.InDoubt {
		t.Fatalf("the row is %s before anybody may send it again", e.State)
	}
	issuer.Fault("")
	goes("/account/prove", form).Wants(http.StatusOK, doubt.Key)
	form = with(order().Form("/act/resend"), "reason", "não está lá", "checked", "1")
	b.Post("/act/resend", form).Wants(http.StatusOK, "É enviado de novo na próxima execução.")
	if e := d.entry("contracts", doubt.Key); e.State != trade.Pending || e.Generation != 2 {
		t.Errorf("the row is %s in generation %d, want pending in 2", e.State, e.Generation)
	}
}
