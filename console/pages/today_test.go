package pages

import (
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
	return office.Cause{
		Group: pending.Group{
			Key: key, State: state, Oldest: seen, Own: []pending.Part{{Job: "contracts", State: state, Rows: rows}},
			Sums: []pending.Sum{
				{Kind: trade.OrderCommitments, Rows: rows, Kilograms: weight},
				{Kind: trade.Deliveries, Rows: rows, Kilograms: weight.Add(weight)},
			},
		},
		Advice: trade.Advice{What: key, Fixer: fixer},
	}
}

// What a person must decide comes first, then the heaviest; beyond seven there is a number. Contracts
// and their deliveries are the same grain, so that one of the two is weighed.
func TestTheFirstPageNamesTheHeaviestTasksAndWho(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	stuck := office.Stuck{Causes: []office.Cause{
		stuckCause("light", trade.Invalid, trade.FixERP, "10", day, 1),
		stuckCause("heavy", trade.Rejected, trade.FixPlatform, "900", day.AddDate(0, 0, -3), 4),
		stuckCause("doubt", trade.InDoubt, trade.FixAccounting, "1", day.AddDate(0, 0, -1), 1),
		stuckCause("by itself", trade.Waiting, trade.FixNobody, "5000", day, 9),
	}}
	for i := range 6 {
		stuck.Causes = append(stuck.Causes, stuckCause("ref"+string(rune('a'+i)), trade.Waiting, trade.FixReferences,
			"100", day, 2))
	}
	got := todayOf(stuck, day)
	if len(got.Tasks) != todayShown || got.More != 2 {
		t.Fatalf("%d tasks, and %d more", len(got.Tasks), got.More)
	}
	if got.Tasks[0].What != "doubt" || got.Tasks[0].Path != "/doubts/next" || got.Tasks[1].What != "heavy" {
		t.Errorf("first %q, then %q", got.Tasks[0].What, got.Tasks[1].What)
	}
	if w := got.Tasks[1].Weight.String(); w != "900" {
		t.Errorf("the heavy one weighs %s kg", w)
	}
	want := map[string]helper{
		"accounting": {Tasks: 2, Rows: 2, Oldest: day.AddDate(0, 0, -1)},
		"it":         {Tasks: 6, Rows: 12, Oldest: day},
		"platform":   {Tasks: 1, Rows: 4, Oldest: day.AddDate(0, 0, -3)},
	}
	if len(got.Helpers) != len(want) {
		t.Fatalf("%d departments", len(got.Helpers))
	}
	for _, h := range got.Helpers {
		w := want[h.Key]
		if h.Tasks != w.Tasks || h.Rows != w.Rows || !h.Oldest.Equal(w.Oldest) {
			t.Errorf("%s has %d tasks, %d rows, since %s", h.Key, h.Tasks, h.Rows, h.Oldest)
		}
	}
}

// A day stands where its last runs ended; what may go by itself ends at the pace of today.
func TestTheChartShowsWhatWasSentAndWhatStands(t *testing.T) {
	t.Parallel()
	first := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	days := []time.Time{first, first.AddDate(0, 0, 1), first.AddDate(0, 0, 2)}
	facts := map[time.Time]dayFacts{
		days[0]: {sent: 10, states: map[string]map[trade.State]int{"contracts": {trade.Rejected: 2, trade.Waiting: 3}}},
		days[1]: {states: map[string]map[trade.State]int{}},
		days[2]: {sent: 20, states: map[string]map[trade.State]int{"deliveries": {trade.Pending: 10}}},
	}
	got := chartOf(days, facts, days[2].Add(2*time.Hour))
	if d := got.Days[1]; d.Sent != 0 || d.Refused != 2 || d.Waiting != 3 {
		t.Errorf("a day without a run: %+v", d)
	}
	if got.Pace != 20 || got.Most != 20 {
		t.Errorf("pace %d, most %d", got.Pace, got.Most)
	}
	if want := days[2].Add(3 * time.Hour); !got.Done.Equal(want) {
		t.Errorf("done at %s, want %s", got.Done, want)
	}
}

// The pace counts from when a job sends, not from when it began to read.
func TestARunTellsItsPaceAndWhatIsLeft(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	job := office.Progress{
		Job: "contracts", Phase: "sending", Done: 220, Total: 620, Since: now.Add(-time.Hour),
		Pace: office.Pace{Since: now.Add(-30 * time.Second), Done: 20},
	}
	if got := liveOf([]office.Progress{job}, now)[0]; got.PerMinute != 400 || got.Left != time.Minute {
		t.Errorf("%d a minute, %s left", got.PerMinute, got.Left)
	}
	job.Pace.Since = now.Add(-time.Second)
	if got := liveOf([]office.Progress{job}, now)[0]; got.PerMinute != 0 || got.Left != 0 {
		t.Errorf("after a second: %d a minute, %s left", got.PerMinute, got.Left)
	}
}
