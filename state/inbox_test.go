package state

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/inbox"
	"github.com/safrasync/safrasync/trade"
)

// Whatever bytes an event has, and in whatever case its text is written, a word of it finds it. A
// limit counts what was found.
func TestTheInboxIsSearchedInEveryBody(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		const id = "deadbeef-0000-4000-8000-000000000001"
		bodies := []string{
			`{"id":"` + id + `"}`,
			"{\"id\":\"" + id + "\",\"name\":\"Jo\xe3o\"}", // Latin-1
			id + "\x00",
			`{"id":"DEADBEEF-0000-4000-8000-000000000001"}`,
			`{"name":"JOÃO 100%"}`,
			`{"name":"Jo\u00e3o"}`,
			`{"name":"Jo\u00E3o"}`,
			`{"name":"Joao_100"}`,
			`{"name":"JO\u00C3O"}`,
			`{"safra":"2025\/2026","name":"A\u00C7\u00e3o \u0026 \u0053ilo \ud83c\udf31"}`,
			`{"body":"{\"safra\":\"2026\\/2027\",\"name\":\"A\\u00e7\u00E3o\"}"}`, // JSON in a text of JSON
			"{\"name\":\"\xe3\\u00e7a\\u00\\ud83c\\q\\\"}",                        // what is no JSON
		}
		var events []trade.InboxEvent
		for i, body := range bodies {
			events = append(events, trade.InboxEvent{
				Event: "CREATE_FARM", Hash: fmt.Sprint(i), Body: []byte(body),
				FirstAt: at, LastAt: at, Times: i + 1,
			})
		}
		must.Do(t, s.StoreEvents(t.Context(), events))
		for _, tt := range []struct {
			text  string
			limit int
			want  []int // times, by which the events are told apart
		}{
			{id, 0, []int{4, 3, 2, 1}},
			{"DEADBEEF", 0, []int{4, 3, 2, 1}},
			{id, 2, []int{4, 3}},
			{"JOÃO", 0, []int{9, 7, 6, 5}},
			{"joão", 1, []int{9}},
			{"100%", 0, []int{5}},
			{"o_1", 0, []int{8}},
			{"nobody", 0, nil},
			{"2025/2026", 0, []int{10}},
			{"/202", 0, []int{11, 10}},
			{`5\/2`, 0, []int{10}},
			{"ação", 0, []int{11, 10}},
			{"AÇÃO & SILO", 0, []int{10}},
			{"silo", 0, []int{10}},
			{"🌱", 0, []int{10}},
			{"2026/2027", 0, []int{11}},
			{"ça", 0, nil}, // what is no JSON has no escapes
			{`\U00E7A`, 0, []int{12}},
			{`\q`, 0, []int{12}},
		} {
			found, err := s.Inbox(t.Context(), trade.InboxFilter{Text: tt.text, Limit: tt.limit})
			var got []int
			for _, e := range found {
				got = append(got, e.Times)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("%q, at most %d: %v (-want +got):\n%s", tt.text, tt.limit, err, diff)
			}
		}
	})
}

// A search that wants few events reads few, however many have the text: one behind them that is
// damaged is not even looked at.
func TestASearchOfTheInboxReadsNoMoreThanItNeeds(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		var events []trade.InboxEvent
		for i := range 3 * inbox.Page {
			when := at.Add(time.Duration(-i/2) * time.Second) // two at each time
			events = append(events, trade.InboxEvent{
				Event: "CREATE_FARM", Hash: fmt.Sprint(i),
				Body: fmt.Appendf(nil, `{"soja":%d}`, i%7), FirstAt: when, LastAt: when, Times: i + 1,
			})
		}
		must.Do(t, s.StoreEvents(t.Context(), events))
		for _, limit := range []int{0, 1, 20} {
			found, err := s.Inbox(t.Context(), trade.InboxFilter{Text: `"SOJA":6`, Limit: limit})
			want := len(events) / 7
			if limit > 0 {
				want = limit
			}
			seen := map[int]bool{}
			for _, e := range found {
				seen[e.Times] = true
			}
			if len(found) != want || len(seen) != want || err != nil {
				t.Errorf("at most %d: %d events, %d of them different, want %d; %v", limit, len(found),
					len(seen), want, err)
			}
		}
		must.Get(s.db.Write.ExecContext(t.Context(),
			`UPDATE inbox SET coded = 1, body = '!' WHERE last_at = (SELECT MIN(last_at) FROM inbox)`))(t)
		if found, err := s.Inbox(t.Context(), trade.InboxFilter{Text: "soja", Limit: 5}); len(found) != 5 ||
			err != nil {
			t.Errorf("%d events, %v; want the newest five", len(found), err)
		}
	})
}

// What the alarm about a silent platform goes by: since when it should be heard, when it was
// heard last, also where the retention took that event away, and what it confirmed since.
func TestSinceWhenThePlatformIsSilent(t *testing.T) {
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
		must.Do(t, s.StoreEvents(t.Context(), []trade.InboxEvent{event}))
		look("an event came before", trade.EventSilence{Since: year, LastAt: before, Made: 1, Waiting: 1, Total: 1})
		must.Do(t, s.StoreNotes(t.Context(),
			[]trade.EventNote{
				{Kind: "order_commitments", ID: uuid.NewString(), Event: event.Event, Seq: 1, At: before},
			},
			nil))
		event.Seq, event.NextAt, event.Outcome = 1, time.Time{}, trade.Say("event.nothing")
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
