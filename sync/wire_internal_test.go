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

// Intents are ahead by one group, where a crash tells which of them had left, and of nothing after an answer that was not as usual.
func TestIntentsAreAheadByOneGroup(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits Limits
		set    func(s *submission)
		want   int
	}{
		"as usual":                          {Limits{MaxInFlight: 8}, func(*submission) {}, 16},
		"soon after an answer that was not": {Limits{MaxInFlight: 8}, func(s *submission) { s.calm = 7 }, 8},
		"where answers take long":           {Limits{MaxInFlight: 8}, func(s *submission) { s.took = 2 * time.Second }, 8},
		"after a doubt":                     {Limits{MaxInFlight: 8}, func(s *submission) { s.careful = true }, 8},
		"fewer at once after 429":           {Limits{MaxInFlight: 8}, func(s *submission) { s.slots = 4 }, 4},
		"at a rate":                         {Limits{MaxInFlight: 8, RateLimit: 20}, func(*submission) {}, 8},
		"where nothing tells what left":     {Limits{MaxInFlight: 8}, func(s *submission) { s.jobRun.ledger = markedLedger{marked: false} }, 8},
		"another instance would not know what left": {Limits{MaxInFlight: 8}, func(s *submission) {
			s.crew.several, s.crew.known, s.crew.stand = true, true, trade.Crew{Living: 2}
		}, 8},
	} {
		s := paced(t, c.limits)
		s.jobRun.ledger, s.calm = markedLedger{marked: true}, 8
		c.set(s)
		if got := s.window(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// markedLedger is one whose process notes what leaves, or not.
type markedLedger struct {
	Ledger
	marked bool
}

func (l markedLedger) Marked() bool { return l.marked }

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
	if back := w.recall(); len(back) != 2 || w.waiting() != 0 {
		t.Errorf("%d came back", len(back))
	}
}
