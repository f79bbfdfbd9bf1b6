package packagetest

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/internal/throwaway"
)

// inNamespace marks the process with its own mount namespace.
const inNamespace = "SAFRASYNC_PACKAGETEST_NAMESPACE"

// TestMain runs the tests as root in a separate mount namespace, so that no /proc of a root stays
// mounted, however the tests end.
func TestMain(m *testing.M) {
	if os.Getenv(inNamespace) == "" {
		command := []string{"unshare", "--mount", "--propagation", "private", "--"}
		if os.Geteuid() != 0 {
			command = append([]string{"sudo", "-n", "--preserve-env", "env", "PATH=" + os.Getenv("PATH")}, command...)
		}
		program, err := exec.LookPath(command[0])
		if err == nil {
			self, lookErr := os.Executable()
			err = lookErr
			if err == nil {
				err = syscall.Exec(program, append(append(command, self), os.Args[1:]...),
					append(os.Environ(), inNamespace+"=1"))
			}
		}
		fmt.Fprintf(os.Stderr, "packagetest: the tests of the packages need root, or sudo without a password: %v\n",
			err)
		os.Exit(1)
	}
	code := pgtest.Run(m, func() error { return goleak.Find() })
	for _, dir := range []*throwaway.Dir{base.dir, builds.dir} {
		if dir == nil {
			continue
		}
		if err := dir.Remove(); err != nil {
			fmt.Fprintln(os.Stderr, "packagetest: after the tests:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}
