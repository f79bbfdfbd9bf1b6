package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func TestAGroupSettlesMovesAndClaimsTogether(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"), newEntry("c"), newEntry("d"))
		first := mustSend(t, s, lease, es[0])
		second := mustSend(t, s, lease, es[1])

		gone := es[2]
		gone.State, gone.Cause, gone.Payload = trade.Held, trade.CauseVanished, nil
		in := intentOf(es[3])
		block := trade.Block{
			Kind: "wallets", ID: "w-1", Message: "message.wallet.not-found", FirstAt: at,
			NextAt: at.Add(time.Hour), Tries: 1,
		}
		r := mustCommit(t, s, lease, trade.Group{
			Settle:  []trade.Settlement{created(first, "remote-a"), refused(second)},
			Updates: []trade.Update{{From: trade.Pending, Entry: gone}},
			Intents: []trade.Intent{in}, Block: []trade.Block{block},
		})
		want := trade.GroupResult{
			Claimed: map[string]bool{in.Attempt.ID: true}, Settled: map[string]bool{first.ID: true, second.ID: true},
			Conflicts: map[string]string{}, Elsewhere: map[string]bool{}, Sendings: map[string]int64{in.Attempt.ID: 3},
		}
		if diff := cmp.Diff(want, r); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		states := map[string]trade.State{
			"a": trade.Accepted, "b": trade.Rejected, "c": trade.Held,
			"d": trade.Sending,
		}
		wantStates(t, s, "contracts", states)
		a, b := mustEntry(t, s, "contracts", "a"), mustEntry(t, s, "contracts", "b")
		if a.RemoteID != "remote-a" || a.Attempts != 1 || a.Version != 3 || !a.UpdatedAt.Equal(at) || a.Error != nil {
			t.Errorf("accepted entry: %+v", a)
		}
		if b.Cause != "message.wallet.not-found" || b.Error == nil || b.Error.Status != 400 ||
			!b.NextAttemptAt.Equal(at.Add(15*time.Minute)) {
			t.Errorf("rejected entry: %+v", b)
		}
		blocks, err := s.Blocks(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]trade.Block{block}, blocks); diff != "" {
			t.Errorf("blocks (-want +got):\n%s", diff)
		}
		mustCommit(t, s, lease, trade.Group{Unblock: blocks})
		if blocks, err = s.Blocks(t.Context()); err != nil || len(blocks) != 0 {
			t.Errorf("blocks after unblocking: %v, %v", blocks, err)
		}
		attempts, err := s.Attempts(t.Context(), a.ID)
		if err != nil || len(attempts) != 1 {
			t.Fatalf("attempts: %v, %v", attempts, err)
		}
		got := attempts[0]
		if got.No != 1 || got.Generation != 1 || got.Epoch != lease.Epoch || got.Owner != lease.Owner.Instance ||
			got.Outcome != trade.OutcomeCreated ||
			string(got.Payload) != string(es[0].Payload) || got.RunID != "run-1" || got.Status != 201 ||
			!got.StartedAt.Equal(at) || !got.FinishedAt.Equal(at) {
			t.Errorf("attempt: %+v", got)
		}
		mustAddUp(t, s, "contracts")
	})
}

func TestAnIntentIsRefusedWhenItsEntryHasMoved(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		e := mustRecord(t, s, lease, newEntry("a"))[0]
		stale := intentOf(e)
		e.SourceHash = trade.HashOf("another")
		mustUpdate(t, s, lease, trade.Pending, e)
		if r := mustCommit(t, s, lease, trade.Group{Intents: []trade.Intent{stale}}); len(r.Claimed) != 0 {
			t.Errorf("claimed %v, want nothing", r.Claimed)
		}
		fresh := intentOf(mustEntry(t, s, "contracts", "a"))
		other := intentOf(fresh.Entry)
		if r := mustCommit(t, s, lease, trade.Group{Intents: []trade.Intent{fresh, other}}); len(r.Claimed) != 1 ||
			!r.Claimed[fresh.Attempt.ID] {
			t.Errorf("claimed %v, want the first of two intents of one entry", r.Claimed)
		}
		if r := mustCommit(t, s, lease, trade.Group{Intents: []trade.Intent{other}}); len(r.Claimed) != 0 {
			t.Errorf("claimed %v while it is being sent", r.Claimed)
		}
	})
}

func TestI3AnEntryWhoseAttemptMayHaveCreatedARecordIsNeverClaimedAgain(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		e := mustRecord(t, s, lease, newEntry("a"))[0]
		mustSettle(t, s, lease, unknown(mustSend(t, s, lease, e)))
		// Somebody puts it back by a wrong update: the state alone would allow it.
		e = mustEntry(t, s, "contracts", "a")
		e.State = trade.Pending
		mustUpdate(t, s, lease, trade.InDoubt, e)
		again := intentOf(mustEntry(t, s, "contracts", "a"))
		if r := mustCommit(t, s, lease, trade.Group{Intents: []trade.Intent{again}}); len(r.Claimed) != 0 {
			t.Error("an entry in doubt was claimed a second time in its generation")
		}
	})
}

func TestARefusedAttemptMayBeFollowedByAnother(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		e := mustRecord(t, s, lease, newEntry("a"))[0]
		st := refused(mustSend(t, s, lease, e))
		st.Attempt.Outcome, st.State, st.Counts, st.Kind, st.Cause = trade.OutcomeNotSent, trade.Pending,
			false, "", ""
		mustSettle(t, s, lease, st)
		e = mustEntry(t, s, "contracts", "a")
		if e.State != trade.Pending || e.Attempts != 0 {
			t.Fatalf("entry after an attempt that was not sent: state %s, attempts %d", e.State, e.Attempts)
		}
		mustSettle(t, s, lease, created(mustSend(t, s, lease, e), "remote-a"))
		attempts, err := s.Attempts(t.Context(), e.ID)
		if err != nil || len(attempts) != 2 || attempts[1].No != 2 {
			t.Errorf("attempts: %+v, %v", attempts, err)
		}
		if e = mustEntry(t, s, "contracts", "a"); e.Attempts != 1 || e.State != trade.Accepted {
			t.Errorf("entry: state %s, attempts %d", e.State, e.Attempts)
		}
		mustAddUp(t, s, "contracts")
	})
}

// F063, I12: a former owner that lives on stores its answers, and begins nothing.
func TestF063ASettlementCountsAfterTheLeaseIsLost(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		old := mustLease(t, s, "contracts")
		es := mustRecord(t, s, old, newEntry("a"), newEntry("b"), newEntry("c"))
		sent := mustSend(t, s, old, es[0])
		expire(t, s, "contracts")
		other := sqldb.Self()
		other.Instance = sqldb.NewID()
		lease, err := s.AcquireLease(t.Context(), "contracts", other)
		if err != nil || lease.Epoch != old.Epoch+1 {
			t.Fatalf("AcquireLease: %+v, %v", lease, err)
		}
		held := es[1]
		held.State, held.Cause = trade.Held, trade.CauseVanished
		in := intentOf(es[2])
		r := mustCommit(t, s, old, trade.Group{
			Settle: []trade.Settlement{created(sent, "remote-a")}, Intents: []trade.Intent{in},
			Updates: []trade.Update{{From: trade.Pending, Entry: held}},
			Block:   []trade.Block{{Kind: "wallets", ID: "w"}},
		})
		if !r.LeaseLost || !r.Settled[sent.ID] || len(r.Claimed) != 0 {
			t.Errorf("result: %+v", r)
		}
		want := map[string]trade.State{"a": trade.Accepted, "b": trade.Pending, "c": trade.Pending}
		wantStates(t, s, "contracts", want)
		if blocks, err := s.Blocks(t.Context()); err != nil || len(blocks) != 0 {
			t.Errorf("blocks: %v, %v", blocks, err)
		}
		for name, err := range map[string]error{
			"Record":     second(s.Record(t.Context(), old, trade.Page{Cursor: &trade.Cursor{Bound: "x"}})),
			"Recover":    second(s.Recover(t.Context(), old, at)),
			"Wake":       second(s.Wake(t.Context(), old, at)),
			"Blocked":    second(s.WakeBlocked(t.Context(), old, "wallets", "w")),
			"RenewLease": s.RenewLease(t.Context(), old),
		} {
			if !errors.Is(err, trade.ErrLeaseLost) {
				t.Errorf("%s with a lost lease: %v, want ErrLeaseLost", name, err)
			}
		}
		if c, err := s.Cursor(t.Context(), "contracts"); err != nil || c.Bound != "" {
			t.Errorf("the cursor moved without the lease: %+v, %v", c, err)
		}
		mustAddUp(t, s, "contracts")
	})
}

func second[T any](_ T, err error) error { return err }

func TestTheRecoveryDoubtsAndALateDefiniteAnswerDecides(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		old := mustLease(t, s, "contracts")
		es := mustRecord(t, s, old, newEntry("a"), newEntry("b"), newEntry("c"), newEntry("d"))
		var sent []trade.Attempt
		for _, e := range es[:3] {
			sent = append(sent, mustSend(t, s, old, e))
		}
		if n, err := s.Recover(t.Context(), old, at); n != 0 || err != nil {
			t.Fatalf("Recover with the epoch of the attempts: %d, %v", n, err)
		}
		expire(t, s, "contracts")
		owner := sqldb.Self()
		owner.Instance = sqldb.NewID()
		lease := must.Get(s.AcquireLease(t.Context(), "contracts", owner))(t)
		if n, err := s.Recover(t.Context(), lease, at.Add(time.Minute)); n != 3 || err != nil {
			t.Fatalf("Recover: %d, %v, want 3", n, err)
		}
		if n, err := s.Recover(t.Context(), lease, at.Add(time.Minute)); n != 0 || err != nil {
			t.Fatalf("Recover again: %d, %v, want 0", n, err)
		}
		a := mustEntry(t, s, "contracts", "a")
		if a.State != trade.InDoubt || a.Cause != trade.CauseUnknown || a.Attempts != 1 || a.Error == nil ||
			a.Error.Kind != trade.TransportError || a.Error.Text() != trade.SenderGone().String() {
			t.Errorf("recovered entry: %+v", a)
		}
		mustAddUp(t, s, "contracts")

		// The former owner lives, and says what it knows: created, refused, and that it does not
		// know either.
		late := unknown(sent[2])
		late.Attempt.FinishedAt, late.Attempt.Evidence = at.Add(-time.Hour), json.RawMessage(`{"wrote":1}`)
		r := mustSettle(t, s, old, created(sent[0], "remote-a"),
			refused(sent[1]), late)
		if len(r.Settled) != 3 || !r.LeaseLost {
			t.Errorf("result: %+v", r)
		}
		want := map[string]trade.State{"a": trade.Accepted, "b": trade.Rejected, "c": trade.InDoubt, "d": trade.Pending}
		wantStates(t, s, "contracts", want)
		for _, key := range []string{"a", "b", "c"} {
			if e := mustEntry(t, s, "contracts", key); e.Attempts != 1 {
				t.Errorf("%s counts %d attempts, want 1", key, e.Attempts)
			}
		}
		attempts, err := s.Attempts(t.Context(), es[2].ID)
		if err != nil || attempts[0].Outcome != trade.OutcomeUnknown || string(attempts[0].Evidence) != `{"wrote":1}` ||
			!attempts[0].FinishedAt.Equal(at.Add(time.Minute)) {
			t.Errorf("the attempt in doubt: %+v, %v; want the sender's evidence and the recovery's time", attempts, err)
		}
		// What is certain does not change any more.
		contrary := created(sent[1], "remote-b")
		if r := mustSettle(t, s, old, contrary,
			unknown(sent[0])); len(r.Settled) != 0 {
			t.Errorf("settled again: %+v", r)
		}
		if got := statesOf(t, s, "contracts"); got["a"] != trade.Accepted || got["b"] != trade.Rejected {
			t.Errorf("states changed: %v", got)
		}
		mustAddUp(t, s, "contracts")
	})
}

func TestALateCreatedEndsADismissal(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"))
		var sent []trade.Attempt
		for _, e := range es {
			a := mustSend(t, s, lease, e)
			mustSettle(t, s, lease, unknown(a))
			e = mustEntry(t, s, "contracts", e.Key)
			e.State = trade.Dismissed
			mustCommit(t, s, lease, trade.Group{Updates: []trade.Update{{From: trade.InDoubt, Entry: e}}})
			sent = append(sent, a)
		}
		mustSettle(t, s, lease, created(sent[0], "remote-a"), refused(sent[1]))
		want := map[string]trade.State{"a": trade.Accepted, "b": trade.Dismissed}
		wantStates(t, s, "contracts", want)
		if attempts, err := s.Attempts(t.Context(), es[1].ID); err != nil ||
			attempts[0].Outcome != trade.OutcomeNotCreated {
			t.Errorf("the dismissed entry's attempt: %+v, %v", attempts, err)
		}
		mustAddUp(t, s, "contracts")
	})
}

func TestAPlatformIDThatAnotherEntryHasIsAConflict(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease, other := mustLease(t, s, "contracts"), mustLease(t, s, "fixations")
		es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"), newEntry("c"))
		x := mustRecord(t, s, other, newEntry("x"))[0]
		mustSettle(t, s, other, created(mustSend(t, s, other, x), "remote-1"))
		var sent []trade.Attempt
		for _, e := range es {
			sent = append(sent, mustSend(t, s, lease, e))
		}
		r := mustSettle(t, s, lease, created(sent[0], "remote-1"),
			created(sent[1], "remote-2"), created(sent[2], "remote-2"))
		if diff := cmp.Diff(map[string]string{sent[0].ID: "fixations x", sent[2].ID: "contracts b"},
			r.Conflicts); diff != "" {
			t.Errorf("conflicts (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]bool{sent[1].ID: true}, r.Settled); diff != "" {
			t.Errorf("settled (-want +got):\n%s", diff)
		}
		want := map[string]trade.State{"a": trade.Sending, "b": trade.Accepted, "c": trade.Sending}
		wantStates(t, s, "contracts", want)
		mustAddUp(t, s, "contracts")
	})
}

// A UUID is that of one record, whatever its kind: an answer to a delivery with the id of a contract is
// no proof of a delivery.
func TestAPlatformIDThatARowOfAnotherKindHasIsAConflict(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		const id = "0b5f3f6c-58a9-4c50-9d0c-5d0c4bd0a111"
		lease, other := mustLease(t, s, "contracts"), mustLease(t, s, "deliveries")
		mustSettle(t, s, lease, created(mustSend(t, s, lease, mustRecord(t, s, lease, newEntry("a"))[0]), id))
		ticket := newEntry("t")
		ticket.Sends = trade.Deliveries
		sent := mustSend(t, s, other, mustRecord(t, s, other, ticket)[0])
		r := mustSettle(t, s, other, created(sent, id))
		if diff := cmp.Diff(map[string]string{sent.ID: "contracts a"}, r.Conflicts); diff != "" {
			t.Errorf("conflicts (-want +got):\n%s", diff)
		}
	})
}

func TestTwoJobsThatRaceForOnePlatformIDAreOneConflict(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		const rounds = 20
		var leases [2]trade.Lease
		var entries [2][]trade.Entry
		for j := range leases {
			leases[j] = mustLease(t, s, fmt.Sprintf("job%d", j))
			var page []trade.Entry
			for i := range rounds {
				page = append(page, newEntry(fmt.Sprint(j, i)))
			}
			entries[j] = mustRecord(t, s, leases[j], page...)
		}
		for i := range rounds {
			var results [2]trade.GroupResult
			var wg sync.WaitGroup
			for j := range leases {
				a := mustSend(t, s, leases[j], entries[j][i])
				wg.Go(func() {
					var err error
					if results[j], err = s.Commit(t.Context(), leases[j],
						trade.Group{
							At:     at,
							Settle: []trade.Settlement{created(a, fmt.Sprintf("remote-%d", i))},
						}); err != nil {
						t.Errorf("Commit: %v", err)
					}
				})
			}
			wg.Wait()
			if len(results[0].Settled)+len(results[1].Settled) != 1 ||
				len(results[0].Conflicts)+len(results[1].Conflicts) != 1 {
				t.Fatalf("results %+v, want one settled and one conflict", results)
			}
		}
		mustAddUp(t, s, "job0")
		mustAddUp(t, s, "job1")
	})
}

func TestACallThatIsRepeatedAfterAnUncertainCommitIsTheSameCall(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"))
		sent := mustSend(t, s, lease, es[0])
		g := trade.Group{
			Settle:  []trade.Settlement{created(sent, "remote-a")},
			Intents: []trade.Intent{intentOf(es[1])},
		}
		first := mustCommit(t, s, lease, g)
		if diff := cmp.Diff(first, mustCommit(t, s, lease, g)); diff != "" || len(first.Claimed) != 1 ||
			len(first.Settled) != 1 {
			t.Errorf("the second call says otherwise (-first +second):\n%s", diff)
		}
		if a := mustEntry(t, s, "contracts", "a"); a.Attempts != 1 || a.Version != 3 {
			t.Errorf("the second call changed the entry: attempts %d, version %d", a.Attempts, a.Version)
		}
		if attempts, err := s.Attempts(t.Context(), es[1].ID); err != nil || len(attempts) != 1 {
			t.Errorf("attempts: %v, %v", attempts, err)
		}
	})
}

func TestFlagsOfASettlementAreAdded(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		e := newEntry("a")
		e.Flags = trade.Flags{trade.Twin}
		st := created(mustSend(t, s, lease, mustRecord(t, s, lease, e)[0]), "remote-a")
		st.Flags = trade.Flags{trade.EchoDiffers, trade.Twin}
		mustSettle(t, s, lease, st)
		if diff := cmp.Diff(trade.Flags{trade.EchoDiffers, trade.Twin},
			mustEntry(t, s, "contracts", "a").Flags); diff != "" {
			t.Errorf("flags (-want +got):\n%s", diff)
		}
		counts, err := s.FlagCounts(t.Context(), "contracts")
		if diff := cmp.Diff(map[trade.Flag]int{trade.EchoDiffers: 1, trade.Twin: 1}, counts); diff != "" || err != nil {
			t.Errorf("flag counts (-want +got):\n%s%v", diff, err)
		}
	})
}

func TestAnAnswerOfAnyBytesIsStored(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		st := created(mustSend(t, s, lease, mustRecord(t, s, lease, newEntry("a"))[0]), "re\x00mote")
		st.Attempt.AnswerBody, st.Attempt.Reason = "a\x00b\xff\xfe", trade.Say("answer.text", "text", "\xc3\x28\x00")
		st.Attempt.Evidence, st.Attempt.AnswerHead, st.Attempt.Messages = json.RawMessage("{\x00}"),
			json.RawMessage("\xff"), []string{"m\x00\xff"}
		if r := mustSettle(t, s, lease, st); !r.Settled[st.Attempt.ID] {
			t.Errorf("not settled: %+v", r)
		}
		if e := mustEntry(t, s, "contracts", "a"); e.State != trade.Accepted || e.RemoteID != "re\uFFFDmote" {
			t.Errorf("entry: %s %q", e.State, e.RemoteID)
		}
	})
}

func TestWhatNoCorrectCallerAsksForIsRefused(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		es := mustRecord(t, s, lease, newEntry("a"), newEntry("b"))
		sent := mustSend(t, s, lease, es[0])
		noOutcome, noID, wrongState, notCreated, guess := created(sent, "r"), created(sent, ""), created(sent, "r"),
			refused(sent), unknown(sent)
		guess.State = trade.Pending
		noOutcome.Attempt.Outcome = trade.OutcomeOpen
		wrongState.State = trade.Waiting
		notCreated.State = trade.Accepted
		toSending, fromSending := mustEntry(t, s, "contracts", "b"), mustEntry(t, s, "contracts", "a")
		toSending.State, fromSending.State = trade.Sending, trade.Pending
		noPayload := intentOf(es[1])
		noPayload.Entry.Payload, noPayload.Attempt.Payload = nil, nil
		for name, g := range map[string]trade.Group{
			"no outcome":                {Settle: []trade.Settlement{noOutcome}},
			"created without an id":     {Settle: []trade.Settlement{noID}},
			"a state that cannot be":    {Settle: []trade.Settlement{wrongState}},
			"accepted without a record": {Settle: []trade.Settlement{notCreated}},
			"a guess":                   {Settle: []trade.Settlement{guess}},
			"an update begins to send":  {Updates: []trade.Update{{From: trade.Pending, Entry: toSending}}},
			"an update ends it":         {Updates: []trade.Update{{From: trade.Sending, Entry: fromSending}}},
			"an intent of nothing":      {Intents: []trade.Intent{noPayload}},
		} {
			if _, err := s.Commit(t.Context(), lease, g); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		want := map[string]trade.State{"a": trade.Sending, "b": trade.Pending}
		wantStates(t, s, "contracts", want)
	})
}

// expire ends a lease's time, as 30 s without its owner would.
func expire(t testing.TB, s *Store, job string) {
	t.Helper()
	mustExec(t, s, `UPDATE job_lease SET expires = 1 WHERE job = ?`, job)
}
