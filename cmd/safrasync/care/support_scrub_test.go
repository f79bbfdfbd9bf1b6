package care

import (
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/config/configtest"
)

// A bundle for support does not name the cooperative's provider.
func TestABundleDoesNotNameTheIssuer(t *testing.T) {
	t.Parallel()
	const console = `
console:
  listen: 127.0.0.1:8088
  behind: 10.77.0.1
  hosts: [safrasync.coop.example, outra.coop.example]
  oidc:
    issuer: "https://login.coop.example"
    client_id: coop-canary
    client_secret: "${env:DSN}"
    roles: {ti: administração}
    proxy: "http://proxy.coop.example:3128"
`
	conf := configtest.Load(t, t.TempDir()+"/config.yaml", configtest.Sample(t)+console, "x")
	text := newScrubber(conf).config(conf)
	if !strings.Contains(text, "issuer: <left out>") || !strings.Contains(text, "hosts: <left out>") ||
		strings.Contains(text, "10.77") || strings.Contains(text, "coop.example") ||
		strings.Contains(text, "coop-canary") {
		t.Error(text)
	}
}
