package packagetest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
)

// commands returns the lines of a page's code blocks marked sh.
func commands(t *testing.T, page string) []string {
	t.Helper()
	text := must.Get(os.ReadFile(repository + "/docs/" + page))(t)
	var out []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(block[1]) {
			out = append(out, strings.TrimSuffix(line, "\n"))
		}
	}
	return out
}

// cutOver matches the line of a query by which init asks from when on rows count.
var cutOver = regexp.MustCompile(`(?m)^ *-- PREENCHER: .*\n`)

// unfilled is a field of which init wrote that a person has to say its column.
var unfilled = regexp.MustCompile(`(?m)^      (\w+): (?:PREENCHER|\{const: PREENCHER\}).*$`)

// filled are the columns that a person names, by field.
var filled = map[string]string{
	"amount": "quantidade", "producer_id": "produtor", "issuer_id": "emissor", "product": "produto",
	"delivery_place_id": "local_entrega", "haverst": "safra", "unit_of_measurement": "unidade_medida",
	"order_type": "tipo", "order_date": "emissao", "wallet_id": "carteira", "currency": "moeda",
	"modality": "modalidade", "payment_type": "forma_pagamento",
}

// The page is correct: its commands, one after the other on a machine without safrasync, lead to a
// running service, and the configuration that init wrote, with only its PREENCHER filled in, sends
// the first row. Both languages have the same commands.
func TestTheInstallationPageLeadsToAServiceThatRuns(t *testing.T) {
	t.Parallel()
	lines := commands(t, "install.md")
	if diff := cmp.Diff(lines, commands(t, "install.pt-BR.md")); diff != "" || len(lines) < 10 {
		t.Fatalf("the commands of install.md and install.pt-BR.md (-en +pt):\n%s", diff)
	}
	p := newPlant(t)
	p.root.bring(this(t).deb)
	const id = "1f4c9f0e-3c1b-4f5e-9d5a-0d8b1e6a7c0"
	must.Get(p.erp.Exec(`ALTER TABLE contrato ADD produtor uuid DEFAULT '` + id + `1', ADD emissor uuid DEFAULT '` + id + `2', ADD produto text DEFAULT 'SOJA',
		ADD local_entrega uuid DEFAULT '` + id + `3', ADD safra text DEFAULT '2025/2026', ADD unidade_medida text DEFAULT 'KG', ADD tipo text DEFAULT 'A_FIXAR',
		ADD emissao date DEFAULT '2026-03-10', ADD carteira uuid DEFAULT '` + id + `4',
		ADD moeda text DEFAULT 'BRL', ADD modalidade text DEFAULT 'BALCAO', ADD forma_pagamento text DEFAULT 'DINHEIRO'`))(t)
	p.add(15)
	said := map[string]string{}
	for _, line := range lines {
		if strings.HasSuffix(line, "safrasync state new") { // what a person has filled in by then
			text := p.root.read("/etc/safrasync/config.yaml")
			for _, want := range []string{"${file:credentials/api-key}", "console:\n  listen: 127.0.0.1:8088\n"} {
				if !strings.Contains(text, want) {
					t.Errorf("init wrote, without %q:\n%s", want, text)
				}
			}
			text = cutOver.ReplaceAllString(text, "")
			text = unfilled.ReplaceAllStringFunc(text, func(line string) string {
				field := unfilled.FindStringSubmatch(line)[1]
				if filled[field] == "" {
					t.Errorf("init wrote a field that this test does not fill in: %s", line)
				}
				return "      " + field + ": " + filled[field]
			})
			text = strings.NewReplacer("base_url: PREENCHER", "base_url: "+p.api.URL,
				"FROM contrato\n", "FROM contrato WHERE emissao >= '2026-01-01'\n",
				"    sends:", "    schedule: \"@every 1s\"\n    sends:").Replace(text)
			p.root.write("/etc/safrasync/config.yaml", text, 0o640)
		}
		cmd := p.root.command([]string{"LANG=en_US.UTF-8"}, "/bin/sh", "-c",
			"cd /root && "+strings.NewReplacer("TABLE", "contrato", "KEY", "000001").Replace(line))
		switch { // what a person types
		case strings.HasSuffix(line, "/api-key"):
			cmd.Stdin = strings.NewReader(plantKey + "\n")
		case strings.HasSuffix(line, "/erp-dsn"):
			cmd.Stdin = strings.NewReader(p.dsn + "\n")
		}
		out, code := p.root.outcome(cmd)
		if code != 0 {
			t.Fatalf("%s ended with %d:\n%s", line, code, out)
		}
		said[line] = out
		for end, want := range map[string]int{
			"sync --dry-run": 0, "why contracts KEY": 0, "sync contracts KEY": 1,
			"sync contracts --limit 10": 11,
		} {
			if records, _ := p.created(); strings.HasSuffix(line, end) &&
				(records != want || p.states()["accepted"] != want) {
				t.Errorf("after %s the platform has %d contracts and the ledger %v, want %d accepted", line, records,
					p.states(), want)
			}
		}
		if strings.HasPrefix(line, "systemctl enable") {
			p.arrive("the service of the page")
		}
	}
	for end, want := range map[string]string{
		"--list": "contrato", "sync --dry-run": "15", "safrasync status": "15  sent",
		"/var/lib/safrasync/backup": "-rw------- 1 safrasync safrasync",
	} {
		for line, out := range said {
			if strings.HasSuffix(line, end) && !strings.Contains(out, want) {
				t.Errorf("%s says, without %q:\n%s", line, want, out)
			}
		}
	}
	// If the service's user may not write beside the configuration, the output names the command
	// that can.
	if out, code := p.safrasync("test", "--from", "contracts", "000001"); code != 1 ||
		!strings.Contains(out, "test --from contracts '000001' /tmp/case.yaml") {
		t.Errorf("test --from ended with %d:\n%s", code, out)
	}
	// The nightly copy is made every night.
	for night := 2; night <= 3; night++ {
		copies, err := filepath.Glob(p.root.path("/var/lib/safrasync/backup/safrasync-*.db"))
		if err != nil || len(copies) != night-1 {
			t.Errorf("before night %d: %q, %v", night, copies, err)
		}
		if code := p.backup(); code != 0 {
			t.Errorf("the copy of night %d ended with %d", night, code)
		}
	}
}
