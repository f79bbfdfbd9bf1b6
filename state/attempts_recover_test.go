package state

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// It claims three rows and ends as kill -9 ends it.
var _ = addRole("claims", func(ctx context.Context, _ sqldb.OpenOptions, s *Store) (string, error) {
	lease, ins := pending(ctx, s, "a", "b", "c")
	mustNot(second(s.Commit(ctx, lease, trade.Group{Intents: ins})))
	mustNot(syscall.Kill(os.Getpid(), syscall.SIGKILL))
	select {}
})

// It claims a row and ends as kill -9 ends it, when the journal has the intent and the ledger has
// not.
var _ = addRole("between", func(ctx context.Context, _ sqldb.OpenOptions, s *Store) (string, error) {
	lease, ins := pending(ctx, s, "a")
	mustNot(s.db.InTx(ctx, "testing", func(tx *sqldb.Tx) error {
		mustNot(newGroupTx(tx, lease, trade.Group{At: at, Intents: ins}).Run())
		mustNot(tx.WriteNote())
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}))
	select {}
})

// killed runs a role of a child process that ends as kill -9 ends it, on a new ledger, and opens
// it.
func killed(t *testing.T, o sqldb.OpenOptions, role string) *kept {
	t.Helper()
	k := keep(t, o)
	k.close()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), inRole(t, role, k.o)...)
	if out, err := cmd.CombinedOutput(); cmd.ProcessState == nil ||
		cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("%v: %s", err, out)
	}
	k.open()
	return k
}

// F054, I11: after kill -9 what was claimed is in doubt, and counts as an attempt.
func TestWhatAKilledProcessHadClaimedIsInDoubt(t *testing.T) {
	onEach(t, func(t *testing.T, kind backend) {
		k := killed(t, kind.open(t), "claims")
		lease := mustLease(t, k.s, "contracts")
		doubts := must.Get(k.s.Recover(t.Context(), lease, at))(t)
		for _, e := range rowsOf(t, k.s, trade.RowQuery{}) {
			if got := fmt.Sprintf("%s%d", e.State, e.Attempts); got != "in_doubt1" {
				t.Errorf("%s is %s", e.Key, got)
			}
			if sent := must.Get(k.s.Attempts(t.Context(), e.ID))(t); len(sent) != 1 ||
				sent[0].Outcome != trade.OutcomeUnknown {
				t.Errorf("attempts of %s: %+v", e.Key, sent)
			}
		}
		if doubts != 3 {
			t.Errorf("%d doubts", doubts)
		}
		k.close()
		k.open() // journal and ledger agree
	})
}

// A row whose process ended between journal and ledger is in doubt: a ledger that was rolled back by
// one record would look the same. The journal alone tells that too.
func TestAnIntentThatOnlyTheJournalHasIsInDoubt(t *testing.T) {
	t.Parallel()
	k := killed(t, backends[0].open(t), "between")
	e := mustEntry(t, k.s, "contracts", "a")
	if e.State != trade.InDoubt || e.Generation != 1 {
		t.Fatalf("%s in generation %d", e.State, e.Generation)
	}
	want := provenOf(t, k.s)
	k.close()
	k.fromJournalAlone(want)
	k.open()
}
