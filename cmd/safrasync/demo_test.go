package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/cmd/safrasync/demo"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

// playDemo runs the command as a person would, without a terminal, and gives what it printed. It
// must clean up behind itself.
func playDemo(t *testing.T, args ...string) (code int, out, messages string) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	code, out, messages = newProgram(t).ask(t.Context(), "", append([]string{"demo"}, args...)...)
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left in the folder for temporary files: %v %v", left, err)
	}
	return code, out, messages
}

// keptDemo is what `safrasync demo` leaves in a folder. Its ledger has another name there: beside one
// that is in its place, a copy is refused.
var keptDemo = sync.OnceValues(func() (dir string, err error) {
	folder, err := shared()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(folder, "demo")
	var said bytes.Buffer
	app := cli.App{
		Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said,
		Env: func(string) (string, bool) { return "", false },
	}
	code := execute(context.Background(), &app, []string{"demo", "--dir", dir, "--lang", "pt-BR"})
	if code != cli.ExitDone {
		return "", fmt.Errorf("the demo ended with %d: %s", code, said.String())
	}
	return dir, os.Rename(filepath.Join(dir, demo.StateFile), filepath.Join(dir, keptLedger))
})

const keptLedger = "kept.db"

// takeDemo makes a folder that is as a demo leaves it.
func (p *program) takeDemo(dir string) {
	p.t.Helper()
	kept := must.Get(keptDemo())(p.t)
	if out, err := exec.Command("cp", "-aT", kept, dir).CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	must.Do(p.t, os.Rename(filepath.Join(dir, keptLedger), filepath.Join(dir, demo.StateFile)))
	file := filepath.Join(dir, demo.ConfigFile)
	config := must.Get(os.ReadFile(file))(p.t)
	must.Do(p.t, os.WriteFile(file, bytes.ReplaceAll(config, []byte(kept), []byte(dir)), 0o600))
}

func TestDemoAddsUpAndSendsNothingTwice(t *testing.T) {
	code, out, messages := playDemo(t, "--json")
	if code != cli.ExitDone {
		t.Fatalf("exit code %d: %s", code, messages)
	}
	var got struct {
		Runs     [][]trade.RunReport `json:"runs"`
		Platform map[trade.Kind]int  `json:"platform"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("the output is no single JSON object: %v\n%s", err, out)
	}
	for i, kind := range trade.Kinds {
		first, second, third := got.Runs[0][i], got.Runs[1][i], got.Runs[2][i]
		total := 0
		for _, n := range first.States {
			total += n
		}
		if *first.InScope != total || *first.Gone != 0 {
			t.Errorf("%s: %d rows in the ERP, %d in the ledger, %d gone", kind, *first.InScope, total, *first.Gone)
		}
		if first.Sent == 0 || second.Sent != 0 || third.Sent == 0 {
			t.Errorf("%s: sent %d, %d, %d; want many, none, some", kind, first.Sent, second.Sent, third.Sent)
		}
		if diff := cmp.Diff(first.States, second.States); diff != "" {
			t.Errorf("%s: the second run moved rows (-first +second):\n%s", kind, diff)
		}
		lost := third.States[trade.InDoubt]
		if want := first.States[trade.Accepted] + third.Sent + lost; got.Platform[kind] != want {
			t.Errorf("the platform has %d %s, want %d", got.Platform[kind], kind, want)
		}
		want := map[trade.Kind][2]int{
			trade.OrderCommitments: {1, 1}, trade.Deliveries: {1, 0},
			trade.Traceability: {0, 0},
		}[kind]
		if third.Flags[trade.Changed] != want[0] || lost != want[1] {
			t.Errorf(
				"%s: flags %v, %d in doubt; want one contract and one delivery changed after sending, one contract in doubt", kind, third.Flags, lost)
		}
	}
}

// What the demo shows is what the commands say, in the language that was asked for.
func TestDemoShowsWhatTheCommandsSay(t *testing.T) {
	for lang, words := range map[string][]string{
		"pt-BR": {
			"$ safrasync sync\n", "17 × carteira sem de-para: C07 (17)", "COMPRA exige data de pagamento",
			"A 2ª execução enviou 0", "tem 332 contratos, 60 entregas e 30 linhas",
			"enviou automaticamente 19 contratos, 4 entregas e 1 linha de rastreabilidade", "$ safrasync status\n",
			"350  enviado", "$ safrasync report --section summary\n",
			"│ Linhas no ERP (escopo)", "│ Diferença                                │          0 │",
			"safrasync demo --dir PASTA",
		},
		"en": {
			"17 × wallet without a platform id (de-para): C07 (17)", "COMPRA requires payday", "Run 2 sent 0",
			"it has 332 contracts, 60 deliveries and 30 traceability rows",
			"run 3 automatically sent 19 contracts, 4 deliveries and 1 traceability row", "350  sent",
			"safrasync demo --dir FOLDER",
		},
	} {
		t.Run(lang, func(t *testing.T) {
			code, out, messages := playDemo(t, "--lang", lang)
			if code != cli.ExitDone {
				t.Fatalf("exit code %d: %s", code, messages)
			}
			for _, w := range words {
				if !strings.Contains(out, w) {
					t.Errorf("it does not say %q", w)
				}
			}
			if strings.Contains(out, "%!") || strings.ContainsAny(out+messages, "\x1b\r") {
				t.Errorf("wrong verbs, or control codes although there is no terminal:\n%s", out)
			}
		})
	}
}

//go:embed testdata/demo_causes.txt
var demoCauses string

// On a terminal results and messages are one text: no title stands in the middle of a result.
func TestTheStepsOfTheDemoStandInTheirOrder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var screen bytes.Buffer
	app := cli.App{Stdin: strings.NewReader(""), Stdout: &screen, Stderr: &screen}
	if code := newProgram(t).execute(t.Context(), &app, "demo", "--lang", "pt-BR"); code != cli.ExitDone {
		t.Fatalf("exit code %d: %s", code, screen.String())
	}
	rest := screen.String()
	for _, next := range []string{
		"1ª execução", "$ safrasync sync", "Rastreabilidade (traceability)", "2ª execução", "$ safrasync sync",
		"3ª execução", "$ safrasync sync", "$ safrasync status",
	} {
		_, after, found := strings.Cut(rest, "\n"+next)
		if !found {
			t.Fatalf("%s does not begin a line after what comes before it:\n%s", next, screen.String())
		}
		rest = after
	}
}

func TestDemoThatIsKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "with a blank")
	if code, _, messages := playDemo(t, "--dir", dir); code != cli.ExitDone {
		t.Fatalf("exit code %d: %s", code, messages)
	}
	store := must.Get(state.Open(t.Context(),
		state.OpenOptions{Driver: state.SQLite, DSN: filepath.Join(dir, demo.StateFile), ReadOnly: true}))(t)
	t.Cleanup(func() { store.Close() })
	var entries []trade.Entry
	must.Do(t, store.Rows(t.Context(), trade.RowQuery{},
		func(e trade.Entry) error { entries = append(entries, e); return nil }))
	// Each row that did not go has its cause; a cured contract has taken its rows along.
	t.Run("tells each fault of its rows apart", func(t *testing.T) {
		var got []string
		twins, cars, parents := 0, 0, map[trade.State]bool{}
		for _, e := range entries {
			if e.State != trade.Accepted {
				got = append(got, fmt.Sprintf("%s %s %s\n", e.Job, e.Key, e.Cause))
			}
			if e.Sends != trade.Deliveries {
				continue
			}
			if e.Flags.Has(trade.Twin) {
				twins++
			}
			for _, a := range e.WaitingFor {
				parents[a.ParentState] = true
			}
			if printed := e.Values["car"].Text; strings.Contains(printed, ".") &&
				bytes.Contains(e.Payload, []byte(strings.ReplaceAll(printed, ".", ""))) {
				cars++
			}
		}
		slices.Sort(got)
		want := strings.SplitAfter(strings.TrimSuffix(demoCauses, "\n"), "\n")
		if diff := cmp.Diff(strings.Join(want, "")+"\n", strings.Join(got, "")); diff != "" {
			t.Errorf("what did not go, and why (-want +got):\n%s", diff)
		}
		if twins == 0 || cars == 0 {
			t.Errorf("%d deliveries are told to be equal to another, %d left with the CAR of a receipt; want some of each",
				twins, cars)
		}
		// Of the contracts that lack the same record one asks for all and is rejected; the others wait,
		// and so does what hangs on them.
		parents[trade.Rejected] = parents[trade.Rejected] || parents[trade.Waiting]
		for _, state := range []trade.State{"", trade.InDoubt, trade.Rejected} {
			if !parents[state] {
				t.Errorf("no delivery waits for a contract that is %q; there are %v", state, parents)
			}
		}
		for _, name := range []string{demo.ConfigFile, demo.ERPFile, demo.WorldFile, demo.KeyFile} {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("has advice in both languages for every cause", func(t *testing.T) {
		config := must.Get(config.Load(filepath.Join(dir, demo.ConfigFile),
			func(string) (string, bool) { return "", false }))(t)
		var kept []trade.Entry
		for _, e := range entries {
			if e.State != trade.Accepted {
				kept = append(kept, e)
			}
		}
		groups := pending.NewCauses(config.JobSpecs())
		for _, e := range kept {
			groups.Add(e)
		}
		troubles := groups.Sorted()
		rows := 0
		for _, g := range troubles {
			rows += g.Rows()
			byVolume := 0
			for _, v := range g.Sums {
				byVolume += v.Rows
			}
			if byVolume != g.Rows() {
				t.Errorf("%s: the volumes hold %d rows of %d", g.Cause, byVolume, g.Rows())
			}
			pt, en := g.Advice(trade.Portuguese), g.Advice(trade.English)
			for _, a := range []trade.Advice{pt, en} {
				text := a.What + a.Who + a.Do
				if a.What == "" || a.Who == "" || a.Do == "" || strings.Contains(text, g.Cause) ||
					strings.ContainsAny(text, "{}") {
					t.Errorf("%s: advice %+v", g.Cause, a)
				}
			}
			if pt.What == en.What || pt.Do == en.Do {
				t.Errorf("%s: the same advice in both languages: %+v", g.Cause, pt)
			}
		}
		if rows != len(kept) {
			t.Errorf("the causes hold %d rows of %d", rows, len(kept))
		}
	})
	t.Run("can be explored with the commands that it names", func(t *testing.T) {
		p := newProgram(t)
		p.file = filepath.Join(dir, demo.ConfigFile)
		for _, args := range [][]string{
			{"status"},
			{"rows", "--state", "invalid"},
			{"why", "contracts", "02|001012"},
			{"why", "contracts", "02|001028"},
			{"why", "deliveries", "01|50009|1"},
			{"why", "contracts", "01|001031", "--request"},
			{"sync", "--dry-run"},
		} {
			p.run(cli.ExitDone, args...)
		}
	})
}

func TestDemoRefusesALanguageThatItDoesNotSpeak(t *testing.T) {
	if code, _, messages := playDemo(t, "--lang", "tupi"); code != cli.ExitUsage || !strings.Contains(messages, "tupi") {
		t.Errorf("exit code %d: %s", code, messages)
	}
}

func TestDemoNeverWritesIntoAFolderWithFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, demo.StateFile)
	must.Do(t, os.WriteFile(file, []byte("mine"), 0o600))
	code, _, messages := playDemo(t, "--dir", dir)
	if code != cli.ExitUsage || !strings.Contains(messages, dir) {
		t.Errorf("exit code %d: %s", code, messages)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "mine" {
		t.Errorf("the file was touched: %q %v", got, err)
	}
}
