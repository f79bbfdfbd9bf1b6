package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/office"
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
	process *exec.Cmd
	told    chan string // notifications, in their order
	logged  chan logLine
	latest  []string      // the end of what was read of it
	posts   chan int      // POSTs that have arrived
	hold    chan struct{} // what a POST waits for before it is executed
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
	s := &service{posts: make(chan int, 100), told: make(chan string, 10_000), hold: make(chan struct{})}
	options := sandbox.Options{OnPost: func(n int) {
		s.posts <- n
		<-s.hold
	}}
	for _, change := range adjust {
		change(&options)
	}
	s.bench = newCoop(t, on, options)
	release := sync.OnceFunc(func() { close(s.hold) })
	t.Cleanup(release)
	if !held {
		release()
	}
	s.sql("erp.db", canaryPerson)
	s.write("credentials/api-key", platformCanary+"\n")
	s.configure(s.file, "api_key: ${env:SAFRASYNC_API_KEY}", "api_key: ${file:api-key}\n  max_in_flight: 1",
		"    sends: order_commitments", "    schedule: \"@every 1s\"\n    sends: order_commitments",
		"SELECT * FROM contrato", withPerson)
	s.env = map[string]string{
		"CREDENTIALS_DIRECTORY": s.path("credentials"), "LANG": "en_US.UTF-8", "LC_ALL": "", "LC_MESSAGES": "",
	}
	folder := must.Get(os.MkdirTemp("", "notify"))(t) // the path of a socket must be short
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	s.socket = filepath.Join(folder, "socket")
	notify := must.Get(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: s.socket, Net: "unixgram"}))(t)
	t.Cleanup(func() { _ = notify.Close() })
	go func() {
		defer close(s.told)
		for buffer := make([]byte, 64<<10); ; {
			n, err := notify.Read(buffer)
			if err != nil {
				return
			}
			s.told <- string(buffer[:n])
		}
	}()
	return s
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
	stderr := must.Get(s.process.StderrPipe())(s.t)
	must.Do(s.t, s.process.Start())
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

// await waits for what is wanted among what comes over a channel; it says what of the log is left
// when that does not come.
func await[V any](s *service, from <-chan V, what string, wanted func(V) bool) V {
	s.t.Helper()
	late := time.After(giveUp)
	for {
		select {
		case v, open := <-from:
			switch {
			case !open:
				s.t.Fatalf("the service ended before %s:\n%s", what, strings.Join(s.latest, "\n"))
			case wanted(v):
				return v
			}
		case <-late:
			s.t.Fatalf("%s never came; the log:\n%s\n%s", what, strings.Join(s.latest, "\n"), s.rest())
		}
	}
}

// until waits for a notification that has all the parts, and gives it.
func (s *service) until(parts ...string) string {
	s.t.Helper()
	return await(s, s.told, fmt.Sprintf("a notification with %q", parts), func(message string) bool {
		return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(message, p) })
	})
}

// line waits for a line of the log.
func (s *service) line(what string, is func(logLine) bool) logLine {
	s.t.Helper()
	return await(s, s.logged, "the log told of "+what, func(l logLine) bool {
		s.latest = append(s.latest[max(0, len(s.latest)-20):], l.raw)
		return is(l)
	})
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
	await(s, s.posts, "a POST", func(int) bool { return true })
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
	_ = s.process.Wait()
	return s.process.ProcessState.ExitCode()
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
func (s *service) job(name string) office.JobStatus {
	s.t.Helper()
	for _, job := range jsonLines[office.JobStatus](s.t, s.must(0, "status", "--json")) {
		if job.Job == name {
			return job
		}
	}
	s.t.Fatalf("status does not tell of job %s", name)
	return office.JobStatus{}
}

// long asks for the long form of a test.
var long = os.Getenv("SAFRASYNC_TEST_LONG") != ""

// onEither is onBoth for what has no dialect: the short form takes one of both, by the test's name.
func onEither(t *testing.T, test func(t *testing.T, on string)) {
	t.Helper()
	if long {
		onBoth(t, test)
		return
	}
	t.Parallel()
	on := []string{state.SQLite, state.Postgres}[crc32.ChecksumIEEE([]byte(t.Name()))%2]
	t.Run(on, func(t *testing.T) { test(t, on) })
}

// onBoth runs a test with its ledger in SQLite and in PostgreSQL.
func onBoth(t *testing.T, test func(t *testing.T, on string)) {
	t.Helper()
	t.Parallel()
	for _, on := range []string{state.SQLite, state.Postgres} {
		t.Run(on, func(t *testing.T) { test(t, on) })
	}
}
