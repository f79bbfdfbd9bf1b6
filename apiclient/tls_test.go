package apiclient_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/must"
)

// authority is a CA of the test.
type authority struct {
	tls.Certificate
	file string
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	ca := authority{Certificate: issue(t, nil, func(c *x509.Certificate) {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
	}), file: filepath.Join(t.TempDir(), "ca.pem")}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Leaf.Raw})
	must.Do(t, os.WriteFile(ca.file, text, 0o600))
	return ca
}

func (a authority) issue(t *testing.T, change func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	return issue(t, &a.Certificate, change)
}

// issue returns a certificate for a server on 127.0.0.1, after change has spoiled it. Without an
// authority it signs itself.
func issue(t *testing.T, by *tls.Certificate, change func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	made := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.ParseIP("127.0.0.1")}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if change != nil {
		change(made)
	}
	if by == nil {
		by = &tls.Certificate{Leaf: made, PrivateKey: key}
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, made, by.Leaf, &key.PublicKey, by.PrivateKey))(t)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: must.Get(x509.ParseCertificate(der))(t)}
}

// startTLS starts a server that would also speak HTTP/2, and fails the test for every request that
// is not HTTP/1.1.
func startTLS(t *testing.T, cert tls.Certificate, change func(*tls.Config)) (*httptest.Server, *[]string) {
	t.Helper()
	var protos []string
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protos = append(protos, r.Proto+" "+r.TLS.NegotiatedProtocol)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, created)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{
		Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
	}
	if change != nil {
		change(s.TLS)
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, &protos
}

func TestF098OverTLSOnlyHTTP11IsSpokenAndConnectionsAreKept(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	s, protos := startTLS(t, ca.issue(t, nil), nil)
	c := newClient(t, apiclient.Settings{BaseURL: s.URL, CAFile: ca.file})
	for i := range 3 {
		a, err := c.SubmitOrderCommitment(context.Background(), payload, nil)
		wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
		if a.Evidence.ReusedConn != (i > 0) {
			t.Errorf("call %d: ReusedConn = %v", i, a.Evidence.ReusedConn)
		}
	}
	s.Close()
	for _, p := range *protos {
		if p != "HTTP/1.1 http/1.1" {
			t.Errorf("the server was spoken to in %q", p)
		}
	}
}

func TestF087CertificateFaultsAreProofThatNothingWasSent(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	past := time.Now().Add(-12 * time.Hour)
	for name, tc := range map[string]struct {
		cert   func(*x509.Certificate)
		server func(*tls.Config)
		noCA   bool
		want   string
	}{
		"expired": {
			cert: func(c *x509.Certificate) { c.NotAfter = past },
			want: "the certificate expired on " + past.UTC().Format(time.DateOnly),
		},
		"not yet valid": {
			cert: func(c *x509.Certificate) { c.NotBefore = time.Now().Add(12 * time.Hour) },
			want: "check the clock of this host",
		},
		"wrong name": {
			cert: func(c *x509.Certificate) { c.IPAddresses = nil; c.DNSNames = []string{"api.example.com"} },
			want: "is for api.example.com, not for 127.0.0.1; check api.base_url",
		},
		"F088 unknown authority": {noCA: true, want: "set api.ca_file"},
		"not for servers": {
			cert: func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} },
			want: "the certificate is not valid",
		},
		"TLS 1.1 only": {
			server: func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 },
			want:   "protocol version",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, protos := startTLS(t, ca.issue(t, tc.cert), tc.server)
			o := apiclient.Settings{BaseURL: s.URL, CAFile: ca.file}
			if tc.noCA {
				o.CAFile = ""
			}
			gate := func() error { t.Error("the gate was asked"); return nil }
			a, err := newClient(t, o).SubmitOrderCommitment(context.Background(), payload, gate)
			wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultCertificate)
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want %q in it", err, tc.want)
			}
			if a.Evidence.Phase != apiclient.PhaseTLS || a.Evidence.BytesWritten != 0 {
				t.Errorf("evidence = %+v", a.Evidence)
			}
			s.Close()
			if len(*protos) != 0 {
				t.Errorf("the server saw requests: %v", *protos)
			}
		})
	}
}

func TestATLSPortThatSpeaksPlainHTTPIsNamed(t *testing.T) {
	t.Parallel()
	s := startRaw(t, always(201, created))
	// The raw server cannot parse the handshake and hangs up; a server that answers in clear is
	// named as such.
	a, err := newClient(t, apiclient.Settings{BaseURL: "https://" + s.addr}).SubmitOrderCommitment(context.Background(),
		payload, nil)
	wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultNetwork)

	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	a, err = newClient(t, apiclient.Settings{BaseURL: "https://" + plain.Listener.Addr().String()}).
		SubmitOrderCommitment(context.Background(), payload, nil)
	wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultCertificate)
	if !strings.Contains(err.Error(), "does not speak TLS on this port") {
		t.Errorf("error = %v", err)
	}
}

func TestALossOfTheConnectionOverTLSAfterTheBytesLeftIsUnknown(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	s, _ := startTLS(t, ca.issue(t, nil), nil)
	s.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	a, err := newClient(t, apiclient.Settings{
		BaseURL: s.URL,
		CAFile:  ca.file,
	}).SubmitOrderCommitment(context.Background(), payload, nil)
	wantKnown(t, a, err, apiclient.Unknown, apiclient.FaultNetwork)
	if a.Evidence.Phase != apiclient.PhaseWroteAll {
		t.Errorf("evidence = %+v", a.Evidence)
	}
}

// The server accepts the connection and never finishes the handshake: the time-out of the request
// ends it, unsent.
func TestAHandshakeThatHangsIsUnsent(t *testing.T) {
	t.Parallel()
	ln := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = ln.Close() })
	c := newClient(t, apiclient.Settings{BaseURL: "https://" + ln.Addr().String(), Timeout: overSoon})
	a, err := c.SubmitOrderCommitment(context.Background(), payload, nil)
	wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultTimeout)
	if a.Evidence.Phase != apiclient.PhaseTLS {
		t.Errorf("phase = %v", a.Evidence.Phase)
	}
}

func TestClosingTheClientGivesUpAHandshake(t *testing.T) {
	t.Parallel()
	ln := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = ln.Close() })
	c := newClient(t, apiclient.Settings{BaseURL: "https://" + ln.Addr().String(), Timeout: 5 * time.Second})
	go func() {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		_, _ = io.CopyN(io.Discard, conn, 1) // the handshake has begun
		c.Close()
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
	}()
	a, err := c.SubmitOrderCommitment(context.Background(), payload, nil)
	wantKnown(t, a, err, apiclient.NotSent, apiclient.FaultCanceled)
}

func TestTheEndOfTheCertificateIsKnownFromTheFirstHandshakeOn(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	ends := time.Now().Add(5 * time.Hour).UTC().Truncate(time.Second)
	s, _ := startTLS(t, ca.issue(t, func(c *x509.Certificate) { c.NotAfter = ends }), nil)
	c := newClient(t, apiclient.Settings{BaseURL: s.URL, CAFile: ca.file})
	if got := c.CertificateEnds(); !got.IsZero() {
		t.Errorf("before any connection it ends at %v", got)
	}
	a, err := c.SubmitOrderCommitment(context.Background(), payload, nil)
	wantKnown(t, a, err, apiclient.Created, apiclient.FaultNone)
	if got := c.CertificateEnds(); !got.Equal(ends) {
		t.Errorf("it ends at %v, want %v", got, ends)
	}
}
