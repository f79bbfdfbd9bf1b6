package packagetest

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// commands are the lines of a page's blocks marked sh.
func commands(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(repository + "/docs/" + page)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(block[1]) {
			out = append(out, strings.TrimSuffix(line, "\n"))
		}
	}
	return out
}

// The page is true: its commands, one after the other on a machine without safrasync, lead to a service that runs. Both languages have the same ones.
func TestTheInstallationPageLeadsToAServiceThatRuns(t *testing.T) {
	t.Parallel()
	lines := commands(t, "install.md")
	if diff := cmp.Diff(lines, commands(t, "install.pt-BR.md")); diff != "" || len(lines) < 10 {
		t.Fatalf("the commands of install.md and install.pt-BR.md (-en +pt):\n%s", diff)
	}
	p := newPlant(t)
	p.root.bring(this(t).deb)
	p.add(3)
	said := map[string]string{}
	for _, line := range lines {
		if strings.HasSuffix(line, "safrasync state new") { // what a person has filled in meanwhile
			if text := p.root.read("/etc/safrasync/config.yaml"); !strings.Contains(text, "PREENCHER") || !strings.Contains(text, "contrato") {
				t.Errorf("init wrote\n%s", text)
			}
			p.root.write("/etc/safrasync/config.yaml", p.configuration("info"), 0o640)
		}
		cmd := p.root.command([]string{"LANG=en_US.UTF-8"}, "/bin/sh", "-c", "cd /root && "+strings.NewReplacer("TABLE", "contrato", "KEY", "000001").Replace(line))
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
		if strings.HasPrefix(line, "systemctl enable") {
			p.arrive("the service of the page")
		}
	}
	for end, want := range map[string]string{
		"--list": "contrato", "sync --dry-run": "3", "safrasync status": "3  sent", "copy.db": "/var/lib/safrasync/copy.db",
	} {
		for line, out := range said {
			if strings.HasSuffix(line, end) && !strings.Contains(out, want) {
				t.Errorf("%s says, without %q:\n%s", line, want, out)
			}
		}
	}
}
