package throwaway

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Server is the common part of the servers that tests start: a folder, a user, a free port, and a
// process that ends with the tests.
type Server struct {
	Dir    *Dir
	As     *syscall.Credential // nil: the current user
	Port   int
	Log    *Log
	NextDB atomic.Int64 // the number of the last database of a test
	// Quit orders the server to end, and comes from the kernel when this process dies.
	Quit syscall.Signal

	name    string
	process *Process
}

// NewServer creates the folder of a server with this name, owned by the first of the users that
// exists.
func (k Kind) NewServer(name string, users ...string) (*Server, error) {
	as, err := User(users...)
	if err != nil {
		return nil, err
	}
	dir, err := k.NewDir(as)
	if err != nil {
		return nil, fmt.Errorf("making a folder for the server: %w", err)
	}
	return &Server{Dir: dir, As: as, Quit: syscall.SIGKILL, Log: NewLog(""), name: name}, nil
}

// Path returns the path of a file of the server.
func (s *Server) Path(name string) string { return filepath.Join(s.Dir.Path, name) }

// Address returns host:port.
func (s *Server) Address() string { return fmt.Sprintf("127.0.0.1:%d", s.Port) }

// MakeDir creates a folder that the server's user owns.
func (s *Server) MakeDir(name string) error {
	if err := os.Mkdir(s.Path(name), 0o700); err != nil || s.As == nil {
		return err
	}
	return os.Chown(s.Path(name), int(s.As.Uid), int(s.As.Gid))
}

// Feed runs a program of the server with a script, and returns its output.
func (s *Server) Feed(cmd *exec.Cmd, script string) (string, error) {
	var out strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(script), &out, &out
	p, err := Spawn(cmd, syscall.SIGKILL, s.As)
	if err != nil {
		return "", err
	}
	if err := p.Wait(filepath.Base(cmd.Path)); err != nil {
		return "", err
	}
	if p.Err != nil {
		return "", fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), p.Err, out.String())
	}
	return out.String(), nil
}

// OnFreePort starts the server on a port that is free. If start fails and again returns true, it
// tries another one.
func (s *Server) OnFreePort(start func() error, again func() bool) error {
	const tries = 20
	var err error
	for range tries {
		s.Port, err = FreePort()
		if err != nil {
			return err
		}
		err = start()
		if err == nil || !again() {
			return err
		}
	}
	return fmt.Errorf("no free port in %d tries, last: %w", tries, err)
}

// Launch starts the process and waits until it is ready: until it has written the line, or until
// poll, called every few milliseconds if it is not nil, returns true.
func (s *Server) Launch(cmd *exec.Cmd, line string, poll func() bool) error {
	s.Log = NewLog(line)
	cmd.Stdout, cmd.Stderr = s.Log, s.Log
	p, err := Spawn(cmd, s.Quit, s.As)
	if err != nil {
		return err
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(Patience)
	for ready := false; !ready; {
		select {
		case <-s.Log.Ready:
			ready = true
		case <-tick.C:
			ready = poll != nil && poll()
		case <-p.Done:
			return fmt.Errorf("the server did not start: %w; its log:\n%s",
				errors.Join(p.Err, errors.New("it ended")), s.Log)
		case <-late:
			return errors.Join(fmt.Errorf("the server was not ready after %s; its log:\n%s", Patience, s.Log),
				p.Stop(s.Quit, s.name))
		}
	}
	s.process = p
	return nil
}

// PID is the process id of the server; 0 while it is stopped.
func (s *Server) PID() int {
	if s.process == nil {
		return 0
	}
	return s.process.Cmd.Process.Pid
}

// Halt stops the server where it runs. Its folder stays.
func (s *Server) Halt() error {
	p := s.process
	s.process = nil
	if p == nil {
		return nil
	}
	return p.Stop(s.Quit, s.name)
}

// Remove stops the server and deletes all it has.
func (s *Server) Remove() error {
	return errors.Join(s.Halt(), s.Dir.Remove())
}
