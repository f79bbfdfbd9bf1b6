//go:build !failpoint

package failpoint_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/safrasync/safrasync/internal/failpoint"
)

// The program as it is released knows no failpoint: neither the variable nor the name of a step
// is in it.
func TestTheReleaseHasNoFailpoints(t *testing.T) {
	t.Setenv("SAFRASYNC_FAILPOINT", "group.stored=panic")
	if err := failpoint.Hit("group.stored"); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "safrasync")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", binary,
		"../../cmd/safrasync")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"SAFRASYNC_FAILPOINT", "group.stored", "tx.committed", "journal.written",
		"answer.here",
	} {
		if bytes.Contains(program, []byte(text)) {
			t.Errorf("the program has %q", text)
		}
	}
}
