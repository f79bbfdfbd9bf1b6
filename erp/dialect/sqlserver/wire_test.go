package sqlserver_test

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/internal/must"
)

// opened returns the error of opening a reader, which must not name the password.
func opened(t *testing.T, dsn string) error {
	t.Helper()
	s, err := erp.Open(context.Background(), erp.SourceOptions{Driver: "sqlserver", DSN: erp.Secret(dsn)})
	if err == nil {
		must.Do(t, s.Close())
		t.Fatalf("%s was opened", dsn)
	}
	return err
}

// The driver turns what is wrong with TLS into text. Each case states what the administrator must
// do, and is none of "gave an answer that the driver does not understand".
func TestAFaultOfTLSIsNamed(t *testing.T) {
	t.Parallel()
	own := erptest.ServerTLS(t, "localhost", false)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	must.Do(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{
		Type: "CERTIFICATE", Bytes: own.Certificates[0].Certificate[0],
	}), 0o600))
	old := own.Clone()
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	for name, c := range map[string]struct {
		server   erptest.TDS
		settings string
		host     string
		code     erp.Code
		words    []string
	}{
		"the certificate is of nobody": {
			erptest.TDS{Encryption: erptest.TDSNeedsTLS, TLS: own},
			"tls=verify", "", erp.CodeTLS,
			[]string{"not trusted", "ca", "tls=require"},
		},
		"the certificate is for another name": {
			erptest.TDS{Encryption: erptest.TDSNeedsTLS, TLS: own},
			"tls=verify&ca=" + ca, "127.0.0.1", erp.CodeTLS,
			[]string{"for another name", "erp.dsn"},
		},
		"the server has no TLS": {
			erptest.TDS{Encryption: erptest.TDSWithoutTLS},
			"tls=require", "", erp.CodeTLS,
			[]string{"offers no TLS", "tls=disable"},
		},
		"the server demands TLS": {
			erptest.TDS{Encryption: erptest.TDSNeedsTLS, TLS: own},
			"tls=disable", "", erp.CodeTLS,
			[]string{"accepts only encrypted connections", "tls=require"},
		},
		"the server's TLS is too old": {
			erptest.TDS{Encryption: erptest.TDSNeedsTLS, TLS: old},
			"tls=require", "", erp.CodeTLS,
			[]string{"TLS 1.2", "update"},
		},
		"the connection ends in the handshake": {
			erptest.TDS{Encryption: erptest.TDSNeedsTLS},
			"tls=require", "", erp.CodeUnreachable,
			[]string{"during the TLS handshake", "TLS 1.2", "next run"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, port, err := net.SplitHostPort(c.server.Listen(t))
			must.Do(t, err)
			err = opened(t, "sqlserver://le:segredo@"+cmp.Or(c.host, "localhost")+":"+port+"/ERP?"+c.settings)
			erptest.WantError(t, err, c.code, c.words...)
		})
	}
}

// A certificate is accepted, and what comes after it is the login.
func TestTheServersOwnCertificateServesWithoutVerification(t *testing.T) {
	t.Parallel()
	server := erptest.TDS{
		Encryption: erptest.TDSNeedsTLS, TLS: erptest.ServerTLS(t, "SSL_Self_Signed_Fallback", false),
		Answers: [][]byte{erptest.TDSError(18456, "Login failed for user 'segredo'.")},
	}
	err := opened(t, "sqlserver://le:segredo@"+server.Listen(t)+"/ERP?tls=require")
	erptest.WantError(t, err, erp.CodeAuth)
}

func TestAConnectionThatIsCutIsLost(t *testing.T) {
	t.Parallel()
	for name, answers := range map[string][][]byte{
		"before the login":         nil,
		"in the answer to it":      {erptest.TDSLoggedIn()[:5]},
		"after the login":          {erptest.TDSLoggedIn()},
		"in the middle of a row":   {erptest.TDSLoggedIn(), erptest.TDSHalfARow()},
		"by an error that is last": {erptest.TDSLoggedIn(), erptest.TDSError(596, "Cannot continue the execution because the session is in the kill state.")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := erptest.TDS{Encryption: erptest.TDSWithoutTLS, Answers: answers}
			err := opened(t, "sqlserver://le:segredo@"+server.Listen(t)+"/ERP?tls=disable")
			erptest.WantError(t, err, erp.CodeUnreachable, "next run")
		})
	}
}

// SQL Server Browser tells the port of a named instance on UDP 1434. Port 1433 is never asked.
func TestANamedInstanceThatIsNotFoundIsUnreachable(t *testing.T) {
	t.Parallel()
	browser := must.Get(net.ListenPacket("udp", "127.143.4.1:1434"))(t)
	t.Cleanup(func() { must.Do(t, browser.Close()) })
	go func() {
		question := make([]byte, 100)
		for {
			_, from, err := browser.ReadFrom(question)
			if err != nil {
				return
			}
			known := "ServerName;ERP;InstanceName;CONTABIL;IsClustered;No;Version;15.0.2000.5;tcp;49172;;"
			_, _ = browser.WriteTo(append([]byte{5, byte(len(known)), 0}, known...), from)
		}
	}()
	for name, host := range map[string]string{"the browser knows another": "127.143.4.1", "no browser": "127.143.4.2"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := opened(t, "sqlserver://le:segredo@"+host+"/ERP?instance=TOTVS")
			erptest.WantError(t, err, erp.CodeUnreachable, host+`\TOTVS/ERP`, "UDP 1434", "write its port")
			if strings.Contains(err.Error(), "1433") {
				t.Errorf("the error names a port that was not asked: %v", err)
			}
		})
	}
}
