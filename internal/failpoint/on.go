//go:build failpoint

package failpoint

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// The variables: Variable is "step=action@n" (the n-th time the step is reached; once), HitFile a
// file that is made when the step was reached.
const (
	Variable = "SAFRASYNC_FAILPOINT"
	HitFile  = "SAFRASYNC_FAILPOINT_HIT"
)

// What happens at a step.
const (
	Error = "error" // the step fails
	Panic = "panic"
	Kill  = "kill"  // kill -9
	Stall = "stall" // the function given to OnStall runs
)

var (
	mu      sync.Mutex
	hits    = map[string]int{}
	onStall func()
)

// OnStall says what a stall is, such as moving a clock on.
func OnStall(f func()) {
	mu.Lock()
	defer mu.Unlock()
	onStall = f
}

// Hit is called at a step. An error is the failure of that step.
func Hit(step string) error {
	spec, ok := strings.CutPrefix(os.Getenv(Variable), step+"=")
	if !ok {
		return nil
	}
	action, nth, _ := strings.Cut(spec, "@")
	want, err := strconv.Atoi(nth)
	if err != nil {
		want = 1
	}
	mu.Lock()
	hits[step]++
	now, stall := hits[step] == want, onStall
	mu.Unlock()
	if !now {
		return nil
	}
	if file := os.Getenv(HitFile); file != "" {
		if err := os.WriteFile(file, []byte(step), 0o600); err != nil {
			panic(err)
		}
	}
	switch action {
	case Error:
		return fmt.Errorf("failpoint %s: %w", step, errors.New("failed on purpose"))
	case Panic:
		panic("failpoint " + step)
	case Kill:
		if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
			panic(err)
		}
		select {} // until the signal arrives
	case Stall:
		if stall != nil {
			stall()
		}
		return nil
	}
	panic("failpoint " + step + ": unknown action " + action)
}
