package config

import (
	"strings"
	"testing"
)

const oidcMinimum = `issuer: "https://login.coop.example", client_id: a, client_secret: "${env:DSN}", roles: {ti: administração}`

// Whatever cannot work, or would carry the secret in the open, is told with its place.
func TestTheLoginByAnIssuerIsConfiguredStrictly(t *testing.T) {
	t.Parallel()
	for oidc, want := range map[string]string{
		oidcMinimum: "",
		strings.Replace(oidcMinimum, "https", "http",
			1): "console.oidc.issuer: must begin with https://",
		strings.Replace(oidcMinimum, "https://login", "http://localhost/x?",
			1): "console.oidc.issuer: must be the address",
		strings.Replace(oidcMinimum, "login.coop.example", "a/.well-known/openid-configuration",
			1): "console.oidc.issuer: must end before /.well-known/",
		strings.Replace(oidcMinimum, "https://", "https://me:secret@",
			1): "console.oidc.issuer: must be the address",
		strings.Replace(oidcMinimum, "${env:DSN}", "hunter2hunter2",
			1): "console.oidc.client_secret: must not stand in the file",
		strings.Replace(oidcMinimum, "administração", "imperador",
			1): "console.oidc.roles.ti: must be reader",
		strings.Replace(oidcMinimum, ", roles: {ti: administração}", "",
			1): "console.oidc.roles: is required",
		`client_id: Coop`:                 "console.oidc.issuer: is required",
		oidcMinimum + `, scopes: [email]`: "unknown key `scopes`",
	} {
		_, problem := loadText(t, edited(t, "jobs:", "console: {listen: 127.0.0.1:8088, oidc: {"+oidc+"}}\njobs:"))
		switch {
		case want == "" && problem != "":
			t.Errorf("%s is refused: %s", oidc, problem)
		case !strings.Contains(problem, want):
			t.Errorf("%s: got %q, want %q", oidc, problem, want)
		case strings.Contains(problem, "hunter2"):
			t.Errorf("the secret is told: %s", problem)
		}
	}
	if _, problem := loadText(t, edited(t, "jobs:",
		"console: {oidc: {"+oidcMinimum+"}}\njobs:")); !strings.Contains(problem, "needs console.listen") {
		t.Error(problem)
	}
}
