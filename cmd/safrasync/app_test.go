package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/trade"
)

// bench is the program in a folder of its own, with the cooperative of testdata/coop.
type bench struct {
	t   *testing.T
	dir string
	box *sandbox.Running
}

func setUpBench(t *testing.T, opts sandbox.Options) *bench {
	t.Helper()
	box, err := sandbox.Start(opts, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	b := &bench{t: t, dir: t.TempDir(), box: box}
	config, err := os.ReadFile("testdata/coop/config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("$API", box.URL, "erp.db", b.path("erp.db"), "state.db",
		b.path("state.db")).Replace(string(config))
	if err := os.WriteFile(b.path("config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := runSQL(b.path("erp.db"), "testdata/coop/erp.sql"); err != nil {
		t.Fatal(err)
	}
	b.run(t.Context(), cli.ExitDone, "state", "new")
	for kind, file := range map[string]string{
		"producers": "producers.csv", "users": "users.csv",
		"wallets": "wallets.csv", "delivery_places": "places.csv",
	} {
		b.run(t.Context(), cli.ExitDone, "refs", "import", kind, "testdata/coop/"+file, "--yes")
	}
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// run executes a command, wants the exit code and gives standard output and standard error.
func (b *bench) run(ctx context.Context, code int, args ...string) (stdout, stderr string) {
	b.t.Helper()
	var out, messages bytes.Buffer
	app := cli.App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &messages}
	app.Env = func(name string) (string, bool) {
		return platformCanary, name == "SAFRASYNC_API_KEY"
	}
	if got := execute(ctx, &app, append([]string{"--config", b.path("config.yaml")}, args...)); got != code {
		b.t.Fatalf("safrasync %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, out.String(),
			messages.String())
	}
	return out.String(), messages.String()
}

// F072.
func TestASignalLetsWhatIsOnTheWireComeToItsEnd(t *testing.T) {
	t.Parallel()
	ctx, signal := context.WithCancel(t.Context())
	defer signal()
	b := setUpBench(t, sandbox.Options{OnPost: func(int) { signal() }})
	out, _ := b.run(ctx, cli.ExitFailed, "sync", "--json")
	var summary struct{ Runs []trade.RunReport }
	if err := json.Unmarshal([]byte(out), &summary); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	report := summary.Runs[0]
	if report.Stopped == nil || report.Stopped.Code != "interrupted" {
		t.Errorf("stopped = %+v, want interrupted", report.Stopped)
	}
	if n := len(b.box.Created()); n == 0 || n != report.States[trade.Accepted] ||
		report.States[trade.InDoubt]+report.States[trade.Sending] > 0 {
		t.Errorf("the platform has %d contracts, the ledger says %v; want each one accepted and none in doubt", n,
			report.States)
	}
	b.run(t.Context(), cli.ExitDone, "sync")
	if n := len(b.box.Created()); n != 2 {
		t.Errorf("the platform has %d contracts after the next run, want 2", n)
	}
}

func TestTheSandboxRunsUntilASignal(t *testing.T) {
	t.Parallel()
	ctx, signal := context.WithCancel(t.Context())
	out := &waitingWriter{written: signal} // a signal as soon as its address is known
	var messages bytes.Buffer
	app := cli.App{
		Stdin: strings.NewReader(""), Stdout: out, Stderr: &messages,
		Env: func(string) (string, bool) { return "", false },
	}
	log := filepath.Join(t.TempDir(), "truth.jsonl")
	code := execute(ctx, &app, []string{
		"sandbox", "--listen", "127.0.0.1:0", "--seed", "7", "--faults", "status=503%10",
		"--log", log, "--state", log + ".state", "--not-contracted", "financial", "--json",
	})
	if code != cli.ExitDone {
		t.Fatalf("exit code %d: %s", code, messages.String())
	}
	var told struct {
		URL  string `json:"url"`
		Seed int64  `json:"seed"`
	}
	if err := json.Unmarshal(out.text.Bytes(), &told); err != nil ||
		!strings.HasPrefix(told.URL, "http://127.0.0.1:") || told.Seed != 7 {
		t.Errorf("told %s (%v), want a loopback address and seed 7", out.text.String(), err)
	}
	if _, err := os.Stat(log + ".state"); err != nil {
		t.Errorf("--state kept nothing: %v", err)
	}
	if !strings.Contains(messages.String(), "0 contratos, 0 entregas e 0 linhas de rastreabilidade criados") {
		t.Errorf("messages %q do not sum up", messages.String())
	}
}

// waitingWriter tells when something was written.
type waitingWriter struct {
	text    bytes.Buffer
	written func()
}

func (w *waitingWriter) Write(p []byte) (int, error) {
	defer w.written()
	return w.text.Write(p)
}

func TestVerboseLogsJSONWithFullTimesAndWithoutSecretsOrPersons(t *testing.T) {
	t.Parallel()
	b := setUpBench(t, sandbox.Options{})
	_, messages := b.run(t.Context(), cli.ExitDone, "sync", "--verbose")
	for line := range strings.Lines(messages) {
		var entry struct{ Time, Level, Msg string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Time == "" || entry.Level == "" ||
			entry.Msg == "" {
			t.Errorf("%q is no log line: %v", line, err)
		}
		if strings.Contains(line, platformCanary) || strings.Contains(line, "1129.5") ||
			strings.Contains(line, "1.129,5") {
			t.Errorf("the log tells a secret or a price: %s", line)
		}
	}
	if _, messages = b.run(t.Context(), cli.ExitDone, "sync"); messages != "" {
		t.Errorf("without --verbose a short run wrote %q to standard error", messages)
	}
}

func TestStandardOutputThatCannotBeWrittenIsAFailure(t *testing.T) {
	t.Parallel()
	broken, w := io.Pipe()
	if err := broken.Close(); err != nil {
		t.Fatal(err)
	}
	app := cli.App{
		Stdin: strings.NewReader(""), Stdout: w, Stderr: io.Discard,
		Env: func(string) (string, bool) { return "", false },
	}
	if code := execute(t.Context(), &app, []string{"version"}); code != cli.ExitFailed {
		t.Errorf("exit code %d, want %d", code, cli.ExitFailed)
	}
}

// F166: messages and logs that cannot be written stop nothing.
func TestF166ABrokenStandardErrorStopsNothing(t *testing.T) {
	t.Parallel()
	b := setUpBench(t, sandbox.Options{})
	broken, w := io.Pipe()
	if err := broken.Close(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	app := cli.App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: w}
	app.Env = func(name string) (string, bool) {
		return platformCanary, name == "SAFRASYNC_API_KEY"
	}
	if code := execute(t.Context(), &app, []string{
		"--config", b.path("config.yaml"), "sync",
		"--verbose",
	}); code != cli.ExitDone || len(b.box.Created()) == 0 {
		t.Errorf("exit code %d, %d records\n%s", code, len(b.box.Created()), out.String())
	}
}
