package pages_test

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/consoletest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

func TestALiveStreamEndsWithTheIdleLimitOfItsLogin(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	beats := make(chan time.Time)
	w.Pages.Beats(beats)
	b := w.As(trade.Reader)
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, w.Server.URL+"/live", http.NoBody))(t)
	answer, err := b.Client.Do(request)
	must.Do(t, err)
	defer answer.Body.Close()
	events := bufio.NewReader(answer.Body)
	beat := func() (open bool) {
		beats <- w.Clock.Now()
		for {
			if line, err := events.ReadString('\n'); errors.Is(err, io.EOF) {
				return false
			} else if err != nil {
				t.Fatal(err)
			} else if strings.HasPrefix(line, "event: progress") {
				return true
			}
		}
	}
	if line, err := events.ReadString('\n'); err != nil || !strings.HasPrefix(line, "event: progress") {
		t.Fatal(line, err)
	}
	for range 2 {
		w.Clock.Pass(14 * time.Minute)
		if !beat() {
			t.Fatal("the stream is closed before the idle limit")
		}
	}
	w.Clock.Pass(3 * time.Minute)
	if beat() {
		t.Error("the stream is open after the idle limit")
	}
	b.Get("/account").Wants(http.StatusSeeOther)
}

func TestOnePersonHasAFewLiveStreams(t *testing.T) {
	t.Parallel()
	w := consoletest.New(t, consoletest.OpenStore(t, state.SQLite)).WithPeople()
	b := w.As(trade.Reader)
	for range 4 {
		if status, _ := b.OpenLive(); status != http.StatusOK {
			t.Fatalf("a stream is answered with %d", status)
		}
	}
	if status, _ := b.OpenLive(); status != http.StatusServiceUnavailable {
		t.Errorf("the fifth is answered with %d", status)
	}
	if status, _ := w.As(trade.Accountant).OpenLive(); status != http.StatusOK {
		t.Errorf("that of somebody else is answered with %d", status)
	}
}
