package events

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/acts"
)

const (
	oneID   = "563e9bed-4510-4358-acc6-d8f2c74c7ccf"
	otherID = "db5b5fab-8f4d-4e27-9da1-494c73cf256d"
)

// The shapes of events are not documented: ids, a time and a status are found wherever they stand.
func TestWhatIsReadFromAnEventOfAnyShape(t *testing.T) {
	t.Parallel()
	saoPaulo := must.Get(time.LoadLocation("America/Sao_Paulo"))(t)
	for body, want := range map[string]struct {
		ids  []string
		word string
	}{
		`{"id":"` + oneID + `"}`: {[]string{oneID}, ""},
		`{"a":[{"b":"` + strings.ToUpper(oneID) + `"},"` + oneID + `","x/` + otherID +
			`/y"],"status":"APPROVED"}`: {[]string{oneID, otherID}, "APPROVED"},
		`"urn:uuid:` + oneID + `"`: {[]string{oneID}, ""},
		`{"id":"563e9bed\u002d4510\u002d4358\u002dacc6\u002dd8f2c74c7ccf"}`: {[]string{oneID}, ""},
		`x` + oneID + ` ` + oneID + `0 0` + otherID:                         {nil, ""},
		`00000000-0000-0000-0000-000000000000`:                              {nil, ""},
		`{"status":"A","new_status":"B","STATUS-ESG":"C"}`:                  {nil, "B"},
		`{"status":"Maria da Silva, CPF 123"}`:                              {nil, ""},
		`{"status":{"code":"X"},"data":{"workflowStatus":"IN_REVIEW"}}`:     {nil, "IN_REVIEW"},
		oneID + "\n" + otherID + `{"status":`:                               {[]string{oneID, otherID}, ""},
		"":                                                                  {nil, ""},
		strings.Repeat("[", 20_000) + `"` + oneID:                           {[]string{oneID}, ""},
	} {
		if diff := cmp.Diff(want.ids, idsIn([]byte(body))); diff != "" {
			t.Errorf("%.60s: ids (-want +got):\n%s", body, diff)
		}
		if got := wordIn([]byte(body)); got != want.word {
			t.Errorf("%.60s: status %q, want %q", body, got, want.word)
		}
	}
	at := time.Date(2026, time.March, 10, 12, 0, 0, 0, time.UTC)
	for body, want := range map[string]between{
		`{"created_at":"2026-03-10T09:00:00-03:00"}`:      {at, at},
		`{"x":{"createdAt":1773144000000}}`:               {at, at},
		`{"createdAt":"2026-03-10T12:00:00"}`:             {at, at.Add(3 * time.Hour)}, // UTC, or the cooperative's own
		`{"creation_date":"2026-03-10"}`:                  {at.Add(-12 * time.Hour), at.Add(15 * time.Hour)},
		`{"updated_at":"2026-03-10T12:00:00Z"}`:           {},
		`{"created_at":"yesterday","id":"` + oneID + `"}`: {},
	} {
		if got := typedAt([]byte(body), saoPaulo); !got.From.Equal(want.From) || !got.to.Equal(want.to) {
			t.Errorf("%s: from %s to %s, want %s to %s", body, got.From, got.to, want.From, want.to)
		}
	}
}

// Whoever sends events makes the program read no more than one record a second.
func TestARecordASecondIsReadBackAtMost(t *testing.T) {
	t.Parallel()
	var h Processor
	if pace := h.limiter(); pace.Limit() != 1 || pace.Burst() != 1 || h.limiter() != pace {
		t.Errorf("%v a second, %d at once", pace.Limit(), pace.Burst())
	}
}

// Nothing that a stranger sends makes the reading fail, or find what is no id.
func FuzzEvent(f *testing.F) {
	for _, seed := range []string{
		`{"id":"` + oneID + `","status":"X","created_at":"2026-03-10"}`, `[[[`,
		`{"a":1,"a":2}`, "\xff\xfe\x00", `"\u00`, `{"a":{"b":[1,2,{"c":null}]},"status":true}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, id := range idsIn(body) {
			if _, ok := acts.PlatformID("order_commitments", id); !ok {
				t.Errorf("%q is no id", id)
			}
		}
		if word := wordIn(body); len(word) > 200 || strings.ContainsAny(word, "\n\x00\x1b") {
			t.Errorf("status %q", word)
		}
		typedAt(body, time.UTC)
	})
}

// The length that a code may have is counted beside the expression.
func TestHowLongACodeMayBe(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		strings.Repeat("é", 40): true, strings.Repeat("é", 41): false, "": false,
		"1": false, "A": true, "A_b/c-9 d": true, "A\n": false,
	} {
		if got := isCode(text); got != want {
			t.Errorf("%.20q of %d: a code %v", text, len(text), got)
		}
	}
}
