package pgtest

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

// process is a running child that dies with us.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the child has ended and was reaped
	err  error         // the result of Wait; valid after done
}

// spawn starts cmd so that the kernel sends it the signal when this process dies in whatever way.
//
// The kernel counts the death of the thread that forked, not of the process, and Go ends idle threads when it likes. So
// the goroutine that starts the child keeps its thread until the child is gone.
func spawn(cmd *exec.Cmd, onDeath syscall.Signal, as *syscall.Credential) (*process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: onDeath, Credential: as}
	cmd.WaitDelay = 10 * time.Second // a backend that outlives its postmaster must not hold Wait by the stderr pipe
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	return p, nil
}

// serverLog keeps the end of what the server writes and tells when a line announces that it is ready.
type serverLog struct {
	mu    sync.Mutex
	text  []byte
	ready chan struct{}
	once  sync.Once
}

const (
	keptLog   = 64 << 10
	readyLine = "database system is ready to accept connections" // English, because the server runs under LC_ALL=C
)

var _ io.Writer = (*serverLog)(nil)

func newServerLog() *serverLog { return &serverLog{ready: make(chan struct{})} }

// Write appends to the log. It never fails: a server that cannot write its log would block.
func (l *serverLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, b...)
	if bytes.Contains(l.text, []byte(readyLine)) {
		l.once.Do(func() { close(l.ready) })
	}
	if len(l.text) > 2*keptLog {
		l.text = append([]byte(nil), l.text[len(l.text)-keptLog:]...)
	}
	return len(b), nil
}

func (l *serverLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(string(l.text))
}
