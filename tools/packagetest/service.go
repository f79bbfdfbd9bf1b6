package packagetest

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait. It is not a measure of speed: a run that reaches it is broken.
const patience = 2 * time.Minute

// service is safrasync.service in a root, with the test in the role of systemd: it reads the unit,
// starts its command as its user, with its credentials, folder, sockets and watchdog, and restarts
// it after a failure.
type service struct {
	t    *testing.T
	root *root

	notify *net.UnixConn
	done   chan struct{} // closed when the socket's reader has ended

	mu      sync.Mutex
	unit    unit
	wanted  bool          // it should be running
	process *exec.Cmd     // nil while it is not running
	gone    chan struct{} // closed when that process was reaped
	ready   bool
	status  string
	reloads int // number of READY=1 after RELOADING=1
	busy    bool
	starts  int
	codes   []int // exit codes of the main processes; -1 for a signal
	barks   int   // number of missed watchdog resets
	dog     *time.Timer
	log     bytes.Buffer
}

// newService prepares a service without starting it.
func newService(t *testing.T, r *root) *service {
	t.Helper()
	s := &service{t: t, root: r, done: make(chan struct{})}
	// This folder tells scripts that systemd is running.
	if err := os.MkdirAll(r.path("/run/systemd/system"), 0o755); err != nil {
		t.Fatal(err)
	}
	// The path of a socket must be short, but that of a root may be long. So the socket is bound
	// and opened through the folder's descriptor.
	dir, err := os.Open(r.path("/run/systemd"))
	if err != nil {
		t.Fatal(err)
	}
	address := "/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) + "/notify"
	s.notify, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
	if err == nil {
		err = errors.Join(os.Chmod(r.path("/run/systemd/notify"), 0o777), dir.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	go s.listen()
	t.Cleanup(func() {
		s.stop()
		if err := s.notify.Close(); err != nil {
			t.Error(err)
		}
		<-s.done
		if t.Failed() {
			t.Logf("the service's log:\n%s", s.journal())
		}
	})
	return s
}

// listen reads the messages of the service to the manager.
func (s *service) listen() {
	defer close(s.done)
	message := make([]byte, 64<<10)
	for {
		n, _, err := s.notify.ReadFromUnix(message)
		if err != nil {
			return
		}
		s.mu.Lock()
		for line := range strings.SplitSeq(string(message[:n]), "\n") {
			key, value, _ := strings.Cut(line, "=")
			switch {
			case key == "STATUS":
				s.status = value
			case key == "RELOADING":
				s.busy = true
			case key == "READY":
				if s.ready && s.busy {
					s.reloads++
				}
				s.ready, s.busy = true, false
			}
		}
		if s.dog != nil { // both READY=1 and WATCHDOG=1 reset it
			s.dog.Reset(s.span("WatchdogSec"))
		}
		s.mu.Unlock()
	}
}

// span returns a duration setting of the unit.
func (s *service) span(key string) time.Duration {
	text := s.unit.one(s.t, key)
	text = strings.NewReplacer("min", "m", "sec", "s").Replace(text)
	d, err := time.ParseDuration(text)
	if err != nil {
		s.t.Errorf("%s=%s: %v", key, text, err)
		return time.Minute
	}
	return d
}

// start does what `systemctl start` does, and waits for READY=1. It returns whether the service is
// running.
func (s *service) start() bool {
	s.mu.Lock()
	if s.process != nil {
		s.mu.Unlock()
		return true
	}
	s.wanted = true
	s.mu.Unlock()
	return s.launch()
}

func (s *service) launch() bool {
	s.t.Helper()
	u := readUnit(s.t, s.root, "safrasync.service")
	s.mu.Lock()
	s.unit, s.ready, s.busy, s.status = u, false, false, ""
	s.mu.Unlock()
	env := s.prepare(u)
	for _, command := range u["ExecStartPre"] {
		command, mayFail := strings.CutPrefix(command, "-")
		if err := s.command(u, env, command).Run(); err != nil && !mayFail {
			s.note("ExecStartPre: " + err.Error())
			return false
		}
	}
	main := s.command(u, env, u.one(s.t, "ExecStart"))
	s.mu.Lock()
	if err := main.Start(); err != nil {
		s.mu.Unlock()
		s.t.Error(err)
		return false
	}
	s.process, s.gone = main, make(chan struct{})
	s.starts++
	s.dog = time.AfterFunc(s.span("WatchdogSec"), func() { s.bark(main) })
	gone := s.gone
	s.mu.Unlock()
	go s.collect(main, gone)
	s.wait("READY=1, or its end", func() bool { return s.ready || s.process != main })
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process == main
}

// bark ends a service that did not reset its watchdog in time.
func (s *service) bark(main *exec.Cmd) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == main {
		s.barks++
		_ = main.Process.Signal(syscall.SIGABRT)
	}
}

// collect waits for the end of a main process, and restarts the service if the unit requires it.
func (s *service) collect(main *exec.Cmd, gone chan struct{}) {
	_ = main.Wait() // the exit code is read below
	s.mu.Lock()
	code := main.ProcessState.ExitCode()
	s.codes = append(s.codes, code)
	s.process = nil
	s.dog.Stop()
	again := s.wanted && code != 0 && !s.unit.never(strconv.Itoa(code)) && s.starts < 20
	s.mu.Unlock()
	close(gone)
	if again { // without RestartSec
		s.launch()
	}
}

// stop does what `systemctl stop` does.
func (s *service) stop() {
	s.mu.Lock()
	s.wanted = false
	process, gone := s.process, s.gone
	if process == nil {
		s.mu.Unlock()
		return
	}
	_ = process.Process.Signal(syscall.SIGTERM)
	limit := time.NewTimer(s.span("TimeoutStopSec"))
	s.mu.Unlock()
	defer limit.Stop()
	select {
	case <-gone:
	case <-limit.C:
		s.t.Error("the service did not stop in TimeoutStopSec and was killed")
		_ = process.Process.Kill()
		<-gone
	}
}

// reload does what `systemctl reload` does. It returns false if the unit's commands failed; the
// service was then not told to reload.
func (s *service) reload() bool {
	s.mu.Lock()
	u, before, pid := s.unit, s.reloads, s.process.Process.Pid
	s.mu.Unlock()
	for _, command := range u["ExecReload"] {
		command = strings.ReplaceAll(command, "$MAINPID", strconv.Itoa(pid))
		if err := s.command(u, s.environment(u), command).Run(); err != nil { // the credentials stay those of the start
			return false
		}
	}
	s.wait("READY=1 after the reload", func() bool { return s.reloads > before })
	return true
}

// prepare creates the folders and credentials of the unit and returns the environment.
func (s *service) prepare(u unit) []string {
	s.t.Helper()
	uid, gid := s.owner(u)
	for _, folder := range []string{
		"/var/lib/" + u.one(s.t, "StateDirectory"), credentials,
	} {
		folder = s.root.path(folder)
		err := errors.Join(os.MkdirAll(filepath.Dir(folder), 0o755), os.MkdirAll(folder, 0o700),
			os.Chown(folder, uid, gid))
		if err != nil {
			s.t.Error(err)
		}
	}
	for _, credential := range u["LoadCredential"] {
		id, path, _ := strings.Cut(credential, ":")
		files, err := filepath.Glob(s.root.path(path) + "/*")
		if err != nil {
			s.t.Error(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			to := s.root.path(credentials + "/" + id + "_" + filepath.Base(file))
			if err == nil {
				err = errors.Join(os.RemoveAll(to), os.WriteFile(to, text, 0o400), os.Chown(to, uid, gid))
			}
			if err != nil {
				s.t.Error(err)
			}
		}
	}
	return s.environment(u)
}

// credentials is the folder of the service's credentials.
const credentials = "/run/credentials/safrasync.service"

// environment returns the environment of the unit's commands.
func (s *service) environment(u unit) []string {
	s.t.Helper()
	state := "/var/lib/" + u.one(s.t, "StateDirectory")
	return []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "LANG=C.UTF-8", "USER=safrasync", "LOGNAME=safrasync",
		"HOME=" + state,
		"NOTIFY_SOCKET=/run/systemd/notify", "CREDENTIALS_DIRECTORY=" + credentials, "STATE_DIRECTORY=" + state,
		"WATCHDOG_USEC=" + strconv.FormatInt(s.watchdog(u).Microseconds(), 10),
	}
}

// backup does what `systemctl start safrasync-backup` does, as the timer does every night, and
// returns the exit code.
func (s *service) backup() int {
	u := readUnit(s.t, s.root, "safrasync-backup.service")
	uid, gid := s.owner(u)
	for folder := range strings.FieldsSeq(u.one(s.t, "StateDirectory")) {
		folder = s.root.path("/var/lib/" + folder)
		if err := errors.Join(os.MkdirAll(folder, 0o700), os.Chown(folder, uid, gid)); err != nil {
			s.t.Error(err)
		}
	}
	cmd := s.command(u, []string{"LANG=C.UTF-8", "CREDENTIALS_DIRECTORY=/run/credentials/safrasync.service"},
		u.one(s.t, "ExecStart"))
	if err := cmd.Run(); err != nil {
		s.note("safrasync-backup: " + err.Error())
	}
	return cmd.ProcessState.ExitCode()
}

func (s *service) watchdog(u unit) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unit = u
	return s.span("WatchdogSec")
}

// command returns one of the unit's commands, to be run as the unit's user in the root.
func (s *service) command(u unit, env []string, command string) *exec.Cmd {
	s.t.Helper()
	args := words(command)
	uid, gid := s.owner(u)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Path, cmd.Err = args[0], nil // it is in the root, not here
	cmd.Env, cmd.Dir = env, u.one(s.t, "WorkingDirectory")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Chroot:     s.root.dir,
		Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, Pdeathsig: syscall.SIGKILL,
	}
	cmd.Stdout, cmd.Stderr = (*journalWriter)(s), (*journalWriter)(s)
	return cmd
}

// owner returns the ids of the unit's user in the root.
func (s *service) owner(u unit) (uid, gid int) {
	s.t.Helper()
	name := u.one(s.t, "User")
	for line := range strings.Lines(s.root.read("/etc/passwd")) {
		if fields := strings.Split(line, ":"); fields[0] == name && len(fields) > 3 {
			uid, uidErr := strconv.Atoi(fields[2])
			gid, gidErr := strconv.Atoi(fields[3])
			if uidErr != nil || gidErr != nil {
				s.t.Errorf("/etc/passwd has %q", line)
			}
			return uid, gid
		}
	}
	s.t.Fatalf("the root has no user %s", name)
	return 0, 0
}

// journalWriter collects the output of the service, as journald does.
type journalWriter service

func (w *journalWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(text)
}

func (s *service) note(text string) { _, _ = (*journalWriter)(s).Write([]byte(text + "\n")) }

func (s *service) journal() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// said returns the sentence that `systemctl status` shows.
func (s *service) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// running returns the id of the main process, or 0 while it is not ready.
func (s *service) running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil || !s.ready {
		return 0
	}
	return s.process.Process.Pid
}

// wait calls fn under the service's lock until it returns true.
func (s *service) wait(what string, fn func() bool) {
	s.t.Helper()
	waitFor(s.t, what, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return fn()
	})
}

// waitFor calls fn until it returns true. Its limit only ends a broken test.
func waitFor(t *testing.T, what string, fn func() bool) {
	t.Helper()
	limit := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !fn() {
		select {
		case <-tick.C:
		case <-limit:
			t.Errorf("waited in vain: %s", what)
			return
		}
	}
}
