package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/must"
)

// Reloads are counted by what became of them, and a health check reports whether the service runs.
func TestReloadsAreCountedAndTheServiceIsReportedAlive(t *testing.T) {
	onEither(t, func(t *testing.T, on string) {
		s := newService(t, on, false)
		s.edit("jobs:\n", "metrics: {listen: 127.0.0.1:0}\njobs:\n")
		s.must(cli.ExitFailed, "status", "--alive")
		s.start()
		served := s.line("its address", func(l logLine) bool { return l.Msg == "metrics are served" })
		address := "http://" + served.Address
		s.ran()
		if out := s.must(cli.ExitDone, "status", "--alive", "--json"); !strings.Contains(out, `"alive":true`) {
			t.Errorf("the health check says %q", out)
		}
		counted := func(done, refused string) {
			t.Helper()
			_, text := get(t, address+"/metrics")
			for _, want := range []string{
				`safrasync_reloads_total{result="done"} ` + done + "\n",
				`safrasync_reloads_total{result="refused"} ` + refused + "\n",
				"safrasync_config_loaded_timestamp_seconds 1.",
			} {
				if !strings.Contains(text, want) {
					t.Errorf("the metrics do not have %s", want)
				}
			}
		}
		counted("0", "0")
		good := s.read("config.yaml")
		s.edit("rate_limit: 0", "rate_limit: fast")
		s.signal(syscall.SIGHUP)
		s.until("READY=1", "the old one stays in effect")
		counted("0", "1")
		s.write("config.yaml", good)
		s.signal(syscall.SIGHUP)
		s.until("RELOADING=1")
		s.until("READY=1")
		counted("1", "1")
		s.stop()
		s.must(cli.ExitFailed, "status", "--alive")
	})
}

// The log and the status say what became of a reload: taken, refused with the reason, or taken but
// for a secret of which the service manager still has the former copy.
func TestTheLogSaysWhatBecameOfAReload(t *testing.T) {
	s := newService(t, "sqlite", false)
	s.start()
	reload := func(want, status string) {
		t.Helper()
		s.signal(syscall.SIGHUP)
		s.line("the reload", func(l logLine) bool { return strings.Contains(l.raw, want) })
		s.until("READY=1", status)
	}
	reload("the new configuration is in force", "")
	good := s.read("config.yaml")
	s.edit("rate_limit: 0", "rate_limit: fast")
	reload("the new configuration is wrong; the old one stays in force", "the old one stays in effect: ")
	s.write("config.yaml", good)
	s.edit("jobs:\n", "console: {listen: 127.0.0.1:0, cert_file: none.pem, key_file: none.key}\njobs:\n")
	reload("console.cert_file: ", "console.cert_file: ")
	s.must(cli.ExitFailed, "check", "--offline")
	s.write("config.yaml", good)
	s.write("api-key", "another-key\n")
	reload("systemctl restart safrasync", "still uses the old value of api-key; only a restart reads the new one")
	s.write("api-key", platformCanary+"\n")
	reload("the new configuration is in force", "")
	s.stop()
}

// In the journal of the service, the sentence with which a start is refused is an error, which
// `journalctl -p err` finds.
func TestARefusedStartIsAnErrorInTheJournal(t *testing.T) {
	s := newService(t, "sqlite", false)
	must.Do(t, os.Remove(s.path("state.db")))
	stream := must.Get(os.Create(s.path("stream")))(t)
	t.Cleanup(func() { must.Do(t, stream.Close()) })
	info := must.Get(stream.Stat())(t).Sys().(*syscall.Stat_t)
	cmd := s.command("run")
	cmd.Stderr, cmd.Env = stream, append(cmd.Env, fmt.Sprintf("JOURNAL_STREAM=%d:%d", info.Dev, info.Ino))
	if err := cmd.Run(); err == nil {
		t.Fatal("the service starts without its ledger")
	}
	if text := s.read("stream"); !strings.HasPrefix(text, "<3>error: ") {
		t.Errorf("the journal gets %q", text)
	}
}
