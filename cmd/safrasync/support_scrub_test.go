package main

import (
	"strings"
	"testing"
)

// A bundle for support does not name the cooperative's provider.
func TestABundleDoesNotNameTheIssuer(t *testing.T) {
	t.Parallel()
	oidc := strings.Replace(oidcMinimum, "client_id: a", "client_id: coop-canary", 1) +
		`, proxy: "http://proxy.coop.example:3128"`
	config, problem := loadText(t, edited(t, "jobs:",
		"console: {listen: 127.0.0.1:8088, behind: 10.77.0.1, hosts: [safrasync.coop.example, outra.coop.example], oidc: {"+oidc+"}}\njobs:"))
	if problem != "" {
		t.Fatal(problem)
	}
	text := newScrubber(config).config(config)
	if !strings.Contains(text, "issuer: <left out>") || !strings.Contains(text, "hosts: <left out>") ||
		strings.Contains(text, "10.77") || strings.Contains(text, "coop.example") ||
		strings.Contains(text, "coop-canary") {
		t.Error(text)
	}
}
