package state

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

func TestAPauseStaysUntilAnActEndsItAndNoIntentIsStoredMeanwhile(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		lease := mustLease(t, s, "contracts")
		e := mustRecord(t, s, lease, newEntry("a"), newEntry("b"))
		flying := mustSend(t, s, lease, e[0])
		running := trade.JobStatus{Job: "contracts", State: trade.Running, Since: at}
		must.Do(t, s.SetJobStatus(t.Context(), running))
		pause := trade.JobStatus{
			Job: "contracts", State: trade.Paused, Since: at,
			Stop: &trade.Stop{Code: "paused", Why: trade.Say("stop.paused.by", "who", "maria", "why", "the harvest")},
		}
		done, err := s.Act(t.Context(), []trade.Act{{
			Job:   &trade.JobAct{Job: "contracts", Status: pause},
			Audit: anAct("contracts"),
		}})
		if err != nil || !done[0] {
			t.Fatalf("done %v, %v", done, err)
		}
		in := intentOf(e[1])
		r := mustCommit(t, s, lease, trade.Group{
			Settle:  []trade.Settlement{created(flying, sqldb.NewID())},
			Intents: []trade.Intent{in},
		})
		if !r.Paused || r.Claimed[in.Attempt.ID] || !r.Settled[flying.ID] {
			t.Errorf("a group of a paused job: %+v", r)
		}
		must.Do(t, s.SetJobStatus(t.Context(),
			trade.JobStatus{Job: "contracts", State: trade.Idle, Since: at}))
		saw, err := s.JobStatus(t.Context(), "contracts")
		if err != nil || saw.State != trade.Paused || saw.Stop.Text() != "maria paused the job: the harvest" {
			t.Fatalf("the pause is %+v, %v", saw, err)
		}
		act := func(saw trade.JobStatus, cursor *trade.Cursor) (bool, error) {
			resume := trade.JobAct{
				Job: "contracts", Saw: &saw, Cursor: cursor,
				Status: trade.JobStatus{Job: "contracts", State: trade.Idle, Since: at},
			}
			done, err := s.Act(t.Context(), []trade.Act{{Job: &resume, Audit: anAct("contracts")}})
			return err == nil && done[0], err
		}
		other := saw
		other.Stop = &trade.Stop{Code: "paused", Why: trade.Say("stop.paused.by", "who", "joão", "why", "year end")}
		if done, err := act(other, nil); done || err != nil {
			t.Errorf("another pause than this one was ended: %v, %v", done, err)
		}
		cursor := trade.Cursor{
			Bound: "x",
			Brakes: trade.BrakeState{
				Passed: 7, Counts: []int{1, 2},
				Identity: &trade.Identity{Key: []string{"num"}, Tables: []string{"t"}}, Allowed: 3,
			},
		}
		var held *trade.LeasedError
		if _, err := act(saw, &cursor); !errors.As(err, &held) {
			t.Errorf("what the brakes remember was changed while a process runs the job: %v", err)
		}
		must.Do(t, s.ReleaseLease(t.Context(), lease))
		if done, err := act(saw, &cursor); !done || err != nil {
			t.Errorf("done %v, %v", done, err)
		}
		if got, err := s.Cursor(t.Context(), "contracts"); err != nil || !cmp.Equal(cursor, got) {
			t.Errorf("the cursor differs: %s%v", cmp.Diff(cursor, got), err)
		}
	})
}

func TestAJobStandsWhereItWasPut(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		status, err := s.JobStatus(t.Context(), "contracts")
		if diff := cmp.Diff(trade.JobStatus{Job: "contracts", State: trade.Idle}, status); diff != "" || err != nil {
			t.Errorf("a new job (-want +got):\n%s%v", diff, err)
		}
		for _, want := range []trade.JobStatus{
			{
				Job: "contracts", State: trade.Stopped, Since: at,
				Stop: &trade.Stop{Code: "key", Why: trade.Say("x"), All: true, Until: at},
			},
			{
				Job: "contracts", State: trade.Stopped, Since: at,
				Stop: &trade.Stop{Code: "module", Why: trade.Say("x"), Sends: trade.OrderCommitments},
			},
			{Job: "contracts", State: trade.Running, Since: at.Add(time.Second)},
		} {
			must.Do(t, s.SetJobStatus(t.Context(), want))
			got, err := s.JobStatus(t.Context(), "contracts")
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("status (-want +got):\n%s%v", diff, err)
			}
		}
	})
}
