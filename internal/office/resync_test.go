package office

import (
	"testing"

	"github.com/safrasync/safrasync/trade"
)

// A row that is due and is not read is none of those that stay as they are; more that are due are another plan.
func TestAPlanOfReadingAgainCountsWhatIsDueApart(t *testing.T) {
	t.Parallel()
	plan := ResyncPlan{
		States: map[string]int{string(trade.Pending): 1}, Report: trade.RunReport{Read: 9}, Due: 5, dueRead: 2,
	}
	if n := plan.Same(); n != 6 {
		t.Errorf("%d stay as they are, want 6", n)
	}
	more := plan
	more.Due++
	if more.Mark() == plan.Mark() {
		t.Error("the plan is the same although more rows are due")
	}
}
