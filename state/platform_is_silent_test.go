package state

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/trade"
)

// W10: what the alarm about a silent platform goes by: since when it should be heard, when it was
// heard last, also where the retention took that event away, and what it confirmed since.
func TestW10SinceWhenThePlatformIsSilent(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		look := func(what string, want trade.EventSilence) {
			t.Helper()
			got, err := s.EventSilence(t.Context())
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got):\n%s", what, err, diff)
			}
		}
		record := trade.AuditRecord{At: at, Who: "test", Act: "webhooks apply", Target: "x"}
		register := func(event string, settled time.Time) {
			t.Helper()
			w := trade.Webhook{
				ID: uuid.NewString(), Event: event, PathHash: event, State: trade.WebhookAsked,
				AskedAt: settled,
			}
			err := s.AskWebhook(t.Context(), w, record)
			if err == nil {
				w.State, w.SettledAt = trade.WebhookActive, settled
				err = s.SettleWebhook(t.Context(), w, settled, record)
			}
			must.Do(t, err)
		}
		year := at.AddDate(-1, 0, 0).Truncate(time.Millisecond)
		look("nothing is registered", trade.EventSilence{})
		register("CREATE_FARM", year)
		look("nothing of order commitments is registered", trade.EventSilence{})
		register("CREATE_ORDER_COMMITMENT", year)
		register("UPDATE_ORDER_COMMITMENT", at)
		look("nothing was heard or made", trade.EventSilence{Since: year})

		lease := mustLease(t, s, "contracts")
		mustSettle(t, s, lease, created(mustSend(t, s, lease,
			mustRecord(t, s, lease, newEntry("a"))[0]), "a record"))
		attempts := must.Get(s.Attempts(t.Context(), mustEntry(t, s, "contracts", "a").ID))(t)
		made := attempts[0].FinishedAt
		look("a record was confirmed", trade.EventSilence{Since: year, Made: 1})

		before := made.Add(-time.Hour)
		event := trade.InboxEvent{
			Event: "CREATE_ORDER_COMMITMENT", Hash: "a", Body: []byte("{}"), FirstAt: before,
			LastAt: before, Times: 1, NextAt: before,
		}
		must.Do(t, s.TakeEvents(t.Context(), []trade.InboxEvent{event}))
		look("an event came before", trade.EventSilence{Since: year, LastAt: before, Made: 1, Waiting: 1})
		must.Do(t, s.NoteHeard(t.Context(),
			[]trade.EventNote{
				{Kind: "order_commitments", ID: uuid.NewString(), Event: event.Event, Seq: 1, At: before},
			},
			nil))
		event.Seq, event.NextAt, event.Outcome = 1, time.Time{}, "noted"
		must.Do(t, s.EventsDone(t.Context(), []trade.InboxEvent{event}))
		keep := keepAll
		keep.Inbox = 30 * day
		mustRetain(t, s, keep, before.Add(31*day))
		if events, err := s.Inbox(t.Context(), trade.InboxFilter{}); len(events) != 0 || err != nil {
			t.Fatalf("%d events are left, %v", len(events), err)
		}
		look("the event is old and was taken away", trade.EventSilence{Since: year, LastAt: before, Made: 1})
	})
}
