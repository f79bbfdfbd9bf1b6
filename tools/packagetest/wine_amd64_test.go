package packagetest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// On a desk with Windows the program of the .zip looks, tests and shows, as the manual says; what writes
// a ledger or sends is refused, and the ledger of the demo stays as it is.
func TestTheProgramForWindowsLooksTestsAndShows(t *testing.T) {
	t.Parallel()
	d := newDesk(t, this(t).zip)
	proposed := d.says(0, `demo --dir C:\demo`, "Soma das situações", "401", `Tudo ficou em C:\demo`)
	for _, command := range regexp.MustCompile(`(?m)^  safrasync (--config .*?)\r?$`).FindAllStringSubmatch(proposed, -1) {
		if strings.Contains(command[1], "'") {
			t.Errorf("a quote that Windows does not know: %s", command[1])
		}
		d.says(0, strings.ReplaceAll(command[1], `"`, ""))
	}
	if strings.Count(proposed, "\n  safrasync ") != 6 || strings.Contains(proposed, "Para enviar") {
		t.Errorf("the demo proposes:\n%s", proposed)
	}
	help := d.says(0, "help", "Preparar", "Consultar", "\n  report ", "\n  doctor ", "\n  sync ")
	for _, command := range []string{
		"run", "resync", "retry", "adopt", "pause", "backup", "restore", "rebuild", "purge", "state", "job",
	} {
		if strings.Contains(help, "\n  "+command+" ") {
			t.Errorf("help lists %s, which is refused", command)
		}
	}
	config := must.Get(os.ReadFile(filepath.Join(d.drive, "demo", "config.yaml")))(t)
	platform := regexp.MustCompile(`base_url: "http://([0-9.:]+)"`).FindSubmatch(config)
	if platform == nil {
		t.Fatalf("the demo's configuration names no platform:\n%s", config)
	}
	d.serve("sandbox em http://"+string(platform[1]), "sandbox", "--listen", string(platform[1]), "--world", `C:\demo\world.json`,
		"--api-key", "demo-key")

	d.says(0, `--version`, "safrasync "+thisVersion+" (", "windows/amd64)")
	d.says(0, `init --driver sqlite --dsn C:\demo\erp.db --list`, "contrato (tabela, cerca de 4", "produtor")
	d.says(0, `--config C:\novo.yaml init --driver sqlite --dsn C:\demo\erp.db --contracts contrato`,
		`C:\novo.yaml gravado`, "novo.yaml:6  api.base_url: a preencher")
	// It is the configuration of a host with Linux: the path of its ledger is whole there.
	if said := d.says(78, `--config C:\novo.yaml check`, `C:\novo.yaml:6:13: api.base_url: PREENCHER`); strings.Contains(said, "state.dsn") {
		t.Errorf("the ledger of a host with Linux is refused:\n%s", said)
	}
	const c = `--config C:\demo\config.yaml `
	d.says(0, c+`check`, "✓ configuração", "✓ registro local", "✓ diário", `✓ ERP: C:\demo\erp.db`, "✓ rotina contracts",
		"✓ identidade", "✓ API", "✓ relógio")
	d.says(0, c+`explain contracts --offline`, "cada linha é identificada por: filial | numero")
	d.says(0, c+`explain contracts --rows`, "local de entrega sem de-para: código L06")
	d.says(0, c+`test --from contracts 01|001001 C:\caso.yaml`, `C:\caso.yaml gravado`)
	d.says(0, c+`test C:\caso.yaml`, `✓ C:\caso.yaml`, "1 caso: 1 certo, 0 com falha")
	d.says(0, c+`rows --state accepted`, "01|001001", "enviado")
	d.says(0, c+`report`, "Conciliação ERP × Plataforma", "Soma das situações", "Diferença")
	d.says(0, c+`check --battery`, "Conceição do Araguaia", "O ERP é lido corretamente. Nada foi gravado.")
	d.says(0, c+`doctor`, "✓ auditoria", "! backup")
	d.says(0, c+`sync --dry-run`, "Seria enviado: nada")

	ledger := filepath.Join(d.drive, "demo", "state.db")
	before := must.Get(os.ReadFile(ledger))(t)
	const refused = "no Windows o programa olha, testa e mostra; o que grava um registro local ou envia fica no Linux\n"
	for _, command := range []string{
		`run`, `sync`, `pause contracts --reason x --yes`, `rebuild --reason x --yes`,
		`report --output C:\r.xlsx`, `state new`, `restore C:\copia.db --reason x --yes`,
	} {
		if said := d.says(1, c+command); said != "erro: "+refused {
			t.Errorf("safrasync %s:\n%s", command, said)
		}
	}
	if after := must.Get(os.ReadFile(ledger))(t); string(after) != string(before) {
		t.Error("the ledger was written")
	}
}
