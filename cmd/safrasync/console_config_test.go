package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/safrasync/safrasync/state"
)

// Passwords never travel in the open: an address that other hosts reach needs a certificate, or the
// proxy that has one.
func TestC01_AnAddressForOthersNeedsACertificate(t *testing.T) {
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
		{"no address", `{listen: ":8088"}`, "must be an address and a port"},
		{"no port", "{listen: 127.0.0.1}", "must be an address and a port"},
		{"a host with a scheme", "{listen: 127.0.0.1:8088, hosts: ['https://a.example']}", "is no name of a host"},
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

func TestD9AKeyThatEverybodyCanReadIsRefused(t *testing.T) {
	t.Parallel()
	key := t.TempDir() + "/console.key"
	if err := os.WriteFile(key, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, refused := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o644: true, 0o666: true} {
		if err := os.Chmod(key, mode); err != nil {
			t.Fatal(err)
		}
		_, problem := loadText(t, edited(t, "jobs:", "console: {listen: 127.0.0.1:8088, cert_file: a.pem, key_file: "+
			key+"}\njobs:"))
		if refused != strings.Contains(problem, "console.key_file: can be read by everybody on this host: chmod o= "+
			key) || !refused && problem != "" {
			t.Errorf("%04o: %q", mode, problem)
		}
	}
}

// certificate writes a certificate for 127.0.0.1 and its key.
func (s *service) certificate() *x509.CertPool {
	s.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		s.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("console.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	s.write("console.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))))
	return pool
}

// The service serves the console beside its work, also over a reload that gives it a certificate,
// and ends with it.
func TestTheServiceServesTheConsole(t *testing.T) {
	s := newService(t, state.SQLite, false)
	s.edit("jobs:\n", "console: {listen: 127.0.0.1:0}\njobs:\n")
	s.start()
	address := s.line("the console", func(l logLine) bool { return l.Msg == "the console is served" }).Address
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: s.certificate()},
		DisableKeepAlives: true,
	}, Timeout: giveUp}
	ask := func(url string) *http.Response {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer
	}
	if got := ask("http://" + address + "/").StatusCode; got != http.StatusServiceUnavailable {
		t.Errorf("before the first administrator: %d", got)
	}
	add := s.command("users", "add", "ana", "--role", "administrator", "--password-stdin")
	add.Stdin = strings.NewReader(deskPassword + "\n")
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := ask("http://" + address + "/login").StatusCode; got != http.StatusOK {
		t.Errorf("the page of the login: %d", got)
	}
	s.edit("console: {listen: 127.0.0.1:0}", "console: {listen: 127.0.0.1:0, cert_file: "+s.path("console.pem")+
		", key_file: "+s.path("console.key")+"}")
	s.signal(syscall.SIGHUP)
	address = s.line("the console with a certificate",
		func(l logLine) bool { return l.Msg == "the console is served" }).Address
	if got := ask("https://" + address + "/login"); got.StatusCode != http.StatusOK ||
		got.Header.Get("Strict-Transport-Security") == "" {
		t.Errorf("the page of the login by TLS: %d", got.StatusCode)
	}
	if err := os.Remove(s.path("console.key")); err != nil {
		t.Fatal(err)
	}
	s.signal(syscall.SIGHUP)
	s.line("the refusal", func(l logLine) bool { return strings.Contains(l.Msg, "the old one stays in force") })
	if got := ask("https://" + address + "/login").StatusCode; got != http.StatusOK {
		t.Errorf("after a reload that was refused: %d", got)
	}
	s.stop()
}

// An address that is taken keeps the service from nothing but its console.
func TestAConsoleThatCannotListenKeepsTheServiceFromNothing(t *testing.T) {
	s := newService(t, state.SQLite, false)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	s.edit("jobs:\n", "console: {listen: "+taken.Addr().String()+"}\njobs:\n")
	s.start()
	s.line("the rows", func(l logLine) bool { return l.Msg == "run" && l.Sent == 2 })
	s.stop()
}
