package state

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// What was told last of a record is what came last, also where an older event came again: the
// retention keeps what the reports show.
func TestTheRetentionKeepsWhatWasToldLast(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		const kind, event, id = "order_commitments", "UPDATE_WORKFLOW_ORDER_COMMITMENT",
			"7b6d1c1e-0000-4000-8000-000000000001"
		must.Do(t, s.StoreNotes(t.Context(), []trade.EventNote{
			// it came first, and once more after the other one
			{Kind: kind, ID: id, Event: event, Seq: 1, At: at.Add(2 * time.Hour), Word: "APPROVED"},
			{Kind: kind, ID: id, Event: event, Seq: 2, At: at.Add(time.Hour), Word: "PENDING"},
		}, nil))
		word := func() string {
			t.Helper()
			last := must.Get(s.LastNotes(t.Context(), kind, event, []string{id}))(t)
			return last[id].Word
		}
		before := word()
		keep := keepAll
		keep.Inbox = 30 * day
		if plan := mustRetain(t, s, keep, later); of(plan, KeptInbox).Rows != 1 {
			t.Errorf("the plan of the events: %+v", of(plan, KeptInbox))
		}
		if after := word(); before != "APPROVED" || after != before {
			t.Errorf("told last: %q, and after the retention %q", before, after)
		}
	})
}
