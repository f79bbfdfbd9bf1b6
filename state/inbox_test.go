package state

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/trade"
)

// Whatever bytes an event has, and in whatever case its text is written, a word of it finds it. A limit counts what was found.
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
		}
		var events []trade.InboxEvent
		for i, body := range bodies {
			events = append(events, trade.InboxEvent{Event: "CREATE_FARM", Hash: fmt.Sprint(i), Body: []byte(body), FirstAt: at, LastAt: at, Times: i + 1})
		}
		if err := s.TakeEvents(t.Context(), events); err != nil {
			t.Fatal(err)
		}
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
