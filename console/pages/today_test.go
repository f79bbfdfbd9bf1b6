package pages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/console/view"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/picture"
	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

func stuckCause(key string, state trade.State, fixer trade.Fixer, kg string, seen time.Time, rows int) office.Cause {
	weight, err := trade.ParseDecimal(kg)
	if err != nil {
		panic(err)
	}
	of := func(kind trade.Kind) pending.SumKey {
		return pending.SumKey{SumKind: pending.SumKind{Pile: trade.Pile{Kind: kind}}}
	}
	return office.Cause{
		Group: pending.Group{
			Key: key, State: state, Oldest: seen, Own: []pending.Part{{Job: "contracts", State: state, Rows: rows}},
			Sums: []pending.Sum{
				{SumKey: of(trade.OrderCommitments), Sums: trade.Sums{Rows: rows, Kilograms: weight}},
				{SumKey: of(trade.Deliveries), Sums: trade.Sums{Rows: rows, Kilograms: weight.Add(weight)}},
			},
		},
		Advice: trade.Advice{What: key, Fixer: fixer},
	}
}

// What may be on the platform is named first, then the heaviest causes of all departments, beyond ten as a number.
// Contracts and their deliveries are the same grain, so that one of the two is weighed. The person's own department
// leads the others.
func TestTheFirstPageNamesWhatCanCostMoneyThenTheHeaviestCauses(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	v := view.NewVoice(trade.Portuguese, time.UTC)
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
	got := todayOf(v, stuck, day, trade.Administrator)
	if d := got.Doubt; d.Rows != 2 || d.weight().String() != "3" {
		t.Errorf("in doubt: %+v", d)
	}
	names := trade.Map(got.Causes, func(t task) string { return t.Advice.What })
	if want := "twin doubt heavy refi refh refg reff refe refd refc"; strings.Join(names, " ") != want || got.More != 3 {
		t.Errorf("%v and %d more, want %s", names, got.More, want)
	}
	if got.Causes[0].Path != "/doubts/next" {
		t.Errorf("what is decided one by one leads to %s", got.Causes[0].Path)
	}
	if reader := todayOf(v, stuck, day, trade.Reader).Causes[0].Path; reader != "/doubts" {
		t.Errorf("a reader is led to %s", reader)
	}
	for role, want := range map[trade.Role]string{
		trade.Administrator: "it 18, accounting 1, platform 4", trade.Accountant: "accounting 1, it 18, platform 4",
	} {
		who := trade.Map(todayOf(v, stuck, day, role).Helpers, func(t task) string {
			return fmt.Sprint(t.Helper, " ", t.Rows)
		})
		if strings.Join(who, ", ") != want {
			t.Errorf("for the %s: %v, want %s", role, who, want)
		}
	}
}

// Two causes that have one name are told apart by their states, in words.
func TestCausesOfOneNameSayTheirStates(t *testing.T) {
	t.Parallel()
	cause := func(what string, state trade.State) task {
		return taskOf(stuckCause(what, state, trade.FixPlatform, "1", time.Time{}, 1))
	}
	tasks := []task{
		cause("produtor não cadastrado", trade.Rejected), cause("falta safra", trade.Invalid),
		cause("produtor não cadastrado", trade.Waiting),
	}
	named(view.NewVoice(trade.Portuguese, time.UTC), tasks)
	names := trade.Map(tasks, func(t task) string { return t.Name })
	want := "produtor não cadastrado · rejeitado pela plataforma, falta safra, produtor não cadastrado · aguardando"
	if strings.Join(names, ", ") != want {
		t.Errorf("%v", names)
	}
}

// Each figure of a line is rounded by itself, as that of its list: so the parts may add up to one more or less. One
// below a tonne has decimals.
func TestEachFigureOfWhatIsMissingIsRoundedByItself(t *testing.T) {
	t.Parallel()
	for kg, want := range map[int64]string{
		14_400: "14 14 14 of 43", 1_400: "1 1 1 of 4", 400: "0,400 0,400 0,400 of 1",
	} {
		one := trade.Sums{Rows: 1, Kilograms: trade.NewDecimal(kg, 0)}
		sums := reconcile.StateSum{Name: "SOJA"}
		sums.States = map[trade.State]trade.Sums{trade.Waiting: one, trade.Invalid: one, trade.Held: one}
		got := standsOf(view.NewVoice(trade.Portuguese, time.UTC), "", []reconcile.StateSum{sums}).Lines[0]
		said := trade.Map(got.Parts, func(m picture.Mark) string { return m.Said })
		if strings.Join(said, " ")+" of "+got.Sum.Said != want || got.Share != "0" {
			t.Errorf("%v of %s, %s%%, want %s", said, got.Sum.Said, got.Share, want)
		}
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
