package main

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// The service serves the console beside its work, also over a reload that gives it a certificate,
// and ends with it.
func TestTheServiceServesTheConsole(t *testing.T) {
	s := newService(t, state.SQLite, false)
	s.edit("jobs:\n", "console: {listen: 127.0.0.1:0}\njobs:\n")
	s.start()
	address := s.line("the console", func(l logLine) bool { return l.Msg == "the console is served" }).Address
	cert, key := must.Certificate(t)
	s.write("console.pem", string(cert))
	s.write("console.key", string(key))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots},
		DisableKeepAlives: true,
	}, Timeout: giveUp}
	ask := func(url string) *http.Response {
		t.Helper()
		request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
		answer, err := client.Do(request)
		must.Do(t, err)
		_ = answer.Body.Close()
		return answer
	}
	if got := ask("http://" + address + "/").StatusCode; got != http.StatusServiceUnavailable {
		t.Errorf("before the first administrator: %d", got)
	}
	s.addUser(trade.Administrator)
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
	must.Do(t, os.Remove(s.path("console.key")))
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
	taken := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer taken.Close()
	s.edit("jobs:\n", "console: {listen: "+taken.Addr().String()+"}\njobs:\n")
	s.start()
	s.line("the rows", func(l logLine) bool { return l.Msg == "run" && l.Sent == 2 })
	s.stop()
}
