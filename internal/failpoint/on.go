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

// The environment variables: Variable is "step=action@n" (n is the count at which the step fails,
// once), HitFile the path of a file that is created when the step is reached.
const (
	Variable = "SAFRASYNC_FAILPOINT"
	HitFile  = "SAFRASYNC_FAILPOINT_HIT"
)

// The actions at a step.
const (
	Error = "error" // the step fails
	Panic = "panic"
	Kill  = "kill"  // kill -9
	Stall = "stall" // the function passed to OnStall runs
)

var (
	mu      sync.Mutex
	hits    = map[string]int{}
	onStall func()
)

// OnStall sets the function that a stall runs, such as advancing a clock.
func OnStall(f func()) {
	mu.Lock()
	defer mu.Unlock()
	onStall = f
}

// Hit is called at a step. If it returns an error, the step must fail with it.
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
