//go:build strace

package sync_test

import (
	"fmt"
	"strings"
	"testing"
)

// F048, F050, F053: the k-th write or flush of a thread fails, once, for a while, or from then on,
// for want of space or with an error of the device.
func TestF048TheKthSystemCallFails(t *testing.T) {
	t.Parallel()
	writes, flushes := []int{1, 40, 70}, []int{1, 9, 14}
	if long {
		writes, flushes = []int{1, 2, 3, 5, 8, 10, 13, 16, 20, 25, 30, 40, 50, 60, 70, 80, 100, 130},
			[]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24}
	}
	for fault, ks := range map[string][]int{
		"pwrite64:error=ENOSPC": writes, "pwrite64:error=EIO": writes,
		"fsync,fdatasync:error=EIO": flushes,
	} {
		for _, k := range ks {
			for _, when := range []string{fmt.Sprint(k), fmt.Sprintf("%d..%d", k, k+6), fmt.Sprintf("%d+", k)} {
				if strings.HasSuffix(when, "+") && !long && k != ks[1] {
					continue // the process waits half a minute for its ledger
				}
				calls, _, _ := strings.Cut(fault, ":")
				t.Run(fault+" "+when, func(t *testing.T) {
					t.Parallel()
					said := sickDisk(t, "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace="+calls, "-e",
						"inject="+fault+":when="+when)
					if strings.HasSuffix(fault, "ENOSPC") && said != "" && !strings.Contains(said, "free space") {
						t.Errorf("the message does not tell what to do: %s", said)
					}
				})
			}
		}
	}
}
