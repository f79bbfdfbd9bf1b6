package main

import (
	"encoding/pem"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/oidctest"
	"github.com/safrasync/safrasync/trade"
)

// check reports whether the issuer answers, and an issuer that does not is a warning: everything
// else goes on. The effective configuration shows the reference, never the secret.
func TestCheckTellsWhetherTheIssuerAnswers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	issuer := oidctest.Start(t, office.Now)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: issuer.Server.Certificate().Raw})
	d.edit("console: {", `console: {oidc: {issuer: "`+issuer.URL+
		`", client_id: safrasync, client_secret: "${file:oidc-secret}", roles: {ti: administrator}}, `)
	d.edit("api:\n", "api:\n  ca_file: issuer.pem\n")
	d.write("issuer.pem", string(certificate))
	d.write("oidc-secret", oidctest.Secret+"\n")
	run := func(args ...string) (string, int) {
		t.Helper()
		code, out, said := d.ask(t.Context(), "", args...)
		if strings.Contains(out+said, oidctest.Secret) {
			t.Errorf("%v shows the secret", args)
		}
		return out + said, code
	}
	if out, code := run("check"); code != 0 ||
		!strings.Contains(out, "✓ console.oidc: "+issuer.URL+" responde e tem chaves") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if out, code := run("check", "--offline"); code != 0 || strings.Contains(out, "console.oidc") {
		t.Errorf("offline, exit code %d:\n%s", code, out)
	}
	if out, code := run("config", "show"); code != 0 ||
		!strings.Contains(out, `client_secret: "${file:oidc-secret}"`) || !strings.Contains(out, "ti: administrator") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	d.run(0, "users", "link", "carla", "4711", "--reason", "entra pela cooperativa", "--as", "ana")
	if out, _ := run("users", "list"); !strings.Contains(out, "ativo (por "+issuer.URL+")") {
		t.Error(out)
	}
	if out, code := run("users", "role", "carla", "reader"); code != 1 ||
		!strings.Contains(out, "carla entra por "+issuer.URL) {
		t.Errorf("exit code %d: %s", code, out)
	}
	if out, code := run("users", "link", "lia", "4711"); code != 1 ||
		!strings.Contains(out, "4711 já é outro usuário") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if out, code := run("users", "link", "ana", "4712"); code != 1 || !strings.Contains(out, "último administrador") {
		t.Errorf("exit code %d: %s", code, out)
	}
	if out, code := run("users", "link", "lia", "-4713"); code != 2 ||
		!strings.Contains(out, "coloque depois de -- um argumento que começa com -") {
		t.Errorf("exit code %d: %s", code, out)
	}
	d.run(0, "users", "link", "--reason", "entra pela cooperativa", "--as", "ana", "--", "lia", "-4713")
	d.runIn(t.Context(), consoletest.Password+"\n", 0, "users", "password", "lia", "--password-stdin")
	for _, subject := range []string{"", "  ", strings.Repeat("7", 256)} {
		if out, code := run("users", "link", "lia", subject); code != 2 ||
			!strings.Contains(out, "não pode ficar vazio nem passar de 255 bytes") {
			t.Errorf("subject %q, exit code %d: %s", subject, code, out)
		}
	}
	d.run(0, "users", "end", "carla")
	d.runIn(t.Context(), consoletest.Password+"\n", 0, "users", "password", "carla", "--password-stdin", "--reason",
		"saiu da conta da cooperativa", "--as", "ana")
	users := must.Get(d.host.Store.Users(t.Context()))(t)
	for _, u := range users {
		if u.Issuer != "" || u.Subject != "" || u.Password == "" {
			t.Errorf("the user %s comes by %q, %q", u.Name, u.Issuer, u.Subject)
		}
	}
	d.as(trade.Accountant)
	if records, err := d.host.Store.Audit(t.Context(), 0); err != nil ||
		!slices.ContainsFunc(records, func(r trade.AuditRecord) bool {
			return r.Act == "user password" && r.Who == "ana" && r.Target == "carla" &&
				r.Reason == "saiu da conta da cooperativa" && strings.Contains(r.Detail, issuer.URL)
		}) {
		t.Errorf("the audit: %v, %v", records, err)
	}
	d.run(0, "users", "link", "carla", "4711")
	d.run(0, "users", "disable", "carla")

	issuer.Fault(oidctest.Pages)
	if out, code := run("check"); code != 0 || !strings.Contains(out, "! console.oidc: o emissor "+issuer.URL) ||
		!strings.Contains(out, "quem tem senha no painel entra") {
		t.Errorf("an issuer that is none, exit code %d:\n%s", code, out)
	}
	issuer.Server.Close()
	if out, code := run("check"); code != 0 || !strings.Contains(out, "! console.oidc: o emissor "+issuer.URL) {
		t.Errorf("an issuer that is down, exit code %d:\n%s", code, out)
	}
}
