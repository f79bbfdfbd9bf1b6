//go:build failpoint

package sync_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/failpoint"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

func init() {
	onChild = func(clock *testClock) { failpoint.OnStall(func() { clock.advance(sendWindowAndMore) }) }
	afterChild = func(ctx context.Context, ledger *state.Store) error {
		_, err := ledger.Retain(ctx, state.Retention{Bodies: time.Hour, Journal: 1}, time.Now().Add(24*time.Hour),
			trade.AuditRecord{Who: "safrasync", Target: "ledger", Reason: "test"})
		return err
	}
}

// sendWindowAndMore is how long a stalled process stands still: longer than the send window (I13).
const sendWindowAndMore = 11 * time.Second

// steps are the failpoints of engine, ledger and journal, each with the times it is reached at
// which it acts. tx.* and journal.* are met by the transactions of the opening, the lease, the
// pages, the intents and the results.
var steps = []struct {
	name string
	at   []int
}{
	{"schema.old", []int{1}},
	{"schema.new", []int{1}},
	{"ledger.identified", []int{1}},
	{"run.started", []int{1}},
	{"run.recovered", []int{1}},
	{"page.read", []int{1, 2}},
	{"page.stored", []int{1, 2}},
	{"rows.looked-at", []int{1}},
	{"group.chosen", []int{1, 2, 3}},
	{"group.stored", []int{1, 2, 3}},
	{"gate.open", []int{1, 5}},
	{"answer.here", []int{1, 5}},
	{"tx.written", []int{1, 2, 4, 6, 8, 9, 10, 11}},
	{"tx.noted", []int{1, 2, 4, 6, 8, 9, 10, 11}},
	{"tx.committed", []int{1, 2, 4, 6, 8, 9, 10, 11}},
	{"journal.written", []int{1, 2, 3, 4}},
	{"witness.write", []int{1, 2, 3}},
	{"witness.written", []int{1, 2, 3}},
	{"retention.batch", []int{1, 2}},
	{"renew.page", []int{1}},
	{"renew.based", []int{1}},
	{"renew.verified", []int{1}},
	{"renew.dropped", []int{1}},
}

var actions = []string{failpoint.Kill, failpoint.Error, failpoint.Panic, failpoint.Stall}

const failpointRows = 10

// F047 to F053, F071 to F079: a process that fails, panics, is killed or stalls at any step of
// engine, ledger and journal, with both ledgers: nothing is twice on the platform, no row is lost,
// at most max_in_flight are in doubt (none, when the process lived), and the next run completes.
// The short form has every step with kill, and the other actions in turns.
func TestFailpointGrid(t *testing.T) {
	t.Parallel()
	cell, run := 0, 0
	for _, step := range steps {
		for _, at := range step.at {
			for i, action := range actions {
				for d, db := range databases {
					cell++
					// the process waits half a minute for its ledger
					slow := step.name == "journal.written" && action == failpoint.Error
					// its second is the reading mark, which is stored in another place
					early := at == step.at[0] || step.name == "page.read"
					first := early && d == 0 && (action == failpoint.Kill || action == failpoint.Error)
					if !long && !first &&
						(slow || (action != failpoint.Kill || at != step.at[0] && d == 1) && cell%9 != 0) {
						continue
					}
					run++
					t.Run(fmt.Sprintf("%s/%d/%s/%s", step.name, at, actions[i], db.Ledger), func(t *testing.T) {
						t.Parallel()
						failAt(t, db, step.name, action, at)
					})
				}
			}
		}
	}
	t.Logf("%d of %d cells", run, cell)
}

// failAt is one cell: a process that meets the failpoint, then a run in this one.
func failAt(t *testing.T, db database, step, action string, at int) {
	t.Helper()
	b := newBenchOn(t, db, sandbox.Options{})
	b.contracts(failpointRows)
	b.fresh()
	b.parts.Witness = t.TempDir()
	hit := filepath.Join(b.dir, "hit")
	child := b.child()
	child.Env = append(child.Env, failpoint.HitFile+"="+hit,
		fmt.Sprintf("%s=%s=%s@%d", failpoint.Variable, step, action, at))
	var said bytes.Buffer
	child.Stderr = &said
	ended := child.Run()
	if _, err := os.Stat(hit); err != nil {
		t.Fatalf("the process never came to it: %v\n%s", ended, said.String())
	}
	var exit *exec.ExitError
	if action == failpoint.Kill && (!errors.As(ended, &exit) || exit.ExitCode() != -1) {
		t.Fatalf("the process was not killed: %v", ended)
	}
	most := b.limits.MaxInFlight
	switch {
	// after a failed flush the process stores nothing more, and what it noted there without the
	// ledger is in doubt
	case step == "journal.written":
	case step == "answer.here" && action == failpoint.Error:
		most = 1
	case action == failpoint.Error, action == failpoint.Stall: // the process lived
		most = 0
	}
	b.afterwards(failpointRows, most, said.String())
}
