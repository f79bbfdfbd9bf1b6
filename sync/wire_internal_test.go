package sync

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/trade"
)

// After a crash only an answer settles a row that would settle it without a person too.
func TestOnlyAnswersThatNeedNoPersonAreNoted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer apiclient.Answer
		want   bool
	}{
		"created":              {apiclient.Answer{Known: apiclient.Created, Status: 201, ID: "x"}, true},
		"refused":              {apiclient.Answer{Known: apiclient.NotCreated, Status: 400, Format: apiclient.FormatA, Messages: []string{"message.price.invalid"}}, true},
		"refused in no form":   {apiclient.Answer{Known: apiclient.NotCreated, Status: 400}, false},
		"exists already (409)": {apiclient.Answer{Known: apiclient.NotCreated, Status: 409, Format: apiclient.FormatA}, false},
		"exists already (400)": {apiclient.Answer{Known: apiclient.NotCreated, Status: 400, Format: apiclient.FormatA, Messages: []string{keyDuplicate}}, false},
	} {
		if got := decide(c.answer, apiclient.FaultNone, false).noted(); got != c.want {
			t.Errorf("%s: noted %t", name, got)
		}
	}
}

// Intents are ahead only of what leaves soon, and of nothing after an answer that was not as usual.
func TestTheWindowFollowsWhatIsMeasured(t *testing.T) {
	t.Parallel()
	s := paced(t, Limits{MaxInFlight: 8})
	s.jobRun.ledger = markedLedger{}
	for _, step := range []struct {
		latency, commit time.Duration
		calm, want      int
	}{
		{latency: 0, calm: 100, want: 8},
		{latency: 20 * time.Millisecond, commit: 5 * time.Millisecond, calm: 0, want: 8},
		{latency: 20 * time.Millisecond, commit: 5 * time.Millisecond, calm: 3, want: 11},
		{latency: 20 * time.Millisecond, commit: 5 * time.Millisecond, calm: 1000, want: 48},
		{latency: time.Millisecond, commit: 5 * time.Millisecond, calm: 1000, want: 88},
		{latency: time.Millisecond, commit: time.Second, calm: 1000, want: 128},
		{latency: 4 * time.Second, commit: time.Second, calm: 1000, want: 12},
		{latency: time.Minute, commit: time.Second, calm: 1000, want: 8},
	} {
		s.latency, s.commitTime, s.calm = average(step.latency), average(step.commit), step.calm
		if got := s.window(); got != step.want {
			t.Errorf("%+v: %d", step, got)
		}
	}
	s.latency, s.commitTime, s.calm = average(time.Millisecond), average(time.Second), 1000
	s.crew.several, s.crew.known, s.crew.stand = true, true, trade.Crew{Living: 2}
	if got := s.window(); got != 32 {
		t.Errorf("beside another instance, which would not know what had left: %d", got)
	}
	s.careful = true
	if got := s.window(); got != 8 {
		t.Errorf("after an unknown outcome: %d", got)
	}
}

// markedLedger is one whose process notes what leaves.
type markedLedger struct{ Ledger }

func (markedLedger) Marked() bool { return true }

// An answer that is not as usual keeps everything back until it was judged, also while other answers are.
func TestTheWireHoldsUntilAnAnswerIsJudged(t *testing.T) {
	t.Parallel()
	left := make(chan string, 10)
	w := wire{launch: func(f *flight) { left <- f.entry.Key }}
	w.open(2)
	var flights []*flight
	for _, key := range []string{"1", "2", "3", "4", "5"} {
		flights = append(flights, &flight{entry: trade.Entry{Key: key}})
	}
	w.clear(flights)
	<-left
	<-left
	w.landed(false)
	w.landed(true)
	w.open(2) // another answer was taken up
	if n := w.waiting(); n != 3 || len(left) != 0 {
		t.Fatalf("%d wait, %d left while an answer is to be judged", n, len(left))
	}
	w.judged(1)
	if <-left; w.waiting() != 2 {
		t.Errorf("%d wait after one more left", w.waiting())
	}
	if back := w.recall(time.Hour); len(back) != 2 || w.waiting() != 0 {
		t.Errorf("%d came back", len(back))
	}
}
