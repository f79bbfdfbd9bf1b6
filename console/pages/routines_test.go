package pages

import (
	"fmt"
	"testing"
	"time"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

func TestTheButtonOfAJobIsThatOfItsState(t *testing.T) {
	t.Parallel()
	stop := &trade.Stop{Code: "in_doubt"}
	for _, c := range []struct {
		status trade.JobStatus
		want   string
	}{
		{trade.JobStatus{State: trade.Running}, "jobact.stop"},
		{trade.JobStatus{State: trade.Paused, Stop: &trade.Stop{Code: "paused"}}, "jobact.resume"},
		{trade.JobStatus{State: trade.Paused, Stop: &trade.Stop{Code: "brake", Brake: &trade.Brake{}}}, "jobact.see"},
		{trade.JobStatus{State: trade.Stopped, Stop: stop}, "jobact.see"},
		{trade.JobStatus{State: trade.Stopped, Stop: &trade.Stop{Code: "process_gone"}}, "jobact.run"},
		{trade.JobStatus{State: trade.Idle}, "jobact.run"},
		{trade.JobStatus{}, "jobact.run"},
	} {
		if got := actsOn(c.status)[0].Key; got != c.want {
			t.Errorf("%s %v: %s, want %s", c.status.State, c.status.Stop, got, c.want)
		}
	}
	for _, a := range actsOn(trade.JobStatus{State: trade.Idle}) {
		order := acts.Order{Act: a.Act, Sweep: a.Sweep}
		if may := trade.Accountant.May(order.Role()); may != (a.Key == "jobact.run") {
			t.Errorf("an accountant may %s: %t", a.Key, may)
		}
	}
}

func TestRunsWithoutNewsAreFoldedAndARunSaysWhatItLeftToPeople(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	run := func(id string, sent, refused int) trade.RunReport {
		return trade.RunReport{
			ID: id, Job: "contracts", StartedAt: at, EndedAt: trade.End{Time: at}, Sent: sent,
			States: map[trade.State]int{trade.Rejected: refused, trade.Accepted: sent},
		}
	}
	stopped := run("s", 0, 5)
	stopped.Stopped = &trade.Stop{Code: "erp"}
	open := run("o", 0, 0)
	open.EndedAt = trade.End{}
	lines := linesOf([]trade.RunReport{
		open, run("6", 0, 5), run("5", 0, 5), stopped, run("4", 3, 5), run("3", 0, 2), run("2", 1, 2), run("1", 0, 2),
	}, []trade.RunReport{run("0", 0, 1)}, nil, live{})
	var got []string
	for _, l := range lines {
		if len(l.Idle) > 0 {
			got = append(got, "fold")
			continue
		}
		got = append(got, l.ID)
	}
	if want := "[o fold s 4 fold 2 1]"; want != fmt.Sprint(got) {
		t.Errorf("the lines are %v, want %s", got, want)
	}
	if len(lines[1].Idle) != 2 || lines[3].Left != 3 || lines[5].Left != 0 || lines[6].Left != 1 {
		t.Errorf("folded: %d; left: %d and %d", len(lines[1].Idle), lines[3].Left, lines[6].Left)
	}
}

// What was solved does not hide what a pass left to people since.
func TestARunThatFlagsRowsIsNotFolded(t *testing.T) {
	t.Parallel()
	end := trade.End{Time: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	lines := linesOf([]trade.RunReport{
		{ID: "2", Job: "contracts", EndedAt: end, Flags: map[trade.Flag]int{trade.MissingInERP: 1}},
		{ID: "1", Job: "contracts", EndedAt: end, States: map[trade.State]int{trade.Rejected: 1}},
	}, nil, nil, live{})
	if len(lines[0].Idle) > 0 || lines[0].Left != 1 {
		t.Errorf("%+v", lines[0])
	}
}

// What is refused again is no news of any state, and yet nothing of it was done.
func TestARunWhoseRowsAreRefusedAgainLeavesThem(t *testing.T) {
	t.Parallel()
	end := trade.End{Time: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	states := map[trade.State]int{trade.Rejected: 13, trade.Accepted: 40}
	lines := linesOf([]trade.RunReport{
		{ID: "2", Job: "contracts", EndedAt: end, Sent: 13, States: states},
		{ID: "1", Job: "contracts", EndedAt: end, States: states},
	}, nil, nil, live{})
	if lines[0].Left != 13 {
		t.Errorf("%+v", lines[0])
	}
}
