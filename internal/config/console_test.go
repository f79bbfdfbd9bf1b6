package config

import (
	"os"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// Passwords never travel in the open: an address that other hosts reach needs a certificate, or the
// proxy that has one.
func TestAnAddressForOthersNeedsACertificate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, console, want string }{
		{"loopback", "{listen: 127.0.0.1:8088}", ""},
		{"loopback of version 6", `{listen: "[::1]:8088"}`, ""},
		{"none", "{}", ""},
		{"all addresses in the open", "{listen: 0.0.0.0:8088}", "passwords would travel in the open"},
		{"all addresses of version 6", `{listen: "[::]:8088"}`, "passwords would travel in the open"},
		{
			"an address of the network", "{listen: 10.0.0.5:8088, hosts: [a.example]}",
			"passwords would travel in the open",
		},
		{"a name", "{listen: server:8088}", "passwords would travel in the open"},
		{
			"with a certificate, without names", "{listen: 0.0.0.0:8088, cert_file: a.pem, key_file: a.key}",
			"console.hosts",
		},
		{"with a certificate", "{listen: 0.0.0.0:8088, cert_file: a.pem, key_file: a.key, hosts: [a.example]}", ""},
		{"half a certificate", "{listen: 127.0.0.1:8088, cert_file: a.pem}", "belong together"},
		{"behind a proxy", "{listen: 0.0.0.0:8088, behind: 10.1.2.0/24, hosts: [a.example]}", ""},
		{
			"behind something else", "{listen: 127.0.0.1:8088, behind: nginx, hosts: [a.example]}",
			"must be the address of the proxy",
		},
		{
			"behind the whole world", "{listen: 0.0.0.0:8088, behind: 0.0.0.0/0, hosts: [a.example]}",
			"not more than a /8",
		},
		{"behind all of IPv6", "{listen: 0.0.0.0:8088, behind: '::/0', hosts: [a.example]}", "not more than a /8"},
		{"behind a large network", "{listen: 0.0.0.0:8088, behind: 10.0.0.0/8, hosts: [a.example]}", ""},
		{"no address", `{listen: ":8088"}`, "must be an address and a port"},
		{"no port", "{listen: 127.0.0.1}", "must be an address and a port"},
		{"a host with a scheme", "{listen: 127.0.0.1:8088, hosts: ['https://a.example']}", "is no name of a host"},
		{"an environment", "{environment: Homologação}", ""},
		{
			"an environment with a long name", "{environment: " + strings.Repeat("x", 31) + "}",
			"must be one line of at most 30 characters",
		},
		{"a login that never ends", "{listen: 127.0.0.1:8088, idle: 9h}", "console.idle"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, problem := loadText(t, edited(t, "jobs:", "console: "+tt.console+"\njobs:"))
			switch {
			case tt.want == "" && problem != "":
				t.Errorf("refused: %s", problem)
			case tt.want != "" && !strings.Contains(problem, tt.want):
				t.Errorf("got %q, want %q", problem, tt.want)
			}
		})
	}
}

func TestAKeyThatEverybodyCanReadIsRefused(t *testing.T) {
	t.Parallel()
	key := t.TempDir() + "/console.key"
	must.Do(t, os.WriteFile(key, nil, 0o600))
	for mode, refused := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o644: true, 0o666: true} {
		must.Do(t, os.Chmod(key, mode))
		_, problem := loadText(t, edited(t, "jobs:", "console: {listen: 127.0.0.1:8088, cert_file: a.pem, key_file: "+
			key+"}\njobs:"))
		if refused != strings.Contains(problem, "console.key_file: can be read by everybody on this host: chmod o= "+
			key) || !refused && problem != "" {
			t.Errorf("%04o: %q", mode, problem)
		}
	}
}
