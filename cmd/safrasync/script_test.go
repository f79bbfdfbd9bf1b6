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

	"github.com/goccy/go-yaml"
	"github.com/jmoiron/sqlx"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
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
	commands := map[string]func(*testscript.TestScript, bool, []string){}
	for usage, run := range map[string]func(*testscript.TestScript, []string){
		"exits CODE ARG…": cmdExits, "platform": cmdPlatform, "platform-posts N": cmdPosts,
		"query FILE SQL WANT": cmdQuery,
		"json LINE PATH WANT": cmdJSON, "json-keys LINE PATH KEYS": cmdJSONKeys, "edit FILE OLD NEW": cmdEdit,
		"fill FILE KEY COLUMN TEXT…": cmdFill, "lease FILE JOB": cmdLease, "references": cmdReferences,
		"platform-forget KIND ID": func(ts *testscript.TestScript, args []string) {
			box(ts).Forget(sandbox.RegistrationKind(args[0]), args[1])
		},
		"platform-id VARIABLE N": func(ts *testscript.TestScript, args []string) {
			ts.Setenv(args[0], box(ts).Created()[number(ts, args[1])-1].ID)
		},
		"platform-key KEY": func(ts *testscript.TestScript, args []string) { box(ts).SetAPIKey(args[0]) },
		"platform-has N": func(ts *testscript.TestScript, args []string) {
			same(ts, "records of the platform", strconv.Itoa(len(box(ts).Created())), args[0])
		},
		"lines N": func(ts *testscript.TestScript, args []string) {
			same(ts, "lines of standard output", strconv.Itoa(strings.Count(ts.ReadFile("stdout"), "\n")), args[0])
		},
		"append PATTERN TEXT": func(ts *testscript.TestScript, args []string) { // to the last file that matches
			found, err := filepath.Glob(ts.MkAbs(args[0]))
			ts.Check(err)
			text := ts.ReadFile(slices.Max(found)) + args[1]
			ts.Check(os.WriteFile(slices.Max(found), []byte(text), 0o600))
		},
		"sqlite FILE SQLFILE": func(ts *testscript.TestScript, args []string) {
			ts.Check(runSQL(ts.MkAbs(args[0]), ts.MkAbs(args[1])))
		},
	} {
		words := strings.Fields(usage)
		commands[words[0]] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) < len(words)-1 {
				ts.Fatalf("usage: %s", usage)
			}
			run(ts, args)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Setup: setUpScript, RequireUniqueNames: true, Cmds: commands,
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
	ours := strings.NewReplacer("$API", box.URL, "SELECT * FROM contrato", withPerson,
		"dsn: state.db", "dsn: "+filepath.Join(env.WorkDir, "state.db"))
	for _, name := range []string{"config.yaml", "erp.sql", "producers.csv", "users.csv", "wallets.csv", "places.csv"} {
		path := filepath.Join(env.WorkDir, name)
		data, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			data, err = os.ReadFile(filepath.Join("testdata/coop", name))
		}
		if name == "erp.sql" {
			data = append(data, canaryPerson...)
		}
		if err = errors.Join(err, os.WriteFile(path, []byte(ours.Replace(string(data))), 0o600)); err != nil {
			return err
		}
	}
	return runSQL(filepath.Join(env.WorkDir, "erp.db"), filepath.Join(env.WorkDir, "erp.sql"))
}

func box(ts *testscript.TestScript) *sandbox.Running {
	return ts.Value(platformKey{}).(*sandbox.Running)
}

func number(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	return n
}

// same wants a text of what there is.
func same(ts *testscript.TestScript, what, got, want string) {
	if got != want {
		ts.Fatalf("%s: %s, want %s", what, got, want)
	}
}

func cmdExits(ts *testscript.TestScript, args []string) {
	err := ts.Exec("safrasync", args[1:]...)
	code := 0
	if failed, ended := errors.AsType[*exec.ExitError](err); ended {
		code = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	same(ts, "the exit code", strconv.Itoa(code), args[0])
}

func cmdPlatform(ts *testscript.TestScript, args []string) {
	faults, err := sandbox.ParseFaults(args)
	ts.Check(err)
	box(ts).SetFaults(faults...)
}

func cmdPosts(ts *testscript.TestScript, args []string) {
	got := 0
	for request, n := range box(ts).Counts() {
		if strings.HasPrefix(request, "POST ") {
			got += n
		}
	}
	same(ts, "POSTs that reached the platform", strconv.Itoa(got), args[0])
}

func cmdQuery(ts *testscript.TestScript, args []string) {
	db, err := sqlx.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	var got string
	ts.Check(db.Get(&got, args[1]))
	same(ts, args[1], got, args[2])
}

// at finds a part of the JSON document in a line of the last standard output.
func at(ts *testscript.TestScript, line, path string) (doc json.RawMessage) {
	lines := strings.Split(strings.TrimSuffix(ts.ReadFile("stdout"), "\n"), "\n")
	n := number(ts, line)
	if n < 1 || n > len(lines) {
		ts.Fatalf("standard output has %d lines, no line %d", len(lines), n)
	}
	doc = json.RawMessage(lines[n-1])
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

func cmdJSON(ts *testscript.TestScript, args []string) {
	doc := at(ts, args[0], args[1])
	got := string(doc)
	if strings.HasPrefix(got, `"`) {
		ts.Check(json.Unmarshal(doc, &got))
	}
	same(ts, args[1], got, args[2])
}

func cmdJSONKeys(ts *testscript.TestScript, args []string) {
	var object yaml.MapSlice // JSON is YAML, and this keeps the order
	ts.Check(yaml.Unmarshal(at(ts, args[0], args[1]), &object))
	var keys []string
	for _, item := range object {
		keys = append(keys, fmt.Sprint(item.Key))
	}
	same(ts, "the keys of "+args[1], strings.Join(keys, ","), args[2])
}

func cmdLease(ts *testscript.TestScript, args []string) {
	store, err := state.Open(context.Background(), state.OpenOptions{Driver: state.SQLite, DSN: ts.MkAbs(args[0])})
	ts.Check(err)
	ts.Defer(func() { _ = store.Close() })
	_, err = store.AcquireLease(context.Background(), args[1], state.Self())
	ts.Check(err)
}

// cmdReferences imports the tables without a process for each: starting one takes longer than the
// import.
func cmdReferences(ts *testscript.TestScript, _ []string) {
	for kind, file := range coopReferences {
		var said bytes.Buffer
		app := cli.App{
			Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said,
			Env: func(name string) (string, bool) { value := ts.Getenv(name); return value, value != "" },
		}
		args := []string{"--config", ts.MkAbs("config.yaml"), "refs", "import", kind, ts.MkAbs(file), "--yes"}
		if code := execute(context.Background(), &app, args); code != cli.ExitDone {
			ts.Fatalf("the import of %s ended with %d:\n%s", kind, code, said.String())
		}
	}
}

func cmdEdit(ts *testscript.TestScript, args []string) {
	text, args := ts.ReadFile("config.yaml"), slices.Clone(args)
	args[1] = strings.ReplaceAll(args[1], `\n`, "\n")
	if strings.Count(text, args[1]) != 1 {
		ts.Fatalf("config.yaml has %q %d times, want once", args[1], strings.Count(text, args[1]))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]),
		[]byte(strings.Replace(text, args[1], strings.ReplaceAll(args[2], `\n`, "\n"), 1)), 0o600))
}

func cmdFill(ts *testscript.TestScript, args []string) {
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(ts.ReadFile(args[0]), "\ufeff")))
	r.Comma, r.FieldsPerRecord = ';', -1
	rows, err := r.ReadAll()
	ts.Check(err)
	row := slices.IndexFunc(rows, func(cells []string) bool { return slices.Contains(cells, args[1]) })
	for n := 2; n+1 < len(args); n += 2 {
		column := slices.Index(rows[0], args[n])
		if row < 0 || column < 0 {
			ts.Fatalf("no row %s or no column %s in %s", args[1], args[n], args[0])
		}
		rows[row][column] = args[n+1]
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Comma, w.UseCRLF = ';', true
	ts.Check(w.WriteAll(rows))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}
