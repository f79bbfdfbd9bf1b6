package throwaway

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Process is a running child process that ends with this process.
type Process struct {
	Cmd *exec.Cmd
	// Done is closed when the child has ended and was reaped.
	Done chan struct{}
	// Err is the result of Wait; valid after Done.
	Err error
}

// Spawn starts cmd so that the kernel sends it the signal onDeath when this process ends, however
// it ends.
//
// The kernel reacts to the end of the thread that forked, not of the process, and Go may end idle
// threads at any time. So the goroutine that starts the child keeps its thread until the child has
// ended.
func Spawn(cmd *exec.Cmd, onDeath syscall.Signal, as *syscall.Credential) (*Process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: onDeath, Credential: as}
	cmd.WaitDelay = 10 * time.Second // a backend that outlives its postmaster holds the stderr pipe and blocks Wait
	p := &Process{Cmd: cmd, Done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.Err = cmd.Wait()
		close(p.Done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	return p, nil
}

// Patience bounds every wait for a server. It is not a measure of speed: a run that reaches it is
// broken.
const Patience = 2 * time.Minute

// Wait waits for the end of the child and kills it after [Patience].
func (p *Process) Wait(name string) error {
	select {
	case <-p.Done:
		return nil
	case <-time.After(Patience):
	}
	_ = p.Cmd.Process.Kill()
	<-p.Done
	return fmt.Errorf("%s did not end in %s and was killed", name, Patience)
}

// Stop sends the signal and waits for the end.
func (p *Process) Stop(signal syscall.Signal, name string) error {
	// An error means that it has already ended; Wait then returns at once.
	_ = p.Cmd.Process.Signal(signal)
	return p.Wait(name)
}

// Log keeps the end of a server's output and signals when a line announces that the server is
// ready.
type Log struct {
	// Ready is closed when the line was written.
	Ready chan struct{}
	line  string

	mu   sync.Mutex
	text []byte
	once sync.Once
}

const keptLog = 64 << 10

var _ io.Writer = (*Log)(nil)

// NewLog returns a log that waits for a line with this text; "" waits for nothing.
func NewLog(line string) *Log { return &Log{Ready: make(chan struct{}), line: line} }

// Write appends to the log. It never fails, because a server that cannot write its log would block.
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, b...)
	if l.line != "" && bytes.Contains(l.text, []byte(l.line)) {
		l.once.Do(func() { close(l.Ready) })
	}
	if len(l.text) > 2*keptLog {
		l.text = append([]byte(nil), l.text[len(l.text)-keptLog:]...)
	}
	return len(b), nil
}

// String returns the end of what was written, at most 128 KiB.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(string(l.text))
}
