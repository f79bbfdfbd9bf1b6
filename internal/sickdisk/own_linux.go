//go:build seccomp

package sickdisk

import (
	"os"
	"os/exec"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
)

// ownProcess says to a test binary that it may put a disk before itself.
const ownProcess = "SAFRASYNC_TEST_SICK_DISK"

// Own runs the calling test once more, in a process of its own where the disk can be sick, and gives
// nil in the first one, where nothing remains to be done.
func Own(t *testing.T) *Disk {
	t.Helper()
	if os.Getenv(ownProcess) != "" {
		return must.Get(New())(t)
	}
	t.Parallel() // with the other tests here; there it is alone
	self := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	self.Env = append(os.Environ(), ownProcess+"=1")
	out, err := self.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	return nil
}
