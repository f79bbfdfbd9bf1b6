package state

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	wiremarks "github.com/safrasync/safrasync/state/marks"
	"github.com/safrasync/safrasync/trade"
)

// F047, F048, I11: where it cannot be noted what leaves, nothing is claimed and nothing leaves; an answer that comes meanwhile is kept.
func TestWithoutNotesNothingIsClaimed(t *testing.T) {
	journaled(t, func(t *testing.T, k *kept) {
		lease := mustLease(t, k.s, "contracts")
		es := mustRecord(t, k.s, lease, newEntry("a"), newEntry("b"))
		sent := mustSend(t, k.s, lease, es[0])
		if err := k.s.closeWire(); err != nil { // as in a process that begins
			t.Fatal(err)
		}
		path := wiremarks.Path(k.s.journalPath, Self().Instance)
		_ = os.Remove(path) // it is there when what it says is still needed
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		group := trade.Group{At: at, Settle: []trade.Settlement{created(sent, "remote-a")}, Intents: []trade.Intent{intentOf(es[1])}}
		_, err := k.s.Commit(t.Context(), lease, group)
		wantCode(t, err, CodeJournal)
		says(t, err, "check the folder of state.journal")
		says(t, k.s.Mark("attempt-1"), "check the folder of state.journal")
		k.s.Heard(sent.ID, trade.OutcomeCreated, 201, "remote-a") // it cannot be noted, and the ledger will have it
		want := map[string]trade.State{"a": trade.Sending, "b": trade.Pending}
		if diff := cmp.Diff(want, statesOf(t, k.s, "contracts")); diff != "" {
			t.Errorf("states (-want +got):\n%s", diff)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if res := mustCommit(t, k.s, lease, group); len(res.Claimed) != 1 || !res.Settled[sent.ID] {
			t.Errorf("afterwards: %+v", res)
		}
		mustAddUp(t, k.s, "contracts")
	})
}

// Notes of another boot, and old ones, go; those that may be needed stay. What is none says nothing, and keeps nobody from his work.
func TestNotesGoWhenNobodyCanNeedThem(t *testing.T) {
	t.Parallel()
	yesterday := time.Now().Add(-25 * time.Hour)
	for name, c := range map[string]struct {
		change func(t *testing.T, path string)
		stays  bool
	}{
		"of another boot": {func(t *testing.T, path string) { edit(t, path, `"boot":"`, `"boot":"x`) }, false},
		"a day old": {func(t *testing.T, path string) {
			if err := os.Chtimes(path, yesterday, yesterday); err != nil {
				t.Fatal(err)
			}
		}, false},
		"of a moment ago": {func(*testing.T, string) {}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := dead(t, backends[0].open(t))
			paths, err := wiremarks.Paths(k.s.journalPath)
			if err != nil || len(paths) != 1 {
				t.Fatal(paths, err)
			}
			for _, path := range paths {
				c.change(t, path)
			}
			if err := os.WriteFile(wiremarks.Path(k.s.journalPath, "none"), []byte("no notes"), 0o600); err != nil {
				t.Fatal(err)
			}
			k.after()
			left, err := wiremarks.Paths(k.s.journalPath)
			for process := range paths {
				if _, there := left[process]; err != nil || there != c.stays {
					t.Errorf("its notes are there: %t, %v", there, err)
				}
			}
			if left["none"] == "" {
				t.Errorf("what is no note is gone: %v", left)
			}
			if got := k.s.traces(filepath.Join(k.s.journalPath, "gone")); len(got) != 0 {
				t.Errorf("in a folder that is gone: %+v", got)
			}
		})
	}
}

// A stop that has no text, as until the year 10000, is not told to others.
func TestAStopWithoutATextIsNotShared(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		leader, aide := onMachine("a"), onMachine("b")
		mustBeat(t, s, leader)
		mustBeat(t, s, aide)
		lease := mustLeaseFor(t, s, "contracts", leader)
		mustOffer(t, s, lease, true)
		before := content(t, s)
		says(t, s.StopShared(t.Context(), handOf(lease, aide), trade.Stop{Code: "x", Until: unwritable}), "stopping a shared job")
		if diff := cmp.Diff(before, content(t, s)); diff != "" {
			t.Errorf("something was stored (-before +after):\n%s", diff)
		}
	})
}
