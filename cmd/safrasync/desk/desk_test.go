package desk

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"io"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/cmd/safrasync/demo"
	"github.com/safrasync/safrasync/cmd/safrasync/runs"
	"github.com/safrasync/safrasync/console/pages"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// openDemo is the host of a console on what `safrasync demo` leaves behind: contracts, deliveries
// and traceability records that are stuck for many reasons.
func openDemo(t *testing.T) *Host {
	t.Helper()
	dir := t.TempDir()
	var out, messages bytes.Buffer
	app := &cli.App{
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &messages, Out: bufio.NewWriter(&out),
		ConfigPath: dir + "/config.yaml",
		Env:        func(string) (string, bool) { return "", false },
	}
	cmd := demo.NewCommand(app, demo.Commands{
		Sync: func(ctx context.Context, a *cli.App) error {
			return runs.Sync(ctx, a, nil, runs.SyncFlags{Sweep: true})
		},
		Said:   func(context.Context, *cli.App, []trade.RunReport) error { return nil },
		Status: runs.Status, Report: runs.Status,
	})
	cmd.SetArgs([]string{"--dir", dir, "--lang", "pt-BR"})
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err, messages.String())
	}
	h := &Host{App: app, Board: NewBoard(), Log: zap.NewNop()}
	store := must.Get(app.OpenLedger(t.Context(), cli.ToWrite))(t)
	t.Cleanup(func() { must.Do(t, app.Close()) })
	source := must.Get(app.OpenSource(t.Context()))(t)
	h.Store = store
	h.Engine = must.Get(app.OpenEngine(store, source, h.Board.Observe))(t)
	return h
}

// Who logs in and sees the first page lets the console read what is stuck; who then comes for the
// causes sees them as they are by then, not as they were.
func TestTheFirstLookAtWhatIsStuckBeginsBeforeSomebodyAsks(t *testing.T) {
	t.Parallel()
	d := openDemo(t)
	desk := New(d)
	desk.Expect()
	desk.Expect() // begins nothing anew
	desk.working.Wait()
	if desk.view != nil || !desk.begun {
		t.Error("what was seen ahead is shown to people")
	}
	var row trade.Entry
	invalid := trade.RowFilter{States: []trade.State{trade.Invalid}}
	must.Do(t, d.Store.Rows(t.Context(), invalid, func(e trade.Entry) error {
		row = e
		return nil
	}))
	people := (&work{d}).acts()
	plan := must.Get(people.Dismiss(t.Context(), row.Job, []string{row.Key}))(t)
	must.Get(people.Do(t.Context(), plan, acts.Person{Name: "ana", Reason: "lançado duas vezes"}))(t)
	ahead := must.Get(desk.Stuck(t.Context(), trade.Portuguese, false))(t)
	afresh := must.Get(New(d).Stuck(t.Context(), trade.Portuguese, true))(t)
	ahead.At = afresh.At
	if !reflect.DeepEqual(ahead, afresh) {
		t.Errorf("after a look ahead people see\n%+v\nand without one\n%+v", ahead, afresh)
	}
	desk.close()
	if desk.Expect(); !desk.ended {
		t.Error("a desk that was closed still looks")
	}
}

// Who waits for a look when the configuration is loaded again, which ends it, sees what is stuck
// all the same.
func TestALookThatEndsWithItsGenerationIsTakenAgain(t *testing.T) {
	t.Parallel()
	d := openDemo(t)
	desk := New(d)
	begun := &looking{done: make(chan struct{})}
	desk.looking = begun
	type answer struct {
		stuck pages.Stuck
		err   error
	}
	got := make(chan answer)
	go func() {
		stuck, err := desk.Stuck(t.Context(), trade.Portuguese, false)
		got <- answer{stuck, err}
	}()
	desk.close()
	begun.err = desk.ending.Err()
	close(begun.done)
	if a := <-got; a.err != nil || len(a.stuck.Causes) == 0 {
		t.Errorf("%d causes, %v", len(a.stuck.Causes), a.err)
	}
}

// A look that comes to nothing is told to whoever comes next: that the rows are being read would be
// told for ever.
func TestALookThatFailsIsTold(t *testing.T) {
	t.Parallel()
	d := openDemo(t)
	db := must.Get(sql.Open("sqlite", d.App.Config.State.DSN.Reveal()))(t)
	must.Get(db.ExecContext(t.Context(), `UPDATE entry SET waiting_for = '{' WHERE state = 'waiting'`))(t)
	must.Do(t, db.Close())
	desk := New(d)
	desk.patience, desk.waitFor = 1, 0
	_, _ = desk.Stuck(t.Context(), trade.Portuguese, false)
	desk.working.Wait()
	desk.looking = &looking{done: make(chan struct{})} // the next one, which is not over
	if _, err := desk.Stuck(t.Context(), trade.Portuguese, false); err == nil ||
		!strings.Contains(err.Error(), "waiting_for") {
		t.Errorf("%v", err)
	}
	desk.close()
}

// What was seen minutes ago is not shown as what is: pages say that the rows are being read.
func TestAnOldViewOfManyRowsIsNotShown(t *testing.T) {
	t.Parallel()
	d := openDemo(t)
	desk := New(d)
	must.Get(desk.Stuck(t.Context(), trade.Portuguese, true))(t)
	desk.patience, desk.waitFor = 1, 0
	desk.looking = &looking{done: make(chan struct{})} // one that is not over
	at := desk.view.At
	desk.view.At = at.Add(-stuckOld / 2)
	if got := must.Get(desk.Stuck(t.Context(), trade.Portuguese, false))(t); len(got.Causes) == 0 ||
		!got.At.Equal(desk.view.At) {
		t.Errorf("half a minute later: %+v", got)
	}
	desk.view.At = at.Add(-2 * stuckOld)
	if got := must.Get(desk.Stuck(t.Context(), trade.Portuguese, false))(t); len(got.Causes) > 0 || got.Reading == 0 {
		t.Errorf("two minutes later: %+v", got)
	}
	desk.looking = nil
	desk.close()
}

// Of many rows the first look takes long: nobody waits for it, and the page says that they are
// being read. Later it says how things are; what it says is never taken for "nothing is stuck".
func TestNobodyWaitsForTheFirstLookAtManyRows(t *testing.T) {
	t.Parallel()
	d := openDemo(t)
	desk := New(d)
	desk.patience, desk.waitFor = 1, 0
	want := must.Get(New(d).Stuck(t.Context(), trade.Portuguese, true))(t)
	rows := want.Moving
	for _, c := range want.Causes {
		rows += c.Rows()
	}
	got := must.Get(desk.Stuck(t.Context(), trade.Portuguese, false))(t)
	if got.Reading != rows || len(got.Causes) > 0 {
		got.At = want.At
		if got.Reading != 0 || !reflect.DeepEqual(got, want) { // it was as quick as that
			t.Errorf("while %d rows are read: %+v", rows, got)
		}
	}
	desk.working.Wait()
	got = must.Get(desk.Stuck(t.Context(), trade.Portuguese, false))(t)
	got.At = want.At
	if !reflect.DeepEqual(got, want) {
		t.Errorf("after they were read people see\n%+v\nwant\n%+v", got, want)
	}
	desk.close()
	if got, err := desk.Stuck(t.Context(), trade.Portuguese, false); err != nil || got.Reading > 0 {
		t.Errorf("when the service ends: %+v, %v", got, err)
	}
}
