package sync_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	gosync "sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient/sandbox"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state"
	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// childVariable has the parts, as JSON, of a process that syncs once.
const childVariable = "SAFRASYNC_TEST_CHILD"

// onChild is called in the process before anything else is; nil without failpoints.
var onChild func(*testClock)

// afterChild is called in the process when its pass is over; nil without failpoints.
var afterChild func(context.Context, *state.Store) error

// A process of its own, which other tests begin, and kill: one pass.
func TestChildProcess(t *testing.T) {
	text, begun := os.LookupEnv(childVariable)
	if !begun {
		return
	}
	b := benchOf(t, parts{})
	must.Do(t, json.Unmarshal([]byte(text), &b.parts))
	b.brakes, b.limits.Timeout, b.limits.KeepAnswers = run.Brakes{}, time.Minute, b.parts.KeepAnswers
	if onChild != nil {
		onChild(b.clock)
	}
	b.connect()
	reports, err := b.engine().Sync(t.Context(), nil, engine.Options{})
	for _, r := range reports {
		if r.Stopped != nil {
			fmt.Fprintln(os.Stderr, "stopped:", r.Stopped.Code, r.Stopped.Text())
		}
	}
	if err == nil && afterChild != nil {
		err = afterChild(t.Context(), b.ledger)
	}
	if err != nil {
		t.Fatal(err)
	}
	os.Exit(0) // without a word
}

// F071, I11: kill -9 while requests are in flight leaves at most max_in_flight rows in doubt,
// loses none and doubles none. The lease of the dead process is free at once.
func TestF071AKilledProcessLeavesDoubtsAndNothingTwice(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		arrived := make(chan struct{})
		release := make(chan struct{})
		var once gosync.Once
		b := newBenchOn(t, db, sandbox.Options{OnPost: func(n int) {
			if n >= 12 {
				once.Do(func() { close(arrived) })
				<-release
			}
		}})
		b.contracts(40)
		child := b.child()
		child.Stderr = os.Stderr
		must.Do(t, child.Start())
		<-arrived
		must.Do(t, child.Process.Kill())
		if err := child.Wait(); err == nil {
			t.Fatal("the child ended by itself")
		}
		close(release)
		r := b.sync(engine.Options{Sweep: true})
		doubts := r.States[trade.InDoubt]
		if doubts < 1 || doubts > 4 || r.States[trade.Accepted]+doubts != 40 {
			t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
		}
		again := b.sync(engine.Options{Sweep: true})
		if again.Sent != 0 || again.States[trade.InDoubt] != doubts {
			t.Errorf("a further run sent %d, states %v", again.Sent, again.States)
		}
	})
}

// losesCommits lets the n-th commit of intents or results be uncertain, and with lasting every later
// one: it failed, or happened, and an error came back.
func (b *bench) losesCommits(n int, applied, lasting bool) {
	var commits atomic.Int32
	b.breaker.set(func(call string, do func() error) error {
		if !strings.HasPrefix(call, "Commit of ") || call == "Commit of moves" {
			return do()
		}
		if i := int(commits.Add(1)); i < n || i > n && !lasting {
			return do()
		}
		if applied {
			if err := do(); err != nil {
				return err
			}
		}
		return fmt.Errorf("the test failed the commit: %w", trade.ErrUncertain)
	})
}

// F048, F050, F052, I1: an uncertain commit lets nothing go, keeps the answers it has, and stops;
// the next run goes on without a doubt.
func TestAFailedCommitSendsNothingAndLosesNoAnswer(t *testing.T) {
	t.Parallel()
	for i := range 16 {
		db, applied, failAt := databases[i%2], i%4 < 2, i/4+1
		t.Run(fmt.Sprintf("%s, commit %d, applied %t", db.Ledger, failAt, applied), func(t *testing.T) {
			t.Parallel()
			b := newBenchOn(t, db, sandbox.Options{})
			b.limits.MaxInFlight = 2
			b.contracts(30)
			b.losesCommits(failAt, applied, false)
			b.wants(b.sync(engine.Options{}), "stop ledger")
			b.breaker.mend()
			r := b.sync(engine.Options{Sweep: true})
			if r.States[trade.Accepted] != 30 || len(b.api.Created()) != 30 {
				t.Errorf("states %v; the platform has %d records", r.States, len(b.api.Created()))
			}
		})
	}
}

// F053: a ledger that takes nothing any more while answers are awaited does not hold the process
// for ever: what it did not take is in doubt at the next start, and nothing is sent twice.
func TestF053ALedgerThatTakesNoResultLeavesDoubts(t *testing.T) {
	onBoth(t, plain, func(t *testing.T, b *bench) {
		b.limits.MaxInFlight, b.limits.KeepAnswers = 2, 500*time.Millisecond
		b.contracts(6)
		b.losesCommits(4, false, true)
		r := b.sync(engine.Options{})
		// one is accepted; of the two that are on their way when the ledger fails, the stop may
		// hold the second back
		sent := len(b.api.Created())
		if r.Stopped == nil || r.Stopped.Code != "ledger" || sent < 2 || sent > 3 {
			t.Errorf("stopped %+v; the platform has %d records", r.Stopped, sent)
		}
		b.breaker.mend()
		r = b.sync(engine.Options{Sweep: true})
		if r.States[trade.Accepted] != 4 || r.States[trade.InDoubt] != 2 || len(b.api.Created()) != sent+3 {
			t.Errorf("states %v; the platform has %d records", r.States, len(b.api.Created()))
		}
	})
}

// F079, I13: an intent whose window has passed is given up unsent, and the row goes with a new one.
func TestI13AStalledIntentIsGivenUpUnsent(t *testing.T) {
	onBoth(t, plain, func(t *testing.T, b *bench) {
		b.limits.MaxInFlight = 1
		b.contracts(2)
		var once gosync.Once
		b.beforePosts(func() { once.Do(func() { b.clock.advance(11 * time.Second) }) })
		r := b.sync(engine.Options{})
		if r.States[trade.Accepted] != 2 || len(b.api.Created()) != 2 {
			t.Fatalf("states %v; the platform has %d records", r.States, len(b.api.Created()))
		}
		attempts, err := b.ledger.Attempts(t.Context(), b.entry(1).ID)
		if err != nil || len(attempts) != 2 || attempts[0].Outcome != trade.OutcomeNotSent ||
			attempts[1].Outcome != trade.OutcomeCreated {
			t.Errorf("attempts %+v, %v", attempts, err)
		}
		if e := b.entry(1); e.Attempts != 1 {
			t.Errorf("%d attempts count, want 1: the first was not sent", e.Attempts)
		}
	})
}

// F072: what is in flight when the run is interrupted is awaited and settled.
func TestF072AnInterruptedRunFinishesWhatIsOnTheWire(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		ctx, cancel := context.WithCancel(t.Context())
		b := newBenchOn(t, db, sandbox.Options{OnPost: func(n int) {
			if n == 3 {
				cancel()
			}
		}})
		b.limits.MaxInFlight = 1
		b.contracts(6)
		reports := must.Get(b.engine().Sync(ctx, nil, engine.Options{}))(t)
		r := reports[0]
		if r.Stopped == nil || r.Stopped.Code != "interrupted" || r.States[trade.Accepted] != 3 ||
			r.States[trade.Pending] != 3 {
			t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
		}
	})
}

// F054, F058: however often and wherever a process is killed, the next one never takes what it left
// for an older ledger, nor is the witness ahead of what is on the disk: it opens, settles what stood
// between journal and ledger, and goes on. Each kill leaves at most max_in_flight rows in doubt, none is
// lost, none is doubled.
func TestF054AKillNeverLooksLikeAnOlderLedger(t *testing.T) {
	both(t, func(t *testing.T, db database) {
		const rows, kills = 240, 24
		var mu gosync.Mutex
		posts, next := 0, 0
		reached := make(chan struct{}, 1)
		b := newBenchOn(t, db, sandbox.Options{OnPost: func(int) {
			mu.Lock()
			defer mu.Unlock()
			posts++
			if posts == next {
				reached <- struct{}{}
			}
		}})
		b.contracts(rows)
		must.Do(t, b.ledger.Close())
		b.parts.Witness = witnessOn(t, db)
		for kill := range kills {
			mu.Lock()
			next = posts + 1 + kill%7
			mu.Unlock()
			child := b.child()
			var said bytes.Buffer
			child.Stderr = &said
			must.Do(t, child.Start())
			ended := make(chan error, 1)
			go func() { ended <- child.Wait() }()
			select {
			case <-reached:
				must.Do(t, child.Process.Kill())
				if err := <-ended; err == nil {
					t.Fatalf("process %d ended by itself", kill)
				}
			case err := <-ended:
				t.Fatalf("process %d ended by itself: %v: %s", kill, err, said.String())
			}
		}
		o := b.options()
		o.Begin = false // it is there
		if err := b.reopenLedger(o); err != nil {
			t.Fatalf("opening after the kills: %v", err)
		}
		r := b.sync(engine.Options{Sweep: true})
		if doubts := r.States[trade.InDoubt]; doubts > 4*kills || r.States[trade.Accepted]+doubts != rows {
			t.Errorf("states %v, stopped %+v", r.States, r.Stopped)
		}
		accepted := 0
		for _, record := range b.api.Created() {
			n := numberOf(t, record)
			switch e := b.entry(n); {
			case e.State == trade.Accepted:
				accepted++
			case e.State != trade.InDoubt:
				t.Errorf("the platform has row %d, which is %s", n, e.State)
			}
		}
		if accepted != r.States[trade.Accepted] {
			t.Errorf("%d rows are accepted, the platform has %d of them", r.States[trade.Accepted], accepted)
		}
	})
}

// fresh gives the bench a ledger that does not exist yet, with a journal: a process of its own
// makes them.
func (b *bench) fresh() {
	b.t.Helper()
	b.parts.LedgerDSN = filepath.Join(b.dir, "fresh.db")
	if b.parts.DB.Ledger == state.Postgres {
		b.parts.LedgerDSN = pgtest.Database(b.t)
	}
}

// child is a process on this bench, begun by a command. In the short form it waits a second for a
// ledger that takes nothing, else as long as the program does.
func (b *bench) child(command ...string) *exec.Cmd {
	b.t.Helper()
	if !long {
		b.parts.KeepAnswers = time.Second
	}
	text := must.Get(json.Marshal(b.parts))(b.t)
	command = append(command, os.Args[0], "-test.run=^TestChildProcess$")
	child := exec.Command(command[0], command[1:]...)
	child.Env = append(os.Environ(), childVariable+"="+string(text))
	return child
}

// afterwards makes the next run after a process that something happened to, which said what it
// said, and judges: the ledger opens, the run completes, of so many rows none is lost, at most so
// many are in doubt, every record of the platform belongs to an accepted row or to one in doubt,
// and a further run sends nothing.
func (b *bench) afterwards(rows, doubtsAtMost int, said string) {
	t := b.t
	t.Helper()
	if err := b.reopenLedger(b.options()); err != nil {
		t.Fatalf("the ledger does not open again: %v; the process said: %s", err, said)
	}
	b.clock.advance(20 * time.Minute)
	r := b.sync(engine.Options{Sweep: true})
	doubts := r.States[trade.InDoubt]
	if r.Stopped != nil || r.States[trade.Accepted]+doubts != rows {
		t.Errorf("the next run: states %v, stopped %+v; the process said: %s", r.States, r.Stopped, said)
	}
	if doubts > doubtsAtMost {
		t.Errorf("%d rows are in doubt, at most %d may be; the process said: %s", doubts, doubtsAtMost, said)
	}
	accepted := map[string]bool{}
	for n := 1; n <= rows; n++ {
		if e := b.entry(n); e.State == trade.Accepted {
			accepted[e.RemoteID] = true
		}
	}
	known := 0
	records := b.api.Created()
	for _, record := range records {
		if accepted[record.ID] {
			known++
		}
	}
	if known != len(accepted) || len(records)-known > doubts {
		t.Errorf("the platform has %d records, %d of them accepted of %d; %d rows are in doubt", len(records), known,
			len(accepted), doubts)
	}
	b.wants(b.sync(engine.Options{Sweep: true}), "sent 0")
}
