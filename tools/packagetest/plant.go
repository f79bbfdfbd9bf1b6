package packagetest

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	_ "github.com/lib/pq" // the driver "postgres"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/pgtest"
)

// plant is the installation of a cooperative: an ERP in a real PostgreSQL, the platform, and a
// machine with the package.
type plant struct {
	*service
	manager *manager
	erp     *sql.DB
	api     *sandbox.Running
	dsn     string
	rows    int // in the ERP
}

const plantKey = "key-of-the-plant"

// newPlant returns a plant whose machine is without the package, and a platform that knows every
// record.
func newPlant(t *testing.T) *plant {
	t.Helper()
	dsn := pgtest.Database(t)
	db, err := sql.Open("postgres", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := db.Exec(
		`CREATE TABLE contrato (num text PRIMARY KEY, quantidade numeric NOT NULL, atualizado timestamptz NOT NULL DEFAULT now())`); err != nil {
		t.Fatal(err)
	}
	api, err := sandbox.Start(sandbox.Options{APIKey: plantKey}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Close() })
	p := &plant{erp: db, api: api, dsn: dsn}
	p.service = newService(t, newRoot(t))
	p.manager = manage(t, p.service)
	return p
}

// configuration returns the plant's configuration, as its administrator wrote it; level is the log
// level.
func (p *plant) configuration(level string) string {
	return fmt.Sprintf(`# Escrita pela TI da cooperativa.
api:
  base_url: %s
  api_key: ${file:credentials/api-key}
  timeout: 10s
erp:
  driver: postgres
  dsn: ${file:credentials/erp-dsn}
state:
  driver: sqlite
  dsn: /var/lib/safrasync/state.db
log: {level: %s}
brakes: {new_rows: 0, retyped: 0}
jobs:
  contracts:
    sends: order_commitments
    schedule: "@every 1s"
    query: SELECT num, quantidade, atualizado FROM contrato
    key: num
    changed_at: atualizado
    fields:
      amount: quantidade
      producer_id: {const: 1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c01}
      issuer_id: {const: 1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c02}
      product: {const: SOJA}
      delivery_place_id: {const: 1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c03}
      haverst: {const: 2025/2026}
      unit_of_measurement: {const: KG}
      order_type: {const: A_FIXAR}
      order_date: {const: "2026-03-10"}
      wallet_id: {const: 1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c04}
`, p.api.URL, level)
}

// configure writes configuration and credentials and creates the ledger, as docs/install.md
// describes.
func (p *plant) configure() {
	p.t.Helper()
	p.root.write("/etc/safrasync/config.yaml", p.configuration("info"), 0o640)
	p.secret("api-key", plantKey)
	p.secret("erp-dsn", p.dsn)
	if p.root.exists("/var/lib/safrasync/state.db") {
		return
	}
	if out, code := p.safrasync("state", "new"); code != 0 {
		p.t.Fatalf("state new ended with %d:\n%s", code, out)
	}
}

func (p *plant) secret(name, value string) {
	p.t.Helper()
	p.root.write("/root/secret", value+"\n", 0o600)
	p.root.must("install", "-m", "400", "-o", "safrasync", "-g", "safrasync", "/root/secret",
		"/etc/safrasync/credentials/"+name)
	p.root.must("rm", "/root/secret")
}

// add inserts n contracts into the ERP.
func (p *plant) add(n int) {
	p.t.Helper()
	for range n {
		p.rows++
		if _, err := p.erp.Exec(`INSERT INTO contrato (num, quantidade) VALUES ($1, $2)`, fmt.Sprintf("%06d", p.rows),
			1000+p.rows); err != nil {
			p.t.Fatal(err)
		}
	}
}

// safrasync runs a command as a person does: as the service's user, in English.
func (p *plant) safrasync(args ...string) (output string, code int) {
	p.t.Helper()
	return p.root.run([]string{"LANG=en_US.UTF-8"},
		append([]string{
			"/usr/bin/setpriv", "--reuid=safrasync", "--regid=safrasync", "--init-groups",
			"/usr/bin/safrasync",
		}, args...)...)
}

// states returns the number of rows in each state in the ledger.
func (p *plant) states() map[string]int {
	p.t.Helper()
	out, code := p.safrasync("rows", "--json")
	if code != 0 {
		p.t.Fatalf("rows ended with %d:\n%s", code, out)
	}
	counts := map[string]int{}
	for line := range strings.Lines(out) {
		var row struct{ State string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			p.t.Fatalf("rows says %q: %v", line, err)
		}
		counts[row.State]++
	}
	return counts
}

// created returns the number of records on the platform, and the amounts that appear twice; no two
// contracts have the same amount.
func (p *plant) created() (records int, doubled []string) {
	p.t.Helper()
	seen := map[string]int{}
	for _, r := range p.api.CreatedOf(sandbox.ResourceOrderCommitments) {
		var body struct{ Amount json.Number }
		if err := json.Unmarshal(r.Body, &body); err != nil {
			p.t.Fatal(err)
		}
		seen[body.Amount.String()]++
		records++
	}
	for amount, n := range seen {
		if n > 1 {
			doubled = append(doubled, fmt.Sprintf("%s: %d times", amount, n))
		}
	}
	return records, doubled
}

// arrive waits until every row of the ERP is on the platform, exactly once.
func (p *plant) arrive(what string) {
	p.t.Helper()
	waitFor(p.t, what+": every row is on the platform", func() bool {
		records, _ := p.created()
		return records >= p.rows
	})
	p.once()
}

// halt waits until the job is stopped or backing off, and the service has reported it to systemd.
func (p *plant) halt(what string) {
	p.t.Helper()
	waitFor(p.t, what+": the job halts", func() bool {
		out, code := p.safrasync("status", "--json")
		if code != 0 {
			p.t.Fatalf("status ended with %d:\n%s", code, out)
		}
		return strings.Contains(out, `"state":"stopped"`) || strings.Contains(out, `"state":"backing_off"`)
	})
	p.wait(what+": the service says so", func() bool { return strings.HasPrefix(p.status, "contracts ") })
	p.t.Logf("%s: %s", what, p.said())
}

// once fails the test if a row is on the platform twice.
func (p *plant) once() {
	p.t.Helper()
	if _, doubled := p.created(); len(doubled) > 0 {
		p.t.Errorf("on the platform more than once: %q", doubled)
	}
}

// dpkg runs dpkg in the root.
func (p *plant) dpkg(env []string, args ...string) (output string, code int) {
	p.t.Helper()
	return p.root.run(env, append([]string{"dpkg"}, args...)...)
}

// rpm runs rpm on the root, from outside it.
func (p *plant) rpm(env []string, args ...string) (output string, code int) {
	p.t.Helper()
	return p.root.outside(env, append([]string{"rpm", "--root", p.root.dir, "--dbpath", "/var/lib/rpm"}, args...)...)
}

// installer defines how a kind of package is handled.
type installer struct {
	name     string
	install  func(p *plant, b built) (string, int)
	goBack   func(p *plant, b built, env ...string) (string, int)
	version  func(p *plant) string
	takeAway func(p *plant) (string, int)
}

func dpkgInstaller() installer {
	install := func(p *plant, b built, env ...string) (string, int) { return p.dpkg(env, "-i", p.root.bring(b.deb)) }
	return installer{
		name: "deb", install: func(p *plant, b built) (string, int) { return install(p, b) }, goBack: install,
		version: func(p *plant) string {
			return strings.TrimSpace(p.root.must("dpkg-query", "-W", "-f", "${Version}", "safrasync"))
		},
		takeAway: func(p *plant) (string, int) { return p.dpkg(nil, "-r", "safrasync") },
	}
}

func rpmInstaller() installer {
	return installer{
		name:    "rpm",
		install: func(p *plant, b built) (string, int) { return p.rpm(nil, "-U", "--nodeps", b.rpm) },
		goBack: func(p *plant, b built, env ...string) (string, int) {
			return p.rpm(env, "-U", "--nodeps", "--oldpackage", b.rpm)
		},
		version: func(p *plant) string {
			out, _ := p.rpm(nil, "-q", "--queryformat", "%{VERSION}-%{RELEASE}", "safrasync")
			return strings.TrimSpace(out)
		},
		takeAway: func(p *plant) (string, int) { return p.rpm(nil, "-e", "--nodeps", "safrasync") },
	}
}
