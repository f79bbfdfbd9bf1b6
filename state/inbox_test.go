package state

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
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
		must.Do(t, s.TakeEvents(t.Context(), events))
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
		for i := range 3 * inboxPage {
			when := at.Add(time.Duration(-i/2) * time.Second) // two at each time
			events = append(events, trade.InboxEvent{
				Event: "CREATE_FARM", Hash: fmt.Sprint(i),
				Body: fmt.Appendf(nil, `{"soja":%d}`, i%7), FirstAt: when, LastAt: when, Times: i + 1,
			})
		}
		must.Do(t, s.TakeEvents(t.Context(), events))
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
