package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/cmd/safrasync/runs"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
)

// giveUp is when a test stops waiting for something that should come at once. It is no measurement:
// nothing is wrong with a host that needs half of it.
const giveUp = 60 * time.Second

// service is the real program as the service manager runs it: `safrasync run` as a process of its
// own, with a socket for its notifications, on the sample cooperative, against a sandbox. One job,
// every second.
type service struct {
	*bench

	socket  string
	notify  *net.UnixConn
	process *exec.Cmd
	told    chan string // notifications, in their order
	logged  chan logLine
	latest  []string      // the end of what was read of it
	posts   chan int      // POSTs that have arrived
	hold    chan struct{} // what a POST waits for before it is executed; nil lets all pass
}

// logLine is a line of the service's log.
type logLine struct {
	Level, Msg, Job, Run, State, Error, Stopped, Address string
	Sent                                                 int
	raw                                                  string
}

// newService makes everything that a service needs; on says where its ledger is.
func newService(t *testing.T, on string, held bool, adjust ...func(*sandbox.Options)) *service {
	t.Helper()
	t.Parallel()
	s := &service{posts: make(chan int, 100)}
	options := sandbox.Options{OnPost: func(n int) {
		s.posts <- n
		if s.hold != nil {
			<-s.hold
		}
	}}
	for _, change := range adjust {
		change(&options)
	}
	if held {
		s.hold = make(chan struct{})
	}
	s.bench = newCoop(t, on, options)
	t.Cleanup(func() {
		if s.hold != nil {
			close(s.hold)
		}
	})
	s.sql("erp.db", canaryPerson)
	s.write("credentials/api-key", platformCanary+"\n")
	s.configure(s.file, "api_key: ${env:SAFRASYNC_API_KEY}", "api_key: ${file:api-key}\n  max_in_flight: 1",
		"    sends: order_commitments", "    schedule: \"@every 1s\"\n    sends: order_commitments",
		"SELECT * FROM contrato", withPerson)
	s.env = map[string]string{
		"CREDENTIALS_DIRECTORY": s.path("credentials"), "LANG": "en_US.UTF-8", "LC_ALL": "", "LC_MESSAGES": "",
	}
	folder, err := os.MkdirTemp("", "notify") // the path of a socket must be short
	must.Do(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	s.socket = filepath.Join(folder, "socket")
	s.notify = must.Get(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: s.socket, Net: "unixgram"}))(t)
	t.Cleanup(func() { _ = s.notify.Close() })
	s.told = make(chan string, 10_000)
	go s.listen()
	return s
}

// must runs a command and wants its exit code; it gives what it printed.
func (s *service) must(code int, args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	if got := s.exitOf(err); got != code {
		s.t.Fatalf("safrasync %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, out)
	}
	return string(out)
}

func (*service) exitOf(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// start starts the service and waits until it is ready.
func (s *service) start() {
	s.t.Helper()
	s.launch()
	s.until("READY=1")
}

func (s *service) launch() {
	s.t.Helper()
	s.process = s.command("run")
	s.process.Env = append(s.process.Env, "NOTIFY_SOCKET="+s.socket, "WATCHDOG_USEC=1500000")
	stderr, err := s.process.StderrPipe()
	if err == nil {
		err = s.process.Start()
	}
	must.Do(s.t, err)
	process := s.process.Process
	s.t.Cleanup(func() { _ = process.Kill() })
	s.logged = make(chan logLine, 10_000)
	go func(lines chan<- logLine) {
		defer close(lines)
		for scan := bufio.NewScanner(stderr); scan.Scan(); {
			line := logLine{raw: scan.Text()}
			_ = json.Unmarshal(scan.Bytes(), &line) // a message for people is no JSON
			lines <- line
		}
	}(s.logged)
}

func (s *service) listen() {
	buffer := make([]byte, 64<<10)
	for {
		n, err := s.notify.Read(buffer)
		if err != nil {
			close(s.told)
			return
		}
		s.told <- string(buffer[:n])
	}
}

// until waits for a notification that has all the parts, and gives it.
func (s *service) until(parts ...string) string {
	s.t.Helper()
	late := time.After(giveUp)
	for {
		select {
		case message := <-s.told:
			if !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(message, p) }) {
				return message
			}
		case <-late:
			s.t.Fatalf("the service manager was never told %q; the log:\n%s", parts, s.rest())
		}
	}
}

// line waits for a line of the log.
func (s *service) line(what string, is func(logLine) bool) logLine {
	s.t.Helper()
	late := time.After(giveUp)
	for {
		select {
		case line, ok := <-s.logged:
			if !ok {
				s.t.Fatalf("the service ended before its log told of %s; its end:\n%s", what,
					strings.Join(s.latest, "\n"))
			}
			s.latest = append(s.latest[max(0, len(s.latest)-20):], line.raw)
			if is(line) {
				return line
			}
		case <-late:
			s.t.Fatalf("the log never told of %s; its end:\n%s", what, strings.Join(s.latest, "\n"))
		}
	}
}

// ran waits until a run has ended.
func (s *service) ran() logLine {
	s.t.Helper()
	return s.line("a run", func(l logLine) bool { return l.Msg == "run" })
}

// rest is what the log has left.
func (s *service) rest() string {
	var out []string
	for {
		select {
		case line, ok := <-s.logged:
			if !ok {
				return strings.Join(out, "\n")
			}
			out = append(out, line.raw)
		default:
			return strings.Join(out, "\n")
		}
	}
}

// posted waits until a POST has arrived.
func (s *service) posted() {
	s.t.Helper()
	select {
	case <-s.posts:
	case <-time.After(giveUp):
		s.t.Fatal("no POST arrived")
	}
}

func (s *service) signal(sig syscall.Signal) {
	s.t.Helper()
	must.Do(s.t, s.process.Process.Signal(sig))
}

// ended waits for the end of the process and gives its exit code; -1 when it was killed.
func (s *service) ended() int {
	s.t.Helper()
	for range s.logged { // to its end
	}
	return s.exitOf(s.process.Wait())
}

// stop ends the service as the service manager does.
func (s *service) stop() {
	s.t.Helper()
	s.signal(syscall.SIGTERM)
	if code := s.ended(); code != 0 {
		s.t.Errorf("exit code %d", code)
	}
}

// job is what status says of a job.
func (s *service) job(name string) runs.JobJSON {
	s.t.Helper()
	for _, job := range jsonLines[runs.JobJSON](s.t, s.must(0, "status", "--json")) {
		if job.Job == name {
			return job
		}
	}
	s.t.Fatalf("status does not tell of job %s", name)
	return runs.JobJSON{}
}

// onBoth runs a test with its ledger in SQLite and in PostgreSQL.
func onBoth(t *testing.T, test func(t *testing.T, on string)) {
	t.Helper()
	t.Parallel()
	for _, on := range []string{state.SQLite, state.Postgres} {
		t.Run(on, func(t *testing.T) { test(t, on) })
	}
}
