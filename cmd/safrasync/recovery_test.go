package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
)

// atNight is a command of a page, and what it is to print.
type atNight struct {
	command string
	prints  []string
}

// consoles reads the blocks of commands of a page, by the heading under which they stand.
func consoles(t *testing.T, page string) (headings []string, blocks map[string][]atNight) {
	t.Helper()
	blocks = map[string][]atNight{}
	heading, inside := "", false
	for line := range strings.Lines(string(must.Get(os.ReadFile(page))(t))) {
		line = strings.TrimSuffix(line, "\n")
		switch command, is := strings.CutPrefix(line, "# "); {
		case line == "```console":
			inside = true
		case inside && strings.HasPrefix(line, "```"):
			inside = false
		case inside && is:
			blocks[heading] = append(blocks[heading], atNight{command: command})
		case inside:
			last := &blocks[heading][len(blocks[heading])-1]
			last.prints = append(last.prints, line)
		case strings.HasPrefix(line, "##"):
			heading = strings.TrimLeft(line, "# ")
			headings = append(headings, heading)
		}
	}
	return headings, blocks
}

// night is a machine of a cooperative in a bad night: a folder that stands for its root.
type night struct {
	*bench
	root    string
	key     string            // what the administrator pastes
	noted   map[string]string // for each job, the platform's id of the row that was sent after the image
	serving bool              // the service runs
}

func newNight(t *testing.T) *night {
	t.Helper()
	n := &night{root: t.TempDir(), noted: map[string]string{}}
	for _, folder := range []string{"var/lib/safrasync", "mnt/copias", "etc/safrasync/credentials"} {
		must.Do(t, os.MkdirAll(filepath.Join(n.root, folder), 0o700))
	}
	n.bench = &bench{program: newProgram(t), box: startSandbox(t, sandbox.Options{APIKey: platformCanary, Seed: 1})}
	must.Do(t, os.WriteFile(n.at("/etc/safrasync/credentials/api-key"), []byte(platformCanary), 0o600))
	n.configure("testdata/coop/config.yaml", "$API", n.box.URL, "dsn: erp.db", "dsn: "+n.path("erp.db"),
		"${env:SAFRASYNC_API_KEY}", "${file:"+n.at("/etc/safrasync/credentials/api-key")+"}",
		"dsn: state.db", "dsn: "+n.at("/var/lib/safrasync/state.db")+"\n  witness: "+n.at("/mnt/copias"))
	n.edit("jobs:\n", "jobs:"+weighed)
	must.Do(t, runSQL(n.path("erp.db"), "testdata/coop/erp.sql"))
	n.sql("erp.db", tickets)
	n.run(0, "state", "new")
	for kind, file := range coopReferences {
		n.shell("cp", "testdata/coop/"+file, n.at("/mnt/copias"))
		n.run(0, "refs", "import", kind, "testdata/coop/"+file, "--yes")
	}
	n.run(0, "sync")
	return n
}

// at is a path of the machine.
func (n *night) at(path string) string { return filepath.Join(n.root, path) }

// contract appears in the ERP.
func (n *night) contract(num string, amount int) {
	n.t.Helper()
	n.sql("erp.db", fmt.Sprintf(`INSERT INTO contrato SELECT filial, '%s', %d, produtor, loja, usuario, produto, local, safra,
		um, tipo, emissao, carteira, preco, inicio, fim, modalidade, pagto, forma, situacao FROM contrato WHERE num = '000001'`, num, amount))
}

// delivery appears in the ERP: a ticket for a contract.
func (n *night) delivery(ticket, num string, volume int) {
	n.t.Helper()
	n.sql("erp.db", fmt.Sprintf(`INSERT INTO romaneio SELECT '%s', filial, '%s', '%d', dia, car FROM romaneio WHERE ticket = 'T1'`,
		ticket, num, volume))
}

// image copies the whole machine with `cp -a`, except what is on another one.
func (n *night) image() (root string) {
	n.t.Helper()
	root = n.t.TempDir()
	n.shell("cp", "-a", filepath.Join(n.root, "var"), root)
	return root
}

// putBack puts an image in the place of the machine's disk, which it returns.
func (n *night) putBack(image string) (disk string) {
	n.t.Helper()
	disk = n.at("mnt/disco")
	must.Do(n.t, os.MkdirAll(disk, 0o700))
	must.Do(n.t, os.Rename(n.at("var"), filepath.Join(disk, "var")))
	n.shell("cp", "-a", filepath.Join(image, "var"), n.root)
	return disk
}

// goesOn is what the machine does after the image: a contract and its delivery are sent, of which the
// image knows nothing.
func (n *night) goesOn() {
	n.t.Helper()
	n.contract("000009", 987)
	n.delivery("T9", "000009", 9870)
	n.run(0, "sync")
	for job, resource := range map[string]string{
		"contracts": sandbox.ResourceOrderCommitments, "deliveries": sandbox.ResourceDeliveries,
	} {
		created := n.box.CreatedOf(resource)
		n.noted[job] = created[len(created)-1].ID
	}
}

func (n *night) shell(name string, args ...string) string {
	n.t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		n.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

var word = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)

// types runs a command of the page, word by word: of the machine's paths those below the root are meant.
func (n *night) types(command string) string {
	n.t.Helper()
	var args []string
	for _, arg := range word.FindAllString(command, -1) {
		arg = strings.Trim(arg, `'"`)
		if arg == "ID" { // after adopt, the job and the key
			arg = n.noted[args[len(args)-2]]
		}
		if strings.HasPrefix(arg, "/") && arg != "/dev/stdin" {
			arg = n.at(arg)
		}
		args = append(args, arg)
	}
	switch ours := []string{"runuser", "-u", "safrasync", "--", "safrasync"}; {
	case len(args) > len(ours) && slices.Equal(args[:len(ours)], ours):
		code, out, messages := n.ask(context.WithoutCancel(n.t.Context()), "", args[len(ours):]...)
		if code != 0 && !slices.Contains([]string{"check", "sync", "restore"}, args[len(ours)]) {
			n.t.Errorf("%s: exit code %d\n%s%s", command, code, out, messages)
		}
		return strings.ReplaceAll(messages+out, n.root, "")
	case args[0] == "systemctl" && slices.ContainsFunc(args, func(s string) bool { return s == "start" || s == "restart" || s == "enable" }):
		n.serving = true
		_, out, messages := n.ask(context.WithoutCancel(n.t.Context()), "", "sync") // what the service does first
		return messages + out
	case args[0] == "systemctl":
		n.serving = n.serving && args[1] == "reset-failed"
		return ""
	case args[0] == "install": // the administrator pastes the new key
		must.Do(n.t, os.WriteFile(args[len(args)-1], []byte(n.key+"\n"), 0o600))
		return ""
	}
	return n.shell(args[0], args[1:]...)
}

// tells reports whether a text has a line of the page: its parts between … in this order.
func tells(text, line string) bool {
	text = strings.Join(strings.Fields(text), " ")
	for part := range strings.SplitSeq(strings.Join(strings.Fields(line), " "), "…") {
		_, rest, found := strings.Cut(text, strings.TrimSpace(part))
		if !found {
			return false
		}
		text = rest
	}
	return true
}

func (n *night) follow(commands []atNight) {
	n.t.Helper()
	for _, c := range commands {
		said := n.types(c.command)
		for _, line := range c.prints {
			if !tells(said, line) {
				n.t.Errorf("%s\ndoes not print: %s\nbut:\n%s", c.command, line, said)
			}
		}
	}
}

const badNight = "../../docs/recovery.pt-BR.md"

// The page for the bad night, typed word by word: each case on a machine of its own, with real copies
// of its disk. In the end the service sends what is left, and nothing is on the platform twice.
func TestThePageOfTheBadNightIsRight(t *testing.T) {
	t.Parallel()
	headings, blocks := consoles(t, badNight)
	image := func(n *night) {
		image := n.image()
		n.goesOn()
		n.putBack(image)
	}
	copied := func(n *night) { // the copy of the night, and a day after it
		n.run(0, "backup", n.at("mnt/copias/noite.db"))
		n.goesOn()
	}
	const compare = "Comparar com a plataforma, rotina por rotina"
	compared := []string{ // who follows the page goes on there
		"Se ele se perdeu", "A máquina voltou de uma imagem, sem testemunha", "Máquina nova com o backup da noite",
	}
	cases := map[string]func(*night){
		"Qual é o caso": func(*night) {},
		"A máquina voltou de uma imagem, com testemunha": image,
		"Se o disco mais novo ainda existe":              image,
		"Se ele se perdeu":                               image,
		"A máquina voltou de uma imagem, sem testemunha": func(n *night) {
			n.edit("  witness: "+n.at("/mnt/copias"), "")
			n.run(1, "sync")
			n.run(0, "release", "contracts", "--checked", "--reason", "given up", "--yes")
			image(n)
		},
		"O disco do registro local se perdeu": func(n *night) {
			n.goesOn()
			must.Do(n.t, os.Remove(n.at("var/lib/safrasync/state.db")))
		},
		"O diário se perdeu": func(n *night) {
			n.goesOn()
			must.Do(n.t, os.RemoveAll(n.at("var/lib/safrasync/journal")))
		},
		"Um backup foi posto no lugar": copied,
		"Máquina nova com o backup da noite": func(n *night) {
			copied(n)
			must.Do(n.t, os.RemoveAll(n.at("var/lib/safrasync")))
			must.Do(n.t, os.Mkdir(n.at("var/lib/safrasync"), 0o700))
		},
		"A testemunha está fora do ar": func(n *night) {
			must.Do(n.t, os.Rename(n.at("mnt/copias"), n.at("mnt/fora")))
			n.contract("000009", 987)
		},
		"O disco encheu": func(*night) {},
		"A chave venceu": func(n *night) {
			n.key = "a-new-key-of-the-platform"
			n.box.SetAPIKey(n.key)
			n.contract("000009", 987)
		},
	}
	for _, heading := range headings {
		if len(blocks[heading]) == 0 || heading == compare {
			continue
		}
		happens, known := cases[heading]
		if !known {
			t.Errorf("%s: no test knows the case %q", badNight, heading)
			continue
		}
		t.Run(heading, func(t *testing.T) {
			t.Parallel()
			n := newNight(t)
			n.serving = heading == "Qual é o caso" // there people stop it, if it has not refused to start
			happens(n)
			n.follow(blocks[heading])
			if slices.Contains(compared, heading) {
				n.follow(blocks[compare])
			}
			n.ends(heading)
		})
	}
}

// The disk of the witness is a new one, or a file on it is damaged and was renamed: what the page says
// of a witness that is away lets the jobs go on, and the witness has a line again.
func TestAWitnessThatLostItsLineIsWrittenAgain(t *testing.T) {
	t.Parallel()
	_, blocks := consoles(t, badNight)
	for what, happens := range map[string]func(*night){
		"a new disk": func(n *night) {
			must.Do(n.t, os.Rename(n.at("mnt/copias"), n.at("mnt/fora")))
			must.Do(n.t, os.Mkdir(n.at("mnt/copias"), 0o700))
		},
		"a damaged file": func(n *night) {
			for _, file := range n.lines() {
				must.Do(n.t, os.WriteFile(file, []byte("?"), 0o600))
				if code, out, _ := n.ask(n.t.Context(), "", "check"); code == 0 || !strings.Contains(out, file+" está danificado") {
					n.t.Errorf("check does not name the file: exit code %d\n%s", code, out)
				}
				must.Do(n.t, os.Rename(file, strings.TrimSuffix(file, ".txt")+".danificado"))
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			n := newNight(t)
			happens(n)
			n.contract("000009", 987)
			n.follow(blocks["A testemunha está fora do ar"][1:]) // what check says is another sentence
			n.ends(what)
			if len(n.lines()) != 1 {
				t.Errorf("the witness has %v", n.lines())
			}
		})
	}
}

// lines are the files of the witness.
func (n *night) lines() []string {
	return must.Get(filepath.Glob(n.at("mnt/copias/witness-*.txt")))(n.t)
}

// ends is the morning after: what is left goes, and each contract is on the platform once.
func (n *night) ends(heading string) {
	n.t.Helper()
	if heading == "A máquina voltou de uma imagem, com testemunha" { // it goes on below
		before := len(n.box.Created())
		n.ask(context.WithoutCancel(n.t.Context()), "", "sync")
		if after := len(n.box.Created()); after != before {
			n.t.Errorf("%d rows were sent again", after-before)
		}
		return
	}
	if n.serving == (heading == "Qual é o caso") {
		n.t.Errorf("in the end the service runs: %v", n.serving)
	}
	n.contract("000010", 1987)
	n.delivery("T10", "000010", 19870)
	n.run(0, "sync")
	times := map[string]int{}
	for _, r := range n.box.Created() {
		times[fmt.Sprintf("contract %v", r.Fields["amount"])]++
	}
	for _, r := range n.box.CreatedOf(sandbox.ResourceDeliveries) {
		times[fmt.Sprintf("delivery %v", r.Fields["delivered_volume"])]++
	}
	for what, n9 := range times {
		if n9 > 1 {
			n.t.Errorf("%s is on the platform %d times", what, n9)
		}
	}
	if times["contract 1987"] != 1 || times["delivery 19870"] != 1 {
		n.t.Errorf("what came afterwards was not sent: %v", times)
	}
}
