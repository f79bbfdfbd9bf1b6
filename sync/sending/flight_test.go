package sending

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/sync/outcome"
	"github.com/safrasync/safrasync/sync/run"
	"github.com/safrasync/safrasync/trade"
)

// After a crash only an answer settles a row that would settle it without a person too.
func TestOnlyAnswersThatNeedNoPersonAreNoted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer apiclient.Answer
		want   bool
	}{
		"created": {apiclient.Answer{Known: apiclient.Created, Status: 201, ID: "x"}, true},
		"refused": {apiclient.Answer{
			Known: apiclient.NotCreated, Status: 400, Format: apiclient.FormatA,
			Messages: []string{"message.price.invalid"},
		}, true},
		"refused in no form": {apiclient.Answer{Known: apiclient.NotCreated, Status: 400}, false},
		"exists already (409)": {
			apiclient.Answer{Known: apiclient.NotCreated, Status: 409, Format: apiclient.FormatA},
			false,
		},
		"exists already (400)": {apiclient.Answer{
			Known: apiclient.NotCreated, Status: 400, Format: apiclient.FormatA,
			Messages: []string{outcome.KeyDuplicate},
		}, false},
	} {
		if got := settlesAfterCrash(outcome.Decide(c.answer, apiclient.FaultNone, false)); got != c.want {
			t.Errorf("%s: noted %t", name, got)
		}
	}
}

// Intents are ahead by one group, where a crash tells which of them had left, and of nothing after
// an answer that was not as usual.
func TestIntentsAreAheadByOneGroup(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limits run.Limits
		set    func(s *Sender)
		want   int
	}{
		"as usual":                          {run.Limits{MaxInFlight: 8}, func(*Sender) {}, 16},
		"soon after an answer that was not": {run.Limits{MaxInFlight: 8}, func(s *Sender) { s.pace.calm = 7 }, 8},
		"where answers take long": {
			run.Limits{MaxInFlight: 8},
			func(s *Sender) { s.pace.took = 2 * time.Second }, 8,
		},
		"after a doubt": {
			run.Limits{MaxInFlight: 8},
			func(s *Sender) { s.traffic.Careful = true }, 8,
		},
		"fewer at once after 429": {run.Limits{MaxInFlight: 8}, func(s *Sender) { s.pace.slots = 4 }, 4},
		"at a rate":               {run.Limits{MaxInFlight: 8, RateLimit: 20}, func(*Sender) {}, 8},
		"where nothing tells what left": {
			run.Limits{MaxInFlight: 8},
			func(s *Sender) { s.intents = markedLedger{marked: false} }, 8,
		},
		"another instance would not know what left": {run.Limits{MaxInFlight: 8}, func(s *Sender) {
			s.Run.Env.Member.Config.Several, s.Run.Env.Member.Known, s.Run.Env.Member.Cluster = true, true,
				trade.Instances{Living: 2}
		}, 8},
	} {
		s := paced(t, c.limits)
		s.intents, s.pace.calm = markedLedger{marked: true}, 8
		c.set(s)
		if got := s.window(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// markedLedger is one whose process notes what leaves, or not.
type markedLedger struct {
	run.Intents
	marked bool
}

func (l markedLedger) Marked() bool { return l.marked }

// An answer that is not as usual keeps everything back until it was judged, also while other
// answers are.
func TestTheWireHoldsUntilAnAnswerIsJudged(t *testing.T) {
	t.Parallel()
	left := make(chan string, 10)
	w := dispatcher{send: func(f *inFlight) { left <- f.Entry.Key }}
	w.Open(2)
	var flights []*inFlight
	for _, key := range []string{"1", "2", "3", "4", "5"} {
		flights = append(flights, &inFlight{Entry: trade.Entry{Key: key}})
	}
	w.release(flights)
	<-left
	<-left
	w.finished(false)
	w.finished(true)
	w.Open(2) // another answer was taken up
	if n := w.waiting(); n != 3 || len(left) != 0 {
		t.Fatalf("%d wait, %d left while an answer is to be judged", n, len(left))
	}
	w.resume(1)
	if <-left; w.waiting() != 2 {
		t.Errorf("%d wait after one more left", w.waiting())
	}
	if back := w.withdraw(); len(back) != 2 || w.waiting() != 0 {
		t.Errorf("%d came back", len(back))
	}
}
