package reconcile

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// The plan of a closing tells what is open, and its mark stays the same until a number of it moves.
func TestThePlanOfAClosingIsBoundToItsNumbers(t *testing.T) {
	both(t, func(t *testing.T, w *world) {
		w.october()
		day := must.Get(trade.ParseDate("2026-10-31"))(t)
		plan := func() ClosingPlan {
			t.Helper()
			return must.Get(w.take(Cut{Day: day}).PlanClosing(DefaultTolerance()))(t)
		}
		first := plan()
		// Rejected, in doubt, invalid; a delivery that waits. What differs: a changed row, one that
		// is gone, and an over-delivered contract.
		want := ClosingPlan{
			Overview: first.Overview, Day: day, At: w.now, Rows: 12, Open: 4, Mark: first.Mark,
			States: []StateCount{{trade.Waiting, 1}, {trade.Invalid, 1}, {trade.Rejected, 1}, {trade.InDoubt, 1}},
		}
		if diff := cmp.Diff(want, first, cmp.Comparer(func(a, b trade.Date) bool { return a == b })); diff != "" ||
			first.Divergences == 0 || first.First != "2026-10-05" || len(first.Mark) != 64 {
			t.Errorf("plan (-want +got), %d divergences, mark %q:\n%s", first.Divergences, first.Mark, diff)
		}
		for _, a := range first.Accounts { // people sign what they explain
			if a.Proof().Sign() != 0 || a.SentProof().Sign() != 0 {
				t.Errorf("the account of %s %s does not close", a.Product, a.Measure)
			}
		}
		if len(first.Accounts) == 0 {
			t.Error("the plan explains no difference")
		}
		w.now = w.now.Add(1)
		if again := plan(); again.Mark != first.Mark {
			t.Error("the mark moved although no number did")
		}
		w.add("contracts", "01|000099", soy)
		uneven := plan()
		if uneven.Mark == first.Mark {
			t.Error("another row, and the mark is the same")
		}
		w.sweep("contracts", 12, 1)
		if diff := cmp.Diff([]Uneven{{"contracts", 2}}, plan().Uneven); diff != "" {
			t.Errorf("uneven jobs (-want +got):\n%s", diff)
		}
		if _, err := w.take(Cut{}).PlanClosing(DefaultTolerance()); err == nil {
			t.Error("a report without a cut-off can be closed")
		}
	})
}

// The audit of an export names the report and what was selected, by the names of the flags.
func TestAnExportSaysWhatWasSelected(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "sqlite")
	w.october()
	o := portuguese
	o.Filter = Filter{
		From: must.Get(trade.ParseDate("2026-10-01"))(t), Products: []string{"SOJA"},
		States: []trade.State{trade.Accepted},
	}
	o.Sections, o.By = []SectionID{SummarySection}, []By{BySeason}
	text := must.Get(json.Marshal(must.Get(w.take(Cut{}).Export("csv", o))(t)))(t)
	const want = `{"report":"01a20039-0000-7000-8000-000000000000","kind":"now","day":"","format":"csv","rows":12,` +
		`"filters":{"by":["season"],"from":"2026-10-01","product":["SOJA"],"section":["summary"],"state":["accepted"]}}`
	if string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// A row that the last look of a dry run holds back comes a second time, without what was read of it: its
// day decides whether a closing counts it.
func TestARowThatIsHeldBackKeepsItsDay(t *testing.T) {
	now := ERPNow{Found: map[trade.ParentKey]trade.Entry{}}
	row := trade.Entry{Job: "contracts", Key: "1", State: trade.Pending}
	row.Facts.Day = must.Get(trade.ParseDate("2026-03-10"))(t)
	now.Add(row)
	now.Add(trade.Entry{Job: "contracts", Key: "1", State: trade.Held, Cause: trade.CauseOtherJob, GoneSweeps: 2})
	got := now.Found[trade.ParentKey{Job: "contracts", Key: "1"}]
	if got.State != trade.Held || got.Cause != trade.CauseOtherJob || got.Facts.Day != row.Facts.Day ||
		got.GoneSweeps != 0 {
		t.Errorf("%+v", got)
	}
}
