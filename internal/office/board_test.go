package office

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// What runs in this process is running everywhere: in the strip, in the status, in the list of jobs and of
// passes. The token of the pages changes when it begins and when it ends.
func TestOneClockSaysWhatRuns(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	o := open()
	started := Now().Add(-time.Minute).Truncate(time.Second)
	old := trade.RunReport{ID: "r1", Job: "contracts", StartedAt: started.Add(-time.Hour)}
	pass := trade.RunReport{ID: "r2", Job: "contracts", StartedAt: started}
	must.Do(t, o.store.StartRun(t.Context(), old))
	must.Do(t, o.store.StartRun(t.Context(), pass))
	check := func(state trade.JobState, goes bool) {
		t.Helper()
		if got := must.Get(o.JobStatus(t.Context(), "contracts"))(t); got.State != state {
			t.Errorf("the status is %q, want %q", got.State, state)
		}
		if got := must.Get(o.Schedules(t.Context(), trade.Portuguese))(t)[0].Status.State; got != state {
			t.Errorf("the list of jobs says %q, want %q", got, state)
		}
		if got := must.Get(o.Goes(t.Context(), pass))(t); got != goes {
			t.Errorf("the pass goes on: %t", got)
		}
		if must.Get(o.Goes(t.Context(), old))(t) {
			t.Error("a pass that was interrupted before this one goes on")
		}
		if got := must.Get(o.reading(t.Context(), "contracts"))(t); got.Goes != goes || !got.Tried.Equal(started) {
			t.Errorf("the reading of the ERP is %+v", got)
		}
	}
	check(trade.Idle, false)
	before := o.Progress().Turn
	o.board.Observe(run.Progress{Job: "contracts", Phase: run.Sending, Done: 144, Total: 900})
	check(trade.Running, true)
	begun := o.Progress().Turn
	if begun == before {
		t.Error("pages are not told that a run began")
	}
	o.board.Observe(run.Progress{Job: "contracts", Phase: run.Sending, Done: 145, Total: 900})
	if o.Progress().Turn != begun {
		t.Error("pages are loaded anew with each row that is sent")
	}
	o.board.Observe(run.Progress{Job: "contracts", Phase: run.Done})
	check(trade.Idle, false)
	if o.Progress().Turn == begun {
		t.Error("pages are not told that a run ended")
	}
	o.board.Observe(run.Progress{Job: "contracts", Phase: run.Sending})
	must.Do(t, o.store.SetJobStatus(t.Context(), trade.JobStatus{Job: "contracts", State: trade.Paused}))
	if got := must.Get(o.JobStatus(t.Context(), "contracts"))(t); got.State != trade.Paused {
		t.Errorf("what a person paused is %q while its last requests end", got.State)
	}
}

// A pass that read single rows has ended: it is no reading of the ERP that is missing an end.
func TestAPassOfSingleRowsIsNoReadingWithoutAnEnd(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	o := open()
	at := Now().Add(-time.Hour).Truncate(time.Second)
	for _, pass := range []trade.RunReport{
		{ID: "r1", Job: "contracts", StartedAt: at, EndedAt: trade.End{Time: at}, ReadAt: at},
		{ID: "r2", Job: "contracts", StartedAt: at.Add(time.Minute), EndedAt: trade.End{Time: at.Add(time.Minute)}},
	} {
		must.Do(t, o.store.StartRun(t.Context(), pass))
		must.Do(t, o.store.FinishRun(t.Context(), pass))
	}
	if got := must.Get(o.reading(t.Context(), "contracts"))(t); !got.At.Equal(at) || !got.Tried.IsZero() {
		t.Errorf("the reading is %+v, want that of %s and no later one", got, at)
	}
}
