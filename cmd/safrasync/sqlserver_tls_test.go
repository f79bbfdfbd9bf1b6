package main

import (
	"testing"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
)

// About half of the certificates that SQL Server makes for itself have a negative serial number. The
// program must come as far as the login.
func TestASQLServerWithItsOwnCertificateIsReached(t *testing.T) {
	t.Parallel()
	server := erptest.TDS{
		Encryption: erptest.TDSNeedsTLS, TLS: erptest.ServerTLS(t, "SSL_Self_Signed_Fallback", true),
		Answers: [][]byte{erptest.TDSError(18456, "Login failed for user.")},
	}
	_, err := erp.Open(t.Context(), erp.Options{
		Driver: "sqlserver", DSN: erp.Secret("sqlserver://le:segredo@" + server.Listen(t) + "/ERP?tls=require"),
	})
	erptest.WantError(t, err, erp.CodeAuth)
}
