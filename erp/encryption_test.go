package erp_test

import (
	"strings"
	"testing"

	"github.com/safrasync/safrasync/erp"
)

func TestADSNTellsWhetherItsConnectionIsEncrypted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		driver, dsn string
		want        bool
	}{
		{"postgres", "postgres://le@erp/coop?sslmode=disable", true},
		{"postgres", "postgres://le@erp/coop?sslmode=prefer", true},
		{"postgres", "host=/run/postgresql,10.0.0.5 dbname=coop user=le sslmode=disable", true},
		{"postgres", "host=10.0.0.5 dbname=coop user=le sslmode=allow", true},
		{"postgres", "postgres://le@erp/coop", false}, // the driver requires TLS by default
		{"postgres", "postgres://le@erp/coop?sslmode=require", false},
		{"postgres", "postgres://le@erp/coop?sslmode=verify-full", false},
		{"postgres", "postgres://le@127.0.0.1/coop?sslmode=disable", false},
		{"postgres", "postgres://le@localhost/coop", false},
		{"postgres", "host=/run/postgresql dbname=coop user=le sslmode=disable", false},
		{"mysql", "mysql://le@erp/coop?tls=disable", true},
		{"mysql", "mysql://le@erp/coop", false},
		{"mysql", "mariadb://le@[::1]/coop?tls=disable", false},
		{"sqlserver", "sqlserver://le:segredo@erp/ERP?tls=disable", true},
		{"sqlserver", "sqlserver://le:segredo@erp/ERP", false},
		{"oracle", "oracle://le:segredo@erp/ORCL", true},
		{"oracle", "oracle://le:segredo@erp/ORCL?tls=verify", false},
		{"oracle", "oracle://le:segredo@localhost/ORCL", false},
		{"firebird", "firebird://le:segredo@erp/ALIAS?wire_crypt=disabled", true},
		{"firebird", "firebird://le:segredo@erp/ALIAS", false},
		{"firebird", "firebird://le:segredo@127.0.0.1/ALIAS?wire_crypt=disabled", false},
		{"sqlite", "/dados/erp.db", false},
		{"oracle", "not an address", false},
	} {
		unproved := strings.HasSuffix(c.dsn, "=require") || strings.HasSuffix(c.dsn, "sql://le@erp/coop") ||
			strings.HasPrefix(c.dsn, "postgres://le@erp/coop") && !strings.Contains(c.dsn, "?")
		if got := erp.Unproved(c.driver, erp.Secret(c.dsn)); got != unproved {
			t.Errorf("%s: nobody checks who answers: %v", c.dsn, got)
		}
		if got := erp.Unencrypted(c.driver, erp.Secret(c.dsn)); got != c.want {
			t.Errorf("%s: %v", c.dsn, got)
		}
	}
}
