package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/throwaway"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// hearingService is a service that takes the platform's events over TLS, with everything registered
// by the program itself.
func hearingService(t *testing.T, on string,
	adjust ...func(*sandbox.Options),
) (s *service, port int, roots *x509.CertPool) {
	t.Helper()
	cert, key := must.Certificate(t)
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	s = newService(t, on, false, append(adjust,
		func(o *sandbox.Options) { o.ReceiverRoots, o.ShowTimes = roots, true })...)
	s.write("events.crt", string(cert))
	s.write("events.key", string(key))
	port = must.Get(throwaway.FreePort())(t)
	s.edit("jobs:\n",
		fmt.Sprintf(
			"webhooks: {public_url: \"https://localhost:%d\", listen: \"127.0.0.1:%d\", cert_file: events.crt, key_file: events.key, events: [all]}\njobs:\n",
			port, port))
	s.must(0, "webhooks", "apply", "--reason", "go-live", "--yes")
	for range 25 {
		s.posted()
	}
	return s, port, roots
}

// F142, F147: the whole way with the real program: registered over the API, called over TLS with
// Basic, read back, settled; forged events change nothing.
func TestF142TheServiceSettlesADoubtByTheEventOfIt(t *testing.T) {
	onEither(t, func(t *testing.T, on string) {
		s, _, _ := hearingService(t, on,
			func(o *sandbox.Options) { o.Events = []sandbox.EventFault{{Forged: true, Again: 2}} })
		s.faults("order_commitments:lost-after@1")
		s.start()
		if l := s.line("the evidence", func(l logLine) bool { return l.Msg == "evidence" }); l.Job != "contracts" ||
			l.State != "accepted" {
			t.Errorf("%s", l.raw)
		}
		s.line("the other row", func(l logLine) bool { return l.Msg == "run" })
		if job := s.job("contracts"); job.States[trade.InDoubt] != 0 || job.States[trade.Accepted] != 2 {
			t.Errorf("%v, want 2 accepted", job.States)
		}
		if out := s.must(0, "report", "--audit", "--json"); !strings.Contains(out, `"act":"evidence"`) ||
			!strings.Contains(out, `"who":"safrasync"`) {
			t.Errorf("the audit does not tell who settled it: %s", out)
		}
		s.stop()
		if n := len(s.box.Created()); n != 2 {
			t.Errorf("%d records on the platform, want 2", n)
		}
		refused := 0
		for _, d := range s.box.Deliveries() {
			if d.Status == http.StatusUnauthorized {
				refused++
			} else if !d.OK {
				t.Errorf("%s: %d %s", d.Event, d.Status, d.Error)
			}
		}
		if refused == 0 {
			t.Error("no forged event was refused")
		}
	})
}

// F150: a kill after an event was acknowledged, and before it was looked at, loses nothing: the
// next start looks at it.
func TestF150AKillAfterAnEventWasTakenLosesNothing(t *testing.T) {
	onEither(t, func(t *testing.T, on string) {
		delivered := make(chan sandbox.Delivery, 100)
		s, _, _ := hearingService(t, on,
			func(o *sandbox.Options) { o.OnDelivered = func(d sandbox.Delivery) { delivered <- d } })
		s.faults("order_commitments:lost-after@1-")
		s.start()
		for taken := 0; taken < 2; {
			select {
			case d := <-delivered:
				if d.OK {
					taken++
				}
			case <-time.After(giveUp):
				t.Fatal("no event was taken")
			}
		}
		must.Do(t, s.process.Process.Signal(syscall.SIGKILL))
		s.ended()
		s.box.SetFaults()
		s.start()
		// on a busy host the first event may have been looked at before the kill
		for runs := 0; s.job("contracts").States[trade.Accepted] != 2; runs++ {
			if runs == 60 {
				t.Fatalf("%v after %d runs, want 2 accepted", s.job("contracts").States, runs)
			}
			s.ran()
		}
		s.stop()
		if n := len(s.box.Created()); n != 2 {
			t.Errorf("%d records on the platform, want 2", n)
		}
	})
}

// W1, and a reload: nothing of the program's own stands on the port of the events; another port is
// another listener, a wrong one leaves the old one.
func TestTheServiceServesNothingElseThere(t *testing.T) {
	s, old, roots := hearingService(t, state.SQLite)
	s.start()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs:    roots,
		MinVersion: tls.VersionTLS12,
	}, DisableKeepAlives: true}}
	status := func(port int, path string) int {
		res, err := client.Get(fmt.Sprintf("https://127.0.0.1:%d%s", port, path))
		if err != nil {
			return 0
		}
		_ = res.Body.Close()
		return res.StatusCode
	}
	for _, path := range []string{"/login", "/metrics", "/healthz", "/"} {
		if got := status(old, path); got != http.StatusMethodNotAllowed {
			t.Errorf("GET %s: %d", path, got)
		}
	}
	fresh := must.Get(throwaway.FreePort())(t)
	s.edit(fmt.Sprintf("listen: \"127.0.0.1:%d\"", old), fmt.Sprintf("listen: \"127.0.0.1:%d\"", fresh))
	s.signal(syscall.SIGHUP)
	s.line("the reload", func(l logLine) bool { return strings.HasPrefix(l.Msg, "the new configuration is in force") })
	if got := status(fresh, "/"); got != http.StatusMethodNotAllowed {
		t.Errorf("the new port: %d", got)
	}
	if got := status(old, "/"); got != 0 {
		t.Errorf("the old port: %d", got)
	}
	s.stop()
}
