package pages

import (
	"fmt"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

func stuckCause(key string, state trade.State, fixer trade.Fixer, kg string, seen time.Time, rows int) office.Cause {
	weight, err := trade.ParseDecimal(kg)
	if err != nil {
		panic(err)
	}
	of := func(kind trade.Kind) pending.SumKind { return pending.SumKind{Pile: trade.Pile{Kind: kind}} }
	return office.Cause{
		Group: pending.Group{
			Key: key, State: state, Oldest: seen, Own: []pending.Part{{Job: "contracts", State: state, Rows: rows}},
			Sums: []pending.Sum{
				{SumKind: of(trade.OrderCommitments), Sums: trade.Sums{Rows: rows, Kilograms: weight}},
				{SumKind: of(trade.Deliveries), Sums: trade.Sums{Rows: rows, Kilograms: weight.Add(weight)}},
			},
		},
		Advice: trade.Advice{What: key, Fixer: fixer},
	}
}

// What may be on the platform stands apart; then come the causes of the person's own department, the
// heaviest first, beyond seven as a number, and the others as sums. Contracts and their deliveries are
// the same grain, so that one of the two is weighed.
func TestTheFirstPageNamesWhatCanCostMoneyThenTheTasksOfOnesOwn(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	stuck := office.Stuck{Causes: []office.Cause{
		stuckCause("light", trade.Invalid, trade.FixERP, "10", day, 1),
		stuckCause("heavy", trade.Rejected, trade.FixPlatform, "900", day.AddDate(0, 0, -3), 4),
		stuckCause("doubt", trade.InDoubt, trade.FixAccounting, "1", day.AddDate(0, 0, -1), 1),
		stuckCause("twin", trade.Held, trade.FixAccounting, "2", day.AddDate(0, 0, -1), 1),
		stuckCause("by itself", trade.Waiting, trade.FixNobody, "5000", day, 9),
	}}
	for i := range 9 {
		stuck.Causes = append(stuck.Causes, stuckCause("ref"+string(rune('a'+i)), trade.Waiting, trade.FixReferences,
			fmt.Sprint(100+i), day, 2))
	}
	got := todayOf(stuck, day, trade.Administrator)
	if d := got.Doubt; d.Rows != 2 || d.weight().String() != "3" || d.Path != "/doubts/next" {
		t.Errorf("in doubt: %+v", d)
	}
	if got.Mine.Key != "it" || got.Mine.Rows != 18 || len(got.Tasks) != todayShown || got.More != 2 ||
		got.Tasks[0].What != "refi" {
		t.Errorf("of IT: %+v, %d tasks and %d more", got.Mine, len(got.Tasks), got.More)
	}
	want := map[trade.Department]helper{
		"accounting": {Tasks: 1, Rows: 1, Oldest: day},
		"platform":   {Tasks: 1, Rows: 4, Oldest: day.AddDate(0, 0, -3)},
	}
	others := got.Others()
	if len(others) != len(want) {
		t.Fatalf("%d other departments", len(others))
	}
	for _, h := range others {
		w := want[h.Key]
		if h.Tasks != w.Tasks || h.Rows != w.Rows || !h.Oldest.Equal(w.Oldest) {
			t.Errorf("%s has %d tasks, %d rows, since %s", h.Key, h.Tasks, h.Rows, h.Oldest)
		}
	}
	if mine := todayOf(stuck, day, trade.Accountant).Mine; mine.Key != "accounting" || mine.Rows != 1 {
		t.Errorf("of accounting: %+v", mine)
	}
	held := todayOf(office.Stuck{Causes: stuck.Causes[3:4]}, day, trade.Accountant).Doubt
	if want := "/doubts/next"; held.Path != want || held.Rows != 1 {
		t.Errorf("only held: %+v, want the way to %s", held, want)
	}
	// the page of causes counts as this one does
	if all := helpersOf(stuck.Causes); all[0].Key != "accounting" || all[0].Rows != 1 {
		t.Errorf("all of accounting: %+v", all[0])
	}
}

// The pace counts from when a job sends, not from when it began to read.
func TestARunTellsWhenItIsReady(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	job := office.Progress{
		Job: "contracts", Phase: "sending", Done: 220, Total: 620, Since: now.Add(-time.Hour),
		Pace: office.Pace{Since: now.Add(-30 * time.Second), Done: 20},
	}
	if got := liveOf(job, now).Ready; !got.Equal(now.Add(time.Minute)) {
		t.Errorf("it is ready at %s", got)
	}
	job.Pace.Since = now.Add(-time.Second)
	if got := liveOf(job, now).Ready; !got.IsZero() {
		t.Errorf("after a second it is ready at %s", got)
	}
}
