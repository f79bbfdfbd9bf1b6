package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

const tableToken = "canary-token-of-the-table-in-the-erp-29d07"

// stranger is a program of somebody else, with a client that was generated from the served document.
type stranger struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Scanner
}

// replacesOurs is the line of tools/go.mod that says where the module under test is.
var replacesOurs = regexp.MustCompile(`(?m)^(replace|require) github.com/safrasync/safrasync .*$`)

// build generates the client from the document of a server, and compiles a program with it.
func buildStranger(t *testing.T, address string) string {
	t.Helper()
	folder := t.TempDir()
	_, document := get(t, address+"/api/v1/openapi.json")
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	mod := string(must.Get(os.ReadFile("../../tools/go.mod"))(t))
	mod = replacesOurs.ReplaceAllString(mod, "")
	write("go.mod", strings.Replace(mod, "module github.com/safrasync/safrasync/tools", "module generated", 1))
	write("go.sum", string(must.Get(os.ReadFile("../../tools/go.sum"))(t)))
	write("main.go", string(must.Get(os.ReadFile("testdata/httpclient/main.go.txt"))(t)))
	run := func(in string, args ...string) string {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = in, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath -buildvcs=false")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
		}
		return string(out)
	}
	write("api/api.go", run("../../tools", "tool", "oapi-codegen", "-package", "api", "-generate",
		"types,client", write("openapi.json", document)))
	run(folder, "build", "-mod=mod", "-o", "stranger", ".")
	return filepath.Join(folder, "stranger")
}

func startStranger(t *testing.T, program, address, token string) *stranger {
	t.Helper()
	cmd := exec.Command(program, address, token)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	p := &stranger{t: t, in: must.Get(cmd.StdinPipe())(t)}
	p.out = bufio.NewScanner(must.Get(cmd.StdoutPipe())(t))
	p.out.Buffer(nil, 1<<20)
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		_ = p.in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the client: %v\n%s", err, stderr.Bytes())
		}
	})
	return p
}

// ask lets the program do something, and returns what it found.
func (p *stranger) ask(what string, dest any) {
	p.t.Helper()
	_, err := io.WriteString(p.in, what+"\n")
	must.Do(p.t, err)
	if !p.out.Scan() {
		p.t.Fatalf("%s: the client ended", what)
	}
	if err := json.Unmarshal(p.out.Bytes(), dest); err != nil {
		p.t.Fatalf("%s: %v in %s", what, err, p.out.Bytes())
	}
}

// strangeRow is what a test looks at in a row.
type strangeRow struct {
	Job, Key, State, Acts string
	Cause                 *string
	RemoteID              *string `json:"remote_id"`
	SentAt                *string `json:"sent_at"`
	Words                 struct{ State, What, Do, Acts string }
}

// refusal is an error that the client met.
type refusal struct {
	Status int
	Code   string
}

// A client that a generator made from the served document reads one row, all rows and what changed since,
// and meets the errors; what it is told has no value of the ERP.
func TestAGeneratedClientFollowsTheRows(t *testing.T) {
	onBoth(t, func(t *testing.T, on string) {
		s := newButton(t, on, false)
		s.faults(`order_commitments:status=400@2,body={"messages":["message.wallet.producer-not-linked"]}`)
		s.start()
		address := s.served()
		program := buildStranger(t, address)
		s.ran()
		erp := startStranger(t, program, address, tableToken)

		var rows []strangeRow
		erp.ask(`{"do":"rows"}`, &rows)
		all := map[string]strangeRow{}
		for _, row := range rows {
			all[row.Key] = row
		}
		sent, refused := all["01|000001"], all["01|000002"]
		if len(all) != 4 || sent.State != "accepted" || sent.RemoteID == nil || sent.SentAt == nil ||
			sent.Words.State != "enviado" || sent.Acts != "nobody" {
			t.Errorf("the sent one of %d rows: %+v", len(all), sent)
		}
		if refused.State != "rejected" || refused.RemoteID != nil || refused.Acts != "platform" ||
			refused.Words.What == "" ||
			refused.Cause == nil || *refused.Cause != "message.wallet.producer-not-linked" {
			t.Errorf("the refused one: %+v", refused)
		}
		erp.ask(`{"do":"rows"}`, &rows)
		known := len(rows) // told again once, at most: what changed while all were read
		if erp.ask(`{"do":"rows"}`, &rows); known > 4 || len(rows) != 0 {
			t.Errorf("nothing has changed, and there came %+v", rows)
		}
		s.must(0, "dismiss", "contracts", "01|000002", "--reason", "fora", "--yes")
		if erp.ask(`{"do":"rows"}`, &rows); len(rows) != 1 || rows[0].State != "dismissed" ||
			rows[0].Key != "01|000002" {
			t.Errorf("after a change there came %+v", rows)
		}

		var row strangeRow
		if erp.ask(`{"do":"row","job":"contracts","key":"01|000001"}`, &row); row.Words.State != "sent" ||
			row.RemoteID == nil || *row.RemoteID != *sent.RemoteID {
			t.Errorf("one row: %+v", row)
		}
		var none refusal
		if erp.ask(`{"do":"row","job":"contracts","key":"01/000 1|x"}`, &none); none != (refusal{404, "unknown_row"}) {
			t.Errorf("an unknown row: %+v", none)
		}
		if erp.ask(`{"do":"key","job":"contracts","key":"01|000001"}`, &rows); len(rows) != 1 ||
			rows[0].State != "accepted" {
			t.Errorf("a row by its key: %+v", rows)
		}
		if erp.ask(`{"do":"key","job":"contracts","key":"none"}`, &rows); len(rows) != 0 {
			t.Errorf("no row by its key: %+v", rows)
		}
		if erp.ask(`{"do":"wrong","cursor":"x"}`, &none); none != (refusal{400, "bad_request"}) {
			t.Errorf("a cursor of nobody: %+v", none)
		}
		const other = "eyJmIjoib3RoZXIiLCJuIjoxLCJhIjp0cnVlfQ" // {"f":"other","n":1,"a":true}
		if erp.ask(`{"do":"wrong","cursor":"`+other+`"}`, &none); none != (refusal{410, "cursor_expired"}) {
			t.Errorf("a cursor of another ledger: %+v", none)
		}
		for _, text := range []string{
			"eyJmIjoib3RoZXIiLCJuIjotMSwiYSI6dHJ1ZX0", // {"f":"other","n":-1,"a":true}
			"eyJmIjoib3RoZXIiLCJuIjoxLCJyIjoieCJ9",    // {"f":"other","n":1,"r":"x"}
			"eyJmIjoib3RoZXIiLCJuIjoxLCJyIjoiMCJ9",    // {"f":"other","n":1,"r":"0"}
		} {
			if erp.ask(`{"do":"wrong","cursor":"`+text+`"}`, &none); none != (refusal{400, "bad_request"}) {
				t.Errorf("a cursor that somebody changed: %+v", none)
			}
		}
		panel := startStranger(t, program, address, panelToken)
		if panel.ask(`{"do":"row","job":"contracts","key":"01|000001"}`, &none); none != (refusal{403, "forbidden"}) {
			t.Errorf("another scope: %+v", none)
		}
		unknown := startStranger(t, program, address, "x")
		if unknown.ask(`{"do":"row","job":"contracts","key":"01|000001"}`, &none); none !=
			(refusal{401, "unauthorized"}) {
			t.Errorf("another token: %+v", none)
		}
		s.stop()
	})
}
