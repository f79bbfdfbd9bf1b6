package outbox

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	gosync "sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/safrasync/safrasync/internal/alert"
	"github.com/safrasync/safrasync/internal/ledgertest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/pgtest"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// A program that refuses one event, or breaks at it, takes the others; after an answer that is about the
// event they come at once, after one that is about the program when its pause is over.
func TestAnEventThatIsRefusedKeepsNoOtherBack(t *testing.T) {
	for status, rests := range map[int]bool{
		http.StatusBadRequest: false, http.StatusConflict: false, http.StatusUnprocessableEntity: false,
		http.StatusUnauthorized: true, http.StatusNotFound: true, http.StatusTooManyRequests: true,
		http.StatusFound: true, http.StatusInternalServerError: true,
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			ledgertest.Both(t, func(t *testing.T, driver string) {
				var mu gosync.Mutex
				var came []string
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					var e Event
					must.Do(t, json.NewDecoder(r.Body).Decode(&e))
					mu.Lock()
					came = append(came, *e.Cause)
					mu.Unlock()
					if *e.Cause == "a" {
						w.WriteHeader(status)
					}
				}))
				t.Cleanup(server.Close)
				now := time.Now()
				l := ledgertest.Open(t, driver)
				target := Target{
					EventTarget: trade.EventTarget{Name: "erp"}, Secret: func() string { return "secret" },
					Options: alert.WebhookOptions{
						URL: func() string { return server.URL }, Timeout: 10 * time.Second,
						Proxy: func() string { return "" },
					},
				}
				s := &Sender{
					Ledger: l, Targets: []Target{target}, Now: func() time.Time { return now }, Log: zap.NewNop(),
					Count: func(string, string) {},
				}
				s.Begin(t.Context())
				client := target.Options.Client()
				look := func() []string {
					came = nil
					must.Get(s.deliver(t.Context(), target, client))(t)
					return came
				}
				stops(t, l, "a")
				if got := look(); !slices.Equal(got, []string{"a"}) {
					t.Fatalf("there came %v", got)
				}
				stops(t, l, "b")
				if got := look(); slices.Equal(got, []string{"b"}) == rests {
					t.Errorf("in the next round there came %v", got)
				}
				now = now.Add(time.Minute)
				stops(t, l, "c")
				want := []string{"a", "c"}
				if rests {
					want = []string{"b"} // one, to see whether it is there again
				}
				got := look()
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Errorf("after a minute there came %v", got)
				}
			})
		})
	}
}

// stops lets a job stop for a reason, and so makes an event.
func stops(t *testing.T, l *ledgertest.Ledger, code string) {
	t.Helper()
	must.Do(t, l.SetJobStatus(context.Background(), trade.JobStatus{
		Job: "contracts", State: trade.Stopped, Stop: &trade.Stop{Code: code}, Since: time.Now(),
	}))
}

// What a target left that is no longer told goes after its time, also where nobody is told any more.
func TestOldEventsGoWhereNobodyIsTold(t *testing.T) {
	ledgertest.Both(t, func(t *testing.T, driver string) {
		l := ledgertest.Open(t, driver)
		must.Do(t, l.Tell(t.Context(), []trade.EventTarget{{Name: "erp"}}))
		stops(t, l, "a")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		s := &Sender{Ledger: l, Now: func() time.Time { return time.Now().Add(3 * Keep) }, Log: zap.NewNop()}
		go func() { defer close(done); s.Run(ctx) }()
		for len(must.Get(l.Outbox(t.Context(), trade.OutEventFilter{}))(t)) > 0 {
			if t.Context().Err() != nil {
				t.Fatal("it stays")
			}
		}
		cancel()
		<-done
	})
}

var _ EventLedger = (*state.Store)(nil)
