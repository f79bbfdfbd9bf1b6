package office

import (
	"database/sql"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/config/configtest"
	"github.com/safrasync/safrasync/internal/ledgertest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

// openStuck makes a ledger with contracts that are stuck for several reasons. It returns what opens
// an office on it, and the address of its database.
func openStuck(t *testing.T) (open func() *Office, dsn string) {
	t.Helper()
	conf := configtest.Load(t, t.TempDir()+"/config.yaml", configtest.Sample(t), "x")
	jobs := must.Get(CompileJobs(conf))(t)
	dsn = ledgertest.New(t, state.SQLite, t.TempDir()+"/state.db")
	store := must.Get(state.Open(t.Context(), state.OpenOptions{
		Driver: state.SQLite, DSN: dsn, Begin: true, Version: "test",
	}))(t)
	t.Cleanup(func() { must.Do(t, store.Close()) })
	var page trade.Page
	for i := range 9 {
		key := fmt.Sprintf("01|%06d", i)
		e := trade.Entry{
			Job: "contracts", Sends: trade.OrderCommitments, Key: key, Generation: 1, SourceHash: trade.HashOf(key),
			MappedWith: "m", FirstSeenAt: Now(), UpdatedAt: Now(),
			Values: trade.Values{"produto": {Kind: 't', Text: "001"}},
		}
		switch i % 3 {
		case 0:
			e.State, e.Cause = trade.Invalid, "rule:product"
			e.Error = &trade.EntryError{Kind: trade.ValidationError, Fields: []trade.Problem{
				{Field: "product", Rule: trade.RuleUnmapped, Column: "produto", Value: "009"},
			}}
		case 1:
			e.State, e.Cause = trade.Waiting, "ref:wallets"
			e.WaitingFor = []trade.Awaited{{Ref: "wallets", Code: "12"}}
		default:
			e.State, e.Cause = trade.Held, trade.CauseDuplicateKey
		}
		page.New = append(page.New, e)
	}
	lease := must.Get(store.AcquireLease(t.Context(), "contracts", state.Self()))(t)
	must.Get(store.Record(t.Context(), lease, page))(t)
	return func() *Office {
		o := New(Deps{
			Config: conf, Store: store, Jobs: jobs, Board: NewRunProgress(), Log: zap.NewNop(), Now: Now,
		})
		t.Cleanup(o.Close)
		return o
	}, dsn
}

// Who comes for the causes again sees them as they are by then, not as they were.
func TestALaterLookAtWhatIsStuckTellsWhatHasChanged(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	at := open()
	must.Get(at.Stuck(t.Context(), trade.Portuguese, false))(t)
	var row trade.Entry
	invalid := trade.RowQuery{States: []trade.State{trade.Invalid}}
	must.Do(t, at.store.Rows(t.Context(), invalid, func(e trade.Entry) error {
		row = e
		return nil
	}))
	people := at.acts()
	plan := must.Get(people.Dismiss(t.Context(), row.Job, []string{row.Key}))(t)
	must.Get(people.Do(t.Context(), plan, trade.Person{Name: "ana", Reason: "lançado duas vezes"}))(t)
	ahead := must.Get(at.Stuck(t.Context(), trade.Portuguese, false))(t)
	afresh := must.Get(open().Stuck(t.Context(), trade.Portuguese, true))(t)
	ahead.At = afresh.At
	if !reflect.DeepEqual(ahead, afresh) {
		t.Errorf("after an earlier look people see\n%+v\nand without one\n%+v", ahead, afresh)
	}
}

// Who waits for a look when the configuration is loaded again, which ends it, sees what is stuck
// all the same.
func TestALookThatEndsWithItsGenerationIsTakenAgain(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	at := open()
	begun := &work[*pending.View]{done: make(chan struct{})}
	at.causeScan = begun
	type answer struct {
		stuck Stuck
		err   error
	}
	got := make(chan answer)
	go func() {
		stuck, err := at.Stuck(t.Context(), trade.Portuguese, false)
		got <- answer{stuck, err}
	}()
	at.Close()
	begun.err = at.ending.Err()
	close(begun.done)
	if a := <-got; a.err != nil || len(a.stuck.Causes) == 0 {
		t.Errorf("%d causes, %v", len(a.stuck.Causes), a.err)
	}
}

// A look that comes to nothing is told to whoever comes next: that the rows are being read would be
// told for ever.
func TestALookThatFailsIsTold(t *testing.T) {
	t.Parallel()
	open, dsn := openStuck(t)
	db := must.Get(sql.Open("sqlite", dsn))(t)
	must.Get(db.ExecContext(t.Context(), `UPDATE entry SET waiting_for = '{' WHERE state = 'waiting'`))(t)
	must.Do(t, db.Close())
	at := open()
	at.patience, at.waitFor = 1, 0
	_, _ = at.Stuck(t.Context(), trade.Portuguese, false)
	at.working.Wait()
	at.causeScan = &work[*pending.View]{done: make(chan struct{})} // the next one, which is not over
	if _, err := at.Stuck(t.Context(), trade.Portuguese, false); err == nil ||
		!strings.Contains(err.Error(), "waiting_for") {
		t.Errorf("%v", err)
	}
	at.Close()
}

// What was seen minutes ago is not shown as what is: pages say that the rows are being read.
func TestAnOldViewOfManyRowsIsNotShown(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	at := open()
	must.Get(at.Stuck(t.Context(), trade.Portuguese, true))(t)
	at.patience, at.waitFor = 1, 0
	at.causeScan = &work[*pending.View]{done: make(chan struct{})} // one that is not over
	taken := at.view.At
	at.view.At = taken.Add(-stuckOld / 2)
	if got := must.Get(at.Stuck(t.Context(), trade.Portuguese, false))(t); len(got.Causes) == 0 ||
		!got.At.Equal(at.view.At) {
		t.Errorf("half a minute later: %+v", got)
	}
	at.view.At = taken.Add(-2 * stuckOld)
	if got := must.Get(at.Stuck(t.Context(), trade.Portuguese, false))(t); len(got.Causes) > 0 || got.Reading == 0 {
		t.Errorf("two minutes later: %+v", got)
	}
	at.causeScan = nil
	at.Close()
}

// Of many rows the first look takes long: nobody waits for it, and the page says that they are
// being read. Later it says how things are; what it says is never taken for "nothing is stuck".
func TestNobodyWaitsForTheFirstLookAtManyRows(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	at := open()
	at.patience, at.waitFor = 1, 0
	want := must.Get(open().Stuck(t.Context(), trade.Portuguese, true))(t)
	rows := want.Moving
	for _, c := range want.Causes {
		rows += c.Rows()
	}
	got := must.Get(at.Stuck(t.Context(), trade.Portuguese, false))(t)
	if got.Reading != rows || len(got.Causes) > 0 {
		got.At = want.At
		if got.Reading != 0 || !reflect.DeepEqual(got, want) { // it was as quick as that
			t.Errorf("while %d rows are read: %+v", rows, got)
		}
	}
	at.working.Wait()
	got = must.Get(at.Stuck(t.Context(), trade.Portuguese, false))(t)
	got.At = want.At
	if !reflect.DeepEqual(got, want) {
		t.Errorf("after they were read people see\n%+v\nwant\n%+v", got, want)
	}
	at.Close()
	if got, err := at.Stuck(t.Context(), trade.Portuguese, false); err != nil || got.Reading > 0 {
		t.Errorf("when the service ends: %+v, %v", got, err)
	}
}

// Doubts of a job that is configured no more still wait for a person: the menu counts them as their page
// lists them.
func TestTheMenuCountsTheDoubtsThatTheirPageLists(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	o := open()
	listed := must.Get(o.RowPage(t.Context(), trade.RowQuery{States: trade.Undecided, Limit: 100}))(t).Rows
	rows, doubts, err := o.Needing(t.Context())
	if err != nil || len(listed) == 0 || doubts != len(listed) || rows <= doubts {
		t.Fatalf("%d rows need somebody, %d are to be decided, and the page lists %d: %v", rows, doubts, len(listed), err)
	}
	o.jobs = nil
	rows, doubts, err = o.Needing(t.Context())
	if err != nil || rows != 0 || doubts != len(listed) {
		t.Errorf("without jobs %d rows need somebody, and %d of %d are to be decided: %v", rows, doubts, len(listed), err)
	}
}
