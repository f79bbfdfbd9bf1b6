package pgtest

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"syscall"

	"github.com/safrasync/safrasync/internal/throwaway"
)

// portVariable has the port of the server that [Lend] has started for several test processes.
const portVariable = "SAFRASYNC_TEST_PG_PORT"

// Lend runs a command, and as long as it runs a server that all test processes begun by it use
// instead of one of their own. It returns the command's error.
func Lend(command *exec.Cmd) error {
	k := kind
	k.InMemory = true
	c, err := newClusterWith(k, "")
	if err != nil {
		return err
	}
	command.Env = append(command.Environ(), fmt.Sprintf("%s=%d", portVariable, c.Port))
	return errors.Join(command.Run(), c.Remove())
}

// lentOrNew returns the server that another process lends, or starts one.
func lentOrNew() (*Cluster, error) {
	// Not os.Getenv, which Go's test cache sees: on which port the server is changes no result.
	text, lent := syscall.Getenv(portVariable)
	if !lent {
		return newCluster()
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", portVariable, err)
	}
	c := &Cluster{Server: &throwaway.Server{Port: port, Log: throwaway.NewLog("")}, lent: true}
	if err := c.admin("SELECT 1"); err != nil {
		return nil, fmt.Errorf("the server that %s names does not answer (unset it, and each package starts its own): %w",
			portVariable, err)
	}
	return c, nil
}
