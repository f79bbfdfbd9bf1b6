package sending

import (
	"testing"

	"github.com/safrasync/safrasync/trade"
)

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
