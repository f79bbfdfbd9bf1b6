package main

import (
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/erptest"
	"github.com/safrasync/safrasync/state"
)

// About half of the certificates that SQL Server makes for itself have a negative serial number. The
// program must come as far as the login.
func TestASQLServerWithItsOwnCertificateIsReached(t *testing.T) {
	t.Parallel()
	server := erptest.TDS{
		Encryption: erptest.TDSNeedsTLS, TLS: erptest.ServerTLS(t, "SSL_Self_Signed_Fallback", true),
		Answers: [][]byte{erptest.TDSError(18456, "Login failed for user.")},
	}
	_, err := erp.Open(t.Context(), erp.SourceOptions{
		Driver: "sqlserver", DSN: erp.Secret("sqlserver://le:segredo@" + server.Listen(t) + "/ERP?tls=require"),
	})
	erptest.WantError(t, err, erp.CodeAuth)
}

// SQL Server has no read-only transactions: check says how the rows are read, and whether the user
// may write.
func TestCheckTellsHowSQLServerIsRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		snapshot, versions, table string
		lines                     []string
	}{
		"in snapshots": {"1", "0", "", []string{
			"✓ ERP: ", "(SNAPSHOT)", "✓ ERP: nada indica que o usuário do ERP possa escrever",
		}},
		"row versions": {"0", "1", "", []string{"✓ ERP: ", "quando começou (READ_COMMITTED_SNAPSHOT)"}},
		"with locks by a writer": {"0", "0", "dbo.SE1010", []string{
			"! ERP: ", "a leitura espera por quem grava", "ligue ALLOW_SNAPSHOT_ISOLATION",
			"! ERP: o usuário do ERP poderia alterar a tabela dbo.SE1010",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newCoop(t, state.SQLite, sandbox.Options{})
			server := erptest.TDS{Encryption: erptest.TDSWithoutTLS, Asked: func(statement string) []byte {
				switch {
				case strings.Contains(statement, "snapshot_isolation_state"):
					return erptest.TDSRow(c.snapshot, c.versions)
				case strings.Contains(statement, "ProductVersion"):
					return erptest.TDSRow("15.0.2000.5", "Latin1_General_BIN")
				case strings.Contains(statement, "SYSUTCDATETIME"):
					return erptest.TDSRow("2026-08-10T10:00:00.000")
				case strings.Contains(statement, "HAS_PERMS_BY_NAME"):
					return erptest.TDSRow(c.table)
				}
				return nil
			}}
			b.write("config.yaml", strings.Replace(b.read("config.yaml"), "driver: sqlite\n  dsn: "+b.path("erp.db"),
				"driver: sqlserver\n  dsn: ${env:ERP_DSN}", 1))
			b.env["ERP_DSN"] = "sqlserver://le:segredo@" + server.Listen(t) + "/ERP?tls=disable"
			_, out, said := b.ask(t.Context(), "", "check")
			for _, line := range c.lines {
				if !strings.Contains(out+said, line) {
					t.Errorf("check does not say %q:\n%s%s", line, out, said)
				}
			}
			if strings.Contains(out, "aberto somente para leitura") {
				t.Errorf("check says that a session is read-only that is not:\n%s", out)
			}
		})
	}
}
