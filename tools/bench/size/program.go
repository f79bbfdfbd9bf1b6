package size

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Cost is the cost of one execution of the program.
type Cost struct {
	Wall time.Duration // from its start to its end
	CPU  time.Duration // of the program, without the databases
	Peak int64         // peak memory in bytes, as the kernel counts it (VmHWM)
	Out  []byte        // standard output
}

// Run executes the program with the trial's configuration. An exit code other than 0 is an error
// that contains the command's standard error.
func (w *World) Run(ctx context.Context, args ...string) (Cost, error) {
	cmd := exec.CommandContext(ctx, w.Binary, append([]string{"--config", w.Config(), "--json"}, args...)...)
	cmd.Env = environment()
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return Cost{}, err
	}
	var c Cost
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	// The peak is kept by the kernel, so polling misses only what is reached in the last moment.
	// The rusage of a child is of no use, because it includes the parent's memory at the fork.
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			c.Wall, c.Out = time.Since(began), out.Bytes()
			if err != nil {
				return c, fmt.Errorf("safrasync %s: %w: %s", strings.Join(args, " "), err,
					bytes.TrimSpace(append(said.Bytes(), out.Bytes()...)))
			}
			c.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			return c, nil
		case <-tick.C:
			c.Peak = max(c.Peak, peakOf(cmd.Process.Pid))
		}
	}
}

// peakOf returns VmHWM of a process, or 0 if it is gone.
func peakOf(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, found := strings.Cut(string(text), "VmHWM:")
	if !found {
		return 0
	}
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}

// Report holds the fields of a pass's summary that a trial uses.
type Report struct {
	Sweep      bool           `json:"sweep"`
	InScope    *int           `json:"in_scope"`
	Gone       *int           `json:"gone"`
	Unreadable int            `json:"unreadable"`
	New        int            `json:"new"`
	Changed    int            `json:"changed"`
	Unchanged  int            `json:"unchanged"`
	States     map[string]int `json:"states"`
	Stopped    *struct {
		Code string `json:"code"`
		Text string `json:"text"`
	} `json:"stopped"`
}

// Sync makes one pass and returns its report.
func (w *World) Sync(ctx context.Context, args ...string) (Report, Cost, error) {
	c, err := w.Run(ctx, append([]string{"sync"}, args...)...)
	if err != nil {
		return Report{}, c, err
	}
	lines := bytes.Split(bytes.TrimSpace(c.Out), []byte("\n"))
	var summary struct {
		Runs []Report `json:"runs"`
	}
	if err := json.Unmarshal(lines[len(lines)-1], &summary); err != nil || len(summary.Runs) != 1 {
		return Report{}, c, fmt.Errorf("the summary is none: %w: %.500s", err, c.Out)
	}
	return summary.Runs[0], c, nil
}

// LastRun returns how long the newest pass took, from its beginning to its report, without the
// start of the process and its check of ledger and journal.
func (w *World) LastRun(ctx context.Context) (time.Duration, error) {
	db, err := w.Ledger.open()
	if err != nil {
		return 0, err
	}
	var report string
	err = db.QueryRowContext(ctx, `SELECT report FROM run ORDER BY seq DESC LIMIT 1`).Scan(&report)
	if closed := db.Close(); err == nil {
		err = closed
	}
	var r struct {
		StartedAt time.Time `json:"started_at"`
		EndedAt   time.Time `json:"ended_at"`
	}
	if err == nil {
		err = json.Unmarshal([]byte(report), &r)
	}
	return r.EndedAt.Sub(r.StartedAt), err
}
