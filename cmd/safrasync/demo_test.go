package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// playDemo runs the command as a person would, without a terminal, and gives what it printed. It must clean up behind itself.
func playDemo(t *testing.T, args ...string) (code int, out, messages string) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	var stdout, stderr bytes.Buffer
	app := App{
		Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
		Env: func(string) (string, bool) { return "", false },
	}
	code = app.Run(t.Context(), append([]string{"demo"}, args...))
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left in the folder for temporary files: %v %v", left, err)
	}
	return code, stdout.String(), stderr.String()
}

// truths are the lines that add up: 401 contratos no ERP = 331 enviados + …
var (
	numbers = regexp.MustCompile(`\d+`)
	truths  = regexp.MustCompile(`(\d+) [^.=]* ERP = ([^.]*)\.`)
)

func TestDemoAddsUpAndSendsNothingTwice(t *testing.T) {
	code, out, messages := playDemo(t, "--json")
	if code != exitDone {
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
		want := map[trade.Kind][2]int{trade.OrderCommitments: {1, 1}, trade.Deliveries: {1, 0}, trade.Traceability: {0, 0}}[kind]
		if third.Flags[trade.Changed] != want[0] || lost != want[1] {
			t.Errorf("%s: flags %v, %d in doubt; want one contract and one delivery changed after sending, one contract in doubt", kind, third.Flags, lost)
		}
	}
}

func TestDemoReportIsForAccountants(t *testing.T) {
	for lang, words := range map[string][]string{
		"pt-BR": {
			"contratos no ERP = ", "Quem resolve: ", "COMPRA exige data de pagamento", "Carteira sem vínculo (de-para): C07 (17)", "2ª execução enviou 0",
			"entregas no ERP = ", "linhas de rastreabilidade no ERP = ", "cuja resposta se perdeu", "O contrato está sem confirmação – ",
			"foram, na mesma execução, 4 entregas e 1 linha de rastreabilidade", "Propriedade sem vínculo (de-para): F07 (2)", "Volume alocado exige unidade de medida",
		},
		"en": {
			"contracts in the ERP = ", "Who cures it: ", "COMPRA requires payday", "Wallet without a platform id (de-para): C07 (17)", "Run 2 sent 0",
			"deliveries in the ERP = ", "traceability rows in the ERP = ", "whose answer was lost", "The contract is in doubt – ", "Farm without a platform id (de-para): F07 (2)",
		},
	} {
		t.Run(lang, func(t *testing.T) {
			code, out, messages := playDemo(t, "--lang", lang)
			if code != exitDone {
				t.Fatalf("exit code %d: %s", code, messages)
			}
			for _, w := range words {
				if !strings.Contains(strings.Join(strings.Fields(out), " "), w) {
					t.Errorf("the report does not say %q", w)
				}
			}
			// Which of the contracts with that wallet asks for it, and is rejected, and which waits for the answer, is a matter of time.
			flat := strings.Join(strings.Fields(out), " ")
			if lang == "pt-BR" && !strings.Contains(flat, "O contrato foi rejeitado: carteira") && !strings.Contains(flat, "O contrato também aguarda: carteira") {
				t.Error("the report does not say what the contract waits for, or why it was rejected")
			}
			for _, jargon := range []string{"HTTP", "JSON", "POST", "payload", "rule:", "ref:", "message.", "required_for", "{", "%!", "job ", "duplicate_key"} {
				if strings.Contains(out, jargon) {
					t.Errorf("the report says %q", jargon)
				}
			}
			for i, line := range strings.Split(out, "\n") {
				if n := utf8.RuneCountInString(line); n > demoWidth && !strings.HasPrefix(line, "  safrasync ") {
					t.Errorf("line %d has %d characters: %s", i+1, n, line)
				}
			}
			if strings.ContainsAny(out+messages, "\x1b\r") {
				t.Error("control codes although there is no terminal")
			}
			equations := truths.FindAllStringSubmatch(strings.Join(strings.Fields(out), " "), -1)
			for _, e := range equations {
				sum := 0
				for _, n := range numbers.FindAllString(e[2], -1) {
					add, err := strconv.Atoi(n)
					if err != nil {
						t.Fatal(err)
					}
					sum += add
				}
				if e[1] != strconv.Itoa(sum) {
					t.Errorf("%s: the terms make %d", e[0], sum)
				}
			}
			if len(equations) != 6 {
				t.Errorf("%d lines of truth, want three after the second run and three after the third", len(equations))
			}
		})
	}
}

// keptDemo plays a demo into a folder and opens its ledger.
func keptDemo(t *testing.T) (dir string, entries []trade.Entry) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "with a blank")
	if code, _, messages := playDemo(t, "--dir", dir); code != exitDone {
		t.Fatalf("exit code %d: %s", code, messages)
	}
	store, err := state.Open(t.Context(), state.Options{Driver: state.SQLite, DSN: filepath.Join(dir, demoStateFile), ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	err = store.Rows(t.Context(), trade.RowFilter{}, func(e trade.Entry) error { entries = append(entries, e); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return dir, entries
}

func TestDemoThatIsKept(t *testing.T) {
	dir, entries := keptDemo(t)
	t.Run("has dirty rows of many kinds and tells each apart", func(t *testing.T) { tellsFaultsApart(t, dir, entries) })
	t.Run("tells what becomes of tickets and shares", func(t *testing.T) { tellsChildrenApart(t, entries) })
	t.Run("has advice in both languages for every cause", func(t *testing.T) { advises(t, dir, entries) })
	t.Run("can be explored with the commands that it names", func(t *testing.T) { canBeExplored(t, dir) })
}

func tellsFaultsApart(t *testing.T, dir string, entries []trade.Entry) {
	causes := causesOf(entries, "contracts")
	lost := demoLostContract(demoContracts()).key()
	kinds := map[string]bool{}
	cured := map[string]bool{"wallet without de-para": true}
	for _, c := range demoContracts() {
		for _, f := range demoFaults {
			if f.name != c.fault {
				continue
			}
			kinds[f.name] = true
			cause, there := causes[c.key()]
			switch {
			case f.cause == "" && f.name != demoTwin:
				if there {
					t.Errorf("%s: %s is in the ledger", f.name, c.key())
				}
			case f.cause == "" || cured[f.name]:
				if cause != "" {
					t.Errorf("%s: %s did not go (%s)", f.name, c.key(), cause)
				}
			case f.cause == "rule:payday" || f.cause == "rule:price": // one of each was corrected
				if cause != f.cause && cause != "" {
					t.Errorf("%s: %s has the cause %q", f.name, c.key(), cause)
				}
			case cause != f.cause:
				t.Errorf("%s: %s has the cause %q, want %q", f.name, c.key(), cause, f.cause)
			}
		}
		if c.fault == "" && causes[c.key()] != "" && c.key() != lost {
			t.Errorf("the sound contract %s did not go: %s", c.key(), causes[c.key()])
		}
	}
	if len(kinds) < 12 {
		t.Errorf("only %d kinds of dirty rows", len(kinds))
	}
	for _, name := range []string{demoConfigFile, demoERPFile, demoWorldFile, demoKeyFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func causesOf(entries []trade.Entry, job string) map[string]string {
	out := map[string]string{}
	for _, e := range entries {
		if e.Job == job {
			out[e.Key] = e.Cause
		}
	}
	return out
}

// Each ticket and each share is where its fault, or that of its contract, puts it; a cured contract has taken its rows along.
func tellsChildrenApart(t *testing.T, entries []trade.Entry) {
	tickets, shares := demoChildren(demoContracts())
	want, got := map[string]string{}, causesOf(entries, "deliveries")
	twins := 0
	for _, ticket := range tickets {
		if ticket.Status != "FECHADO" {
			continue
		}
		for line := range ticket.Lines {
			want[ticket.key(line+1)] = ""
		}
		for _, f := range demoTicketFaults {
			if f.name == ticket.fault {
				want[ticket.key(1)] = f.cause
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("causes of the deliveries (-want +got):\n%s", diff)
	}
	want, got = map[string]string{}, causesOf(entries, "traceability")
	for _, share := range shares {
		want[share.key()] = ""
		for _, f := range demoShareFaults {
			if f.name == share.fault {
				want[share.key()] = f.cause
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("causes of the shares (-want +got):\n%s", diff)
	}
	cars, parents := 0, map[trade.State]bool{}
	for _, e := range entries {
		if e.Sends != trade.Deliveries {
			continue
		}
		if e.Flags.Has(trade.Twin) {
			twins++
		}
		for _, a := range e.WaitingFor {
			parents[a.ParentState] = true
		}
		if printed := e.Values["car"].Text; strings.Contains(printed, ".") && bytes.Contains(e.Payload, []byte(strings.ReplaceAll(printed, ".", ""))) {
			cars++
		}
	}
	if twins == 0 || cars == 0 {
		t.Errorf("%d deliveries are told to be equal to another, %d left with the CAR of a receipt; want some of each", twins, cars)
	}
	// Of the contracts that lack the same record one asks for all and is rejected; the others wait, and so does what hangs on them.
	parents[trade.Rejected] = parents[trade.Rejected] || parents[trade.Waiting]
	for _, state := range []trade.State{"", trade.InDoubt, trade.Rejected} {
		if !parents[state] {
			t.Errorf("no delivery waits for a contract that is %q; there are %v", state, parents)
		}
	}
}

func advises(t *testing.T, dir string, entries []trade.Entry) {
	config, err := LoadConfig(filepath.Join(dir, demoConfigFile), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	var kept []trade.Entry
	for _, e := range entries {
		if e.State != trade.Accepted {
			kept = append(kept, e)
		}
	}
	troubles := troublesOf(kept, config.JobSpecs())
	rows := 0
	for _, g := range troubles {
		rows += g.Rows
		byVolume := 0
		for _, v := range g.Volumes {
			byVolume += v.Rows
		}
		if byVolume != g.Rows {
			t.Errorf("%s: the volumes hold %d rows of %d", g.Cause, byVolume, g.Rows)
		}
		pt, en := g.advice(voice{lang: trade.Portuguese}), g.advice(voice{lang: trade.English})
		for _, a := range []trade.Advice{pt, en} {
			text := a.What + a.Who + a.Do
			if a.What == "" || a.Who == "" || a.Do == "" || strings.Contains(text, g.Cause) || strings.ContainsAny(text, "{}") {
				t.Errorf("%s: advice %+v", g.Cause, a)
			}
		}
		if pt.What == en.What || pt.Do == en.Do {
			t.Errorf("%s: the same advice in both languages: %+v", g.Cause, pt)
		}
		for _, e := range g.Samples {
			for _, lang := range []trade.Lang{trade.Portuguese, trade.English} {
				if s := g.detail(e, lang); (s == "") != (e.State != trade.Invalid) || strings.Contains(s, g.Cause) {
					t.Errorf("%s: detail %q", e.Key, s)
				}
			}
		}
	}
	if rows != len(kept) {
		t.Errorf("the causes hold %d rows of %d", rows, len(kept))
	}
}

func TestDemoRefusesALanguageThatItDoesNotSpeak(t *testing.T) {
	if code, _, messages := playDemo(t, "--lang", "tupi"); code != exitUsage || !strings.Contains(messages, "tupi") {
		t.Errorf("exit code %d: %s", code, messages)
	}
}

func TestDemoNeverWritesIntoAFolderWithFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, demoStateFile)
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, messages := playDemo(t, "--dir", dir)
	if code != exitUsage || !strings.Contains(messages, dir) {
		t.Errorf("exit code %d: %s", code, messages)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "mine" {
		t.Errorf("the file was touched: %q %v", got, err)
	}
}

func canBeExplored(t *testing.T, dir string) {
	config := filepath.Join(dir, demoConfigFile)
	for _, args := range [][]string{
		{"status"},
		{"rows", "--state", "invalid"},
		{"rows", "show", "contracts", demoFirstKey("wallet not on the platform")},
		{"why", "contracts", demoFirstKey("draft")},
		{"why", "deliveries", demoFirstTicket("of a contract that the platform refuses")},
		{"preview", "contracts", demoFirstKey("purchase without a payday")},
		{"sync", "--dry-run"},
	} {
		var stdout, stderr bytes.Buffer
		app := App{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Env: func(string) (string, bool) { return "", false }}
		if code := app.Run(context.Background(), append([]string{"--config", config}, args...)); code != exitDone {
			t.Errorf("safrasync %v: exit code %d: %s%s", args, code, stdout.String(), stderr.String())
		}
	}
}

func demoFirstKey(fault string) string {
	e := demoERP{contracts: demoContracts()}
	return e.first(fault).key()
}

func demoFirstTicket(fault string) string {
	e := demoERP{contracts: demoContracts()}
	e.tickets, _ = demoChildren(e.contracts)
	return e.ticket(fault).key(1)
}

func TestDemoDataAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(demoContracts(), demoContracts(), cmp.AllowUnexported(demoContract{})); diff != "" {
		t.Error(diff)
	}
	tickets, shares := demoChildren(demoContracts())
	again, sharesAgain := demoChildren(demoContracts())
	if diff := cmp.Diff(tickets, again, cmp.AllowUnexported(demoTicket{})) + cmp.Diff(shares, sharesAgain, cmp.AllowUnexported(demoShare{})); diff != "" {
		t.Error(diff)
	}
}
