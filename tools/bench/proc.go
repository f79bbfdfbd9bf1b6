package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/safrasync/safrasync/internal/throwaway"
)

// used is what a process has used.
type used struct {
	Seconds float64 // from its start to its end
	CPU     float64 // seconds, user and system, of all its threads
	PeakMiB float64 // maximum of its memory (VmHWM)
	Exit    int
	Out     []byte
	Err     string // the end of its standard error
}

// measure runs a command to its end. If kill is not nil, the command is killed with SIGKILL when
// kill is closed.
func measure(ctx context.Context, cmd *exec.Cmd, stderr string, kill <-chan struct{}) (u used, err error) {
	var out bytes.Buffer
	cmd.Stdout = &out
	f, err := os.Create(stderr)
	if err != nil {
		return u, err
	}
	cmd.Stderr = f
	defer func() {
		err = errors.Join(err, f.Close())
		u.Err = tail(stderr)
	}()
	began := time.Now()
	p, err := throwaway.Spawn(cmd, syscall.SIGKILL, nil)
	if err != nil {
		return u, err
	}
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for done := false; !done; {
		select {
		case <-p.Done:
			done = true
		case <-kill:
			_ = cmd.Process.Kill()
			kill = nil
		case <-ctx.Done():
			_ = cmd.Process.Kill()
			<-p.Done
			return u, ctx.Err()
		case <-look.C:
			u.PeakMiB = max(u.PeakMiB, peak(cmd.Process.Pid))
		}
	}
	u.Seconds = time.Since(began).Seconds()
	u.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	u.Exit, u.Out = cmd.ProcessState.ExitCode(), out.Bytes()
	return u, nil
}

// peak returns VmHWM in MiB, or 0 if the process is gone. (The maximum in rusage starts with that
// of the parent process.)
func peak(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kib / 1024
		}
	}
	return 0
}

// ticks is how many units /proc/PID/stat counts in a second; Linux reports 100 to user programs on
// all platforms.
const ticks = 100

// cpuOfServer returns the CPU time of a server with several processes, in seconds: of its first
// process, of its living children, and of those that it has reaped.
func cpuOfServer(pid int) (float64, error) {
	for {
		own, before, _, err := statOf(pid)
		if err != nil {
			return 0, err
		}
		living := cpuOfChildren(pid)
		_, after, _, err := statOf(pid)
		if err != nil {
			return 0, err
		}
		if before == after { // otherwise a child was reaped while we counted, and may be missing
			return float64(own+living+after) / ticks, nil
		}
	}
}

func cpuOfChildren(pid int) (sum int64) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is constant, and valid
	for _, name := range stats {
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			continue
		}
		if own, buried, parent, err := statOf(child); err == nil && parent == pid { // an error: it has just ended
			sum += own + buried
		}
	}
	return sum
}

// statOf reads /proc/PID/stat: the ticks of a process, those of its children that it has waited
// for, and its parent.
func statOf(pid int) (own, buried int64, parent int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, 0, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // the name before may contain anything
	if len(fields) < 15 {
		return 0, 0, 0, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	var n [4]int64
	for i := range n {
		n[i], err = strconv.ParseInt(fields[11+i], 10, 64)
		if err != nil {
			return 0, 0, 0, err
		}
	}
	parent, err = strconv.Atoi(fields[1])
	return n[0] + n[1], n[2] + n[3], parent, err
}

// remoteAPI is the API in a separate process.
type remoteAPI struct {
	url     string
	reached chan struct{} // closed after the number of POSTs in apiOptions.tell
	process *throwaway.Process
	client  *http.Client
}

func startAPI(opts apiOptions) (*remoteAPI, error) {
	cmd, err := part("-latency", opts.latency.String(), "-lose", strconv.Itoa(opts.lose), "-tell",
		strconv.Itoa(opts.tell), "api")
	if err != nil {
		return nil, err
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = writer, os.Stderr
	a := &remoteAPI{reached: make(chan struct{}), client: &http.Client{}}
	a.process, err = throwaway.Spawn(cmd, syscall.SIGKILL, nil)
	_ = writer.Close() // ours; the child has its own
	if err != nil {
		return nil, errors.Join(err, reader.Close())
	}
	lines := bufio.NewReader(reader)
	line, err := lines.ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the API did not start: %w", err), a.stop(), reader.Close())
	}
	a.url = strings.TrimSpace(line)
	go func() {
		if _, err := lines.ReadString('\n'); err == nil {
			close(a.reached)
		}
		_ = reader.Close() // read to its end
	}()
	return a, nil
}

func (a *remoteAPI) log(ctx context.Context) (seen, error) { return readLog(ctx, a.client, a.url) }

func (a *remoteAPI) stop() error {
	a.client.CloseIdleConnections()
	return a.process.Stop(syscall.SIGKILL, "the API")
}

// part returns a command that runs this program in another role.
func part(args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), roleEnv+"=1")
	return cmd, nil
}

// tail returns the end of a file, for an error text.
func tail(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	const most = 2000
	return strings.TrimSpace(string(text[max(0, len(text)-most):]))
}
