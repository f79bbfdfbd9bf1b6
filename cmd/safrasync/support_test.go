package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
)

// What is given away for support names no host, though the ledger says for which of them it waits.
func TestABundleForSupportNamesNoHost(t *testing.T) {
	s := newService(t, state.Postgres, false)
	s.must(0, "sync")
	db := openAdmin(t, "postgres", s.ledger.DSN)
	for _, change := range []string{
		`UPDATE ledger SET server = '1/00000001', asked = 'promoted 1/00000001'`,
		`INSERT INTO journal (id, seq, mark, host, path, at) VALUES ('x', 0, '', 'quero-quero', '/quero', 0)`,
	} {
		must.Get(db.Exec(change))(t)
	}
	s.must(0, "doctor", "--bundle", s.path("support.tar.gz"))
	text := string(must.Get(exec.Command("tar", "xzOf", s.path("support.tar.gz")).Output())(t))
	if strings.Contains(text, "quero") || !strings.Contains(text, `"name": "server_version"`) {
		t.Errorf("the bundle has %s", text)
	}
}
