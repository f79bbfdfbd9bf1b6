package sync_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/apiclient/sandbox"
)

const diskRows = 24

// sickDisk runs a process whose disk fails in the way of a command before it, then the next run,
// when the disk is well again. It gives what the process said.
func sickDisk(t *testing.T, command ...string) string {
	t.Helper()
	b := newBench(t, sandbox.Options{})
	b.contracts(diskRows)
	b.fresh()
	child := b.child(command...)
	var said bytes.Buffer
	child.Stderr, child.Stdout = &said, &said
	err := child.Run()
	sent := len(b.api.Created())
	if err == nil && !strings.Contains(said.String(), "stopped:") && sent != diskRows {
		t.Errorf("the process ended as if all were well, and sent %d of %d rows: %s", sent, diskRows, said.String())
	}
	t.Logf("ended %v with %d of %d rows sent; said: %.300s", err, sent, diskRows, said.String())
	b.afterwards(diskRows, b.limits.MaxInFlight, said.String())
	return said.String()
}

// F047, F048, F053: a disk that is full at every size, here as the largest file that the process
// may write. Nothing is sent without a durable intent, the program says what is the matter, and
// goes on by itself when there is room. 5 sizes in the short form, 160 in the long one.
func TestF047ADiskOfEverySizeThatIsFull(t *testing.T) {
	t.Parallel()
	step, most := 300, 1500
	if long {
		step, most = 16, 2560
	}
	for size := step; size <= most; size += step {
		t.Run(fmt.Sprintf("%d KiB", size), func(t *testing.T) {
			t.Parallel()
			said := sickDisk(t, "bash", "-c", fmt.Sprintf(`ulimit -f %d; exec "$0" "$@"`, size))
			if said != "" && !strings.Contains(said, "free space") {
				t.Errorf("the message does not tell what to do: %s", said)
			}
		})
	}
}
