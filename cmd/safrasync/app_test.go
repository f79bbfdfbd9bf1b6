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
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// F072.
func TestASignalLetsWhatIsOnTheWireComeToItsEnd(t *testing.T) {
	t.Parallel()
	ctx, signal := context.WithCancel(t.Context())
	defer signal()
	b := setUpBench(t, sandbox.Options{OnPost: func(int) { signal() }})
	out, _ := b.runIn(ctx, "", cli.ExitFailed, "sync", "--json")
	report := fromJSON[struct{ Runs []trade.RunReport }](t, out).Runs[0]
	if report.Stopped == nil || report.Stopped.Code != "interrupted" {
		t.Errorf("stopped = %+v, want interrupted", report.Stopped)
	}
	if n := len(b.box.Created()); n == 0 || n != report.States[trade.Accepted] ||
		report.States[trade.InDoubt]+report.States[trade.Sending] > 0 {
		t.Errorf("the platform has %d contracts, the ledger says %v; want each one accepted and none in doubt", n,
			report.States)
	}
	b.run(cli.ExitDone, "sync")
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
		"--log", log, "--not-contracted", "financial", "--json",
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
	if _, err := os.Stat(log); err != nil {
		t.Errorf("--log kept nothing: %v", err)
	}
	if !strings.Contains(messages.String(), "0 contratos, 0 entregas e 0 linhas de rastreabilidade criados") {
		t.Errorf("messages %q do not sum up", messages.String())
	}
}

// waitingWriter signals when something was written.
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
	_, messages := b.run(cli.ExitDone, "sync", "--verbose")
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
	if _, messages = b.run(cli.ExitDone, "sync"); messages != "" {
		t.Errorf("without --verbose a short run wrote %q to standard error", messages)
	}
}

func TestStandardOutputThatCannotBeWrittenIsAFailure(t *testing.T) {
	t.Parallel()
	broken, w := io.Pipe()
	must.Do(t, broken.Close())
	app := cli.App{
		Stdin: strings.NewReader(""), Stdout: w, Stderr: io.Discard,
		Env: func(string) (string, bool) { return "", false },
	}
	if code := execute(t.Context(), &app, []string{"--version"}); code != cli.ExitFailed {
		t.Errorf("exit code %d, want %d", code, cli.ExitFailed)
	}
}

// F166: messages and logs that cannot be written stop nothing.
func TestF166ABrokenStandardErrorStopsNothing(t *testing.T) {
	t.Parallel()
	b := setUpBench(t, sandbox.Options{})
	broken, w := io.Pipe()
	must.Do(t, broken.Close())
	var out bytes.Buffer
	app := cli.App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: w}
	if code := b.execute(t.Context(), &app, "sync", "--verbose"); code != cli.ExitDone || len(b.box.Created()) == 0 {
		t.Errorf("exit code %d, %d records\n%s", code, len(b.box.Created()), out.String())
	}
}
