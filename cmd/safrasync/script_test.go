package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/state"
)

// The scripts of testdata/script run the real program against the real sandbox and an ERP in
// SQLite. Each starts with the cooperative of testdata/coop: its configuration, its ERP and its
// de-para; a script that brings a file of the same name has its own.
//
//	exits CODE ARG…          runs safrasync ARG… and wants this exit code; the sandbox is there
//	                         from the start
//	platform [FAULT…]        what the sandbox does wrong from now on
//	platform-forget KIND ID  the platform does not know this record
//	platform-key KEY         the only key that the platform accepts from now on
//	platform-has N           the platform has executed so many creations
//	platform-posts N         so many POSTs have reached it
//	sqlite FILE SQLFILE      runs SQL on a database, which may be new
//	query FILE SQL WANT      wants this single value
//	json LINE PATH WANT      wants this value in a line (from 1) of the last standard output; PATH
//	                         is like runs.0.states.accepted
//	json-keys LINE PATH KEYS wants exactly these keys in this order, joined with commas; PATH . is
//	the whole line
//	lines N                  wants so many lines of standard output
//	edit FILE OLD NEW        makes another configuration: config.yaml with OLD replaced by NEW, in
//	                         both of which \n is a new line
//	references               imports the four de-para tables
//	fill FILE KEY COLUMN TEXT…  fills cells of a row in a CSV file of decisions
//	lease FILE JOB           holds the lease of a job until the script ends, as another process
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Setup: setUpScript, RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": cmdExits, "platform": cmdPlatform, "platform-forget": cmdForget, "platform-key": cmdKey,
			"platform-id": cmdID, "platform-has": cmdHas,
			"platform-posts": cmdPosts, "sqlite": cmdSQLite, "query": cmdQuery, "json": cmdJSON,
			"json-keys": cmdJSONKeys, "lines": cmdLines, "references": cmdReferences, "edit": cmdEdit,
			"lease": cmdLease, "fill": cmdFill,
		},
	})
}

type platformKey struct{}

func setUpScript(env *testscript.Env) error {
	box, err := sandbox.Start(sandbox.Options{APIKey: platformCanary, Seed: 1}, "127.0.0.1:0")
	if err != nil {
		return err
	}
	env.Defer(func() {
		if err := box.Close(); err != nil {
			env.T().Log(err)
		}
	})
	env.Values[platformKey{}] = box
	env.Setenv("API", box.URL)
	env.Setenv(transcriptsVariable, os.Getenv(transcriptsVariable))
	env.Setenv("SAFRASYNC_API_KEY", platformCanary)
	for _, name := range []string{"config.yaml", "erp.sql", "producers.csv", "users.csv", "wallets.csv", "places.csv"} {
		data, err := os.ReadFile(filepath.Join("testdata/coop", name))
		if err != nil {
			return err
		}
		path := filepath.Join(env.WorkDir, name)
		own, err := os.ReadFile(path)
		switch {
		case err == nil:
			data = own
		case !errors.Is(err, os.ErrNotExist):
			return err
		}
		data = bytes.ReplaceAll(data, []byte("$API"), []byte(box.URL))
		switch name {
		case "config.yaml":
			data = bytes.ReplaceAll(data, []byte("SELECT * FROM contrato"), []byte(withPerson))
			data = bytes.ReplaceAll(data, []byte("dsn: state.db"),
				[]byte("dsn: "+filepath.Join(env.WorkDir, "state.db")))
		case "erp.sql":
			data = append(data, canaryPerson...)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return err
		}
	}
	return runSQL(filepath.Join(env.WorkDir, "erp.db"), filepath.Join(env.WorkDir, "erp.sql"))
}

func box(ts *testscript.TestScript) *sandbox.Running {
	return ts.Value(platformKey{}).(*sandbox.Running)
}

func want(ts *testscript.TestScript, neg bool, args []string, n int, usage string) {
	if neg || len(args) < n {
		ts.Fatalf("usage: %s", usage)
	}
}

func number(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	return n
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, "exits CODE ARG…")
	err := ts.Exec("safrasync", args[1:]...)
	code := 0
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		code = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if wanted := number(ts, args[0]); code != wanted {
		ts.Fatalf("exit code %d, want %d", code, wanted)
	}
}

func cmdPlatform(ts *testscript.TestScript, _ bool, args []string) {
	faults, err := sandbox.ParseFaults(args)
	ts.Check(err)
	box(ts).SetFaults(faults...)
}

func cmdForget(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "platform-forget KIND ID")
	box(ts).Forget(sandbox.Kind(args[0]), args[1])
}

func cmdID(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "platform-id VARIABLE N")
	ts.Setenv(args[0], box(ts).Created()[number(ts, args[1])-1].ID)
}

func cmdKey(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, "platform-key KEY")
	box(ts).SetAPIKey(args[0])
}

func cmdHas(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, "platform-has N")
	if got := len(box(ts).Created()); got != number(ts, args[0]) {
		ts.Fatalf("the platform has %d contracts, want %s", got, args[0])
	}
}

func cmdPosts(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, "platform-posts N")
	got := 0
	for request, n := range box(ts).Counts() {
		if strings.HasPrefix(request, "POST ") {
			got += n
		}
	}
	if got != number(ts, args[0]) {
		ts.Fatalf("%d POSTs reached the platform, want %s", got, args[0])
	}
}

func cmdSQLite(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "sqlite FILE SQLFILE")
	ts.Check(runSQL(ts.MkAbs(args[0]), ts.MkAbs(args[1])))
}

func cmdQuery(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, "query FILE SQL WANT")
	db, err := sqlx.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	var got string
	ts.Check(db.Get(&got, args[1]))
	if got != args[2] {
		ts.Fatalf("%s gives %q, want %q", args[1], got, args[2])
	}
}

// outputLine decodes one line of the last standard output.
func outputLine(ts *testscript.TestScript, line string) string {
	lines := strings.Split(strings.TrimSuffix(ts.ReadFile("stdout"), "\n"), "\n")
	n := number(ts, line)
	if n < 1 || n > len(lines) {
		ts.Fatalf("standard output has %d lines, no line %d", len(lines), n)
	}
	return lines[n-1]
}

// at finds a part of a JSON document.
func at(ts *testscript.TestScript, doc json.RawMessage, path string) json.RawMessage {
	for step := range strings.SplitSeq(strings.Trim(path, "."), ".") {
		var object map[string]json.RawMessage
		var list []json.RawMessage
		switch {
		case step == "":
		case json.Unmarshal(doc, &object) == nil && object[step] != nil:
			doc = object[step]
		case json.Unmarshal(doc, &list) == nil && number(ts, step) < len(list):
			doc = list[number(ts, step)]
		default:
			ts.Fatalf("there is no %s of %s in %s", step, path, doc)
		}
	}
	return doc
}

func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, "json LINE PATH WANT")
	got := string(at(ts, json.RawMessage(outputLine(ts, args[0])), args[1]))
	var text string
	if strings.HasPrefix(got, `"`) && json.Unmarshal([]byte(got), &text) == nil {
		got = text
	}
	if got != args[2] {
		ts.Fatalf("%s is %s, want %s", args[1], got, args[2])
	}
}

func cmdJSONKeys(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, "json-keys LINE PATH KEYS")
	keys, err := keysOf(at(ts, json.RawMessage(outputLine(ts, args[0])), args[1]))
	ts.Check(err)
	if got := strings.Join(keys, ","); got != args[2] {
		ts.Fatalf("the keys of %s are %s, want %s", args[1], got, args[2])
	}
}

// keysOf gives the keys of an object in their order.
func keysOf(doc json.RawMessage) (keys []string, err error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, fmt.Errorf("%s is no object: %w", doc, err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		keys = append(keys, fmt.Sprint(key))
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

func cmdLines(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, "lines N")
	if got := strings.Count(ts.ReadFile("stdout"), "\n"); got != number(ts, args[0]) {
		ts.Fatalf("standard output has %d lines, want %s", got, args[0])
	}
}

func cmdLease(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "lease FILE JOB")
	store, err := state.Open(context.Background(), state.Options{Driver: state.SQLite, DSN: ts.MkAbs(args[0])})
	ts.Check(err)
	ts.Defer(func() { _ = store.Close() })
	_, err = store.AcquireLease(context.Background(), args[1], state.Self())
	ts.Check(err)
}

func cmdReferences(ts *testscript.TestScript, _ bool, _ []string) {
	for kind, file := range coopReferences {
		ts.Check(ts.Exec("safrasync", "refs", "import", kind, file, "--yes"))
	}
}

func cmdEdit(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, "edit FILE OLD NEW")
	text, args := ts.ReadFile("config.yaml"), slices.Clone(args)
	args[1] = strings.ReplaceAll(args[1], `\n`, "\n")
	if strings.Count(text, args[1]) != 1 {
		ts.Fatalf("config.yaml has %q %d times, want once", args[1], strings.Count(text, args[1]))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]),
		[]byte(strings.Replace(text, args[1], strings.ReplaceAll(args[2], `\n`, "\n"), 1)), 0o600))
}

func cmdFill(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 4, "fill FILE KEY COLUMN TEXT…")
	lines := strings.Split(strings.TrimPrefix(ts.ReadFile(args[0]), "\ufeff"), "\r\n")
	titles := strings.Split(lines[0], ";")
	for i, line := range lines {
		r := csv.NewReader(strings.NewReader(line))
		r.Comma = ';'
		cells, err := r.Read()
		if err != nil || !slices.Contains(cells, args[1]) {
			continue
		}
		for n := 2; n+1 < len(args); n += 2 {
			at := slices.Index(titles, args[n])
			if at < 0 {
				ts.Fatalf("no column %s in %s", args[n], lines[0])
			}
			cells[at] = args[n+1]
		}
		var b strings.Builder
		w := csv.NewWriter(&b)
		w.Comma = ';'
		ts.Check(w.Write(cells))
		w.Flush()
		lines[i] = strings.TrimSuffix(b.String(), "\n")
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(lines, "\r\n")), 0o600))
		return
	}
	ts.Fatalf("no row %s in %s", args[1], args[0])
}
